from __future__ import annotations

from semel.store.guard import find_resting
from semel.workflow.load import load
from semel.workflow.model import Workflow


def make_workflow(**changes: object) -> Workflow:
    """A workflow with a claim, a step that leads back to its own status, and a status that other code enters."""
    steps = [
        {
            "step_id": 1,
            "step_key": "pay",
            "status": "new",
            "successful_claim_state": ["paying", "new"],
            "successful_state": "paid",
        },
        {"step_id": 2, "step_key": "touch", "status": "paid", "successful_state": ["paid", "sent"]},
        {"step_id": 3, "step_key": "hold", "status": "new", "successful_state": "held"},
        {"step_id": 4, "step_key": "free", "status": "held", "successful_state": "new"},
    ]
    document = {
        "workflow": "orders",
        "entity_table": "orders",
        "status_types": ["new", "paying", "paid", "held", "sent", "lost"],
        "initial": "new",
        "terminal": ["sent"],
        "outside": ["lost"],
        "steps": steps,
    }
    (workflow,) = load(document | changes).workflows
    return workflow


def test_the_version_may_grow_by_itself_where_semel_lets_it() -> None:
    """In a claim that is taken over, in a step that leads back, and where other code may move as it likes."""
    assert find_resting(make_workflow()) == ("lost", "paid", "paying")


def test_a_move_that_the_application_allows_is_lent_too() -> None:
    """`allow=` of the handle lists what no step declares; a terminal status rests for nobody."""
    assert find_resting(make_workflow(), {("held", "held"), ("new", "held"), ("sent", "sent")}) == (
        "held",
        "lost",
        "paid",
        "paying",
    )
