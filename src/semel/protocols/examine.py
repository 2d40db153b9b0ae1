"""The doctor's questions, asked over the very connections that the application's verbs use.

The crash argument: nothing here changes a row; the one UPDATE of the counting test writes the value that is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from semel.asks import Asking, Fetch, Now, Tick
from semel.errors import SemelError
from semel.protocols.boot import check_counting
from semel.store.meta import Meta
from semel.store.settings import Settings


@dataclass(frozen=True, slots=True)
class Clocked:
    """The database's clock, and the local monotonic one just before and just after it was asked."""

    database_us: int
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Examined:
    """What was found. `counting` is the error that the counting test met; None: it counts as it should."""

    settings: Mapping[str, str]
    clock: Clocked
    counting: SemelError | None


def examine(settings: Settings, meta: Meta, driver: str) -> Asking[Examined]:
    """Read the settings and the clock, and test how the driver counts."""
    found = yield Fetch(settings.read_settings, {})
    before = yield Tick()
    now = yield Now()
    after = yield Tick()
    problem: SemelError | None = None
    try:
        yield from check_counting(meta, driver)
    except SemelError as trouble:
        problem = trouble
    values = {str(name): "" if value is None else str(value) for name, value in found}
    return Examined(values, Clocked(now, before, after), problem)
