"""The story of a violation: one line a step, who and what, the two lines that matter marked."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from semel.testing.prove.carrying import Answer
from semel.testing.prove.cast import Cast
from semel.testing.prove.images import CLOCK_TABLE, Image
from semel.testing.prove.landing import Landing
from semel.testing.prove.moves import NOBODY, Label, State
from semel.testing.prove.positions import Position

FAULTS = frozenset({"crash", "lost done", "lost undone", "lost late", "jump"})

WHAT_MOVED = {
    "claim": "takes the claim",
    "finish": "finishes the step",
    "release": "releases the claim",
    "takeover": "takes the claim over",
    "transition": "moves the row",
    "step": "takes the step",
    "abandoned": "asks what became of its lost commit, and forbids it",
}
"""What a step is called by the journal row it wrote."""

WHAT_WAS_ASKED = {
    "find_due_claims": "looks for claims whose lease is over",
    "find_due_effects": "looks for after-effects that are due",
    "read_status": "reads the status of the row",
    "read_claim": "reads the claim again",
    "read_holder": "asks who holds the row",
    "take_effect_if_due": "takes an after-effect for one attempt",
    "deliver_effect_if_taken": "writes down that it was delivered",
    "postpone_effect_if_taken": "writes down that it failed",
    "give_lease_up": "gives its lease up",
    "lock_row_or_skip": "tries to claim the row",
    "lock_row_if_fenced": "begins to write under its claim",
    "lock_row": "locks the row",
    "lock_claim": "locks the row and its claim",
    "abandon_operation_unless_committed": "asks what became of its lost commit",
}
"""What a step is called that moved nothing, by the first of its statements that is known."""

HOW_LOST = {
    "lost done": "the answer is lost; it was done",
    "lost undone": "the answer is lost; it was not done",
    "lost late": "the answer is lost; it is still on its way",
}


HOW_RESOLVED = {
    "commits": "was not waiting any more: its lost commit is done",
    "vanishes": "had lost its commit: it never happens",
}


@dataclass
class Line:
    """One step of a story."""

    who: str
    what: str
    change: str = ""
    is_change: bool = False
    is_fault: bool = False
    matters: bool = False


@dataclass(frozen=True)
class Story:
    """What happened, in order, and what is wrong with it."""

    scenario: str
    invariant: str
    words: str
    lines: tuple[Line, ...]

    @property
    def steps(self) -> int:
        """How long it is: its faults and its changes from one actor to another."""
        faults = sum(line.is_fault for line in self.lines)
        actors = [line.who for line in self.lines if not line.is_fault]
        return faults + sum(1 for earlier, later in itertools.pairwise(actors) if earlier != later)

    def text(self) -> str:
        """Write it down."""
        width = max((len(line.who) for line in self.lines), default=0)
        lines = [f"{self.scenario}: {self.invariant} does not hold: {self.words}"]
        for number, line in enumerate(self.lines, 1):
            mark = "►" if line.matters else " "
            change = f"  → {line.change}" if line.change else ""
            lines.append(f" {mark}{number:>3}  {line.who:<{width}}  {line.what}{change}")
        return "\n".join(lines)


class Teller:
    """Tells stories of one cast."""

    def __init__(self, cast: Cast) -> None:
        """Keep the cast."""
        self.cast = cast

    def tell(self, invariant: str, words: str, path: tuple[tuple[Label, State], ...], after: tuple[str, ...]) -> Story:
        """Tell how a violation came about."""
        pairs = list(itertools.pairwise(path))
        lines = [self._line(label, before, now) for (_, before), (label, now) in pairs]
        lines = list(leave_out_noise(lines, words))
        lines += [Line("keepers", each) for each in after]
        lines = merge_repeated(lines)
        mark_what_matters(lines)
        return Story(self.cast.scenario.name, invariant, words, tuple(lines))

    def _line(self, label: Label, before: State, now: State) -> Line:
        kind, who, at = label
        if kind == "jump":
            return Line("the clock", f"of the database jumps {at / 1_000_000:g} s, past a deadline", is_fault=True)
        name = self.cast.actors[who].name
        change = describe_change(self.cast, self.cast.images.all[before[0]], self.cast.images.all[now[0]])
        if kind in HOW_RESOLVED:
            return Line(name, HOW_RESOLVED[kind], change, is_change=kind == "commits")
        position = self.cast.positions.all[at]
        if kind == "crash":
            return Line(name, "dies", is_fault=True)
        if kind == "beat":
            return Line(name, "sends a heartbeat", change)
        if kind == "arrive":
            what = "call" if type(position.deed).__name__ == "Reach" else "commit"
            return Line(name, f"was not waiting any more: its lost {what} arrives late", change, is_change=True)
        landing = self._landing(kind, before, position, who)
        told = self._told(landing, position)
        if kind == "step":
            both = "; ".join(filter(None, (change, told)))
            return Line(name, self._phrase(before, now, landing, position), both, is_change=landing.wrote)
        return Line(name, f"{self._phrase(before, now, landing, position)}: {HOW_LOST[kind]}", change, is_fault=True)

    def _landing(self, kind: str, before: State, position: Position, who: int) -> Landing:
        answer = Answer.GIVEN if kind == "step" else Answer.LOST_APPLIED if kind == "lost done" else Answer.LOST_UNDONE
        images = self.cast.images.all
        opened = images[before[4]] if before[3] == who and before[3] != NOBODY else None
        return self.cast.carrier.carry(images[before[0]], position, opened, answer)

    def _told(self, landing: Landing, position: Position) -> str:
        if landing.position.deed is not None or position.actor.is_keeper:
            return ""
        outcome = landing.position.outcome
        told = outcome if isinstance(outcome, tuple) else (outcome,)
        return "is told " + ", then ".join(map(str, told)) if told != (None,) else ""

    def _phrase(self, before: State, now: State, landing: Landing, position: Position) -> str:
        deed = position.deed
        if landing.reached:
            name, _, intent, kind = landing.reached[-1]
            return f"delivers {name} of {intent}" if kind == "delivery" else f"makes the call {name} for {intent}"
        if type(deed).__name__ == "Stand":
            return "begins its action"
        journal = self.cast.images.journal
        images = self.cast.images.all
        kinds = [row["kind"] for row in _new_rows(self.cast, images[before[0]], images[now[0]], journal)]
        for kind in kinds:
            if kind in WHAT_MOVED:
                return WHAT_MOVED[kind]
        for name in landing.names:
            if name in WHAT_WAS_ASKED:
                return WHAT_WAS_ASKED[name]
        return ", ".join(landing.names).replace("_", " ") or type(deed).__name__


def leave_out_noise(lines: list[Line], words: str) -> Iterator[Line]:
    """Leave out looks that saw nothing to do, and those who changed nothing: a story is about what changed."""
    for number, line in enumerate(lines):
        later = [each for each in lines[number:] if each.who == line.who]
        has_part = any(each.is_fault or each.is_change for each in lines if each.who == line.who) or line.who in words
        if has_part and any(each.is_fault or each.change for each in later):
            yield line


def merge_repeated(lines: list[Line]) -> list[Line]:
    """Tell once what somebody does several times without any change."""
    merged: list[tuple[Line, int]] = []
    for line in lines:
        last, count = merged[-1] if merged else (None, 0)
        if last == line and not line.change and not line.is_fault:
            merged[-1] = line, count + 1
        else:
            merged.append((line, 1))
    for line, count in merged:
        if count > 1:
            line.what += f", {count} times"
    return [line for line, _ in merged]


def mark_what_matters(lines: list[Line]) -> None:
    """Mark where it shows, and what made it so: the last fault or change by somebody else before it."""
    effective = [line for line in lines if line.is_fault or line.change]
    if not effective:
        return
    last = effective[-1]
    last.matters = True
    for line in reversed(effective[:-1]):
        if line.is_fault or line.who != last.who:
            line.matters = True
            return


def _new_rows(cast: Cast, before: Image, now: Image, table: str) -> list[Mapping[str, Any]]:
    old = [tuple(row.items()) for row in cast.images.values(before, table)]
    return [row for row in cast.images.values(now, table) if tuple(row.items()) not in old]


def describe_change(cast: Cast, before: Image, now: Image) -> str:
    """Say what is different in the database. Empty: nothing."""
    if before is now:
        return ""
    said: list[str] = []
    own = cast.stage.own
    for table in cast.images.columns:
        if table in (CLOCK_TABLE, own.journal.name, "sqlite_sequence") or before.content[table] == now.content[table]:
            continue
        old = {row[0]: dict(zip(cast.images.columns[table], row[1:], strict=True)) for row in before.content[table]}
        new = {row[0]: dict(zip(cast.images.columns[table], row[1:], strict=True)) for row in now.content[table]}
        changed = [rowid for rowid in sorted(old.keys() | new.keys()) if old.get(rowid) != new.get(rowid)]
        said.extend(_describe_row(cast, table, old.get(rowid), new.get(rowid)) for rowid in changed)
    return "; ".join(filter(None, said))


def _describe_row(cast: Cast, table: str, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> str:
    own = cast.stage.own
    if table == own.claims.name and new is not None:
        if not new["held"]:
            return f"the claim of step {new['step_key']} is closed"
        return f"the claim of step {new['step_key']} is held by {new['owner'] or 'nobody'}, fence {new['fence']}"
    if table == own.outbox.name and new is not None:
        return f"the after-effect {new['name']} is {new['state']}"
    if new is None:
        return f"a row of {table} is gone"
    if old is None:
        return f"a row of {table} is there"
    shown = {name: (old[name], new[name]) for name in new if old[name] != new[name]}
    words = ", ".join(
        f"{name} {was!r} → {now!r}" if name != "version" else f"version {now}" for name, (was, now) in shown.items()
    )
    return f"{table} {new.get('id', '')}: {words}"
