"""Pieces of Markdown that more than one page is made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence


def write_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Write a table, line by line. The cells are Markdown already."""
    yield write_row(titles)
    yield write_row(["---"] * len(titles))
    yield from (write_row(row) for row in rows)


def write_row(cells: Sequence[str]) -> str:
    """Write one row of a table; a bar inside a cell would end it."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def quote(text: str) -> str:
    """Write plain text so that Markdown shows it as it is."""
    return re.sub(r"([\\`*_<>\[\]])", r"\\\1", text)
