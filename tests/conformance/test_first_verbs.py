from __future__ import annotations

import re

from semel import Moved
from tests.conformance.conftest import Open
from tests.conformance.faces import Orders
from tests.conformance.families import on_servers
from tests.conformance.shop import Order, read_moves
from tests.databases import Database
from tests.proxy import Proxy

OF_A_VERB = re.compile(r"orders|semel_journal|^(BEGIN|COMMIT|ROLLBACK|SET )")
CALLERS = 12


def count_looks(proxy: Proxy) -> int:
    """Answer how many statements were no part of a verb: what boot asks about the server and its tables."""
    return sum(not OF_A_VERB.search(text) or "information_schema" in text for text in proxy.statements)


def call_at_once(orders: Orders, start: int) -> list[object]:
    """Let several callers make the first verb of a table."""
    rows = range(start, start + CALLERS)
    return orders.once.call_all([lambda row=row: orders.table.transition(row, "pending", to="paid") for row in rows])


@on_servers
def test_many_callers_of_a_first_verb_wait_for_one_boot(database: Database, open_once: Open, proxy: Proxy) -> None:
    """Each of them would open a connection of its own beside the pool: one looks, the others wait for what it finds."""
    quiet = open_once(proxy.url(database.url))
    quiet.table(Order)
    quiet.boot()
    looks = count_looks(proxy)
    assert looks > 2
    proxy.reset()
    assert call_at_once(open_once(proxy.url(database.url)).table(Order), 1) == [Moved(1)] * CALLERS
    assert count_looks(proxy) == looks
    assert len(read_moves(database)) == CALLERS


@on_servers
def test_many_callers_of_a_late_table_wait_for_one_look(database: Database, open_once: Open, proxy: Proxy) -> None:
    """A table that was declared after boot is found once, however many need it at once."""
    once = open_once(proxy.url(database.url))
    once.boot()
    proxy.reset()
    assert once.table(Order).transition(20, "pending", to="paid") == Moved(1)
    looks = count_looks(proxy)
    assert looks > 0
    proxy.reset()
    assert call_at_once(once.table("orders"), 1) == [Moved(1)] * CALLERS
    assert count_looks(proxy) == looks
