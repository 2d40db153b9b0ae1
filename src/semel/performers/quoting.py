"""How errors quote what came from outside: the first line of a driver's message, the kind of a handle."""

from __future__ import annotations

import re
from typing import Any

REASON_CHARACTERS = 300
"""How much of a driver's message is quoted: its first line, not the row that it complains about."""

GIVEN_CHARACTERS = 60
"""How much of what is not a handle at all is quoted: enough to recognise it."""

_ALIAS = re.compile(r"[\w.-]{1,60}\Z")


def quote(problem: BaseException) -> str:
    """Answer the first line of a driver's message, in bounds."""
    lines = str(problem).strip().splitlines()
    first = lines[0] if lines else ""
    return f"{type(problem).__name__}: {first}"[:REASON_CHARACTERS]


def name_of(given: Any) -> str:
    """Answer how a handle is called in an error. A text is shown only if it can be an alias: a URL would hold a password."""
    if isinstance(given, str):
        return repr(given) if _ALIAS.match(given) else f"a text of {len(given)} characters"
    kind = type(given)
    if kind.__module__ == "builtins":
        return repr(given)[:GIVEN_CHARACTERS]
    return f"{kind.__module__.split('.')[0]}.{kind.__qualname__}"
