"""What a proxy has seen and what it is to do: the one place where its thread and the test's meet, under one lock."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable

from tests.proxy.faults import Fault, Plan

PATIENCE_SECONDS = 10
"""How long a test waits for the proxy: far longer than a local server needs, far shorter than a test may take."""


class Record:
    """Counts, texts and faults of one proxy."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.plan = Plan()
        self.trips = 0
        self.statements: list[str] = []
        self.fired: list[Fault] = []
        self.under_way = 0
        self.held: list[Callable[[], object]] = []
        self.problems: list[BaseException] = []

    def reset(self) -> None:
        """Forget what was counted, seen and fired; what is planned stays planned."""
        with self.changed:
            self.trips = 0
            self.statements.clear()
            self.fired.clear()

    def note_request(self, texts: tuple[str, ...]) -> Fault | None:
        """Note a request, and answer the fault it meets. None: carry it as it is."""
        with self.changed:
            self.statements.extend(texts)
            fault = self.plan.take_for(texts)
            if fault is not None:
                self.fired.append(fault)
                self.under_way += 1
            self.changed.notify_all()
            return fault

    def note_trip(self) -> None:
        """Note that everything a client had asked has been answered."""
        with self.changed:
            self.trips += 1

    def note_effect(self) -> None:
        """Note that a fault has had its whole effect on the server."""
        with self.changed:
            self.under_way -= 1
            self.changed.notify_all()

    def note_problem(self, problem: BaseException) -> None:
        """Note an error of the proxy itself, for the end of the test."""
        with self.changed:
            self.problems.append(problem)

    def hold(self, release: Callable[[], object]) -> None:
        """Keep what releases a held request."""
        with self.changed:
            self.held.append(release)

    def release(self) -> None:
        """Release every held request."""
        with self.changed:
            if not self.held:
                raise RuntimeError("no request is held back: plan a Late fault, and release it after it has fired")
            for release in self.held:
                release()
            self.held.clear()

    def wait_until_settled(self) -> None:
        """Wait until a fault has fired and none is under way any more."""
        with self.changed:
            if not self.changed.wait_for(lambda: self.fired and not self.under_way, PATIENCE_SECONDS):
                lack = "a held request was not released or not answered" if self.fired else "no planned fault has fired"
                raise TimeoutError(f"waited {PATIENCE_SECONDS} s for the faults to settle, but {lack}")

    def wait_for_statement(self, pattern: str) -> None:
        """Wait until a client has sent a statement like this."""
        sought = re.compile(pattern, re.IGNORECASE | re.DOTALL)
        with self.changed:
            if not self.changed.wait_for(lambda: any(map(sought.search, self.statements)), PATIENCE_SECONDS):
                raise TimeoutError(f"waited {PATIENCE_SECONDS} s, but no client sent a statement like {pattern!r}")
