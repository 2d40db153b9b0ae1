"""The statements by which old rows of Semel's own are deleted, a bounded number at a time."""

from __future__ import annotations

import sqlalchemy as sa

from semel.store.ground import Ground
from semel.store.statements import ONE, ZERO, Statement, bind, text_constant


class Reaping:
    """Statements over rows whose retention is over."""

    def __init__(self, ground: Ground) -> None:
        """Build them: there are three."""
        tables = ground.tables
        old = ground.now - bind("retention_us", sa.BigInteger)
        outbox, journal, keepers = tables.outbox.c, tables.journal.c, tables.keepers.c
        delivered = sa.and_(outbox.state == text_constant("delivered"), outbox.delivered_us < old)
        self.delete_delivered_effects = delete_some(
            "delete_delivered_effects", tables.outbox, outbox.effect_id, delivered
        )
        # A consumer's note outlives the effect it is about: a parked one may be delivered again after months.
        owed = (
            sa.select(ONE)
            .where(outbox.effect_id == journal.operation_id, outbox.state != text_constant("delivered"))
            .exists()
        )
        forgotten = sa.and_(journal.at_us < old, ~owed)
        self.delete_old_moves = delete_some("delete_old_moves", tables.journal, journal.operation_id, forgotten)
        self.delete_silent_keepers = delete_some(
            "delete_silent_keepers", tables.keepers, keepers.keeper_id, keepers.looked_us < old
        )


def delete_some(
    name: str, table: sa.Table, identity: sa.ColumnElement[str], condition: sa.ColumnElement[bool]
) -> Statement:
    """Make a DELETE of at most so many rows. The inner select is a derived table, because MariaDB wants it so."""
    limit = bind("reap_limit", sa.Integer)
    some = sa.select(identity.label("identity")).where(condition).limit(limit).offset(ZERO).subquery("some")
    return Statement(name, sa.delete(table).where(identity.in_(sa.select(some.c.identity)), condition), writes=True)
