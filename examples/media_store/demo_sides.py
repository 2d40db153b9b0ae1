"""Both sides of the demo, on one SQLite file, each with a purchase of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.orm import Session

from semel import Semel

from .database import BUSY_SECONDS, open_sqlite
from .demo_payers import Charge, DemoBase, pay_by_read_then_write, pay_once
from .demo_race import Answers, Watch, race
from .models import Purchase
from .stock import CURRENCY, PRICE_MINOR, create_what_is_missing

FILE = Path(".demo") / "store.db"

CALLERS = 200

CONNECTIONS = 32
"""The pool of a busy server. All of them are open before the race, as they would be there."""

# The demo looks at the journal itself: Semel has no verb yet that tells the story of a row.
JOURNAL = sa.table("semel_journal", sa.column("entity"), sa.column("row_id"))


@dataclass(frozen=True)
class Side:
    """What came of one side: what its callers were told, and what the database says."""

    answers: Answers
    charges: int
    status: str
    version: int
    journal_rows: int

    @property
    def moved(self) -> int:
        """How many callers were told that they paid."""
        return self.answers.told.count(True)

    @property
    def missed(self) -> int:
        """How many callers were told that somebody else had paid."""
        return self.answers.told.count(False)

    @property
    def problems(self) -> list[Exception]:
        """What the callers met who were told neither."""
        return [told for told in self.answers.told if isinstance(told, Exception)]

    @property
    def is_right(self) -> bool:
        """Whether it was paid once, one caller was told so, and everything agrees."""
        told = (self.moved, self.missed) == (1, CALLERS - 1)
        return told and (self.charges, self.status, self.version, self.journal_rows) == (1, "paid", 1, 1)


def run_both_sides(watch_naive: Watch, watch_ours: Watch) -> tuple[Side, Side]:
    """Run the naive side, then Semel's, on a new file."""
    FILE.parent.mkdir(exist_ok=True)
    for left in FILE.parent.glob(f"{FILE.name}*"):
        left.unlink()
    url = f"sqlite:///{FILE}"
    once = Semel(url)
    purchases = once.table(Purchase)
    try:
        once.create_tables()
        with open_pool(url) as engine:
            create_store(engine)
            once.boot()
            naive = run_side(engine, partial(pay_by_read_then_write, engine), watch_naive)
            return naive, run_side(engine, partial(pay_once, engine, purchases), watch_ours)
    finally:
        once.close()


@contextmanager
def open_pool(url: str) -> Iterator[sa.Engine]:
    """Open a pool with all its connections, and close it in the end."""
    engine = open_sqlite(url, pool_size=CONNECTIONS, max_overflow=0, pool_timeout=BUSY_SECONDS)
    try:
        with ExitStack() as opened:
            for _ in range(CONNECTIONS):
                opened.enter_context(engine.connect())
        yield engine
    finally:
        engine.dispose()


def create_store(engine: sa.Engine) -> None:
    """Create the store, and the table that only the demo has."""
    with engine.connect() as connection:
        create_what_is_missing(connection)
    DemoBase.metadata.create_all(engine)


def run_side(engine: sa.Engine, pay: Callable[[int], bool], watch: Watch) -> Side:
    """Let every caller pay one new purchase, then ask the database what happened to it."""
    with Session(engine) as session, session.begin():
        session.add(purchase := Purchase(user_id=1, amount_minor=PRICE_MINOR, currency=CURRENCY))
        session.flush()
        purchase_id = purchase.id
    answers = race(partial(pay, purchase_id), CALLERS, watch)
    with Session(engine) as session:
        purchase = session.get_one(Purchase, purchase_id)
        charges = sa.select(sa.func.count()).where(Charge.purchase_id == purchase_id)
        journaled = sa.select(sa.func.count()).where(
            JOURNAL.c.entity == Purchase.__tablename__, JOURNAL.c.row_id == str(purchase_id)
        )
        return Side(
            answers, session.scalars(charges).one(), purchase.status, purchase.version, session.scalars(journaled).one()
        )
