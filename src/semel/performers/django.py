"""`on="default"`: join Django's open atomic block by the alias of its database."""

from __future__ import annotations

from typing import Any

from semel.errors import error
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
    wanted.check_family(connection, family)
    if connection.get_autocommit() and not connection.in_atomic_block:
        raise error("SEMEL-ON-2", given=given, remedy="Call it inside transaction.atomic().")
    if connection.needs_rollback:
        raise error("SEMEL-ON-5", given=given)
    return DjangoWire(dialect), connection


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
