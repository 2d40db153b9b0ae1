"""Carrying out: what one boundary of one actor does to a database, done once and remembered.

A step of the search is one deed, or all deeds of one transaction. What it does is a function of the database and of the
actor's position alone, so it is carried out once through the real statements and looked up ever after.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from enum import Enum
from typing import Any

from semel.testing.prove.deeds import LOST, UNANSWERED, Begin, Commit, Hand, Query, Raised, Reach, Rollback, Stand
from semel.testing.prove.images import Image, Images
from semel.testing.prove.landing import Landing
from semel.testing.prove.positions import Position, Positions
from semel.testing.prove.watching import HEARD, Watcher
from semel.testing.prove.worlds import DELIVERY


class Answer(Enum):
    """What becomes of the answer to a write or COMMIT."""

    GIVEN = "given"
    LOST_APPLIED = "lost, but done"
    LOST_UNDONE = "lost, and not done"
    LATE = "nobody waits for it any more"


LOSSES = (Answer.LOST_APPLIED, Answer.LOST_UNDONE)

LOCKED = Raised("OperationalError", "database is locked: your own open transaction holds it", 5)
"""What a second connection of one process hears that wants to write beside its own open transaction."""

FENCED_WRITES = frozenset({"move_row_out_of_claim_if_fenced", "lock_row_if_fenced", "leave_claim_if_fenced"})
"""The statements by which a holder learns that its claim is somebody else's."""


FOREIGN_WORDS = ("near ", "no such function", "unrecognized token", "unknown database")
"""How SQLite says that a statement is of another dialect."""


class Forbidden(Exception):  # noqa: N818 - it ends the search with its own words
    """A protocol did what no protocol may do."""


class Carrier:
    """Carries steps out."""

    def __init__(self, images: Images, positions: Positions, watcher: Watcher, *, remembers: bool = True) -> None:
        """Remember nothing yet."""
        self.images = images
        self.positions = positions
        self.watcher = watcher
        self.remembers = remembers
        self.carried = 0
        self.seen: set[str] = set()
        self._known: dict[tuple[int, int, int, Answer], Landing] = {}
        self._judged: set[str] = set()

    def carry(self, image: Image, position: Position, opened: Image | None, answer: Answer) -> Landing:
        """Answer where the next step of a position lands."""
        key = (image.number, position.number, -1 if opened is None else opened.number, answer)
        found = self._known.get(key)
        if found is None:
            found = Attempt(self, image, position, opened, answer).run()
            self.watcher.watch(image, found, position, is_late=answer is Answer.LATE)
            self.seen |= found.seen
            self.carried += 1
            if self.remembers:
                self._known[key] = found
        return found

    def judge(self, query: Query) -> None:
        """Refuse a statement that reads the journal by anything but the operation id: the hash would be blind to it."""
        if query.text in self._judged:
            return
        words = query.text
        reads = not words.startswith("INSERT") and self.images.journal in words
        if reads and "operation_id" not in words.partition("WHERE")[2]:
            raise Forbidden(f"{query.name} reads the journal by something else than the operation id: {words}")
        self._judged.add(query.text)


