"""Suspects: when an actor does something else than before, what it asked that nobody recorded."""

from __future__ import annotations

import dataclasses
import os
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import semel

SOURCES = {
    "time": "the time",
    "random": "random numbers",
    "_random": "random numbers",
    "secrets": "random numbers",
    "_socket": "the network",
    "socket": "the network",
    "_thread": "threads",
    "threading": "threads",
    "io": "files",
    "_io": "files",
    "datetime": "the time",
}
"""Modules whose answers differ each time, and what they answer about."""

STANDARD = (str(Path(dataclasses.__file__).parent) + os.sep, "<frozen", "<string>")
"""Where the standard library is: what it asks, it asks for whoever called it."""

OTHERS = (str(Path(semel.__file__).parent) + os.sep, sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
"""Where Semel and installed libraries are: what they ask for themselves is not what the user's action depends on."""

TIMELESS = frozenset({"timedelta", "strptime", "fromisoformat", "combine", "isoformat", "strftime", "replace"})
"""What the module datetime answers alike each time."""


@contextmanager
def watching_suspects() -> Iterator[list[str]]:
    """Note which of the sources are asked meanwhile, the last one last."""
    seen: list[str] = []

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "c_call":
            name = suspect_of(argument)
            asker = asker_of(frame) if name is not None else None
            if asker is not None:
                seen.append(f"{name} in {asker.f_code.co_filename}, line {asker.f_lineno}")

    before: Callable[..., Any] | None = sys.getprofile()
    sys.setprofile(note)
    try:
        yield seen
    finally:
        sys.setprofile(before)


def asker_of(frame: FrameType | None) -> FrameType | None:
    """Answer the user's own line that asked. None: Semel, SQLAlchemy or another library asked for itself."""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(OTHERS):
            return None
        if not file.startswith(STANDARD):
            return frame
        frame = frame.f_back
    return None


def suspect_of(function: Any) -> str | None:
    """Answer what a built-in function asks about, with its own name. None: nothing that differs each time."""
    owner = getattr(function, "__self__", None)
    kind = owner if isinstance(owner, type) else type(owner)
    module = getattr(function, "__module__", None) or kind.__module__
    name = getattr(function, "__name__", "")
    if module == "builtins":
        module = getattr(owner, "__name__", "")
    if module not in SOURCES or name in TIMELESS:
        return None
    return f"{SOURCES[module]} ({module}.{name})"
