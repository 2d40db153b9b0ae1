"""The docs show files that ran, and what those printed.

`<!-- file: examples/start/first.py -->` before a fenced block: the block is that file without its docstring. `#pay` behind the
path: only the statement that makes that name; `#once..orders`: from one name to another. Any other file is quoted whole.
`<!-- output: examples/start/first.py -->`: the block is what the file prints.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tools.project import ROOT, Project

SCRIPTS = ("start", "claims", "effects")
"""The folders of examples/ whose files are one script each; those of `testing` are run by pytest."""

MARKED = re.compile(r"<!-- (file|output): (\S+) -->\n+```\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PYTHON = re.compile(r"(^.*\n)\n*```python\n", re.MULTILINE)


@dataclass(frozen=True)
class Quote:
    """One block of a page that says where it comes from."""

    page: str
    kind: str
    source: str
    text: str

    def __str__(self) -> str:
        """Name it in the list of tests."""
        return f"{self.page}:{self.kind}:{self.source}"


@cache
def read_pages() -> dict[str, str]:
    """Read every page that we write by hand: the README, and docs/ without what is made from the code."""
    texts = Project.at().texts
    pages = {path: text for path, text in texts.items() if path == "README.md" or path.startswith("docs/")}
    return {path: text for path, text in pages.items() if path.endswith(".md") and "docs/reference/" not in path}


def find_quotes() -> Iterator[Quote]:
    """Find every block that says where it comes from."""
    for page, text in read_pages().items():
        yield from (Quote(page, *found) for found in MARKED.findall(text))


def list_examples() -> list[str]:
    """List the example files that are one script each."""
    found = (path for folder in SCRIPTS for path in (ROOT / "examples" / folder).glob("*.py"))
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def read_part(source: str) -> str:
    """Read what a marker names: a file without its docstring, or some of its statements."""
    path, _, part = source.partition("#")
    text = (ROOT / path).read_text(encoding="utf-8")
    if not path.endswith(".py"):
        return text
    body = ast.parse(text).body
    names = part.split("..") if part else []
    first = find_statement(body, names[0]) if names else body[1]
    last = find_statement(body, names[-1]) if names else body[-1]
    return "".join(text.splitlines(keepends=True)[begin_of(first) - 1 : last.end_lineno])


def find_statement(body: list[ast.stmt], name: str) -> ast.stmt:
    """Find the statement of a file that makes a name."""
    for statement in body:
        match statement:
            case ast.FunctionDef(name=made) | ast.AsyncFunctionDef(name=made) | ast.ClassDef(name=made) if made == name:
                return statement
            case ast.Assign(targets=[ast.Name(id=made)]) if made == name:
                return statement
    raise AssertionError(f"nothing makes {name} there")


def begin_of(statement: ast.stmt) -> int:
    """Answer the first line of a statement, its decorators included."""
    return min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", []))])


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Answers what an example printed when all of its folder ran one after the other in a new one; a warning ends it."""

    @cache
    def run_folder(folder: str) -> dict[str, str]:
        place = tmp_path_factory.mktemp(folder)
        paths = [path for path in list_examples() if path.startswith(f"examples/{folder}/")]
        return {path: run(place, "-W", "error", str(ROOT / path)) for path in paths}

    return lambda path: run_folder(path.split("/")[1])[path]


def run(folder: Path, *words: str) -> str:
    """Run Python in a folder, and answer what it printed."""
    command = [sys.executable, *words]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"{words[-1]} failed:\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("quote", [each for each in find_quotes() if each.kind == "file"], ids=str)
def test_a_page_quotes_the_file_as_it_is(quote: Quote) -> None:
    """The block stands in the example file, letter by letter."""
    assert quote.text == read_part(quote.source)


@pytest.mark.parametrize("quote", [each for each in find_quotes() if each.kind == "output"], ids=str)
def test_a_page_shows_what_the_example_prints(quote: Quote, printed: Callable[[str], str]) -> None:
    """The block is what the example printed in this run."""
    assert quote.text == printed(quote.source)


@pytest.mark.parametrize("page", read_pages(), ids=str)
def test_no_python_stands_in_a_page_by_itself(page: str) -> None:
    """Every block of Python on a page says which file it is, so that none is shown that does not run."""
    alone = [line for line in PYTHON.findall(read_pages()[page]) if not line.startswith("<!-- file: ")]
    assert alone == []


def test_the_tests_of_the_testing_guide_pass(tmp_path: Path) -> None:
    """What the guide shows as tests are tests, and pytest finds Semel's fixtures by itself."""
    said = run(tmp_path, "-m", "pytest", "-p", "no:cacheprovider", "-q", str(ROOT / "examples" / "testing"))
    assert " passed" in said


def test_every_example_is_shown_somewhere() -> None:
    """An example that no page shows is one that nobody finds."""
    shown = {quote.source.partition("#")[0] for quote in find_quotes()}
    assert [path for path in [*list_examples(), "examples/testing/test_orders.py"] if path not in shown] == []


@pytest.mark.parametrize("page", read_pages(), ids=str)
def test_links_between_pages_lead_somewhere(page: str) -> None:
    """Each relative link of a page names a file that is there."""
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", read_pages()[page])
    assert [link for link in links if not ((ROOT / page).parent / link).exists()] == []


def test_a_part_begins_with_its_decorators_and_ends_with_its_last_line() -> None:
    """What a marker names is cut out whole; this holds the cutting itself."""
    assert read_part("examples/start/shop.py#engine..orders").splitlines()[-1] == "orders = once.table(Order)"
    assert read_part("examples/start/first.py").startswith("from shop import")
    assert read_part("examples/start/together.py#pay").startswith("def pay(")
    with pytest.raises(AssertionError, match="nothing makes absent there"):
        read_part("examples/start/first.py#absent")
