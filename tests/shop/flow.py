"""The workflow of the shop whose processes die in these tests: one step of every form."""

from __future__ import annotations

import copy
from typing import Any

_FLOW: dict[str, Any] = {
    "workflow": "orders",
    "entity_table": "orders",
    "status_types": [
        "pending", "paying", "paid", "delivering", "delivered", "inspecting", "inspected", "cancelled", "dropped", "closed"
    ],
    "initial": "pending",
    "terminal": ["cancelled", "dropped", "closed"],
    "steps": [
        {
            "step_id": 1, "step_key": "pay", "status": "pending",
            "successful_claim_state": ["paying", "pending"], "successful_state": "paid",
            "validate": "Sober", "action": "Act", "success_after_effect": ["Receipt"], "recovery": "revert",
        },
        {
            "step_id": 2, "step_key": "deliver", "status": "pending",
            "successful_claim_state": ["delivering", "pending"], "successful_state": "delivered",
            "action": "Act", "success_after_effect": ["Receipt"], "recovery": "resume",
        },
        {
            "step_id": 3, "step_key": "inspect", "status": "pending",
            "successful_claim_state": ["inspecting", "pending"], "successful_state": "inspected",
            "action": "Act", "recovery": "review",
        },
        {
            "step_id": 4, "step_key": "cancel", "status": "pending", "successful_state": "cancelled",
            "validate": "Sober", "action": "Act", "success_after_effect": ["Receipt"],
        },
        {
            "step_id": 5, "step_key": "drop", "status": "pending", "successful_state": "dropped",
            "success_after_effect": ["Receipt", "Mail"],
        },
        {"step_id": 6, "step_key": "close", "status": "paid", "successful_state": "closed", "success_after_effect": ["Mail"]},
        {"step_id": 7, "step_key": "close", "status": "delivered", "successful_state": "closed"},
        {"step_id": 8, "step_key": "close", "status": "inspected", "successful_state": "closed"},
    ],
}  # fmt: skip
"""`pay` is released, `deliver` is run again, `inspect` waits for a person; `cancel` and `drop` need no claim, and `drop` no
action either."""

CLAIM_STATUSES = ("paying", "delivering", "inspecting")


def make_flow(**changes: dict[str, Any]) -> dict[str, Any]:
    """Answer the workflow, with changes to the steps of these keys."""
    flow = copy.deepcopy(_FLOW)
    for step in flow["steps"]:
        step.update(changes.get(step["step_key"], {}))
    return flow
