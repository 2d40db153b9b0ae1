"""The pytest plugin: fixtures for tests of applications that use Semel. Nothing heavy is imported until a test asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from semel.testing.clock import VirtualClock


@pytest.fixture
def semel_rehearse() -> Iterator[Callable[[Any, Any], Any]]:
    """Let a booted `Semel` work on the test's own connection: `semel_rehearse(once, connection)`; the test rolls back."""
    from semel.testing.rehearsal import rehearse

    with ExitStack() as stack:
        yield lambda once, connection: stack.enter_context(rehearse(once, connection))


@pytest.fixture
def semel_rehearse_async() -> Callable[[Any, Any], Any]:
    """Answer the same for an `AsyncSemel`, as an async context manager."""
    from semel.testing.rehearsal import rehearse_async

    return rehearse_async


@pytest.fixture
def semel_clock() -> VirtualClock:
    """Answer a clock that the test moves: pass it as `clock=` where the test makes its Semel."""
    from semel.testing.clock import VirtualClock

    return VirtualClock()
