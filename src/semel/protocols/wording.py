"""Words that are stored: what users' functions say, as every database can hold it."""

from __future__ import annotations

from semel.errors import SemelError


def printable(text: str, limit: int) -> str:
    """Answer a text without what no database takes (NUL, half a surrogate pair), in bounds."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")[:limit]


def tell_problem(problem: BaseException, limit: int) -> str:
    """Answer what was raised, in words that can be stored. Semel's own errors speak for themselves."""
    if isinstance(problem, SemelError):
        return printable(problem.happened, limit)
    kind = type(problem).__name__
    try:
        said = str(problem)
    except Exception:  # noqa: BLE001 - an error that cannot even say what it is must not be a second one
        said = "it could not say what"
    return printable(f"{kind}: {said}", limit)
