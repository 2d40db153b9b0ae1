"""One row of the table of texts."""

from __future__ import annotations

from dataclasses import dataclass

from semel.errors.kinds import SemelError


@dataclass(frozen=True, slots=True)
class Text:
    """One row of the table of texts."""

    kind: type[SemelError]
    happened: str
    remedy: str
