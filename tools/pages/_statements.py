"""Every statement of the store, made for a sample table, with the sentence that says why it is there."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from semel import store
from semel.store.dialects import FAMILIES, Family
from semel.store.entity import Entity, StatusCodec
from semel.store.ground import Ground
from semel.store.journal import Journal
from semel.store.outbox import Outbox
from semel.store.statements import Statement
from semel.store.tables import OwnTables
from semel.store.transitions import Moves

# What a statement for several rows is shown with: one is enough to see its form. What it is for, it is shown both ways.
SAMPLES: dict[str, tuple[Any, ...]] = {"int": (1,), "bool": (False, True)}
# Where a database can lock, judge, write and journal in one statement, these are it; elsewhere they are never made.
ONLY_AT_ONCE = {"leave_claim_if_fenced", "move_row_if_in_source", "take_claim_if_in_status"}
# Elsewhere these are the steps of it, which the first kind of database never receives.
ONLY_IN_STEPS = {"lock_row_or_skip", "move_row_into_claim_if_in_status", "write_claim"}
MAKES_ONE = " Statement("


@dataclass(frozen=True)
class Shown:
    """A statement, why it is there (empty: its file says it in one place for several), and for which switches it is so."""

    statement: Statement
    why: str = ""
    switches: str = ""


def make_rooms(family: Family) -> list[object]:
    """Make an object of every class of the store that makes statements, for the sample table."""
    ground = Ground(family, OwnTables())
    journal, entity = Journal(ground), make_orders(family)
    move = Moves(entity, ground, journal).plan(["pending"], "paid", {"total": 999}, "customer")
    parts = {
        "entity": entity,
        "family": family,
        "ground": ground,
        "journal": journal,
        "outbox": Outbox(ground),
        "shape": move.statements.shape,
        "tables": ground.tables,
    }
    return [make_room(kind, parts) for kind in find_kinds()]


def find_kinds() -> Iterator[type]:
    """Find every class of the store that makes statements, so that none can be forgotten here."""
    for module in pkgutil.iter_modules(store.__path__, "semel.store."):
        for _, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            is_its_own = kind.__module__ == module.name and kind is not Statement
            if is_its_own and MAKES_ONE in inspect.getsource(kind):
                yield kind


def make_room(kind: type, parts: dict[str, Any]) -> object:
    """Make an object of a class from the parts that its maker asks for by name; what has a default is left out."""
    parameters = inspect.signature(kind).parameters.values()
    wanted = [each.name for each in parameters if each.default is inspect.Parameter.empty]
    unknown = [name for name in wanted if name not in parts]
    assert not unknown, f"{kind.__name__} is made with {unknown}; say in tools/pages/_statements.py what that is here"
    return kind(**{name: parts[name] for name in wanted})


def make_orders(family: Family) -> Entity:
    """Make the sample table as boot would have found it."""
    columns: dict[str, sa.types.TypeEngine[Any]] = {
        "id": sa.BigInteger(),
        "status": sa.String(),
        "version": sa.BigInteger(),
        "total": sa.Integer(),
    }
    table = sa.table("orders", *(sa.column(name, kind) for name, kind in columns.items()))
    return Entity(
        name="orders",
        family=family,
        table=table,
        id=table.c.id,
        status=table.c.status,
        version=table.c.version,
        id_kind=int,
        codec=StatusCodec(),
        guards=dict(table.c.items()),
    )


def list_statements(family: Family, room: object) -> Iterator[Shown]:
    """List the statements of one room that this family receives, in the order in which they are written down."""
    at_once = FAMILIES[family].one_statement
    never = ONLY_IN_STEPS if at_once else ONLY_AT_ONCE
    for name, maker in {**vars(type(room)), **vars(room)}.items():
        if name in never:
            continue
        for shown in read_member(room, name, maker):
            writing_select = shown.statement.writes and shown.statement.construct.is_select
            assert at_once or not writing_select, f"{name} cannot be what {family} receives; is it ONLY_AT_ONCE?"
            yield shown


def read_member(room: object, name: str, maker: object) -> Iterator[Shown]:
    """Read what one member of a room makes: nothing, a statement, or one for each sample of its arguments."""
    if name.startswith("_"):
        return
    if isinstance(maker, Statement):
        yield Shown(maker)
        return
    making = getattr(maker, "func", None) or getattr(maker, "fget", None) or maker
    if not callable(making) or "Statement" not in str(inspect.signature(making).return_annotation):
        return
    why = " ".join((inspect.getdoc(making) or "").split())
    made = getattr(room, name)
    made_each = call_with_samples(name, made) if callable(made) else [(made, "")]
    yield from (Shown(statement, why, switches) for statement, switches in made_each if statement is not None)


def call_with_samples(name: str, make: Callable[..., Statement]) -> Iterator[tuple[Statement, str]]:
    """Make a statement for each sample of its arguments, with the names of the switches that are on."""
    wanted = {each.name: str(each.annotation) for each in inspect.signature(make).parameters.values()}
    unknown = {each: kind for each, kind in wanted.items() if kind not in SAMPLES}
    assert not unknown, f"{name} takes {unknown}; say in tools/pages/_statements.py which samples to show"
    for number in range(max(len(SAMPLES[kind]) for kind in wanted.values())):
        given = {each: SAMPLES[kind][number % len(SAMPLES[kind])] for each, kind in wanted.items()}
        yield make(**given), ", ".join(each for each, value in given.items() if value is True)
