"""A table of the user's with two status columns, each moved by a workflow of its own."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from semel.app.keeping import list_duties
from semel.protocols.advance import wish_for
from semel.protocols.claim import take_claim
from semel.protocols.errand import Errand
from tests.conformance.faces import Colour, Once, Orders, Stage
from tests.databases import Database
from tests.shop.clock import VirtualClock
from tests.shop.tables import lay_tables

LEASE_US = 30_000_000

metadata = sa.MetaData()
parcels = sa.Table(
    "parcels",
    metadata,
    sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("status", sa.String(40), nullable=False, default="pending"),
    sa.Column("version", sa.BigInteger, nullable=False, default=0),
    sa.Column("ship", sa.String(40), nullable=False, default="packed"),
    sa.Column("ship_version", sa.BigInteger, nullable=False, default=0),
)


def make_step(key: str, status: str, into: str, success: str) -> dict[str, Any]:
    """Answer the one step of a workflow here."""
    claim = [into, status]
    return {
        "step_id": 1, "step_key": key, "status": status, "successful_claim_state": claim, "successful_state": success,
        "success_after_effect": ["Mail"],
    }  # fmt: skip


PAYING = {
    "workflow": "paying", "entity_table": "parcels", "status_types": ["pending", "charging", "paid"],
    "initial": "pending", "terminal": ["paid"], "steps": [make_step("pay", "pending", "charging", "paid")],
}  # fmt: skip
SHIPPING = {
    "workflow": "shipping", "entity_table": "parcels", "status_column": "ship", "version_column": "ship_version",
    "status_types": ["packed", "sending", "gone"], "initial": "packed", "terminal": ["gone"],
    "steps": [make_step("send", "packed", "sending", "gone")],
}  # fmt: skip


class Post(Once):
    """A process that pays for parcels and sends them."""

    def __init__(self, colour: Colour, database: Database, stage: Stage, clock: VirtualClock) -> None:
        super().__init__(colour, database.url, stage, workflows=[PAYING, SHIPPING], clock=clock)
        lay_tables(database)
        metadata.create_all(database.engine())
        self.paying: Orders = self.table("parcels")
        self.shipping: Orders = self.table("parcels", status="ship", version="ship_version")
        self.delivered: list[tuple[str, str]] = []
        self.register()
        self.create_tables()
        self.boot()
        self.duties = {duty.name: duty for duty in list_duties(self.semel._setup)}

    def register(self) -> None:
        """Register the one handler."""

        def deliver(effect: Any) -> None:
            self.delivered.append((effect.table, effect.row_id))

        async def deliver_async(effect: Any) -> None:
            deliver(effect)

        self.semel.effect("Mail")(deliver if self.colour == "sync" else deliver_async)

    def advance(self, orders: Orders, row: int, step: str) -> Any:
        """Take a step."""
        return self.stage.wait(lambda: orders.table.advance(row, step))

    def look(self, duty: str) -> Any:
        """Let a keeper look once."""
        return self.stage.wait(lambda: self.semel._performer.perform(self.duties[duty].look()))

    def strand(self, orders: Orders, row: int, key: str) -> None:
        """Take a claim for somebody who then is not heard of again."""
        bound = self.semel._setup.bound_of(orders.table._declared)
        (step,) = bound.workflow.steps
        errand = Errand(bound.claims, bound.workflow, row, key, "*", None, None, owner="the dead", lease_us=LEASE_US)
        self.stage.wait(lambda: self.semel._performer.perform(take_claim(wish_for(errand, step))))


def lay_parcels(database: Database, *ids: int) -> None:
    """Insert parcels."""
    with database.engine().begin() as connection:
        connection.execute(sa.insert(parcels), [{"id": each} for each in ids])


def read_parcel(database: Database, row: int) -> Any:
    """Answer one parcel without its id."""
    with database.engine().connect() as connection:
        return tuple(connection.execute(sa.select(*parcels.c[1:]).where(parcels.c.id == row)).one())
