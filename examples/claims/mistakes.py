"""Three mistakes in one file, told at once, each with its place and its remedy."""

from semel import ConfigError, Semel

WORKFLOW = {
    "workflow": "billing",
    "entity_table": "billing_periods",
    "status_types": ["draft", "approved", "closing", "closed"],
    "initial": "draft",
    "terminal": ["closed"],
    "steps": [
        {
            "step_id": 10,
            "step_key": "approve",
            "status": "draft",
            "successful_state": {"admin": "approved", "cron": "aproved"},
        },
        {
            "step_id": 20,
            "step_key": "close",
            "status": "approved",
            "successful_claim_state": {"admin": ["closing", "draft"]},
            "successful_state": {"admin": "closed"},
            "action": {"admin": "CloseBiling"},
        },
    ],
}

once = Semel("sqlite:///billing.db", workflows=WORKFLOW)
once.action("CloseBilling")(lambda _step: None)

try:
    once.boot()
except ConfigError as problem:
    print(problem)
