"""After-effects."""

from __future__ import annotations

from typing import Any, ClassVar

from semel.testing.prove.hands import Hands
from semel.testing.prove.life import Deeds
from semel.testing.prove.scenario import actor
from semel.testing.prove.shipped.shop import CLAIM, Shop, make_workflow, pay


def write_mail(effect: Any) -> Deeds:
    """Send the mail once, however often it is delivered."""
    yield from effect.write_once("INSERT INTO mails (effect_id) VALUES (?)", effect.id)


class AfterEffects(Shop):
    """A caller pays, two couriers deliver the mail that the payment owes; one of them looks after claims too."""

    workflows: ClassVar[Any] = (make_workflow(**CLAIM, recovery="revert", success_after_effect=["Mail"]),)
    extra: ClassVar[tuple[str, ...]] = (*Shop.extra, "CREATE TABLE mails (effect_id TEXT NOT NULL) STRICT")
    effects: ClassVar[Any] = {"Mail": write_mail}
    keepers: ClassVar[tuple[str, ...]] = ("courier",)
    keeper_count: ClassVar[Any] = {"courier": 2}
    recovery: ClassVar[tuple[str, ...]] = ("janitor", "courier")
    sometimes: ClassVar[Any] = ("a crash at every boundary", "a losing CAS", "a late arrival")

    @actor()
    def customer(self, once: Hands) -> Deeds:
        """Pay, and try twice more."""
        return pay(once, tries=3)

    def check(self, w: Any) -> None:
        """A mail exists if, and only if, the order is paid, and was handed over at least once."""
        super().check(w)
        is_paid = w.value("SELECT status FROM orders WHERE id = 1") == "paid"
        mails = w.value("SELECT count(*) FROM mails")
        assert mails == is_paid, f"there are {mails} mails, and the order is {'' if is_paid else 'not '}paid"
        assert not is_paid or w.delivered("Mail") >= 1, "the mail was never handed over"
