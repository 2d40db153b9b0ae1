"""Draw the rooms into ARCHITECTURE.md, from the layer contract and from what the files really import.

python -m tools.drawing            write the drawing
python -m tools.drawing --check    fail when the drawing shows another house
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import pairwise

from tools.project import Problem, Project, report
from tools.rooms import Room, find_calls, list_files, list_rooms, read_layers, read_promise

PAGE = "ARCHITECTURE.md"
BEGIN = "<!-- drawing: begin. Written by `make docs`; change the layer contract or the code instead. -->"
CAPTION = """Solid rooms exist, dashed ones are planned. An arrow is a real import; the picture leaves out those that a
longer way already shows, the table leaves out none."""
END = "<!-- drawing: end -->"


def draw(project: Project) -> str:
    """Draw the picture and the table."""
    calls = {room.name: find_calls(project, room.name) for room in list_rooms(project)}
    return "\n".join(
        [
            BEGIN,
            "",
            *draw_picture(project, calls),
            "",
            CAPTION,
            "",
            *draw_table(project, calls),
            "",
            END,
        ]
    )


def draw_picture(project: Project, calls: dict[str, set[str]]) -> Iterator[str]:
    """Draw the layers from top to bottom, and who calls whom."""
    yield "```mermaid"
    yield "flowchart TD"
    layers = read_layers(project)
    for layer in layers:
        yield "  " + "; ".join(room.name + ("" if is_built(project, room) else ":::planned") for room in layer)
    # Invisible arrows keep the layers in the contract's order, also where nothing is built yet.
    rows = [" & ".join(room.name for room in layer) for layer in layers]
    yield from (f"  {above} ~~~ {below}" for above, below in pairwise(rows))
    for caller, called in calls.items():
        yield from (f"  {caller} --> {room}" for room in sorted(called) if not is_implied(calls, caller, room))
    yield "  classDef planned stroke-dasharray: 4"
    yield "```"


def draw_table(project: Project, calls: dict[str, set[str]]) -> Iterator[str]:
    """List the rooms, the highest first: what each promises, how large it is, whom it calls."""
    yield "| room | what it is | files | calls |"
    yield "|---|---|---|---|"
    for room in list_rooms(project):
        if is_built(project, room):
            # A promise may hold a bar, and a bar ends a cell.
            promise = read_promise(project, room.name).replace("|", "\\|")
            called = ", ".join(each.name for each in list_rooms(project) if each.name in calls[room.name])
            yield f"| `{room.name}` | {promise} | {len(list_files(project, room.name))} | {called or '–'} |"
        else:
            yield f"| `{room.name}` | *planned* | – | – |"


def is_built(project: Project, room: Room) -> bool:
    """Answer whether a room has files."""
    return bool(list_files(project, room.name))


def is_implied(calls: dict[str, set[str]], caller: str, room: str) -> bool:
    """Answer whether the caller reaches a room also through another one it calls."""
    return any(room in reach(calls, between, {caller}) for between in calls[caller] - {room})


def reach(calls: dict[str, set[str]], start: str, seen: set[str]) -> set[str]:
    """Answer every room that can be reached from one, not going through those seen before."""
    for room in calls.get(start, set()) - seen:
        seen = seen | {room} | reach(calls, room, seen | {room})
    return seen


def find_nameless(project: Project) -> Iterator[Problem]:
    """Find rooms that do not say what they are."""
    for room in list_rooms(project):
        if is_built(project, room) and not read_promise(project, room.name):
            yield Problem(
                list_files(project, room.name)[0].path, "the room has no docstring; say in one line what it is."
            )


def insert(page: str, drawing: str) -> str | None:
    """Answer the page with this drawing between its markers. None: the page has no markers."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    return before + drawing + after if begin and end else None


def find_problems(project: Project, *, check: bool) -> Iterator[Problem]:
    """Write the drawing, or with `check` only compare it; say what is wrong."""
    yield from find_nameless(project)
    page = project.texts.get(PAGE, "")
    drawn = insert(page, draw(project))
    if drawn is None:
        yield Problem(PAGE, f"it has no place for the drawing; add the lines {BEGIN} and {END}")
    elif drawn != page and check:
        yield Problem(PAGE, "the drawing shows another house; run: make docs")
    elif drawn != page:
        (project.root / PAGE).write_text(drawn, encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Write or check the drawing. Answer 1 when it is stale or cannot be drawn."""
    problems = find_problems(Project.at(), check="--check" in arguments)
    return report(problems, f"{PAGE} shows the house as it is.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
