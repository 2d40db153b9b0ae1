from __future__ import annotations

from pathlib import Path

import pytest

from semel.errors import TEXTS
from tools.docs import FOLDER, find_pages, find_problems
from tools.pages import errors
from tools.pages._markdown import quote, write_row


def test_a_page_is_written_and_then_found_fresh(tmp_path: Path) -> None:
    """What was just written passes the check."""
    assert not list(find_problems(tmp_path, {"sql": "# SQL\n"}, check=False))
    assert (tmp_path / FOLDER / "sql.md").read_text(encoding="utf-8") == "# SQL\n"
    assert not list(find_problems(tmp_path, {"sql": "# SQL\n"}, check=True))


def test_a_stale_or_missing_page_is_reported_and_left_alone(tmp_path: Path) -> None:
    """The check names the pages that differ, and writes nothing."""
    list(find_problems(tmp_path, {"sql": "# Old\n"}, check=False))
    problems = list(find_problems(tmp_path, {"sql": "# New\n", "cost": "# Cost\n"}, check=True))
    assert [problem.where for problem in problems] == [f"{FOLDER}/sql.md", f"{FOLDER}/cost.md"]
    assert (tmp_path / FOLDER / "sql.md").read_text(encoding="utf-8") == "# Old\n"
    assert not (tmp_path / FOLDER / "cost.md").exists()


@pytest.mark.parametrize("check", [True, False])
def test_a_page_that_nothing_makes_is_reported(tmp_path: Path, *, check: bool) -> None:
    """A page whose maker is gone cannot become stale unseen."""
    list(find_problems(tmp_path, {"sql": "# SQL\n"}, check=False))
    assert [problem.where for problem in find_problems(tmp_path, {}, check=check)] == [f"{FOLDER}/sql.md"]


def test_every_page_says_where_to_change_it() -> None:
    """Every maker renders without a database, and its page begins by naming it."""
    pages = find_pages()
    assert "errors" in pages
    assert all(f"tools/pages/{name}.py" in text.partition("\n")[0] for name, text in pages.items())


def test_the_page_of_errors_has_every_code() -> None:
    """Each code stands once, where a link can point."""
    page = errors.render()
    assert all(page.count(f'<a id="{code.lower()}"></a>`{code}`') == 1 for code in TEXTS)


def test_an_error_is_in_the_chapter_of_its_fault() -> None:
    """A narrower class is listed under whose fault it is."""
    chapters = {chapter.partition("\n")[0]: chapter for chapter in errors.render().split("\n## ")[1:]}
    assert list(chapters) == ["ConfigError", "UsageError", "StoreError"]
    assert "`SEMEL-STORE-1` | `ConflictedError`" in chapters["StoreError"]


@pytest.mark.parametrize(
    ("template", "shown"),
    [
        ("The table {table!r} waits {seconds:g} s.", "The table *table* waits *seconds* s."),
        ("Use {{'pending': 0}}.", "Use {'pending': 0}."),
        ("{remedy}", "It depends, and the error says it."),
        ("Set version_id.", "Set version\\_id."),
    ],
)
def test_a_text_shows_its_facts_in_italics(template: str, shown: str) -> None:
    """A placeholder is shown as a word, and everything else as it is written."""
    assert errors.show(template) == shown


def test_markdown_shows_text_as_it_is() -> None:
    """Signs of Markdown in a text neither format it nor end a cell."""
    assert quote("a_b *c* <d> [e]") == r"a\_b \*c\* \<d\> \[e\]"
    assert write_row(["a|b", "c"]) == r"| a\|b | c |"
