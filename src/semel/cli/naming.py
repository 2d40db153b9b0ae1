"""How a command line names the database: --db, --app, and what the environment or pyproject.toml say instead."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click


@dataclass(frozen=True)
class Named:
    """What the command line said about the database; None: nothing."""

    db: str | None
    app: str | None
    prefix: str | None
    schema: str | None


def naming_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that name the database, and hand them over together as `named`."""

    @click.option("--db", metavar="URL", help="The database: sqlite:///file.db, postgresql://… or mariadb://…")
    @click.option("--app", metavar="MODULE:NAME", help="Your Semel or AsyncSemel; else SEMEL_APP, or [tool.semel] app.")
    @click.option("--prefix", metavar="TEXT", help="The prefix of Semel's tables, with --db. Default: semel_")
    @click.option("--schema", metavar="NAME", help="The schema of Semel's tables, with --db. Default: none.")
    @functools.wraps(function)
    def collect(*, db: str | None, app: str | None, prefix: str | None, schema: str | None, **others: Any) -> Any:
        if db is not None and app is not None:
            raise click.UsageError("--db and --app name two databases; pass one of them.")
        return function(named=Named(db, app, prefix, schema), **others)

    return collect