class Attempt:
    """One step that is being carried out."""

    def __init__(
        self, carrier: Carrier, image: Image, position: Position, opened: Image | None, answer: Answer
    ) -> None:
        """Put the database on the connection."""
        self.carrier = carrier
        self.base = image
        self.position = position
        self.answer = answer
        self.connection = carrier.images.restore(image)
        self.inside = opened is not None
        self.within = 0
        if self.inside:
            self._begin_again()
        self.private = opened
        self.changes = self.connection.total_changes
        self.reached: list[tuple[str, str, str, str]] = []
        self.names: list[str] = []
        self.missed = False
        self.fenced = False
        self.committed = False
        self.result = image

    def _begin_again(self) -> None:
        """Bring a transaction back to where it stopped, savepoints included: nobody else has written meanwhile."""
        path = list(since_begin(self.position))
        begin = path[0].deed
        assert isinstance(begin, Begin), "a transaction begins with it"
        self.within = begin.connection
        self.connection.execute("BEGIN IMMEDIATE")
        for each in path:
            if isinstance(each.deed, Query) and each.deed.connection == self.within:
                run(self.connection, each.deed)

    def run(self) -> Landing:
        """Carry out deeds up to the next boundary."""
        while not self._carry_one() and self.position.deed is not None:
            pass
        if self.inside:
            return self._stop_inside()
        return self._land(None)

    def _land(self, opened: Image | None) -> Landing:
        return Landing(
            self.result,
            self.position,
            opened,
            tuple(self.reached),
            tuple(self.names),
            self.result is not self.base,
            self.missed,
            self.fenced,
        )

    def _stop_inside(self) -> Landing:
        """A boundary inside a transaction: what it wrote is kept as a database of its own, which nobody else sees."""
        self.connection.execute("COMMIT")
        if self.position.deed is None:
            self.carrier.images.forget()
            return self._land(None)  # the actor ended without its COMMIT: its connection takes everything along
        return self._land(self.carrier.images.keep())

    def _carry_one(self) -> bool:
        """Carry one deed out; answer whether a boundary follows."""
        deed = self.position.deed
        connection = getattr(deed, "connection", self.within)
        if self.inside and connection != self.within:
            return self._carry_beside(deed)
        match deed:
            case Query():
                return self._query(deed)
            case Begin():
                self.connection.execute("BEGIN IMMEDIATE")
                self.inside, self.within = True, deed.connection
                self._see(None)
                return False
            case Commit():
                self._commit()
                return True
            case Rollback():
                if self.inside:
                    self.connection.execute("ROLLBACK")
                self.inside = False
                self._see(None)
                return True
            case Stand():
                self._see(None)
                return True
            case Reach() | Hand():
                self._reach(deed)
                return True
        raise AssertionError(f"{deed} is no deed")

    def _carry_beside(self, deed: Any) -> bool:
        """Another connection of somebody whose transaction is open: it reads what is committed, and cannot write."""
        if isinstance(deed, Query) and not deed.writes:
            self.names.append(deed.name)
            self._see(run(self.carrier.images.aside(self.base), deed))
        else:
            self._see(LOCKED)
        return False

    def _see(self, seen: Any) -> None:
        self.position = self.carrier.positions.after(self.position, seen)

    def _reach(self, deed: Reach | Hand) -> None:
        self.names.append(deed.name)
        if self.answer is not Answer.LOST_UNDONE:
            self.reached.append(event_of(deed))
        self._see(UNANSWERED if self.answer in LOSSES else None)

    def _query(self, query: Query) -> bool:
        self.carrier.judge(query)
        self.names.append(query.name)
        alone = not self.inside
        if alone and query.writes and self.answer in LOSSES:
            if self.answer is Answer.LOST_APPLIED:
                run(self.connection, query)
                self._keep()
            self._see(LOST)
            return True
        seen = run(self.connection, query)
        empty = seen in ((), 0) or (query.wants == "all" and isinstance(seen, tuple) and not seen[0] and seen[2] <= 0)
        self.missed |= empty and query.writes
        self.fenced |= empty and query.name in FENCED_WRITES
        if alone:
            self._keep()
        self._see(seen)
        return alone or self._is_at_boundary()

    def _is_at_boundary(self) -> bool:
        return isinstance(self.position.deed, Reach | Hand | Stand)

    def _commit(self) -> None:
        self.inside = False
        if self.answer is Answer.LOST_UNDONE:
            self.connection.execute("ROLLBACK")
            self._see(LOST)
            return
        self.connection.execute("COMMIT")
        self._keep()
        self._see(LOST if self.answer is Answer.LOST_APPLIED else None)

    def _keep(self) -> None:
        if self.private is not None or self.connection.total_changes != self.changes:
            self.result = self.carrier.images.keep()


def event_of(deed: Reach | Hand) -> tuple[str, str, str, str]:
    """Answer what a deed does outside."""
    if isinstance(deed, Reach):
        return deed.name, deed.key, deed.intent, HEARD if deed.heard_of_loss else ""
    return deed.name, deed.effect_id, f"{deed.entity} {deed.row_id}", DELIVERY


def since_begin(position: Position) -> Iterator[Position]:
    """Go through the positions of an open transaction, from the one that begins it to the last before this."""
    path: list[Position] = []
    at = position
    while at.parent is not None:
        path.append(at.parent)
        if isinstance(at.parent.deed, Begin) and at.seen is None:
            return reversed(path)
        at = at.parent
    raise AssertionError("what is open was begun")


def run(connection: sqlite3.Connection, query: Query) -> Any:
    """Run a statement on the database; answer what its actor sees."""
    try:
        cursor = connection.execute(query.text, query.bound)
        if query.wants == "count":
            return cursor.rowcount
        rows = tuple(cursor.fetchall())
        if query.wants == "rows":
            return rows
        names = cursor.description and tuple(each[0] for each in cursor.description)
        return rows, names, cursor.rowcount, cursor.lastrowid
    except sqlite3.Error as problem:
        if query.wants == "all" and str(problem).startswith(FOREIGN_WORDS):
            words = f"this statement does not run on SQLite ({problem}), so nothing is proven here: {query.text}"
            raise Forbidden(words) from problem
        return Raised(type(problem).__name__, str(problem), getattr(problem, "sqlite_errorcode", None))
