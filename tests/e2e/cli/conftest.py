from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SEMEL = Path(sys.executable).parent / "semel"
WAIT_SECONDS = 60  # a hundred times what the slowest command needs


@dataclass(frozen=True)
class Run:
    """What a command said, and its exit status."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on standard output."""
        return json.loads(self.out)


class Shell:
    """Runs `semel` as a process of its own, in an empty folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {name: value for name, value in os.environ.items() if name != "SEMEL_APP"}

    def run(self, *words: str, env: Mapping[str, str] | None = None) -> Run:
        """Run one command to its end."""
        return self.run_command([str(SEMEL), *words], env)

    def run_command(self, command: list[str], env: Mapping[str, str] | None = None) -> Run:
        """Run one program to its end."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**self.env, **(env or {})},
            capture_output=True,
            text=True,
            timeout=WAIT_SECONDS,
            check=False,
        )
        return Run(done.returncode, done.stdout, done.stderr)

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a command, and leave its end to the test."""
        return subprocess.Popen(
            [str(SEMEL), *words],
            cwd=self.folder,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def write(self, name: str, text: str) -> Path:
        """Write a file into the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A shell in an empty folder."""
    folder = tmp_path / "folder"
    folder.mkdir()
    return Shell(folder)
