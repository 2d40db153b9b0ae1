"""Find the database that a command is about: what was named becomes the setup of a Semel, still without connecting."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import tomllib
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from semel.aio import AsyncSemel
from semel.app import Semel
from semel.app.setup import CONNECTIONS_LIMIT, Setup, read_setup
from semel.cli.naming import Named
from semel.errors import SemelError, error
from semel.performers.opening import look_around, look_around_async, show

if TYPE_CHECKING:
    import sqlalchemy as sa

Found = TypeVar("Found")

ASYNC_DRIVERS = ("+asyncpg", "+asyncmy", "+aiosqlite")


@dataclass(frozen=True)
class Target:
    """A database as a Semel would use it."""

    setup: Setup
    is_async: bool
    is_app: bool

    @property
    def shown(self) -> str:
        """The URL without its password."""
        return show(self.setup.url)

    def look(self, look: Callable[[sa.Connection], Found]) -> Found:
        """Answer what `look` finds over one connection of the driver that the application uses."""
        if self.is_async:
            return asyncio.run(look_around_async(self.setup.url, look))
        return look_around(self.setup.url, look)


def find_target(named: Named) -> Target:
    """Answer the database that was named; if none was, that is an error which says how to."""
    target = find_named(named)
    if target is None:
        raise error("SEMEL-CLI-1")
    return target


def find_named(named: Named) -> Target | None:
    """Answer the database that was named on the command line, in SEMEL_APP or in pyproject.toml. None: nowhere."""
    if named.db is not None:
        return open_url(named)
    app, folder = find_app(named)
    if app is None:
        return None
    if named.prefix is not None or named.schema is not None:
        raise click.UsageError("--prefix and --schema go with --db; an app has its own.")
    return load_app(app, folder)


def find_app(named: Named) -> tuple[str | None, Path]:
    """Answer which app was named, and the folder its modules are looked for in. None: no app was."""
    here = Path.cwd()
    app = named.app or os.environ.get("SEMEL_APP")
    if app:
        return app, here
    project = next((path for folder in (here, *here.parents) if (path := folder / "pyproject.toml").is_file()), None)
    return (None, here) if project is None else (read_project_app(project), project.parent)


def open_url(named: Named) -> Target:
    """Answer the database of --db. A URL that names an async driver is spoken to by that one."""
    url = named.db or ""
    is_async = url.partition(":")[0].endswith(ASYNC_DRIVERS)
    setup = read_setup(
        url,
        is_async=is_async,
        prefix="semel_" if named.prefix is None else named.prefix,
        schema=named.schema,
        connections_limit=CONNECTIONS_LIMIT,
        # The few statements of a command gain nothing by being prepared, and so they work behind any pooler.
        pooled=True,
        clock=None,
    )
    return Target(setup, is_async=is_async, is_app=False)


def read_project_app(project: Path) -> str | None:
    """Read `[tool.semel] app`. None: the project does not say."""
    try:
        with project.open("rb") as file:
            app = tomllib.load(file).get("tool", {}).get("semel", {}).get("app")
    except (OSError, tomllib.TOMLDecodeError) as problem:
        raise error("SEMEL-CLI-2", app=str(project), reason=f"it cannot be read, {problem}") from None
    if app is not None and not isinstance(app, str):
        raise error("SEMEL-CLI-2", app=str(project), reason="[tool.semel] app is not text")
    return app


def load_app(app: str, folder: Path) -> Target:
    """Import the user's Semel. What their modules print goes to standard error, away from the answer."""
    module, colon, name = app.partition(":")
    if not (module and colon and name):
        raise error("SEMEL-CLI-2", app=app, reason="a module, a colon and a name are needed")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        with contextlib.redirect_stdout(sys.stderr):
            found: Any = import_module(module)
            for each in name.split("."):
                found = getattr(found, each)
    except SemelError:
        raise
    except (Exception, SystemExit) as problem:  # noqa: BLE001 - whatever their module raises is told without a traceback
        raise error("SEMEL-CLI-2", app=app, reason=tell_where(problem)) from None
    if not isinstance(found, Semel | AsyncSemel):
        raise error("SEMEL-CLI-2", app=app, reason=f"it is of type {type(found).__name__}")
    # The command line is a composition root too, and reads what the app was made with.
    return Target(found._setup, is_async=isinstance(found, AsyncSemel), is_app=True)  # noqa: SLF001 - see above


def tell_where(problem: BaseException) -> str:
    """Answer what an import raised and in which line: the traceback's last sentence, without the traceback."""
    frames = [frame for frame in traceback.extract_tb(problem.__traceback__) if "importlib" not in frame.filename]
    said = f"{type(problem).__name__}: {problem}"
    place = frames[-1] if len(frames) > 1 else None
    return f"{said} ({place.filename}, line {place.lineno})" if place else said


def refuse_missing_file(setup: Setup) -> None:
    """Refuse a SQLite file that is not there: to look into it would make an empty one."""
    name = setup.url.database or ""
    if setup.family == "sqlite" and not name.startswith("file:") and not Path(name).exists():
        raise error("SEMEL-SCHEMA-1", table=name)
