"""A table for people: drawn by rich on a terminal, plain lines everywhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TextIO

import click

COLOURS = {"ok": "green", "warn": "yellow", "problem": "bold red"}


@dataclass(frozen=True)
class Row:
    """One line: how it stands, about what, what was seen, and what to do (empty: nothing)."""

    verdict: str
    subject: str
    value: str
    advice: str


@dataclass(frozen=True)
class Table:
    """Rows under a title, and one sentence that sums them up."""

    title: str
    rows: tuple[Row, ...]
    verdict: str

    def map(self, change: Callable[[str], str]) -> Table:
        """Answer the same table with every text changed."""
        rows = tuple(Row(row.verdict, change(row.subject), change(row.value), change(row.advice)) for row in self.rows)
        return Table(change(self.title), rows, change(self.verdict))


def draw_table(table: Table, stream: TextIO) -> None:
    """Draw a table where it can be seen best."""
    if stream.isatty():
        draw_rich(table, stream)
    else:
        click.echo("\n".join(write_plain(table)), file=stream)


def draw_rich(table: Table, stream: TextIO) -> None:
    """Draw it with colours, wrapped to the terminal."""
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable("", "what", "found", "what to do", title=table.title, title_justify="left", header_style="bold")
    for row in table.rows:
        # As Text, so that brackets in what a server says are not taken for markup.
        cells = (Text(row.verdict, COLOURS[row.verdict]), Text(row.subject), Text(row.value), Text(row.advice))
        drawn.add_row(*cells)
    console = Console(file=stream)
    console.print(drawn)
    console.print(Text(table.verdict))


def write_plain(table: Table) -> Iterator[str]:
    """Write it as lines that a log keeps readable: advice stands below what it is about."""
    width = max(len(row.subject) for row in table.rows)
    yield table.title
    for row in table.rows:
        yield f"{row.verdict:<8} {row.subject:<{width}}  {row.value}"
        if row.advice:
            yield f"{'':<8} {'':<{width}}  -> {row.advice}"
    yield table.verdict
