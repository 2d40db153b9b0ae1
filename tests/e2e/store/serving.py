"""Run the store as its users do: `python -m media_store serve` and `worker`, each in a process of its own."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TypeVar

import httpx2

Seen = TypeVar("Seen")

OPERATOR = {"Authorization": "Bearer operator"}
LAST_LINES = 40  # what is shown of a process that did not start: a traceback and what led to it
PATIENCE_SECONDS = 60  # a recovery takes three seconds; on a machine that does other things it may take longer


class Program:
    """One process of the store."""

    command: str
    ready: re.Pattern[str]

    def __init__(self, url: str, *options: str) -> None:
        """Start it; `wait` for it before it is needed."""
        command = [sys.executable, "-m", "media_store", self.command, "--db", url, *options]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.said: deque[str] = deque(maxlen=LAST_LINES)
        self.started: re.Match[str] | None = None
        self.settled = threading.Event()
        # All that it says is read, or it would stop when the pipe is full.
        self.listener = threading.Thread(target=self.listen)
        self.listener.start()

    def listen(self) -> None:
        """Keep the last lines that it says, and find the one that says that it is ready."""
        with self.process.stderr as stream:
            for line in stream:
                self.said.append(line)
                if found := self.ready.search(line):
                    self.started = found
                    self.settled.set()
        self.settled.set()

    def wait(self) -> None:
        """Wait until it is ready, or has ended."""
        self.settled.wait()
        assert self.started, f"the {self.command} did not start:\n{''.join(self.said)}"

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait()
        self.listener.join()

    def stop(self) -> int:
        """Ask it to end, and answer its exit status."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE_SECONDS)
        self.listener.join()
        return self.process.returncode


class Server(Program):
    """One process that answers HTTP."""

    command = "serve"
    ready = re.compile(r"Uvicorn running on (http://127\.0\.0\.1:\d+)")

    def __init__(self, url: str, *options: str) -> None:
        """Start it on a free port."""
        super().__init__(url, "--port", "0", *options)

    @property
    def address(self) -> str:
        """Where it listens."""
        assert self.started is not None
        return self.started[1]

    def client(self, **options: object) -> httpx2.Client:
        """Answer a client for it."""
        return httpx2.Client(base_url=self.address, **options)


class Worker(Program):
    """One process of keepers."""

    command = "worker"
    ready = re.compile(r"the worker keeps")


@contextmanager
def running(*programs: Program) -> Iterator[None]:
    """Wait for programs that were started together, and kill what is left of them in the end."""
    with ExitStack() as started:
        for program in programs:
            started.callback(program.kill)
        for program in programs:
            program.wait()
        yield


@contextmanager
def serving(url: str, processes: int = 1, options: tuple[str, ...] = ()) -> Iterator[list[Server]]:
    """Run servers on one database, started together."""
    servers = [Server(url, *options) for _ in range(processes)]
    with running(*servers):
        yield servers


def see(look: Callable[[], Seen], is_there: Callable[[Seen], bool]) -> Seen:
    """Look again and again until it is there, and answer what was seen; each look asks a process or a database."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not is_there(seen := look()):
        assert time.monotonic() < until, f"this was still so after {PATIENCE_SECONDS} s: {seen}"
    return seen
