"""The outside world: what was done there, as a set; and what a scenario may ask about it and about the database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

Event: TypeAlias = tuple[str, str, str, str]
"""(name, key, intent, kind): what was done under which key, for which business intent."""

DELIVERY = "delivery"


class Worlds:
    """Every outside world that can come about, each kept once. A key that is repeated does nothing again."""

    def __init__(self) -> None:
        """Begin with nothing done."""
        self.all: list[frozenset[Event]] = [frozenset()]
        self._numbers: dict[frozenset[Event], int] = {frozenset(): 0}

    def after(self, world: int, events: Iterable[Event]) -> int:
        """Answer the world after more was done in it."""
        if not events:
            return world
        made = self.all[world] | set(events)
        number = self._numbers.get(made)
        if number is None:
            number = self._numbers[made] = len(self.all)
            self.all.append(made)
        return number


def find_repeated_intents(events: frozenset[Event]) -> Iterator[str]:
    """Find what was done twice for one business intent, each time under another key."""
    keys: dict[tuple[str, str], set[str]] = {}
    for name, key, intent, kind in events:
        if kind != DELIVERY:
            keys.setdefault((name, intent), set()).add(key)
    for (name, intent), found in sorted(keys.items()):
        if len(found) > 1:
            yield f"{name} was done {len(found)} times for {intent}, under {len(found)} keys"


class Witness:
    """What `world` and `check` are given: the database, and what was done outside."""

    def __init__(self, connection: sqlite3.Connection, events: frozenset[Event] = frozenset()) -> None:
        """Look at one moment."""
        self._connection = connection
        self._events = events

    def insert(self, table: str, **values: object) -> None:
        """Insert a row."""
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        self._connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values()))  # noqa: S608 - the scenario's own names

    def rows(self, text: str, *bound: object) -> list[tuple[Any, ...]]:
        """Answer the rows of a SELECT."""
        return self._connection.execute(text, bound).fetchall()

    def value(self, text: str, *bound: object) -> Any:
        """Answer the one value of a SELECT; None if there is no row."""
        rows = self.rows(text, *bound)
        return rows[0][0] if rows else None

    def effects(self, name: str) -> int:
        """Answer how often something was done outside, however often it was asked for under one key."""
        return sum(1 for event in self._events if event[0] == name and event[3] != DELIVERY)

    def delivered(self, name: str) -> int:
        """Answer how many after-effects of this name their handler has seen."""
        return sum(1 for event in self._events if event[0] == name and event[3] == DELIVERY)
