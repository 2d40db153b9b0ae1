from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from media_store.database import alone, open_sqlite
from media_store.models import BillingPeriod, Invoice, User
from media_store.stock import create_what_is_missing, today
from tests.databases import Database

LOOK_SECONDS = (
    0.3  # what a thread needs to get through an open door; behind a closed one it waits for as long as it takes
)


@pytest.fixture
def engine(database: Database) -> Iterator[sa.Engine]:
    """The store's own engine on SQLite, a plain one elsewhere."""
    made = open_sqlite(database.url) if database.family == "sqlite" else sa.create_engine(database.sync_url)
    yield made
    made.dispose()


def create(engine: sa.Engine) -> None:
    """Create what is missing, as a starting process does."""
    with engine.connect() as connection:
        create_what_is_missing(connection)


def count_users(connection: sa.Connection) -> int:
    """Count the users that are there for this connection."""
    return connection.scalar(sa.select(sa.func.count()).select_from(User))


def test_one_process_at_a_time_creates(engine: sa.Engine) -> None:
    """A second process gets in only when the first has committed, and sees what it did."""
    create(engine)
    entered = threading.Event()
    seen: list[int] = []

    def come_second() -> None:
        with engine.connect() as second, alone(second):
            entered.set()
            seen.append(count_users(second))

    with engine.connect() as first:
        with alone(first):
            first.execute(sa.insert(User).values(id=101, points=0))
            thread = threading.Thread(target=come_second)
            thread.start()
            assert not entered.wait(LOOK_SECONDS)
        thread.join()
    assert seen == [101]


def test_who_fails_while_creating_leaves_nothing_and_no_lock(engine: sa.Engine) -> None:
    """A process that fails rolls its rows back and lets the next one in."""
    create(engine)
    with engine.connect() as first, pytest.raises(sa.exc.IntegrityError), alone(first):
        first.execute(sa.insert(User), [{"id": 101, "points": 0}, {"id": 1, "points": 0}])
    with engine.connect() as second, alone(second):
        assert count_users(second) == 100


def test_creating_again_changes_nothing_that_has_moved(engine: sa.Engine) -> None:
    """What was spent, closed or voided since stays so, and a removed catalogue row comes back."""
    create(engine)
    with Session(engine) as session, session.begin():
        session.get_one(User, 5).points = 3
        session.get_one(BillingPeriod, 2).status = "closed"
        session.execute(sa.update(Invoice).where(Invoice.number == "INV-1-1").values(status="void"))
        session.execute(sa.text("DELETE FROM media WHERE id = 'media-7'"))
    create(engine)
    with Session(engine) as session:
        assert session.get_one(User, 5).points == 3
        assert session.get_one(BillingPeriod, 2).status == "closed"
        assert session.scalars(sa.select(Invoice.status).where(Invoice.number == "INV-1-1")).all() == ["void"]
        assert session.scalar(sa.text("SELECT COUNT(*) FROM media")) == 50


def test_a_number_has_one_live_invoice(engine: sa.Engine) -> None:
    """The database refuses a second live invoice of a number, and takes any number of void ones."""
    create(engine)
    again = {"number": "INV-1-1", "billing_period_id": 1, "user_id": 1, "amount_minor": 999, "currency": "usd"}
    again["due_on"] = today()
    with Session(engine) as session, session.begin():
        session.add_all([Invoice(**again, status="void"), Invoice(**again, status="void")])
    with Session(engine) as session, pytest.raises(sa.exc.IntegrityError), session.begin():
        session.add(Invoice(**again, status="sent"))
