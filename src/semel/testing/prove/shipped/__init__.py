"""The scenarios that ship with Semel: its own protocols, in small worlds."""

from __future__ import annotations

from semel.testing.prove.scenario import Scenario
from semel.testing.prove.shipped.claims import (
    ClaimWithRejection,
    ClaimWithResume,
    ClaimWithRevert,
    StepAgainstClaim,
    TwoVersions,
)
from semel.testing.prove.shipped.effects import AfterEffects
from semel.testing.prove.shipped.transitions import BulkTransitions, Transitions

SCENARIOS: tuple[type[Scenario], ...] = (
    Transitions,
    BulkTransitions,
    ClaimWithRevert,
    ClaimWithRejection,
    ClaimWithResume,
    TwoVersions,
    StepAgainstClaim,
    AfterEffects,
)
