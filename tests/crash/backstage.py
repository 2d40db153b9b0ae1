"""The test's side of `actor`: start it, tell it what to do, hear what came of it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance.faces import Colour

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Ended:
    """How a child ended: its exit code, negative for a signal; what it answered before; how many boundaries it crossed."""

    code: int
    answer: str | None
    boundaries: int


class Actor:
    """One actor process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def tell(self, **words: Any) -> Ended:
        """Let a child do something until it ends."""
        self._say(words)
        return self._hear_end()

    def tell_until_stopped(self, **words: Any) -> int:
        """Let a child do something until it stops itself; answer its process id."""
        self._say(words)
        child: int = self._hear()["stopped"]
        return child

    def wake(self, child: int) -> Ended:
        """Let a stopped child go on until it ends."""
        self._say({"wake": child})
        return self._hear_end()

    def _say(self, words: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()

    def _hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the actor itself has ended"
        heard: dict[str, Any] = json.loads(line)
        return heard

    def _hear_end(self) -> Ended:
        answer, boundaries = None, 0
        while "ended" not in (heard := self._hear()):
            answer, boundaries = heard["answer"], heard["boundaries"]
        return Ended(heard["ended"], answer, boundaries)


@contextmanager
def start_actor(url: str, colour: Colour) -> Iterator[Actor]:
    """Start an actor on a database that has every table, and end it."""
    command = [sys.executable, "-m", "tests.crash.actor", url, colour]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            actor = Actor(process)
            assert actor._hear() == {"booted": True}
            yield actor
        finally:
            process.kill()
