from __future__ import annotations

import asyncio
from typing import Any

import pytest
import sqlalchemy as sa

from semel import ConfigError
from tests.conformance.faces import Colour, Once, Stage
from tests.databases import Database
from tests.shop.billing import REFUSALS, Plan, Refusal


def test_what_nothing_is_wrong_with_boots(database: Database, colour: Colour, stage: Stage) -> None:
    """The application that the refusals below are variations of is fine."""
    plan = Plan()
    once = plan.make(colour, database, stage)
    plan.boot(once)
    once.boot()
    once.close()


def choose(*, in_database: bool) -> pytest.MarkDecorator:
    """Let a test meet the refusals that come from what the database says, or the others."""
    chosen = {name: refusal for name, refusal in REFUSALS.items() if refusal.in_database == in_database}
    return pytest.mark.parametrize("refusal", chosen.values(), ids=chosen)


@choose(in_database=True)
def test_boot_refuses_a_database_that_cannot_be_safe(
    database: Database, colour: Colour, stage: Stage, monkeypatch: pytest.MonkeyPatch, refusal: Refusal
) -> None:
    """At once, by its code, as the fault of the application; and again at the first verb of one that did not boot."""
    refuse_twice(database, colour, stage, monkeypatch, refusal)


@choose(in_database=False)
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_boot_refuses_an_application_that_cannot_be_safe(
    database: Database, colour: Colour, stage: Stage, monkeypatch: pytest.MonkeyPatch, refusal: Refusal
) -> None:
    """Whatever its database is: rules, handlers, colours and cover are read before it is asked anything."""
    refuse_twice(database, colour, stage, monkeypatch, refusal)


def refuse_twice(*scene: Any) -> None:
    """See that it neither boots nor takes a step."""
    database, colour, stage, monkeypatch, refusal = scene
    once = refusal.plan.make(colour, database, stage)
    refusal.seam(monkeypatch)
    with pytest.raises(ConfigError) as caught:
        refusal.plan.boot(once)
    assert caught.value.code == refusal.code
    if refusal.at_boot:
        refuse_first_verb(once, refusal)
    once.close()


def refuse_first_verb(once: Once, refusal: Refusal) -> None:
    """See that who did not boot is refused at its first verb."""
    periods = once.semel.table("billing_periods", version=refusal.plan.names.get("version", "version"))
    with pytest.raises(ConfigError) as caught:
        once.stage.wait(lambda: periods.advance(1, "close", by="admin"))
    assert caught.value.code == refusal.code


@pytest.mark.parametrize(
    ("statuses", "code"), [("'draft', 'approved'", "SEMEL-FLOW-5"), ("'draft', 'approved', 'closing', 'closed'", None)]
)
@pytest.mark.parametrize("database", ["postgresql", "mariadb"], indirect=True)
def test_boot_refuses_a_status_column_that_cannot_hold_the_workflow(
    database: Database, colour: Colour, stage: Stage, statuses: str, code: str | None
) -> None:
    """A native enum that lacks a claim status would fail in the middle of the first claim."""
    kind = f"ENUM ({statuses})"
    if database.family == "postgresql":
        with database.engine().begin() as connection:
            connection.exec_driver_sql(f"CREATE TYPE period_status AS {kind}")
        kind = "period_status"
    plan = Plan()
    plan.periods = plan.periods.replace("status VARCHAR(40)", f"status {kind}")
    once = plan.make(colour, database, stage)
    if code is None:
        plan.boot(once)
    else:
        with pytest.raises(ConfigError) as caught:
            plan.boot(once)
        assert caught.value.code == code
        assert "closed, closing" in str(caught.value) or "closing, closed" in str(caught.value)
    once.close()


@pytest.mark.parametrize("keepers", [False, True])
@pytest.mark.parametrize("colour", ["async"], indirect=True)
def test_an_application_that_is_refused_does_not_start(
    database: Database, colour: Colour, stage: Stage, *, keepers: bool
) -> None:
    """The lifespan raises, so the server never takes a request, and no keeper of it has looked."""
    once = Plan(janitors=()).make(colour, database, stage)
    served = []

    async def serve() -> None:
        lifespan: Any = once.semel.lifespan(keepers=keepers)
        async with lifespan(object()):
            served.append(True)

    with pytest.raises(ConfigError) as caught:
        stage.begin(serve).result()
    assert caught.value.code == "SEMEL-FLOW-2"
    assert served == []
    with database.engine().connect() as connection:
        assert connection.scalar(sa.text("SELECT count(*) FROM semel_keepers")) == 0
    once.close()


@pytest.mark.parametrize("colour", ["async"], indirect=True)
def test_a_lifespan_with_keepers_keeps_while_it_lasts(database: Database, colour: Colour, stage: Stage) -> None:
    """Every duty has looked before the application ends, and none is left over afterwards."""
    once = Plan().make(colour, database, stage)

    def count_duties() -> int:
        with database.engine().connect() as connection:
            return int(connection.scalar(sa.text("SELECT count(*) FROM semel_keepers")) or 0)

    async def serve() -> None:
        async with once.semel.lifespan(keepers=True)(object()), asyncio.timeout(30):
            while count_duties() < 4:
                await asyncio.to_thread(count_duties)

    stage.begin(serve).result()
    left = [task.get_name() for task in stage.begin(list_tasks).result()]
    assert not any(name.startswith("semel") for name in left)


def list_tasks() -> set[asyncio.Task[Any]]:
    """Answer the tasks of the running loop."""
    return asyncio.all_tasks()
