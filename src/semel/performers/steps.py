"""`Step` and `AsyncStep`: what an action is given."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from semel.asks import Recorded, StepFacts
from semel.errors import ClaimLeft, error
from semel.performers.stage import AsyncStage, Stage, SyncStage
from semel.store.outbox import EFFECTS_LIMIT
from semel.store.tables import NAME_CHARACTERS

Row = TypeVar("Row")

JSON_BYTES = 64 * 1024
"""How large an input or payload may be: a message, not a file."""


def write_json(value: object, what: str) -> str:
    """Write a value as the JSON that is stored, or refuse it by name."""
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise error("SEMEL-STEP-4", what=what, reason=str(problem)) from None
    if len(text.encode()) > JSON_BYTES:
        raise error(
            "SEMEL-STEP-4", what=what, reason=f"it has {len(text.encode())} bytes, and the limit is {JSON_BYTES}"
        )
    return text


class _StepFacts(Generic[Row]):
    """What both kinds of steps know without asking."""

    def __init__(self, stage: Stage) -> None:
        """Keep the stage the action runs on."""
        self._stage = stage

    @property
    def _facts(self) -> StepFacts:
        return self._stage.facts

    @property
    def row(self) -> Row:
        """The row as the step found it, frozen; write through `session`."""
        row: Any = self._stage.row  # a snapshot that reads like the mapped class
        return row  # type: ignore[no-any-return] # see above

    @property
    def id(self) -> Any:
        """The row's id."""
        return self._facts.row

    @property
    def input(self) -> Any:
        """What `advance` was given, as it was stored with the claim: a re-run reads the same."""
        return self._facts.input

    @property
    def requester(self) -> str:
        """On whose behalf the step runs."""
        return self._facts.requester

    @property
    def key(self) -> str:
        """The step's key."""
        return self._facts.step_key

    @property
    def fence(self) -> int | None:
        """The version this claim took; None for a step without a claim."""
        return self._facts.fence

    @property
    def attempt(self) -> int:
        """0 for the first run, then how often keepers have run the step again."""
        return self._facts.attempt

    def after(self, name: str, /, **payload: Any) -> None:
        """Record an after-effect: it is owed by the same commit as the finish, and delivered after it, at least once."""
        self._stage.check()
        if not 0 < len(name) <= NAME_CHARACTERS:
            raise error(
                "SEMEL-STEP-4", what="the name of an after-effect", reason=f"it needs 1 to {NAME_CHARACTERS} characters"
            )
        if len(self._stage.effects) >= EFFECTS_LIMIT:
            raise error(
                "SEMEL-ROW-5",
                count=EFFECTS_LIMIT + 1,
                what="after-effects",
                limit=EFFECTS_LIMIT,
                remedy="Make it a job.",
            )
        self._stage.effects.append(Recorded(name, write_json(payload, f"the payload of {name!r}")))


class Step(_StepFacts[Row]):
    """A step that is being taken: what a `def` action of `Semel` is given."""

    _stage: SyncStage

    @property
    def session(self) -> Session:
        """The session of the finishing transaction. Its first statement opens it, with the fenced lock of the row."""
        return self._stage.session

    def read(self, statement: Any, params: Any = None) -> Sequence[Any]:
        """Read without opening the finishing transaction; answer the rows."""
        return self._stage.read(statement, params)


class AsyncStep(_StepFacts[Row]):
    """A step that is being taken: what an `async def` action of `AsyncSemel` is given."""

    _stage: AsyncStage

    @property
    def session(self) -> AsyncSession:
        """The session of the finishing transaction. Its first statement opens it, with the fenced lock of the row."""
        return self._stage.session

    async def read(self, statement: Any, params: Any = None) -> Sequence[Any]:
        """Read without opening the finishing transaction; answer the rows."""
        return await self._stage.read(statement, params)


__all__ = ["AsyncStep", "ClaimLeft", "Step", "write_json"]
