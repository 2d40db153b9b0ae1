"""What a command works on: the database that was named, and the application behind it, if one was."""

from __future__ import annotations

import contextlib
import functools
import sys
from dataclasses import dataclass
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING

import click
import sqlalchemy as sa

from semel.aio import AsyncSemel
from semel.app import Semel
from semel.app.boot import read_workflows
from semel.app.setup import Bound, Setup
from semel.cli.naming import Named
from semel.cli.options import Columns
from semel.cli.target import Target, find_app, find_target, load_app, refuse_missing_file, tell_where
from semel.errors import SemelError, error
from semel.store.claims import Claims
from semel.store.declared import Declared, declare
from semel.store.entity import Entity, Id
from semel.store.journal import Journal
from semel.store.outbox import Outbox
from semel.store.reflect import bind_table
from semel.store.schema import check_schema
from semel.store.sights import Sights

if TYPE_CHECKING:
    from semel.workflow.model import Workflow


@dataclass(frozen=True)
class TableSeen:
    """A table of the user's as it was found: with its workflow, if an application knows it."""

    entity: Entity
    claims: Claims
    workflow: Workflow | None


@dataclass(frozen=True)
class Place:
    """A database, and the setup of the application that was named for it."""

    target: Target
    setup: Setup | None

    @functools.cached_property
    def sights(self) -> Sights:
        """The statements by which people look."""
        return Sights(self.target.ground)

    @functools.cached_property
    def journal(self) -> Journal:
        """The journal's statements."""
        return Journal(self.target.ground)

    @functools.cached_property
    def outbox(self) -> Outbox:
        """The outbox's statements."""
        return Outbox(self.target.ground)


def find_place(named: Named) -> Place:
    """Answer the database that was named, once it was seen to have Semel's tables; and the application, if there is one."""
    place = find_any_place(named)
    place.target.look(lambda connection: check_schema(connection, place.target.tables))
    return place


def find_any_place(named: Named) -> Place:
    """Answer the database that was named, whatever is in it."""
    target = find_target(named)
    refuse_missing_file(target)
    once = find_once(named)
    return Place(target, None if once is None else once._setup)  # noqa: SLF001 - the command line is a composition root too


def find_once(named: Named) -> Semel | AsyncSemel | None:
    """Answer the application that was named. None: a database was, or nothing."""
    app, folder = (None, None) if named.db is not None else find_app(named)
    if app is None or folder is None:
        return None
    load_app(app, folder)  # tells what is wrong with it, and is cheap the second time
    module, _, name = app.partition(":")
    found: Semel | AsyncSemel = attrgetter(name)(sys.modules[module])
    return found


def need_once(named: Named, why: str) -> tuple[str, Semel | AsyncSemel]:
    """Answer the application that was named, with how it was; without one there is nothing to do, and `why` says so."""
    once = find_once(named)
    if once is None:
        raise error("SEMEL-CLI-6", why=why)
    return find_app(named)[0] or "", once


def import_modules(setup: Setup) -> None:
    """Import what boot would; what the modules print goes to standard error, and what they raise is told in a sentence."""
    for module in setup.settings.modules:
        try:
            with contextlib.redirect_stdout(sys.stderr):
                import_module(module)
        except SemelError:
            raise
        except (Exception, SystemExit) as problem:  # noqa: BLE001 - whatever their module raises is told without a traceback
            raise error("SEMEL-CLI-4", module=module, reason=tell_where(problem)) from None


def bind_tables(place: Place) -> tuple[Bound, ...]:
    """Answer every table of the application, as its boot would find them; what boot refuses is refused here too."""
    setup = place.setup
    if setup is None:
        return ()
    import_modules(setup)
    setup.declare_tables_of(read_workflows(setup))
    return tuple(place.target.look(setup.look).values())


def find_table(
    place: Place, name: str, columns: Columns, workflow: str | None = None, *, pick_any: bool = False
) -> TableSeen:
    """Answer a table by name: as the application knows it, or as the database shows it.

    `workflow` picks one where the table has several, unless any will do. Columns that were named are believed before the
    application's.
    """
    tables = [] if columns.given else [each for each in bind_tables(place) if each.entity.name == name]
    owned = [each for each in tables if each.workflow is not None and workflow in (None, each.workflow.name)]
    if len(owned) > 1 and not pick_any:
        known = ", ".join(sorted(each.workflow.name for each in owned if each.workflow is not None))
        raise click.UsageError(f"{name} has several workflows: {known}. Pick one with --workflow NAME.")
    if workflow is not None and not owned:
        raise click.UsageError(f"The app knows no workflow {workflow!r} of the table {name!r}.")
    for bound in (*owned, *tables):
        return TableSeen(bound.entity, bound.claims, bound.workflow)
    return look_at_table(place, name, columns)


def read_row_id(entity: Entity, text: str) -> Id:
    """Answer an id that was typed, as its column holds it, or refuse it by name."""
    try:
        return entity.read_id(entity.parse_id(text))
    except ValueError:
        return entity.read_id(text)  # it is of the wrong kind, and this says which kind is wanted


def look_at_table(place: Place, name: str, columns: Columns) -> TableSeen:
    """Find a table in the database that no application told of."""
    target = place.target
    declared = declare_named(name, columns)
    entity = target.look(lambda connection: bind_table(declared, sa.inspect(connection), target.family))
    return TableSeen(entity, Claims(entity, target.ground, place.journal, place.outbox), None)


def declare_named(name: str, columns: Columns) -> Declared:
    """Declare a table by what the command line said."""
    names = {"status": "status", "version": "version", "id": None, **columns.given}
    return declare(name, **names, status_values=None)
