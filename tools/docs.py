"""Write the pages of docs/reference/ that are made from the code.

    python -m tools.docs            write every page
    python -m tools.docs --check    fail when a page says something else than the code

One page is one file in `tools/pages`; see its docstring for how to add one.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tools import pages
from tools.project import ROOT, Problem, report

FOLDER = "docs/reference"


def find_pages() -> dict[str, str]:
    """Render every page. Modules of `tools.pages` that begin with an underscore are shared by pages, and are none."""
    names = sorted(each.name for each in pkgutil.iter_modules(pages.__path__) if not each.name.startswith("_"))
    return {name: render(name) for name in names}


def render(name: str) -> str:
    """Render one page, with a first line that says where to change it."""
    module = importlib.import_module(f"tools.pages.{name}")
    notice = f"<!-- Written by `make docs` from tools/pages/{name}.py; changes made here are lost. -->"
    return f"{notice}\n\n{module.render().strip()}\n"


def find_problems(root: Path, rendered: Mapping[str, str], *, check: bool) -> Iterator[Problem]:
    """Write what differs, or with `check` only say it; also say which page has no maker."""
    folder = root / FOLDER
    for name, text in rendered.items():
        page = folder / f"{name}.md"
        if page.exists() and page.read_text(encoding="utf-8") == text:
            continue
        if check:
            yield Problem(f"{FOLDER}/{name}.md", "the page says something else than the code; run: make docs")
        else:
            folder.mkdir(parents=True, exist_ok=True)
            page.write_text(text, encoding="utf-8")
    for page in sorted(folder.glob("*.md")):
        if page.stem not in rendered:
            yield Problem(
                f"{FOLDER}/{page.name}", f"nothing makes this page; add tools/pages/{page.stem}.py, or delete it."
            )


def main(arguments: list[str]) -> int:
    """Write or check the pages. Answer 1 when one is stale or has no maker."""
    rendered = find_pages()
    problems = find_problems(ROOT, rendered, check="--check" in arguments)
    return report(problems, f"{FOLDER} says what the code says: {', '.join(rendered)}.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
