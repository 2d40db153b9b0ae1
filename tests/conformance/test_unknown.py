from __future__ import annotations

import pytest

from semel import Moved
from semel.errors import ConflictedError, OutcomeUnknownError
from semel.performers.wires import wire
from semel.protocols import operation
from tests.conformance.conftest import Open
from tests.conformance.faces import Orders
from tests.conformance.families import on_servers
from tests.conformance.shop import Order, read_abandoned, read_journal, read_moves, read_row, read_rows
from tests.conformance.time_that_jumps import JumpingClock
from tests.databases import Database
from tests.proxy import Cut, Lose, Matching, Nth, Proxy, Withhold

FAULTS_ENOUGH = 100
"""More than anyone asks in five seconds: after each question the wait doubles up to half a second."""


@pytest.fixture
def clock() -> JumpingClock:
    """A clock that nobody waits for."""
    return JumpingClock()


@pytest.fixture
def seen(
    open_once: Open, proxy: Proxy, database: Database, clock: JumpingClock, monkeypatch: pytest.MonkeyPatch
) -> Orders:
    """Orders behind a proxy, with a clock that jumps, and less patience than usual."""
    monkeypatch.setattr(operation, "RESOLVE_SECONDS", 5.0)
    monkeypatch.setattr(operation, "RERUN_SECONDS", 4.0)
    once = open_once(proxy.url(database.url), clock=clock)
    orders = once.table(Order)
    once.boot()
    return orders


@pytest.fixture
def short_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a Semel that connects afterwards wait half a second for an answer."""
    monkeypatch.setattr(wire, "STATEMENT_SECONDS", 0.5)


def let_the_database_go(proxy: Proxy) -> None:
    """Cut every connection at its next request, and every one that is opened to ask again."""
    for _ in range(FAULTS_ENOUGH):
        proxy.plan(Cut(Nth(1)))


@on_servers
@pytest.mark.parametrize("fault", [Lose, Withhold])
def test_what_cannot_be_learned_is_said_to_be_unknown(
    database: Database, seen: Orders, proxy: Proxy, clock: JumpingClock, fault: type[Lose]
) -> None:
    """Neither success nor failure: the error names the operation id, by which the journal can tell later."""
    proxy.plan(fault(Matching("^COMMIT")))
    let_the_database_go(proxy)
    started = clock.now
    with pytest.raises(OutcomeUnknownError, match="Do not run it again blindly") as caught:
        seen.transition_many([1, 2], "pending", to="paid")
    assert caught.value.code == "SEMEL-STORE-3"
    assert not caught.value.retryable
    assert operation.RESOLVE_SECONDS < clock.now - started < operation.RESOLVE_SECONDS + 1
    assert {read_rows(database)[row] for row in (1, 2)} == {("paid", 1) if fault is Lose else ("pending", 0)}
    journaled = {entry.operation_id for entry in read_journal(database)}
    assert journaled == ({caught.value.operation} if fault is Lose else set())


@on_servers
def test_a_database_that_comes_back_in_time_is_asked_successfully(
    database: Database, seen: Orders, proxy: Proxy, clock: JumpingClock
) -> None:
    """Some seconds without a database are waited out, and the move is found."""
    proxy.plan(Lose(Matching("^COMMIT")))
    for _ in range(15):
        proxy.plan(Cut(Nth(1)))
    assert seen.transition_many([1, 2], "pending", to="paid") == {1: Moved(1), 2: Moved(1)}
    assert len(clock.waits) >= 7
    assert len(read_moves(database)) == 2


@on_servers
def test_a_database_that_stays_away_is_given_up_before_anything_was_sent(
    database: Database, seen: Orders, proxy: Proxy, clock: JumpingClock
) -> None:
    """Nothing is unknown about a transaction whose COMMIT was never sent: the error may be retried."""
    for _ in range(FAULTS_ENOUGH):
        proxy.plan(Cut(Matching("^BEGIN|^SET SESSION|^START")))
    started = clock.now
    with pytest.raises(ConflictedError) as caught:
        seen.transition_many([1, 2], "pending", to="paid")
    assert caught.value.code == "SEMEL-STORE-8"
    assert operation.RERUN_SECONDS < clock.now - started < operation.RERUN_SECONDS + 1
    assert read_journal(database) == []


@on_servers
def test_reruns_are_counted_too(
    database: Database, seen: Orders, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock that stands still does not let work give way for ever."""
    monkeypatch.setattr(operation, "RERUNS_LIMIT", 3)
    for _ in range(FAULTS_ENOUGH):
        proxy.plan(Cut(Matching("^BEGIN|^SET SESSION|^START")))
    with pytest.raises(ConflictedError, match="gave way to others 3 times"):
        seen.transition_many([1, 2], "pending", to="paid")
    assert read_journal(database) == []


@on_servers
@pytest.mark.parametrize("fault", [Lose, Withhold])
@pytest.mark.usefixtures("short_answers")
def test_a_silent_server_counts_as_lost(database: Database, open_once: Open, proxy: Proxy, fault: type[Lose]) -> None:
    """A line that hangs instead of breaking: the wait is bounded, and then the commit is asked for as any other."""
    seen = open_once(proxy.url(database.url)).table(Order)
    assert seen.transition(20, "pending", to="paid") == Moved(1)
    proxy.reset()
    proxy.plan(fault(Matching("^COMMIT"), "hang"))
    assert seen.transition_many([1, 2], "pending", to="paid") == {1: Moved(1), 2: Moved(1)}
    proxy.plan(fault(Matching("UPDATE orders"), "hang"))
    assert seen.transition(3, "pending", to="paid") == Moved(1)
    assert len(proxy.fired) == 2
    assert {read_row(database, row) for row in (1, 2, 3)} == {("paid", 1)}
    assert len(read_moves(database)) == 4
    unknown = 2 if database.family == "postgresql" else 1  # elsewhere an UPDATE is no commit
    assert len(read_abandoned(database)) == (0 if fault is Lose else unknown)
