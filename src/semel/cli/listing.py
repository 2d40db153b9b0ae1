"""Lists for people: drawn by rich on a terminal, aligned lines everywhere else."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

GAP = "  "


@dataclass(frozen=True)
class Line:
    """One line of a list: a cell for each column, and what to do about it (empty: nothing)."""

    cells: tuple[str, ...]
    advice: str = ""


@dataclass(frozen=True)
class Listing:
    """A list under its title. `note` is said below it, if there is something to say."""

    title: str
    columns: tuple[str, ...]
    lines: tuple[Line, ...]
    note: str = ""


def write_listings(listings: Iterable[Listing], verdict: str) -> str:
    """Write lists, and one sentence that sums them up, for whoever reads standard output."""
    write = write_rich if sys.stdout.isatty() else write_plain
    shown = [write(listing) for listing in listings if listing.lines or listing.note]
    return "\n\n".join([*shown, verdict])


def write_plain(listing: Listing) -> str:
    """Write a list as lines that a log keeps readable: advice stands below what it is about."""
    return "\n".join([listing.title, *align(listing), *([listing.note] if listing.note else [])])


def align(listing: Listing) -> Iterator[str]:
    """Align the cells of a list under their columns."""
    if not listing.lines:
        return
    table: Sequence[Sequence[str]] = [listing.columns, *(line.cells for line in listing.lines)]
    widths = [max(len(cells[place]) for cells in table) for place in range(len(listing.columns))]
    yield join(listing.columns, widths)
    for line in listing.lines:
        yield join(line.cells, widths)
        if line.advice:
            yield f"  -> {line.advice}"


def join(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Join cells, each as wide as its column."""
    return ("  " + GAP.join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))).rstrip()


def write_rich(listing: Listing) -> str:
    """Write a list with lines and colours, wrapped to the terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    advised = any(line.advice for line in listing.lines)
    columns = (*listing.columns, *(["what to do"] if advised else []))
    drawn = Table(title=listing.title, title_justify="left", header_style="bold")
    for column in columns:
        drawn.add_column(column, overflow="fold")  # an id that is cut cannot be copied
    for line in listing.lines:
        # As Text, so that brackets in what a row says are not taken for markup.
        cells = (*line.cells, *([line.advice] if advised else []))
        drawn.add_row(*(Text(cell) for cell in cells))
    made = io.StringIO()
    console = Console(file=made, force_terminal=True, width=shutil.get_terminal_size().columns)
    console.print(drawn if listing.lines else Text(listing.title, "bold"))
    if listing.note:
        console.print(Text(listing.note))
    return made.getvalue().rstrip("\n")
