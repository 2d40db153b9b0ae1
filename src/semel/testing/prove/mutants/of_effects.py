"""Mutants of after-effects."""

from __future__ import annotations

from typing import Any, ClassVar

from semel.asks import Asking, Deliver, Execute
from semel.keepers import courier
from semel.protocols import advance, claim, effect
from semel.protocols.claim import Held, Leave
from semel.testing.prove.budgets import Budgets
from semel.testing.prove.mutants.mutant import Change, Mutant
from semel.testing.prove.mutants.tampering import instead, is_named, later, tampered
from semel.testing.prove.shipped.effects import AfterEffects

EFFECT = "effect"


def deliver_first(held: Held, leave: Leave, *rest: Any) -> Asking[Any]:
    """Deliver what a finish owes before it is committed."""
    name = held.wish.name
    for effect_id, each in leave.effects:
        yield Deliver(effect_id, each.name, name.entity, name.row_id, each.payload, 1)
    return (yield from _leave_claim(held, leave, *rest))


_leave_claim = claim.leave_claim


def write_down_first(outbox: Any, owed: Any, *rest: Any) -> Asking[Any]:
    """Write an effect down as delivered, and then deliver it."""

    def meddle(ask: Any) -> Asking[Any]:
        if isinstance(ask, Deliver):
            attempt = {"effect_id": owed.effect_id, "attempts": owed.attempts + 1, "owner": rest[0]}
            yield Execute(outbox.deliver_effect_if_taken, attempt)
            return (yield ask)
        if is_named(ask, "deliver_effect_if_taken"):
            return 1
        return (yield ask)

    return (yield from tampered(_deliver_effect, meddle)(outbox, owed, *rest))


_deliver_effect = effect.deliver_effect


class NoCourier(AfterEffects):
    """The same shop without couriers."""

    keepers: ClassVar[tuple[str, ...]] = ()
    recovery: ClassVar[tuple[str, ...]] = ("janitor",)


MUTANTS = (
    Mutant("after-effect before commit", EFFECT, AfterEffects, (Change(advance, "leave_claim", deliver_first),)),
    Mutant(
        "after-effect in its own transaction",
        EFFECT,
        AfterEffects,
        (Change(advance, "leave_claim", tampered(_leave_claim, later("write_1_effects"))),),
    ),
    Mutant(
        "delivered before it is delivered", EFFECT, AfterEffects, (Change(courier, "deliver_effect", write_down_first),)
    ),
    Mutant(
        "never written down as delivered",
        EFFECT,
        AfterEffects,
        (Change(courier, "deliver_effect", tampered(_deliver_effect, instead("deliver_effect_if_taken", 1))),),
        Budgets(0, 0, 0, 0),
    ),
    Mutant("no courier", "courier", NoCourier, budgets=Budgets(0, 0, 0, 0)),
)
