"""From the text of a file, or from a dict, to a plain document: objects, lists, texts, numbers, and nothing else.

A document that could be hostile to whoever reads it next is refused here: too deep, too large, not text.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Any, NoReturn

from semel.workflow.problem import Place, show

DEPTH_LIMIT = 16  # the deepest value of a workflow file lies 6 deep; Python itself gives up far later
VALUES_LIMIT = (
    200_000  # more than fits into a file of the largest size, so that a dict made by a program has a bound too
)
REPEATED = object()
"""The key under which the JSON parser leaves a note that a key stood twice in an object. No document can hold it."""


class Unreadable(Exception):  # noqa: N818 - it never leaves this room: a place and a sentence, not an error of a caller
    """A value that no workflow file can hold."""

    def __init__(self, place: Place, message: str) -> None:
        """Keep where the value stands."""
        super().__init__(message)
        self.place = place


def parse_toml(text: str) -> object:
    """Parse TOML. A ValueError says where it is not TOML."""
    return tomllib.loads(text)


def parse_json(text: str) -> object:
    """Parse JSON. A ValueError says where it is not JSON."""
    return json.loads(text, object_pairs_hook=note_repetition, parse_constant=refuse_constant)


def note_repetition(pairs: list[tuple[str, Any]]) -> dict[Any, Any]:
    """Make an object, and note a key that stands in it twice: the parser would drop one of the values in silence."""
    made: dict[Any, Any] = {}
    for key, value in pairs:
        if key in made:
            made[REPEATED] = key
        made[key] = value
    return made


def refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which Python reads and JSON does not know."""
    raise ValueError(f"{name} is not a number of JSON")


class Copying:
    """The making of one plain copy. `repeated` lists the objects in which a key stood twice."""

    def __init__(self) -> None:
        """Begin with nothing copied."""
        self.copied = 0
        self.repeated: list[tuple[Place, str]] = []

    def copy_object(self, given: Mapping[Any, Any], place: Place) -> dict[str, Any]:
        """Copy an object; raise Unreadable at the first value that cannot be one of a workflow file."""
        made = {}
        for key, value in given.items():
            if key is REPEATED:
                self.repeated.append((place, value))
                continue
            if not isinstance(key, str):
                raise Unreadable(place, f"the key {show(key)} is not text; write it in quotes.")
            refuse_surrogates(key, place)
            made[key] = self.copy_value(value, (*place, key))
        return made

    def copy_value(self, given: object, place: Place) -> object:
        """Copy any value; what is neither an object nor a list is kept for the shape to judge."""
        self.copied += 1
        if self.copied > VALUES_LIMIT:
            raise Unreadable((), f"it holds more than {VALUES_LIMIT:,} values; a workflow file never does.")
        if len(place) > DEPTH_LIMIT:
            raise Unreadable(place, f"it is nested deeper than {DEPTH_LIMIT} levels; a workflow file never is.")
        if isinstance(given, Mapping):
            return self.copy_object(given, place)
        if isinstance(given, list | tuple):
            return [self.copy_value(item, (*place, position)) for position, item in enumerate(given)]
        if isinstance(given, str):
            refuse_surrogates(given, place)
        return given


def refuse_surrogates(text: str, place: Place) -> None:
    """Refuse half a character, which JSON can write and no database can store."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Unreadable(place, f"{show(text)} holds half a character; correct the \\u escape.") from None
