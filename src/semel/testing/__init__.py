"""For tests of your own: scenarios that `semel prove` kills and interleaves, and the invariants that must hold."""

from __future__ import annotations

from semel.testing.prove.scenario import Scenario, actor

__all__ = ["Scenario", "actor"]
