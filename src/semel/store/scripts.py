"""Semel's own tables as reviewed SQL, read from `store/sql/`.

One file per dialect, part, version and piece: `core_1_pre.sql` adds what version 1 of part *core* needs and runs before the
new code is deployed, `core_1_mark.sql` then writes the version down, and `core_1_post.sql` takes away what only older code
needed, and runs when that code is gone. In the files {p} stands for the schema and prefix of a table, {i} for the prefix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal, TypeAlias

from semel.store.dialects import Family
from semel.store.tables import PARTS, OwnTables

Half: TypeAlias = Literal["pre", "post"]

HALVES: tuple[Half, ...] = ("pre", "post")

VERSIONS: dict[str, int] = {"core": 1}
"""The version of each part that this Semel needs."""

INSTALLATION = "installation"
"""The fact in the table *meta* that tells this database from every other one."""

SQL = files("semel.store") / "sql"


@dataclass(frozen=True)
class Script:
    """One half of one version of one part: what it changes, and the marks that say so when it is done."""

    part: str
    version: int
    half: Half
    changes: tuple[str, ...]
    marks: tuple[str, ...] = ()

    @property
    def statements(self) -> tuple[str, ...]:
        """All of it, in order."""
        return self.changes + self.marks


def write_scripts(family: Family, tables: OwnTables, *, start: int = 0, parts: tuple[str, ...] = PARTS) -> list[Script]:
    """Answer the SQL that leads from version `start` of each part to the one this Semel needs; none, if it is there."""
    return [
        script
        for part in parts
        for version in range(start + 1, VERSIONS[part] + 1)
        for half in HALVES
        if (script := _read_script(family, tables, part, version, half)).statements
    ]


def _read_script(family: Family, tables: OwnTables, part: str, version: int, half: Half) -> Script:
    def read(piece: str) -> tuple[str, ...]:
        return tuple(_read_statements(family, tables, f"{part}_{version}_{piece}.sql"))

    return Script(part, version, half, changes=read(half), marks=read("mark") if half == "pre" else ())


def _read_statements(family: Family, tables: OwnTables, name: str) -> Iterator[str]:
    found = SQL / family / name
    if not found.is_file():
        return
    text = found.read_text(encoding="utf-8").replace("{p}", tables.named("")).replace("{i}", tables.prefix)
    for statement in text.split(";\n"):
        if statement.strip():
            yield statement.strip()


def write_drop(tables: OwnTables) -> list[str]:
    """Answer the SQL that removes every table of Semel's, and with them what they remember."""
    names = ("keepers", "outbox", "claims", "journal", "meta")
    return [f"DROP TABLE IF EXISTS {tables.named(name)}" for name in names]
