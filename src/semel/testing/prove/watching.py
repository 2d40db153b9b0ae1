"""Watching: what every step is judged by as soon as it is carried out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from math import inf
from typing import Any

from semel.outcomes import Busy, Done, Missed, Moved, NotAllowed, Rejected
from semel.store.claims import NAME
from semel.store.entity import Entity
from semel.testing.invariants import (
    ALWAYS,
    BETWEEN,
    FINISHES,
    ClaimRow,
    EffectRow,
    MovedRow,
    Picture,
    name_of,
)
from semel.testing.prove.images import Image, Images
from semel.testing.prove.landing import Landing
from semel.testing.prove.positions import Broken, Position
from semel.testing.prove.stage import Stage
from semel.testing.prove.worlds import DELIVERY, Worlds

PICTURES_KEPT = 512
"""How many pictures are kept: a step looks at two, and its neighbours at the same ones."""

HEARD = "heard"
"""The kind of what was done outside by somebody who knew that their claim was gone."""

TOLD_DONE = (Done, Moved)
TOLD_NOTHING = (Busy, NotAllowed, Missed, Rejected)
LOSING = (Busy, NotAllowed, Missed)


class Watcher:
    """Judges steps and databases."""

    def __init__(self, stage: Stage, images: Images) -> None:
        """Have seen nothing yet."""
        self.stage = stage
        self.images = images
        self._sound: set[int] = set()
        self.picture = lru_cache(PICTURES_KEPT)(self._picture)

    def watch(self, base: Image, landing: Landing, position: Position, *, is_late: bool) -> None:
        """Write onto a landing what was seen, and what is wrong with it."""
        seen = set()
        if landing.missed:
            seen.add("a losing CAS")
        if landing.fenced:
            seen.add("a fenced zombie")
        problem = next(self._judge(base, landing, position, seen), None)
        if problem is None and landing.position.deed is None and not is_late:
            problem = next(self._judge_outcome(landing, seen), None)
        landing.seen = frozenset(seen)
        landing.problem = problem

    def _judge(self, base: Image, landing: Landing, position: Position, seen: set[str]) -> Iterator[tuple[str, str]]:
        if landing.image is not base:
            yield from self.judge_image(landing.image)
            before, after = self.picture(base.number), self.picture(landing.image.number)
            for change in BETWEEN:
                yield from ((name_of(change), words) for words in change(before, after))
            if position.actor.is_keeper:
                yield from self._judge_keeper(base, landing.image, position, seen)
        for name, _key, _intent, kind in landing.reached:
            if kind == HEARD:
                yield (
                    "who lost a claim stops",
                    f"{position.actor.name} knew that its claim was gone, and still reached {name}",
                )

    def judge_image(self, image: Image) -> Iterator[tuple[str, str]]:
        """Go through what is wrong with a database; each is judged once."""
        if image.number in self._sound:
            return
        picture = self.picture(image.number)
        for check in ALWAYS:
            yield from ((name_of(check), words) for words in check(picture))
        # Only here when nothing was found: whoever asks stops at the first.
        self._sound.add(image.number)

    def _judge_keeper(self, base: Image, after: Image, position: Position, seen: set[str]) -> Iterator[tuple[str, str]]:
        """A claim is taken from its holder only if its lease is over, and the keeper has waited one itself."""
        table = self.stage.own.claims.name
        later = {key_of(each): each for each in self.images.values(after, table)}
        for claim in self.images.values(base, table):
            changed = later[key_of(claim)]
            is_taken = not changed["held"] or changed["fence"] != claim["fence"]
            if not claim["held"] or not is_taken or claim["owner"] == position.actor.name:
                continue
            seen.add("a takeover")
            name, where = position.actor.name, f"{claim['entity']} {claim['row_id']}"
            if not changed["held"] and claim["recovery"] != "revert":
                yield "keepers obey the claim row", f"{name} released {where}, whose claim says {claim['recovery']!r}"
            if claim["owner"] is None:
                continue
            if claim["next_look_us"] > self.images.now_of(base):
                yield "slow is not dead", f"{name} took the claim on {where} before its lease was over"
            elif position.waited - first_sight(position, claim) < claim["lease_us"] / 1_000_000:
                yield "slow is not dead", f"{name} took the claim on {where} without seeing one heartbeat for a lease"

    def _judge_outcome(self, landing: Landing, seen: set[str]) -> Iterator[tuple[str, str]]:
        """Nobody is told what is not so."""
        position = landing.position
        outcome = position.outcome
        if isinstance(outcome, Broken):
            yield "nobody breaks", f"{position.actor.name} raised {outcome.kind}: {outcome.words}"
        if position.actor.is_keeper:
            return
        told = outcome if isinstance(outcome, tuple) else (outcome,)
        if any(isinstance(each, LOSING) for each in told):
            seen.add("a losing CAS")
        owned = f"{position.actor.number + 1:016x}"
        kinds = FINISHES | {"transition"}
        moves = sum(
            1
            for move in self.picture(landing.image.number).journal
            if move.operation_id.startswith(owned) and move.kind in kinds
        )
        done = sum(1 for each in told if isinstance(each, TOLD_DONE))
        certain = all(isinstance(each, TOLD_DONE + TOLD_NOTHING) for each in told)
        if done > moves:
            yield (
                "nobody is lied to",
                f"{position.actor.name} was told {told}, and the journal has {moves} of its moves",
            )
        if certain and self._holds(landing.image, position.actor.name):
            yield "nobody is lied to", f"{position.actor.name} was told {told}, and holds a claim without knowing"
        if certain and moves > done:
            yield "nobody is lied to", f"{position.actor.name} was told {told}, and still moved {moves} times"

    def _holds(self, image: Image, owner: str) -> bool:
        return any(
            each["held"] and each["owner"] == owner for each in self.images.values(image, self.stage.own.claims.name)
        )

    def _picture(self, number: int) -> Picture:
        return make_picture(self.stage, self.images, self.images.all[number], frozenset())


def key_of(claim: dict[str, Any]) -> tuple[Any, ...]:
    """Answer which claim it is."""
    return tuple(claim[name] for name in NAME)


def first_sight(position: Position, claim: dict[str, Any]) -> float:
    """Answer when, on its own clock, a keeper first saw this claim with the heartbeat it has now; infinity: never."""
    wanted = (*key_of(claim), claim["fence"], claim["beats"])
    first = inf
    at: Position | None = position
    while at is not None and at.parent is not None:
        if getattr(at.parent.deed, "name", "") == "find_due_claims" and any(row[:7] == wanted for row in at.seen):
            first = at.parent.waited
        at = at.parent
    return first


def make_picture(stage: Stage, images: Images, image: Image, delivered: frozenset[str]) -> Picture:
    """Read a database as the invariants want it."""
    own = stage.own
    rows = {name: dict(read_rows(entity, images.values(image, name))) for name, entity in stage.entities.items()}
    return Picture(
        rows=rows,
        journal=[_pick(MovedRow, each) for each in images.values(image, own.journal.name)],
        claims=[_pick(ClaimRow, each) for each in images.values(image, own.claims.name)],
        effects=[_pick(EffectRow, each) for each in images.values(image, own.outbox.name)],
        workflows=stage.workflows,
        delivered=delivered,
    )


def read_rows(entity: Entity, rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, tuple[str, int]]]:
    """Read the users' rows: id, status and version."""
    for row in rows:
        status = entity.codec.decode(row[entity.status.name])
        yield str(row[entity.id.name]), (status, row[entity.version.name])


def _pick(kind: Any, row: dict[str, Any]) -> Any:
    return kind(**{name: row[name] for name in kind.__dataclass_fields__})


def delivered_ids(worlds: Worlds, world: int) -> frozenset[str]:
    """Answer the ids of the after-effects that their handlers have seen."""
    return frozenset(key for _, key, _, kind in worlds.all[world] if kind == DELIVERY)


__all__ = ["Watcher", "delivered_ids", "make_picture"]
