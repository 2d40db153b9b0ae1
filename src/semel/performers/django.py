"""`on="default"`: join Django's open atomic block by the alias of its database."""

from __future__ import annotations

from typing import Any

from semel.errors import error
from semel.performers.checks import DRIVERS, check_state, package_of
from semel.performers.conduct import explain
from semel.performers.durable import READ_SYNCHRONOUS, warn_if_not_durable
from semel.performers.wanted import Wanted
from semel.performers.wires.borrowed import DjangoWire
from semel.store.dialects import DJANGO_DIALECTS


def join_django(alias: str, wanted: Wanted) -> tuple[DjangoWire, Any]:
    """Answer how the alias's connection is joined, if it is in an atomic block that works."""
    connection = find_connection(alias, wanted)
    given = f"the Django database {alias!r}"
    if connection.vendor not in DJANGO_DIALECTS:
        raise error("SEMEL-ON-3", given=given, found=connection.vendor, expected=wanted.family)
    family, dialect = DJANGO_DIALECTS[connection.vendor]()
    wanted.check_family(given, family)
    check_atomic(connection, given)
    wire = DjangoWire(dialect)
    if family == "sqlite":
        warn_if_not_durable(wire.fetch(connection, READ_SYNCHRONOUS, ()))
    return wire, connection


def check_atomic(connection: Any, given: str) -> None:
    """Refuse a connection outside atomic blocks, or in one that can only be rolled back."""
    import django.db

    try:
        autocommit = connection.get_autocommit()  # connects, if nobody has yet
    except django.db.Error as problem:
        raise explain(problem, writing=False) from problem
    if autocommit and not connection.in_atomic_block:
        raise error("SEMEL-ON-2", given=given, remedy="Call it inside transaction.atomic().")
    if connection.needs_rollback:
        raise error("SEMEL-ON-5", given=given)
    driver = DRIVERS.get(package_of(connection.connection) or "")
    if driver is not None:
        check_state(connection.connection, driver, given)


def find_connection(alias: str, wanted: Wanted) -> Any:
    """Answer Django's connection of that name."""
    try:
        from django.core.exceptions import ImproperlyConfigured
        from django.db import connections
        from django.utils.connection import ConnectionDoesNotExist
    except ImportError:
        raise error("SEMEL-DB-2", driver="django", extra="django") from None
    try:
        return connections[alias]
    except (ConnectionDoesNotExist, ImproperlyConfigured):
        raise wanted.refuse(alias, "the alias of a database in Django's settings") from None
