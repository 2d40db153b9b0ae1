"""Options that several commands share: columns of a table that no application tells of, and what an act by hand needs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import click

APP_HELP = "Your Semel or AsyncSemel; else SEMEL_APP, or [tool.semel] app."


@dataclass(frozen=True)
class Columns:
    """What the command line said about the columns of a table; None: nothing."""

    status: str | None = None
    version: str | None = None
    id: str | None = None

    @property
    def given(self) -> dict[str, str]:
        """Those that were named."""
        named: Mapping[str, str | None] = {"status": self.status, "version": self.version, "id": self.id}
        return {role: name for role, name in named.items() if name is not None}


def column_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that name columns where no application does, and hand them over as `columns`."""

    @click.option("--status-column", metavar="NAME", help="The status column. Default: the app's, or status.")
    @click.option("--version-column", metavar="NAME", help="Semel's own column. Default: the app's, or version.")
    @click.option("--id-column", metavar="NAME", help="What identifies a row. Default: the app's, or the primary key.")
    @functools.wraps(function)
    def collect(
        *arguments: Any, status_column: str | None, version_column: str | None, id_column: str | None, **others: Any
    ) -> Any:
        return function(*arguments, columns=Columns(status_column, version_column, id_column), **others)

    return collect


def refuse_empty(what: str, most: int) -> Callable[[click.Context, click.Parameter, str], str]:
    """Answer a callback of click that wants some text, but not too much of it."""

    def check(_context: click.Context, _parameter: click.Parameter, given: str) -> str:
        text = given.strip()
        if not 0 < len(text) <= most:
            raise click.BadParameter(f"{what} has 1 to {most} characters.")
        return text

    return check


REASON_CHARACTERS = 500
"""How long a reason may be: a few sentences and a link."""

NAME_CHARACTERS = 100
"""How long the name of a person or role may be: what the journal's column holds."""


def acting_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command what every act by hand needs: a reason, and on whose behalf."""
    reason = refuse_empty("A reason", REASON_CHARACTERS)
    name = refuse_empty("A name", NAME_CHARACTERS)
    option = click.option(
        "--by", metavar="NAME", default="operator", callback=name, help="Who acts. Default: operator."
    )
    why = click.option("--reason", metavar="TEXT", required=True, callback=reason, help="Why; the journal keeps it.")
    return option(why(function))
