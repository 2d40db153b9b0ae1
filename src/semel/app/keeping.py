"""The keepers of an application: which duties its processes run, over which workflows and tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from semel.app.setup import Setup
from semel.asks import ClaimName
from semel.keepers.courier import LEASES_IN_AN_ATTEMPT, Courier
from semel.keepers.duty import Duty
from semel.keepers.janitor import Janitor
from semel.keepers.reaper import Reaper
from semel.keepers.resumer import Resumer
from semel.keepers.stranded import MICROSECONDS, Due, Territory
from semel.protocols.errand import Errand
from semel.store.claims import Claims
from semel.workflow.model import Step


def list_duties(setup: Setup) -> list[Duty]:
    """Answer every duty this process can do."""

    def find_claims(name: ClaimName) -> Claims | None:
        bound = setup.bound_claimed(name)
        return None if bound is None else bound.claims

    territory = Territory(setup.keeping, lambda: [workflow.name for workflow in setup.workflows], find_claims)
    resumer = Resumer(territory, lambda due, row: make_errand(setup, due, row), lambda: setup.owner)
    attempt_us = int(setup.settings.lease_seconds * LEASES_IN_AN_ATTEMPT * MICROSECONDS)
    courier = Courier(setup.outbox, lambda: list(setup.registry.effects), lambda: setup.owner, attempt_us)
    return [Janitor(territory), resumer, courier, Reaper(setup.reaping)]


def make_errand(setup: Setup, due: Due, row: Sequence[Any]) -> tuple[Errand, Step] | None:
    """Make the errand that a claim row stands for. None: this process does not know its step or its action."""
    requester, input_text, _pass, _resumes, lease_us, claim_status, _back_to, _hash = row
    name = due.stranded.name
    workflow = next((each for each in setup.workflows if each.name == name.workflow), None)
    step = workflow.step_at(name.step_key, name.status) if workflow is not None else None
    if workflow is None or step is None or claim_status not in workflow.statuses:
        return None
    action = step.action_for(requester)
    if not step.may_be_taken_by(requester) or (action is not None and action not in setup.registry.actions):
        return None
    errand = Errand(
        claims=due.stranded.claims,
        workflow=workflow,
        row=due.stranded.row,
        key=step.key,
        requester=requester,
        input_text=input_text,
        input=None if input_text is None else json.loads(input_text),
        owner=setup.owner,
        lease_us=lease_us,
        steps={step.status: step},
    )
    return errand, step
