"""Run the store as its users do: `python -m media_store serve` in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import httpx2

READY = re.compile(r"Uvicorn running on (http://127\.0\.0\.1:\d+)")
OPERATOR = {"Authorization": "Bearer operator"}
LAST_LINES = 40  # what is shown of a server that did not start: a traceback and what led to it


class Server:
    """One process that answers HTTP."""

    def __init__(self, url: str) -> None:
        """Start it; `wait` for it before it is asked."""
        command = [sys.executable, "-m", "media_store", "serve", "--db", url, "--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.said: deque[str] = deque(maxlen=LAST_LINES)
        self.address = ""
        self.settled = threading.Event()
        # All that it says is read, or it would stop when the pipe is full.
        self.listener = threading.Thread(target=self.listen)
        self.listener.start()

    def listen(self) -> None:
        """Keep the last lines that it says, and find the one that says where it listens."""
        with self.process.stderr as stream:
            for line in stream:
                self.said.append(line)
                if found := READY.search(line):
                    self.address = found[1]
                    self.settled.set()
        self.settled.set()

    def wait(self) -> None:
        """Wait until it listens, or has ended."""
        self.settled.wait()
        assert self.address, f"the server did not start:\n{''.join(self.said)}"

    def client(self, **options: object) -> httpx2.Client:
        """Answer a client for it."""
        return httpx2.Client(base_url=self.address, **options)

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait()
        self.listener.join()


@contextmanager
def serving(url: str, processes: int = 1) -> Iterator[list[Server]]:
    """Run servers on one database, started together."""
    with ExitStack() as running:
        servers = [Server(url) for _ in range(processes)]
        for server in servers:
            running.callback(server.kill)
        for server in servers:
            server.wait()
        yield servers
