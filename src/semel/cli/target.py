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
from semel.asks import Asking
from semel.cli.naming import Named
from semel.clock import SYSTEM, Clock
from semel.errors import SemelError, error
from semel.performers.opening import look_around, look_around_async, open_async, open_sync, read_url, show
from semel.store.dialects import Family, read_family
from semel.store.ground import Ground
from semel.store.tables import OwnTables

if TYPE_CHECKING:
    import sqlalchemy as sa
    from sqlalchemy.engine import URL

Found = TypeVar("Found")

ASYNC_DRIVERS = ("+asyncpg", "+asyncmy", "+aiosqlite")


@dataclass(frozen=True)
class Target:
    """A database as a Semel would use it. `is_pooled` is what an app was told about a pooler; None: there is no app."""

    url: URL
    tables: OwnTables
    is_async: bool
    clock: Clock = SYSTEM
    is_pooled: bool | None = None

    @property
    def family(self) -> Family:
        """Which database this is."""
        return read_family(self.url)

    @property
    def ground(self) -> Ground:
        """What statements stand on there."""
        return Ground(self.family, self.tables, self.clock.offset_table)

    @property
    def shown(self) -> str:
        """The URL without its password."""
        return show(self.url)

    def look(self, look: Callable[[sa.Connection], Found]) -> Found:
        """Answer what `look` finds over one connection of the driver that the application uses."""
        if self.is_async:
            return asyncio.run(look_around_async(self.url, look))
        return look_around(self.url, look)

    def perform(self, asking: Asking[Found]) -> Found:
        """Answer what a protocol answers over a connection like those of the verbs."""
        # The few statements of a command gain nothing by being prepared, and so they work behind any pooler.
        settings: Any = {"connections_limit": 1, "pooled": self.is_pooled is not False}
        if self.is_async:
            return asyncio.run(self._perform_async(asking, settings))
        performer = open_sync(self.url, self.clock, self.ground.read_clock, **settings)
        try:
            return performer.perform(asking)
        finally:
            performer.close()

    async def _perform_async(self, asking: Asking[Found], settings: Any) -> Found:
        performer = open_async(self.url, self.clock, self.ground.read_clock, **settings)
        try:
            return await performer.perform(asking)
        finally:
            performer.close()


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
    text = named.db or ""
    is_async = text.partition(":")[0].endswith(ASYNC_DRIVERS)
    url = read_url(text, is_async=is_async)
    return Target(url, name_tables(named, read_family(url)), is_async)


def name_tables(named: Named, family: Family) -> OwnTables:
    """Answer the names of Semel's tables as --prefix and --schema say."""
    if family == "sqlite" and named.schema is not None:
        raise error("SEMEL-APP-3", setting="schema", value=named.schema, rule="SQLite has no schemas; use prefix")
    return OwnTables("semel_" if named.prefix is None else named.prefix, named.schema)


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
    settings = found._setup.settings  # noqa: SLF001 - see above
    is_async = isinstance(found, AsyncSemel)
    return Target(settings.url, settings.tables, is_async, settings.clock, is_pooled=settings.pooled)


def tell_where(problem: BaseException) -> str:
    """Answer what an import raised and in which line: the traceback's last sentence, without the traceback."""
    frames = [frame for frame in traceback.extract_tb(problem.__traceback__) if "importlib" not in frame.filename]
    said = f"{type(problem).__name__}: {problem}"
    place = frames[-1] if len(frames) > 1 else None
    return f"{said} ({place.filename}, line {place.lineno})" if place else said


def refuse_missing_file(target: Target) -> None:
    """Refuse a SQLite file that is not there: to look into it would make an empty one."""
    name = target.url.database or ""
    if target.family == "sqlite" and not name.startswith("file:") and not Path(name).exists():
        raise error("SEMEL-SCHEMA-1", table=name)
