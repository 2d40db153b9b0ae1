"""What is wrong, where, and how to mend it."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

Place: TypeAlias = tuple[str | int, ...]
"""Keys and positions from the top of a document, as if every value for requesters were written as a map and every list
as a list. `path_of` leaves out what the document leaves out."""

SHOWN_CHARACTERS = 60  # enough to recognize a value by, short enough for one line of a terminal
PLAIN_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z")


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of one file. `rule` is `R1` … `R14`, or `shape`; `path` is a JSON path."""

    rule: str
    file: str
    path: str
    message: str

    def __str__(self) -> str:
        """Write it as one line."""
        return f"{self.file}: {self.path}: {self.rule}: {self.message}"


def path_of(document: object, place: Place) -> str:
    """Write the JSON path of the deepest part of a place that the document really has."""
    path, here = "$", document
    for segment in place:
        if isinstance(here, Mapping):
            key = segment if segment in here else "*"
            if key not in here:
                return path
            path, here = path + write_key(str(key)), here[key]
        elif isinstance(segment, int) and isinstance(here, list | tuple):
            if segment >= len(here):
                return path
            path, here = f"{path}[{segment}]", here[segment]
    return path


def write_key(key: str) -> str:
    """Write one key of a JSON path."""
    return f".{key}" if PLAIN_KEY.match(key) else f"[{json.dumps(key)}]"


def show(value: object) -> str:
    """Show a value of a document in a sentence, cut short."""
    text = repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


def suggest(given: str, known: Iterable[str]) -> str:
    """Answer a half sentence that names the nearest known word, or an empty text."""
    nearest = difflib.get_close_matches(given, list(known), n=1)
    return f" Did you mean {nearest[0]!r}?" if nearest else ""
