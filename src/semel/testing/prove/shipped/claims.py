"""Steps under a claim."""

from __future__ import annotations

from typing import Any, ClassVar

from semel.testing.prove.hands import Hands
from semel.testing.prove.life import Deeds
from semel.testing.prove.scenario import actor
from semel.testing.prove.shipped.shop import CLAIM, Shop, insist, make_workflow, pay, write_receipt


class ClaimWithRevert(Shop):
    """Two callers pay one order under a claim; a janitor releases what one of them leaves behind."""

    workflows: ClassVar[Any] = (make_workflow(**CLAIM, recovery="revert"),)
    keepers: ClassVar[tuple[str, ...]] = ("janitor",)
    looks = 3

    @actor(times=2)
    def customer(self, once: Hands) -> Deeds:
        """Pay, and try once more if somebody else was at it."""
        return pay(once)


class ClaimWithRejection(Shop):
    """One caller's card is declined, another one's is not: the claim of the first must go back to where it was."""

    workflows: ClassVar[Any] = (make_workflow(**CLAIM, recovery="revert"),)
    keepers: ClassVar[tuple[str, ...]] = ("janitor",)
    finishes = False

    @actor()
    def poor_customer(self, once: Hands) -> Deeds:
        """Pay with a card that is declined."""
        return pay(once, tries=1, given="declined")

    @actor()
    def customer(self, once: Hands) -> Deeds:
        """Pay."""
        return pay(once)


def charge_outside(step: Any) -> Deeds:
    """Charge a card outside, under a key that is the row's, and write a receipt."""
    yield from step.reach("stripe.charge", key=f"orders-{step.id}")
    return (yield from write_receipt(step))


class ClaimWithResume(Shop):
    """Two callers pay with a call outside; what one of them leaves behind is run again by a resumer."""

    workflows: ClassVar[Any] = (make_workflow(**CLAIM, recovery="resume"),)
    actions: ClassVar[Any] = {"Charge": charge_outside}
    keepers: ClassVar[tuple[str, ...]] = ("resumer",)

    @actor(times=2)
    def customer(self, once: Hands) -> Deeds:
        """Pay, and try once more."""
        return pay(once)

    def check(self, w: Any) -> None:
        """The card is charged once, and an order that is paid was charged."""
        super().check(w)
        charges = w.effects("stripe.charge")
        status = w.value("SELECT status FROM orders WHERE id = 1")
        assert charges <= 1, f"the card was charged {charges} times"
        assert status != "paid" or charges == 1, "the order is paid, and nothing was charged"


class TwoVersions(ClaimWithResume):
    """One caller, and a janitor whose files say that the step reverts, beside the resumer that its claim asks for."""

    keepers: ClassVar[tuple[str, ...]] = ("janitor", "resumer")

    @actor()
    def customer(self, once: Hands) -> Deeds:
        """Pay, and try once more."""
        return pay(once)


class StepAgainstClaim(Shop):
    """A caller pays under a claim, while another cancels in one transaction, and a third cancels with an action."""

    workflows: ClassVar[Any] = (
        make_workflow(
            {
                "step_id": 3,
                "step_key": "withdraw",
                "status": "pending",
                "successful_state": "cancelled",
                "action": "Withdraw",
            },
            **CLAIM,
            recovery="revert",
        ),
    )
    extra: ClassVar[tuple[str, ...]] = (*Shop.extra, "CREATE TABLE withdrawals (order_id INTEGER NOT NULL) STRICT")
    keepers: ClassVar[tuple[str, ...]] = ("janitor",)

    @actor()
    def customer(self, once: Hands) -> Deeds:
        """Pay, and try once more."""
        return pay(once)

    @actor()
    def support(self, once: Hands) -> Deeds:
        """Cancel, and insist."""
        return insist(lambda: once.advance("orders", 1, "cancel"), 3)

    @actor()
    def other_tab(self, once: Hands) -> Deeds:
        """Withdraw, and insist."""
        return insist(lambda: once.advance("orders", 1, "withdraw"), 3)

    def check(self, w: Any) -> None:
        """A withdrawal is written if, and only if, the order was withdrawn."""
        super().check(w)
        written = w.value("SELECT count(*) FROM withdrawals")
        done = w.value("SELECT count(*) FROM semel_journal WHERE step_key = 'withdraw' AND kind = 'step'")
        assert written == done, f"{written} withdrawals are written, and {done} happened"


def write_withdrawal(step: Any) -> Deeds:
    """Write why the order was withdrawn."""
    yield from step.write("INSERT INTO withdrawals (order_id) VALUES (?)", step.id)


StepAgainstClaim.actions = {**Shop.actions, "Withdraw": write_withdrawal}
