"""Whether what a borrowed SQLite handle commits is on the disk when its COMMIT returns."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

READ_SYNCHRONOUS = "PRAGMA synchronous"
"""Asks the connection, not the file: each connection has its own."""

FULL = 2
"""What SQLite calls FULL; EXTRA is one more."""

_OURS = str(Path(__file__).parents[1])


def warn_if_not_durable(rows: Sequence[Sequence[Any]]) -> None:
    """Warn at the caller's line: below FULL a commit that returned can be lost with the power, and money with it."""
    if rows[0][0] < FULL:
        text = (
            "on= was given a SQLite connection with PRAGMA synchronous below FULL: a power cut undoes its last commits. "
            "Set it when you connect: PRAGMA synchronous = FULL."
        )
        warnings.warn(text, UserWarning, stacklevel=count_own_frames())


def count_own_frames() -> int:
    """Answer how many frames up the user's code is, seen from the caller of this function."""
    frame, count = inspect.currentframe(), 0
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame, count = frame.f_back, count + 1
    return count
