"""What may come next: every event that a state allows, and the state after it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from semel.testing.prove.carrying import Answer, event_of
from semel.testing.prove.cast import Cast
from semel.testing.prove.deeds import Beaten, Begin, Commit, Hand, Query, Reach, Rollback
from semel.testing.prove.images import Image
from semel.testing.prove.landing import Landing
from semel.testing.prove.positions import Position

State: TypeAlias = tuple[Any, ...]
"""(database, outside world, commits under way, whose transaction is open, its database, faults left, positions…)"""

Label: TypeAlias = tuple[str, int, int]
"""(what happened, to whom, at which position or moment)"""

NOBODY = -1
DEAD = -1
UNDER_WAY = -2
"""A holder from here on down is a COMMIT that nobody waits for any more: -2 of the first actor, -3 of the second."""

AT_ONCE = frozenset(
    {
        ("lock_1_rows", "move_1_locked_rows_if_in_source", "write_1_journal_rows"),
        ("lock_row_or_skip", "move_row_into_claim_if_in_status", "write_claim", "write_move"),
        ("move_row_out_of_claim_if_fenced", "close_claim_if_fenced", "write_move"),
        ("move_row_out_of_claim_if_fenced", "close_claim_if_fenced", "write_move", "write_1_effects"),
    }
)
"""The transactions that PostgreSQL is sent as one statement. One that arrives late decides when it arrives, as a statement
alone does; any other has its locks since it asked, so nobody writes before its COMMIT is done or is not."""
ACTORS_FROM = 6


class Event(NamedTuple):
    """Something that may happen."""

    label: Label
    after: State
    landing: Landing | None


class Moves:
    """Knows what may happen."""

    def __init__(self, cast: Cast) -> None:
        """Keep the cast."""
        self.cast = cast
        self.images = cast.images.all
        self.positions = cast.positions.all
        self.carry = cast.carrier.carry

    def start(self, left: tuple[int, ...]) -> State:
        """Answer the first state."""
        first = (self.cast.images.first.number, 0, (), NOBODY, NOBODY, left)
        return (*first, *(each.number for each in self.cast.starts))

    def after(self, state: State) -> Iterator[Event]:
        """Go through everything that may happen next."""
        left = state[5]
        is_over = True
        for place in range(ACTORS_FROM, len(state)):
            at = state[place]
            if at == DEAD:
                continue
            position = self.positions[at]
            if position.deed is None:
                continue
            is_over = False
            yield from self._step(state, place, position)
            if left[0]:
                yield self._crash(state, place)
        if state[3] <= UNDER_WAY:
            yield from self._resolve(state)
        if state[3] == NOBODY:
            for number, at in enumerate(state[2]):
                yield self._arrive(state, number, self.positions[at])
            if left[2] and not is_over:
                yield from self._jump(state)

    def _step(self, state: State, place: int, position: Position) -> Iterator[Event]:
        who = place - ACTORS_FROM
        holder = state[3]
        if holder not in (NOBODY, who) and is_writer(position):
            return  # somebody's transaction is open: the database lets no other writer in
        image = self.images[state[0]]
        opened = self.images[state[4]] if holder == who else None
        given = self.carry(image, position, opened, Answer.GIVEN)
        yield Event(("step", who, position.number), self._landed(state, place, given, state[5]), given)
        if state[5][1] and (opened is not None or may_be_lost(position)):
            yield from self._lose(state, place, position, opened, given)
        if position.is_beating:
            yield self._beat(state, place, position)

    def _lose(
        self, state: State, place: int, position: Position, opened: Image | None, given: Landing
    ) -> Iterator[Event]:
        who = place - ACTORS_FROM
        image = self.images[state[0]]
        crashes, unknown, clock, late = state[5]
        undone = self.carry(image, position, opened, Answer.LOST_UNDONE)
        if undone.position is given.position:
            return  # it rolled back by itself: there was no answer to lose
        left = (crashes, unknown - 1, clock, late)
        after = self._landed(state, place, undone, left)
        yield Event(("lost undone", who, position.number), after, undone)
        if not given.wrote and not given.reached:
            return
        done = self.carry(image, position, opened, Answer.LOST_APPLIED)
        yield Event(("lost done", who, position.number), self._landed(state, place, done, left), done)
        if late and given.opened is None and not isinstance(position.deed, Hand):
            left = (crashes, unknown - 1, clock, late - 1)
            under_way, holder, private = after[2], after[3], after[4]
            if isinstance(position.deed, Reach) or (opened is None and is_at_once(position, given)):
                under_way = tuple(sorted((*under_way, position.number)))
            else:
                holder, private = UNDER_WAY - who, done.image.number
            label = ("lost late", who, position.number)
            yield Event(label, (*after[:2], under_way, holder, private, left, *after[6:]), undone)

    def _landed(self, state: State, place: int, landing: Landing, left: tuple[int, ...]) -> State:
        holder, opened = state[3], state[4]
        if landing.opened is not None:
            holder, opened = place - ACTORS_FROM, landing.opened.number
        elif holder == place - ACTORS_FROM:
            holder, opened = NOBODY, NOBODY
        world = self.cast.worlds.after(state[1], landing.reached) if landing.reached else state[1]
        return (
            landing.image.number,
            world,
            state[2],
            holder,
            opened,
            left,
            *state[ACTORS_FROM:place],
            landing.position.number,
            *state[place + 1 :],
        )

    def _crash(self, state: State, place: int) -> Event:
        who = place - ACTORS_FROM
        crashes, unknown, clock, late = state[5]
        holder, opened = (NOBODY, NOBODY) if state[3] == who else (state[3], state[4])
        left = (crashes - 1, unknown, clock, late)
        after = (*state[:3], holder, opened, left, *state[ACTORS_FROM:place], DEAD, *state[place + 1 :])
        return Event(("crash", who, state[place]), after, None)

    def _arrive(self, state: State, number: int, position: Position) -> Event:
        under_way = (*state[2][:number], *state[2][number + 1 :])
        if isinstance(position.deed, Reach):
            world = self.cast.worlds.after(state[1], (event_of(position.deed),))
            after: State = (state[0], world, under_way, *state[3:])
            return Event(("arrive", position.actor.number, position.number), after, None)
        landing = self.carry(self.images[state[0]], position, None, Answer.LATE)
        after = (landing.image.number, state[1], under_way, *state[3:])
        return Event(("arrive", position.actor.number, position.number), after, landing)

    def _resolve(self, state: State) -> Iterator[Event]:
        """The COMMIT that is under way, with all its locks, is done or is not."""
        who = UNDER_WAY - state[3]
        rest = (NOBODY, NOBODY, *state[5:])
        yield Event(("commits", who, state[4]), (state[4], state[1], state[2], *rest), None)
        yield Event(("vanishes", who, state[4]), (*state[:3], *rest), None)

    def _jump(self, state: State) -> Iterator[Event]:
        crashes, unknown, clock, late = state[5]
        left = (crashes, unknown, clock - 1, late)
        for moment, image in self.cast.jumps(self.images[state[0]]):
            yield Event(("jump", NOBODY, moment), (image.number, *state[1:5], left, *state[ACTORS_FROM:]), None)

    def _beat(self, state: State, place: int, position: Position) -> Event:
        image, held = self.cast.beat(self.images[state[0]], position)
        after = self.cast.positions.after(position, Beaten(held)).number
        moved = (image.number, *state[1:place], after, *state[place + 1 :])
        return Event(("beat", place - ACTORS_FROM, position.number), moved, None)


def may_be_lost(position: Position) -> bool:
    """Whether a lost answer leaves it unknown what the next step did."""
    return is_writer(position) or isinstance(position.deed, Reach | Hand)


def is_at_once(position: Position, given: Landing) -> bool:
    """Whether the next step is one statement, here or on PostgreSQL, which decides when it arrives."""
    return isinstance(position.deed, Query) or given.names in AT_ONCE


def is_writer(position: Position) -> bool:
    """Whether the next step needs the database's only write lock."""
    deed = position.deed
    return deed.writes if isinstance(deed, Query) else isinstance(deed, Begin | Commit | Rollback)
