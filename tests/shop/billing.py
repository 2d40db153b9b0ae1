"""An application that is ready to boot, and the one thing wrong with it for which boot refuses it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from tests.conformance.faces import Colour, Once, Stage
from tests.databases import Database
from tests.unit.workflow.examples import billing, changed

PERIODS = "CREATE TABLE billing_periods (id BIGINT PRIMARY KEY, status VARCHAR(40), version BIGINT DEFAULT 0 NOT NULL)"


class Base(DeclarativeBase):
    pass


class CountedPeriod(Base):
    """A mapped class whose own writes would raise the version that Semel fences by."""

    __tablename__ = "billing_periods"

    id: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True)
    status: Mapped[str] = mapped_column(sa.String(40))
    version: Mapped[int] = mapped_column(sa.BigInteger)
    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy reads it as a plain dict


@dataclass
class Plan:
    """What an application is made of; as it is here, it boots."""

    workflows: Any = field(default_factory=billing)
    periods: str = PERIODS
    table: Any = "billing_periods"
    names: dict[str, Any] = field(default_factory=dict)
    janitors: tuple[str, ...] = ("billing",)
    effects: tuple[str, ...] = ("SendInvoices",)
    other_colour: bool = False
    idempotent: bool = True
    has_tables: bool = True
    spoil: str | None = None

    def make(self, colour: Colour, database: Database, stage: Stage) -> Once:
        """Make the application, and the database that it finds."""
        once = Once(colour, database.url, stage, workflows=self.workflows)
        with database.engine().begin() as connection:
            connection.exec_driver_sql(self.periods)
        if self.has_tables:
            once.create_tables()
        if self.spoil is not None:
            with database.engine().begin() as connection:
                connection.exec_driver_sql(self.spoil)
        register(once, self)
        return once

    def boot(self, once: Once) -> None:
        """Declare the table, and boot."""
        once.table(self.table, **self.names)
        once.boot()


def register(once: Once, plan: Plan) -> None:
    """Register the application's functions."""

    def act(_step: Any) -> None:
        raise AssertionError("an application that was refused runs nothing")

    async def act_async(_step: Any) -> None:
        act(_step)

    function = act if (once.colour == "sync") != plan.other_colour else act_async
    once.semel.action("CloseBilling", idempotent=plan.idempotent)(function)
    for name in plan.effects:
        once.semel.effect(name)(act if once.colour == "sync" else act_async)
    for module in plan.janitors:
        once.semel.janitor(module)


Seam: TypeAlias = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Refusal:
    """Something that is refused: the code that it says, and what is wrong; a seam is where only a server could be."""

    code: str
    plan: Plan
    seam: Seam = lambda _: None
    in_database: bool = False
    at_boot: bool = True
    """Not where the declaration of the table says it already."""


def stand_by(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the server say that it is a standby: a real one takes a cluster."""
    monkeypatch.setattr("semel.store.server.is_standby", lambda _connection, _family: True)


REFUSALS = {
    "uncovered_claim": Refusal("SEMEL-FLOW-2", Plan(janitors=())),
    "unknown_handler": Refusal("SEMEL-FLOW-1", Plan(effects=())),
    "wrong_colour": Refusal("SEMEL-APP-6", Plan(other_colour=True)),
    "missing_version_column": Refusal(
        "SEMEL-TABLE-2",
        Plan(periods="CREATE TABLE billing_periods (id BIGINT PRIMARY KEY, status VARCHAR(40))"),
        in_database=True,
    ),
    "version_of_the_mapper": Refusal("SEMEL-TABLE-4", Plan(table=CountedPeriod), at_boot=False),
    "old_schema": Refusal(
        "SEMEL-SCHEMA-2", Plan(spoil="UPDATE semel_meta SET value = '0' WHERE name = 'part:core'"), in_database=True
    ),
    "no_schema": Refusal("SEMEL-SCHEMA-1", Plan(has_tables=False), in_database=True),
    "standby": Refusal("SEMEL-DB-4", Plan(), stand_by, in_database=True),
    "broken_rules": Refusal(
        "SEMEL-FLOW-1",
        Plan(
            workflows=changed(
                changed(billing(), "steps", 1, "successful_claim_state", to={"admin": ["approved", "approved"]}),
                *("steps", 0, "successful_state"),
                to={"admin": "approvd"},
            )
        ),
    ),
    "unclaimed_unrepeatable_action": Refusal("SEMEL-FLOW-1", Plan(idempotent=False)),
    "two_version_columns": Refusal(
        "SEMEL-FLOW-4",
        Plan(
            periods=PERIODS.replace("version", "version BIGINT DEFAULT 0 NOT NULL, fence"), names={"version": "fence"}
        ),
    ),
}
"""By what is wrong."""
