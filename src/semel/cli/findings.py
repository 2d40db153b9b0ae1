"""What the doctor knows and what it says: facts, findings, and the words for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from semel.errors import SemelError

Verdict: TypeAlias = Literal["ok", "warn", "problem"]


@dataclass(frozen=True, slots=True)
class File:
    """A SQLite file and its folder."""

    path: str
    is_writable: bool
    has_writable_folder: bool


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that was gathered about one database.

    `server`, `schema` and `counting` are the errors that a boot would raise; None: it would not. `is_pooled` is what the app
    was told about a pooler; None: there is no app to know.
    """

    family: str
    settings: Mapping[str, str]
    server: SemelError | None
    schema: SemelError | None
    counting: SemelError | None
    versions: Mapping[str, int]
    ahead_seconds: float
    unsure_seconds: float
    behind_pooler: bool
    is_pooled: bool | None
    file: File | None


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found: how it stands, the value that was seen, and what to do (empty: nothing)."""

    verdict: Verdict
    value: str
    advice: str = ""


Judge: TypeAlias = Callable[[Facts], Finding]


@dataclass(frozen=True, slots=True)
class Check:
    """One check of the doctor: what it looks at, why, for which family (None: every one), and who judges it."""

    subject: str
    why: str
    family: str | None
    judge: Judge


def fine(value: str) -> Finding:
    """Nothing to do."""
    return Finding("ok", value)


def doubtful(value: str, advice: str) -> Finding:
    """Safe, but not as good as it could be."""
    return Finding("warn", value, advice)


def bad(value: str, advice: str) -> Finding:
    """Not safe for money."""
    return Finding("problem", value, advice)


def refused(problem: SemelError) -> Finding:
    """What boot would refuse."""
    return bad(f"{problem.code}: {problem.happened}", problem.remedy)
