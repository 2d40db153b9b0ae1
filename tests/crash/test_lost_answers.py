from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from semel import Done, Pending, Rejected
from semel.errors import ConflictedError, OutcomeUnknownError, StoreError
from tests.crash.recovery import assert_delivered, recover, see
from tests.databases import Database
from tests.proxy import Lose, Nth, Proxy, Withhold
from tests.shop.clock import VirtualClock
from tests.shop.process import Shop
from tests.shop.tables import lay_orders

REQUESTS_LIMIT = 60
"""More requests than any verb of these tests sends."""

ENDS = {
    "writing": ("pay", {"rows": 1, "effects": 1}, Done("paid")),
    "writing nothing": ("deliver", {"rows": 0}, Done("delivered")),
    "released": ("pay", {"rows": 1, "end": "reject"}, Rejected("the action said no")),
    "alone": ("cancel", {"rows": 1}, Done("cancelled")),
    "alone, without an action": ("drop", {"rows": 0}, Done("dropped")),
}


@pytest.fixture
def proxy(database: Database) -> Iterator[Proxy]:
    """What loses answers between one process and its database."""
    with Proxy.before(database.url) as proxy:
        yield proxy


@pytest.fixture
def caller(shop: Shop, database: Database, clock: VirtualClock, proxy: Proxy) -> Iterator[Shop]:
    """A process behind the proxy; its statements are prepared and its connections open."""
    caller = Shop(shop.colour, proxy.url(database.url), shop.stage, clock)
    caller.boot_like(shop)
    yield caller
    caller.close()


def take(caller: Shop, row: int, step: str, told: dict[str, Any]) -> Any:
    """Take the step, and answer its outcome or the database's fault; what the action's own statement met is its own."""
    try:
        return caller.advance(row, step, input=told)
    except (StoreError, sa.exc.DBAPIError) as problem:
        return problem


def judge(answer: Any, expected: Any, status: str) -> None:
    """See that the caller was told the truth: what is known is said, and what is not known is not claimed."""
    finished = expected.status if isinstance(expected, Done) else "pending"
    if answer == expected:
        assert status == finished
    elif isinstance(answer, ConflictedError | sa.exc.DBAPIError) and isinstance(expected, Done):
        assert status != finished
    else:
        assert isinstance(answer, Pending | OutcomeUnknownError | ConflictedError | sa.exc.DBAPIError), answer


@pytest.mark.parametrize("fault", [Lose, Withhold])
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("database", ["postgresql", "mariadb"], indirect=True)
def test_whichever_answer_is_lost_nothing_is_half_done_or_done_twice(
    database: Database, shop: Shop, caller: Shop, clock: VirtualClock, *, proxy: Proxy, end: Any, fault: Any
) -> None:
    """The network takes one request after the other, before or after it took effect; nobody is told what is not so."""
    step, told, expected = end
    rows = told.get("rows", 1)
    lay_orders(database, [REQUESTS_LIMIT])
    assert take(caller, REQUESTS_LIMIT, step, told) == expected
    answers = []
    for row in range(1, REQUESTS_LIMIT):
        lay_orders(database, [row])
        proxy.reset()
        proxy.plan(fault(Nth(row)))
        answers.append(answer := take(caller, row, step, told))
        if not proxy.fired:
            break
        proxy.settled()
        judge(answer, expected, see(shop, database, rows).rows[str(row)][0])
    picture = recover(shop, database, clock, rows)
    assert_delivered(picture, shop)
    assert answers[-1] == expected
    if told.get("rows") == 0:
        assert answers == [expected] * len(answers), "without user writes everything can be found out or run again"
