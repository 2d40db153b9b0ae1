"""Workflow files that tests start from, and an application that knows their names."""

from __future__ import annotations

import copy
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from semel.workflow.rule import CallFacts

BILLING_TEXT = """
{"$schema": "semel.schema.json", "workflow": "billing", "owning_module": "billing", "entity_table": "billing_periods",
 "status_types": ["draft", "approved", "closing", "closed"], "initial": "draft", "terminal": ["closed"],
 "steps": [
   {"step_id": 10, "step_key": "approve", "status": "draft", "successful_state": {"admin": "approved"}},
   {"step_id": 20, "step_key": "close", "status": "approved",
    "successful_claim_state": {"admin": ["closing", "approved"]},
    "successful_state": {"admin": "closed", "cron": "closed"},
    "action": {"admin": "CloseBilling", "cron": "CloseBilling"},
    "success_after_effect": {"admin": ["SendInvoices"]}, "lease_seconds": 30}]}
"""

ORDERS_TEXT = """
{"workflow": "orders", "entity_table": "orders", "status_types": ["pending", "charging", "paid", "declined", "cancelled"],
 "initial": "pending", "terminal": ["paid", "declined", "cancelled"],
 "steps": [{"step_id": 1, "step_key": "pay", "status": "pending", "successful_claim_state": ["charging", "pending"],
            "successful_state": "paid", "refused_state": "declined", "action": "ChargeOrder", "calls": ["stripe.charge"],
            "recovery": "resume"},
           {"step_id": 2, "step_key": "cancel", "status": "pending", "successful_state": "cancelled"}]}
"""

INVOICES_TOML = """
workflow = "invoices"
owning_module = "billing"
entity_table = "invoices"
status_column = "state"
version_column = "semel_version"
id_column = "number"
status_types = ["sent", "overdue", "applying_payment_from_sent", "applying_payment_from_overdue", "paid", "imported"]
initial = "sent"
terminal = ["paid"]
outside = ["imported"]

[[steps]]
step_id = 1
step_key = "mark_as_overdue"
status = "sent"
successful_state = { cron = "overdue" }

[[steps]]
step_id = 2
step_key = "apply_payment"
status = "sent"
successful_claim_state = ["applying_payment_from_sent", "sent"]
successful_state = ["paid", "sent"]
action = "ApplyPayment"
validate = ["FitsOpenAmount"]
success_after_effect = ["SendReceipt"]
secret_input = ["card_number"]

[[steps]]
step_id = 3
step_key = "apply_payment"
status = "overdue"
successful_claim_state = ["applying_payment_from_overdue", "overdue"]
successful_state = ["paid", "overdue"]
action = "ApplyPayment"
calls = [{ provider = "bank.collect", payload = "CollectPayload" }]
recovery = "review"
wait_seconds = 600
retired = true
"""


def billing() -> dict[str, Any]:
    """The billing workflow, to be changed at will."""
    return json.loads(BILLING_TEXT)


def orders() -> dict[str, Any]:
    """The orders workflow, to be changed at will."""
    return json.loads(ORDERS_TEXT)


@dataclass(frozen=True)
class Application:
    """What an application that runs the examples has registered."""

    actions: Collection[str] = frozenset({"CloseBilling", "ChargeOrder", "ApplyPayment"})
    unrepeatable_actions: Collection[str] = frozenset()
    validators: Collection[str] = frozenset({"FitsOpenAmount"})
    effects: Collection[str] = frozenset({"SendInvoices", "SendReceipt"})
    payloads: Collection[str] = frozenset({"CollectPayload"})
    calls: Mapping[str, CallFacts] = field(
        default_factory=lambda: {
            "stripe.charge": CallFacts(has_probe=True, deduplicates=True, longest_seconds=10.0),
            "bank.collect": CallFacts(has_probe=True, deduplicates=False),
        }
    )
    lease_seconds: float = 30.0


def changed(document: dict[str, Any], *place: Any, to: Any) -> dict[str, Any]:
    """A copy of a document with the value at one place replaced."""
    made = copy.deepcopy(document)
    here: Any = made
    for segment in place[:-1]:
        here = here[segment]
    here[place[-1]] = to
    return made


def without(document: dict[str, Any], *place: Any) -> dict[str, Any]:
    """A copy of a document with one key taken out."""
    made = copy.deepcopy(document)
    here: Any = made
    for segment in place[:-1]:
        here = here[segment]
    del here[place[-1]]
    return made
