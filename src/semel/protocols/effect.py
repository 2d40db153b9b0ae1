"""Delivering an after-effect: take it for one attempt, run its handler, write down how it went.

The crash argument, gap by gap
- Taken, and the process dies before or in the handler: the attempt's lease runs out, and another attempt is made. Delivery
  is at least once; the effect's id is always the same, and a handler that must not repeat itself asks `first_time`. An
  attempt is counted when it is taken, so a handler that ends its process every time is parked too.
- The handler is done, and the process dies before that is written down: delivered once more, as above.
- Two couriers take the same effect: the attempt number is compared in the write, so only one has it. A courier that was
  slower than its lease finds another attempt, or another owner of one that counts anew, and changes nothing.
- Order: an effect is not taken while its row owes an earlier one. One that is parked holds up the later ones, and shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from semel.asks import Asking, Deliver, Execute
from semel.protocols.wording import tell_problem
from semel.store.outbox import Outbox

ATTEMPTS_LIMIT = 10
"""How often a delivery is tried: with the pauses below, for eight and a half hours, a night."""

FIRST_PAUSE_SECONDS = 5.0
LONGEST_PAUSE_SECONDS = 4 * 3600.0
"""The pauses between attempts triple, from five seconds to four hours: a mail server's lunch break, and its bad night."""

NEVER_ENDED = "none of its deliveries came to an end: does its handler end its process?"

PROBLEM_CHARACTERS = 1_000
"""How much of what a handler raised is kept."""

MICROSECONDS = 1_000_000

Delivered: TypeAlias = Literal["delivered", "postponed", "parked", "taken"]


@dataclass(frozen=True)
class Owed:
    """An effect that is due, as a courier found it."""

    effect_id: str
    name: str
    entity: str
    row_id: str
    payload: str
    attempts: int


def deliver_effect(outbox: Outbox, owed: Owed, owner: str, lease_us: int) -> Asking[Delivered]:
    """Make one attempt. "taken": another courier was first, and nothing was done."""
    attempt = {"effect_id": owed.effect_id, "attempts": owed.attempts, "owner": owner}
    if not (yield Execute(outbox.take_effect_if_due, {**attempt, "lease_us": lease_us})):
        return "taken"
    attempt["attempts"] = owed.attempts + 1
    if owed.attempts >= ATTEMPTS_LIMIT:
        yield Execute(outbox.park_effect_if_taken, {**attempt, "problem": NEVER_ENDED})
        return "parked"
    problem = yield Deliver(owed.effect_id, owed.name, owed.entity, owed.row_id, owed.payload, owed.attempts + 1)
    if problem is None:
        yield Execute(outbox.deliver_effect_if_taken, attempt)
        return "delivered"
    why = tell_problem(problem, PROBLEM_CHARACTERS)
    if owed.attempts + 1 >= ATTEMPTS_LIMIT:
        yield Execute(outbox.park_effect_if_taken, {**attempt, "problem": why})
        return "parked"
    pause = min(FIRST_PAUSE_SECONDS * 3**owed.attempts, LONGEST_PAUSE_SECONDS)
    yield Execute(outbox.postpone_effect_if_taken, {**attempt, "problem": why, "pause_us": int(pause * MICROSECONDS)})
    return "postponed"
