from __future__ import annotations

import pytest

from tools.drawing import BEGIN, END, PAGE, draw, find_problems, insert

CONTRACT = """[[tool.importlinter.contracts]]
type = "layers"
layers = ["(cli)", "app | keepers", "store", "errors"]
"""
HOUSE = {
    "pyproject.toml": CONTRACT,
    PAGE: f"# Title\n{BEGIN}\n{END}\nThe end.\n",
    "src/semel/__init__.py": "from semel.app import Semel\n",
    "src/semel/app.py": '"""The root | of all.\n\nMore.\n"""\nfrom semel.store import t\nfrom semel import errors\n',
    "src/semel/keepers/__init__.py": '"""Duties."""\n',
    "src/semel/keepers/janitor.py": "def f():\n    import semel.errors\n",
    "src/semel/store/__init__.py": '"""Statements."""\n',
    "src/semel/store/tables.py": "from ..errors import error\nimport sqlalchemy\n",
    "src/semel/errors.py": '"""Faults."""\n',
}


def test_the_table_says_what_is_there(build) -> None:
    """A room is listed with its promise, its files and the rooms it really imports, in the contract's order."""
    drawing = draw(build(HOUSE)).splitlines()
    assert [line for line in drawing if line.startswith("| `")] == [
        "| `cli` | *planned* | – | – |",
        "| `app` | The root \\| of all. | 1 | store, errors |",
        "| `keepers` | Duties. | 2 | errors |",
        "| `store` | Statements. | 2 | errors |",
        "| `errors` | Faults. | 1 | – |",
    ]


def test_the_picture_leaves_out_what_a_longer_way_shows(build) -> None:
    """App calls errors directly, but also through store, so one arrow is enough; planned rooms are marked."""
    drawing = draw(build(HOUSE)).splitlines()
    assert [line.strip() for line in drawing if "-->" in line and "<!--" not in line] == [
        "app --> store",
        "keepers --> errors",
        "store --> errors",
    ]
    assert "  cli:::planned" in drawing
    assert "  app; keepers" in drawing


def test_writing_keeps_what_stands_around_the_drawing(build) -> None:
    """Only what is between the markers changes, and writing twice changes nothing."""
    project = build(HOUSE)
    assert not list(find_problems(project, check=False))
    written = (project.root / PAGE).read_text(encoding="utf-8")
    assert written.startswith(f"# Title\n{BEGIN}\n")
    assert written.endswith(f"{END}\nThe end.\n")
    assert insert(written, draw(project)) == written


def test_a_stale_drawing_is_reported_and_left_as_it_is(build) -> None:
    """A new import makes the drawing stale; the check says so and writes nothing."""
    find = find_problems
    assert not list(find(build(HOUSE), check=False))
    drawn = build({}).texts[PAGE]
    assert not list(find(build({}), check=True))
    changed = build({"src/semel/errors.py": '"""Faults of others."""\n'})
    assert ["another house" in problem.text for problem in find(changed, check=True)] == [True]
    assert build({}).texts[PAGE] == drawn


@pytest.mark.parametrize("page", ["", f"{BEGIN}\n", f"{END}\n"])
def test_a_page_without_its_markers_is_reported(build, page: str) -> None:
    """The page is never written where nobody said the drawing belongs."""
    project = build(HOUSE | {PAGE: page})
    assert ["has no place" in problem.text for problem in find_problems(project, check=False)] == [True]
    assert (project.root / PAGE).read_text(encoding="utf-8") == page


def test_a_room_without_a_promise_is_reported(build) -> None:
    """A room that does not say what it is cannot be drawn."""
    problems = list(find_problems(build(HOUSE | {"src/semel/errors.py": ""}), check=False))
    assert [problem.where for problem in problems] == ["src/semel/errors.py"]
