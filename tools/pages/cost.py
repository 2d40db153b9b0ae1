"""The page of costs, drawn from the counts that tests/conformance/test_cost.py keeps."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from tools.pages._markdown import write_table
from tools.project import ROOT

COUNTS = ROOT / "docs/reference/data/cost.json"

INTRODUCTION = """# What a verb costs

Counted between the driver and its database by a test, in a process that has been at work for a while: its connections are
open and its statements prepared. Nothing here is a time: a time is your network's and your disk's, and is about the number of
round trips times the way there and back, plus the number of commits times what your disk needs for one.

An *action* of these steps writes nothing, or one row through `step.session`. A claim with an action costs two commits: one
before the action, one with its finish. Keepers, heartbeats (one statement for all claims of a process, three times a lease)
and the delivery of after-effects come on top.
"""

FAMILIES = {
    "PostgreSQL": ("asyncpg", "psycopg"),
    "MariaDB": ("asyncmy", "PyMySQL"),
    "SQLite": ("sqlite3",),
}

Cost: TypeAlias = Mapping[str, int]


def render() -> str:
    """Draw one chapter for each family of databases, with one column for each number of each driver."""
    counts = json.loads(COUNTS.read_text(encoding="utf-8"))
    chapters = (line for family, drivers in FAMILIES.items() for line in draw_chapter(family, drivers, counts))
    return "\n".join([INTRODUCTION, *chapters])


def draw_chapter(family: str, drivers: tuple[str, ...], counts: Mapping[str, Mapping[str, Cost]]) -> Iterator[str]:
    """Draw the table of one family."""
    yield f"## {family}"
    yield ""
    first = counts[drivers[0]]
    numbers = (
        ("round_trips", "statements", "commits")
        if "round_trips" in next(iter(first.values()))
        else ("statements", "commits")
    )
    titles = ["verb", *(f"{name_number(number)}, {driver}" for driver in drivers for number in numbers[:-1]), "commits"]
    rows = ([verb, *list_cells(verb, drivers, counts, numbers)] for verb in first)
    yield from write_table(titles, rows)
    yield ""


def list_cells(
    verb: str, drivers: tuple[str, ...], counts: Mapping[str, Mapping[str, Cost]], numbers: tuple[str, ...]
) -> Iterator[str]:
    """List the numbers of one verb: each driver's, then the commits, which are the database's."""
    for driver in drivers:
        yield from (str(counts[driver][verb][number]) for number in numbers[:-1])
    commits = {counts[driver][verb]["commits"] for driver in drivers}
    assert len(commits) == 1, f"the drivers of one family commit differently: {verb}"
    yield str(commits.pop())


def name_number(number: str) -> str:
    """Name a number as a reader would."""
    return number.replace("_", " ")
