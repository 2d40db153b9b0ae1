from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Iterator
from typing import Any

import asyncpg
import psycopg
import pymysql
import pytest
import sqlalchemy as sa
from pymysql.constants import CLIENT, COMMAND
from sqlalchemy.engine import make_url

from tests.databases import Database
from tests.proxy import Cut, Fault, Late, Lose, Matching, Nth, Proxy, Withhold, record
from tests.proxy.clients import OPENERS, mysql_place
from tests.proxy.mariadb import TAKEN_OUT
from tests.proxy.wire import WireError

every_driver = pytest.mark.parametrize(
    ("database", "driver"),
    [("postgresql", "psycopg"), ("postgresql", "asyncpg"), ("mariadb", "pymysql"), ("mariadb", "asyncmy")],
    indirect=["database"],
)
on_postgres = pytest.mark.parametrize("database", ["postgresql"], indirect=True)
on_mariadb = pytest.mark.parametrize("database", ["mariadb"], indirect=True)
on_both = pytest.mark.parametrize("database", ["postgresql", "mariadb"], indirect=True)


@pytest.fixture
def proxy(database: Database) -> Iterator[Proxy]:
    with database.engine().begin() as connection:
        connection.execute(sa.text("CREATE TABLE thing (id BIGINT PRIMARY KEY)"))
    with Proxy.before(database.url) as proxy:
        yield proxy


def count_things(database: Database) -> int:
    with database.engine().connect() as connection:
        return connection.execute(sa.text("SELECT count(*) FROM thing")).scalar_one()


async def insert_and_commit(driver: str, url: str) -> None:
    """Insert a row in a transaction. A lost connection is expected, and anything else a failure."""
    async with OPENERS[driver](url) as client:
        with pytest.raises(client.lost):
            await client.transact("INSERT INTO thing VALUES (1)")


async def insert_by_itself(driver: str, url: str) -> None:
    """Insert a row by one parametrised statement. A lost connection is expected, and anything else a failure."""
    async with OPENERS[driver](url) as client:
        with pytest.raises(client.lost):
            await client.run(f"INSERT INTO thing VALUES ({client.place})", 1)


@on_postgres
async def test_a_known_statement_on_asyncpg_is_one_trip(database: Database, proxy: Proxy) -> None:
    """A first use is prepared and executed, a later one only executed, and its text is known all the same."""
    connection = await asyncpg.connect(proxy.url(database.url))
    assert (proxy.trips, proxy.statements) == (0, [])
    assert await connection.fetchval("SELECT 1") == 1
    assert (proxy.trips, proxy.statements) == (2, ["SELECT 1"])
    proxy.reset()
    assert await connection.fetchval("SELECT 1") == 1
    assert (proxy.trips, proxy.statements) == (1, ["SELECT 1"])
    await connection.close()


@on_postgres
async def test_a_failed_statement_is_one_trip_and_the_next_one_counts_again(database: Database, proxy: Proxy) -> None:
    """After an error the server leaves answers out, and the count does not wait for them."""
    connection = await asyncpg.connect(proxy.url(database.url))
    statement = await connection.prepare("SELECT 1 / $1::int")
    proxy.reset()
    with pytest.raises(asyncpg.DivisionByZeroError):
        await statement.fetchval(0)
    assert proxy.trips == 1
    with pytest.raises(asyncpg.PostgresSyntaxError):
        await connection.prepare("SELEC")
    proxy.reset()
    assert await statement.fetchval(1) == 1
    assert proxy.trips == 1
    assert await connection.fetchval("SELECT 2") == 2
    assert proxy.trips == 1 + 2
    await connection.close()


@on_postgres
def test_psycopg_is_counted_in_both_of_its_ways(database: Database, proxy: Proxy) -> None:
    """Simple and parametrised queries are one trip each, and a statement prepared by name keeps its text."""
    with psycopg.connect(proxy.url(database.url), autocommit=True) as connection:
        connection.execute("SELECT 1")
        connection.execute("SELECT %s::int", (1,))
        assert (proxy.trips, proxy.statements) == (2, ["SELECT 1", "SELECT $1::int"])
        connection.execute("SELECT %s::text", ("x",), prepare=True)
        proxy.reset()
        rows = connection.execute("SELECT %s::text FROM generate_series(1, 9999)", ("x" * 99,)).fetchall()
        assert len(rows) == 9999
        connection.execute("SELECT %s::text", ("x",), prepare=True)
        assert (proxy.trips, proxy.statements[1:]) == (2, ["SELECT $1::text"])


@on_postgres
def test_a_pipelined_batch_is_one_trip(database: Database, proxy: Proxy) -> None:
    """Statements sent together and answered together cost one exchange, however many they are."""
    with psycopg.connect(proxy.url(database.url), autocommit=True) as connection:
        with connection.pipeline():
            for number in range(3):
                connection.execute("INSERT INTO thing VALUES (%s)", (number,))
        assert (proxy.trips, len(proxy.statements)) == (1, 3)


@on_mariadb
def test_a_transaction_on_pymysql_is_three_trips(database: Database, proxy: Proxy) -> None:
    """Each command is one exchange, and the login is none."""
    with pymysql.connect(**mysql_place(proxy.url(database.url))) as connection, connection.cursor() as cursor:
        proxy.reset()
        connection.begin()
        cursor.execute("UPDATE thing SET id = %s", (2,))
        connection.commit()
        assert (proxy.trips, proxy.statements) == (3, ["BEGIN", "UPDATE thing SET id = 2", "COMMIT"])


@on_mariadb
def test_every_shape_of_answer_is_one_trip_on_mariadb(database: Database, proxy: Proxy) -> None:
    """Several results, a row longer than a packet, an error and a ping each end where they end."""
    place = mysql_place(proxy.url(database.url)) | {"client_flag": CLIENT.MULTI_STATEMENTS}
    with pymysql.connect(**place) as connection, connection.cursor() as cursor:
        proxy.reset()
        cursor.execute("SELECT 1 UNION SELECT 2; INSERT INTO thing VALUES (300); SELECT 3")
        while cursor.nextset():
            pass
        assert (proxy.trips, cursor.fetchall()) == (1, ((3,),))
        assert connection.server_capabilities & TAKEN_OUT == 0
        # One row in two packets, of which the second has five bytes and looks like the end of the rows.
        cursor.execute("SELECT REPEAT('x', 9000000), REPEAT(x'FE', %s)", (0xFFFFFF + 5 - 9000000 - 2 * 4,))
        assert (proxy.trips, cursor.fetchall()[0][1][-5:]) == (2, b"\xfe" * 5)
        with pytest.raises(pymysql.ProgrammingError):
            cursor.execute("SELEC")
        connection.ping(reconnect=False)
        assert (proxy.trips, len(proxy.statements)) == (4, 3)


@on_mariadb
def test_a_prepared_statement_is_known_by_its_text_on_mariadb(database: Database, proxy: Proxy) -> None:
    """Preparing and executing are one trip each, and the execution carries the text."""
    with pymysql.connect(**mysql_place(proxy.url(database.url))) as connection:
        proxy.reset()
        connection._execute_command(COMMAND.COM_STMT_PREPARE, "SELECT 7 AS seven WHERE 1 = ?")
        number = connection._read_packet().get_all_data()[1:5]
        for _ in range(4):  # a parameter and a column, each with its end
            connection._read_packet()
        assert (proxy.trips, proxy.statements) == (1, [])
        connection._execute_command(COMMAND.COM_STMT_EXECUTE, number + b"\0\1\0\0\0\0\1\x03\0\1\0\0\0")
        for _ in range(5):  # the number of columns, the column, its end, the row, the end
            connection._read_packet()
        assert (proxy.trips, proxy.statements) == (2, ["SELECT 7 AS seven WHERE 1 = ?"])


@every_driver
@pytest.mark.parametrize("mode", ["cut", "reset"])
async def test_a_lost_commit_has_committed(database: Database, driver: str, proxy: Proxy, mode: Any) -> None:
    """The driver hears of a lost connection, and the row is there."""
    proxy.plan(fault := Lose(Matching("COMMIT"), mode))
    await insert_and_commit(driver, proxy.url(database.url))
    assert proxy.fired == [fault]
    assert count_things(database) == 1


@every_driver
@pytest.mark.parametrize("fault", [Withhold(Matching("COMMIT")), Withhold(Nth(3), "reset"), Cut(Matching("commit"))])
async def test_a_commit_that_never_came_has_not(database: Database, driver: str, proxy: Proxy, fault: Fault) -> None:
    """The driver hears of a lost connection, and the row is not there."""
    async with OPENERS[driver](proxy.url(database.url)):
        pass  # whatever a driver says at its first connection is no part of the count
    proxy.plan(fault)
    await insert_and_commit(driver, proxy.url(database.url))
    assert proxy.fired == [fault]
    assert count_things(database) == 0


@every_driver
async def test_a_late_commit_commits_when_it_is_released(database: Database, driver: str, proxy: Proxy) -> None:
    """The row is not there when the driver has lost its connection, and there once the commit has come."""
    proxy.plan(Late(Matching("COMMIT")))
    await insert_and_commit(driver, proxy.url(database.url))
    assert count_things(database) == 0
    proxy.release()
    proxy.settled()
    assert count_things(database) == 1


@every_driver
async def test_one_statement_is_lost_withheld_and_late_by_its_text(
    database: Database, driver: str, proxy: Proxy
) -> None:
    """Preparing a statement is no use of it, so a fault meets its execution; queued faults happen one by one."""
    for fault in (Withhold(Matching("INSERT")), Late(Matching("INSERT")), Lose(Matching("INSERT"))):
        proxy.plan(fault)
    await insert_by_itself(driver, proxy.url(database.url))
    assert count_things(database) == 0
    await insert_by_itself(driver, proxy.url(database.url))
    assert count_things(database) == 0
    await insert_by_itself(driver, proxy.url(database.url))
    assert count_things(database) == 1
    proxy.release()  # it comes too late, and the primary key says so
    proxy.settled()
    assert count_things(database) == 1
    assert len(proxy.fired) == 3


@every_driver
@pytest.mark.parametrize(("fault", "expected"), [(Lose, 1), (Withhold, 0)])
async def test_a_hanging_client_hears_nothing(database: Database, driver: str, fault: Any, expected: int) -> None:
    """The fault has had its effect and the driver still waits, until the proxy ends; others go on meanwhile."""
    with database.engine().begin() as connection:
        connection.execute(sa.text("CREATE TABLE thing (id BIGINT PRIMARY KEY)"))
    with Proxy.before(database.url) as proxy:
        proxy.plan(fault(Matching("COMMIT"), "hang"))
        story = asyncio.create_task(insert_and_commit(driver, proxy.url(database.url)))
        await asyncio.to_thread(proxy.settled)
        assert count_things(database) == expected
        async with OPENERS[driver](proxy.url(database.url)) as other:
            await other.run("SELECT 1")  # gives the first one time to hear something
        assert not story.done()
    await story


@on_postgres
async def test_a_hanging_client_keeps_its_session(database: Database, proxy: Proxy) -> None:
    """As behind a broken line, the server's transaction stays open until the client gives its own side up."""
    idle = sa.text("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'")
    proxy.plan(Lose(Matching("INSERT"), "hang"))
    connection = await asyncpg.connect(proxy.url(database.url))
    await connection.execute("BEGIN")
    asked = asyncio.create_task(connection.execute("INSERT INTO thing VALUES (1)"))
    await asyncio.to_thread(proxy.settled)
    with database.engine().connect() as admin:
        assert admin.execute(idle).scalar_one() == 1
    connection.terminate()
    with pytest.raises(asyncpg.ConnectionDoesNotExistError):
        await asked


@every_driver
@pytest.mark.parametrize("n", [1, 2, 3])
async def test_a_connection_can_be_cut_at_every_statement(
    database: Database, driver: str, proxy: Proxy, n: int
) -> None:
    """Whichever statement it is, nothing is left of the transaction, and the next connection works."""
    async with OPENERS[driver](proxy.url(database.url)) as client:
        proxy.plan(Cut(Nth(n)))
        proxy.reset()
        with pytest.raises(client.lost):
            await client.transact("INSERT INTO thing VALUES (1)")
        assert len(proxy.statements) == n
    async with OPENERS[driver](proxy.url(database.url)) as client:
        await client.run("INSERT INTO thing VALUES (1)")
    assert count_things(database) == 1


@on_postgres
@pytest.mark.parametrize(("fault", "expected"), [(Lose, 3), (Withhold, 0)])
def test_a_pipelined_transaction_is_lost_as_a_whole(
    database: Database, proxy: Proxy, fault: Any, expected: int
) -> None:
    """A COMMIT inside a batch takes the batch with it: it was one request."""

    def insert_and_commit_in_one(connection: psycopg.Connection[Any]) -> None:
        with connection, connection.pipeline():
            for number in range(3):
                connection.execute("INSERT INTO thing VALUES (%s)", (number,))
            connection.execute("COMMIT")

    proxy.plan(fault(Matching("^COMMIT")))
    connection = psycopg.connect(proxy.url(database.url))
    with pytest.raises(psycopg.OperationalError):
        insert_and_commit_in_one(connection)
    assert len(proxy.fired) == 1
    assert count_things(database) == expected


@on_postgres
def test_a_fault_takes_no_earlier_answer_with_it(database: Database, proxy: Proxy) -> None:
    """What was asked before the lost request is answered first, though both came in one packet."""
    place = make_url(database.url)
    login = f"user\0{place.username}\0database\0{place.database}\0\0".encode()
    ask_first, ask_second = (b"Q" + struct.pack("!I", 13) + text + b"\0" for text in (b"SELECT 1", b"SELECT 2"))
    proxy.plan(Lose(Matching("SELECT 2")))
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=5) as client:
        client.sendall(struct.pack("!II", 8 + len(login), 3 << 16) + login)
        heard = b""
        while not heard.endswith(b"Z\0\0\0\5I"):
            heard += client.recv(4096)
        client.sendall(ask_first + ask_second)
        heard = b"".join(iter(lambda: client.recv(4096), b""))
    assert heard.count(b"SELECT 1\0Z") == 1
    assert (proxy.trips, proxy.statements) == (1, ["SELECT 1", "SELECT 2"])


@on_postgres
async def test_a_held_request_whose_session_died_settles(database: Database, proxy: Proxy) -> None:
    """A late request can find nobody; then it has had all the effect it will ever have."""
    proxy.plan(Late(Matching("COMMIT")))
    await insert_and_commit("asyncpg", proxy.url(database.url))
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with database.engine().connect() as connection:
        connection.execute(sa.text(f"SELECT pg_terminate_backend(pid) {others}"))
        while connection.execute(sa.text(f"SELECT count(*) {others}")).scalar_one():
            connection.rollback()  # within a transaction the same activity is shown again and again
    proxy.release()
    proxy.settled()
    assert count_things(database) == 0


@on_postgres
def test_a_cancel_reaches_the_server(database: Database, proxy: Proxy) -> None:
    """A cancel comes on a connection of its own and ends the statement it is meant for."""
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    heard: list[BaseException] = []

    def wait_for_lock(connection: psycopg.Connection[Any]) -> None:
        with pytest.raises(psycopg.errors.QueryCanceled) as caught:
            connection.execute("SELECT pg_advisory_lock(1)")
        heard.append(caught.value)

    with psycopg.connect(database.url) as holder, psycopg.connect(proxy.url(database.url)) as waiter:
        holder.execute("SELECT pg_advisory_lock(1)")
        thread = threading.Thread(target=wait_for_lock, args=(waiter,))
        thread.start()
        proxy.wait_for_statement("advisory_lock")
        while holder.execute(waiting).fetchone() == (0,):
            pass
        waiter.cancel_safe()
        thread.join()
        waiter.rollback()
    assert len(heard) == 1


@on_both
def test_a_proxy_leaves_nothing_behind(database: Database) -> None:
    """Its thread ends, its port refuses, and connections that are still open are dropped."""
    before = threading.active_count()
    with Proxy.before(database.url) as proxy:
        engine = sa.create_engine(
            proxy.url(database.sync_url), connect_args={"connect_timeout": 5}, poolclass=sa.pool.NullPool
        )
        left = engine.connect()
        left.execute(sa.text("SELECT 1"))
    assert threading.active_count() == before
    with pytest.raises(sa.exc.OperationalError):
        left.execute(sa.text("SELECT 1"))
    left.close()
    with pytest.raises(sa.exc.OperationalError):
        engine.connect()


def test_a_server_that_is_not_there_is_a_lost_connection() -> None:
    """A proxy in front of nothing accepts a client and drops it."""
    with (
        Proxy("127.0.0.1", 1, "postgresql") as proxy,  # nothing listens on the first of all ports
        pytest.raises(psycopg.OperationalError),
    ):
        psycopg.connect(proxy.url("postgresql://root@example.org/postgres"))


@on_mariadb
def test_what_the_proxy_does_not_understand_fails_the_test(database: Database) -> None:
    """A command it cannot follow ends the connection and is raised at the end of the block."""

    def ask_for_the_binary_log() -> None:
        with Proxy.before(database.url) as proxy:
            connection = pymysql.connect(**mysql_place(proxy.url(database.url)))
            connection._execute_command(COMMAND.COM_BINLOG_DUMP, b"")
            with pytest.raises(pymysql.OperationalError):
                connection._read_packet()

    with pytest.raises(ExceptionGroup) as caught:
        ask_for_the_binary_log()
    assert caught.group_contains(WireError, match="0x12")


@on_both
def test_waiting_for_nothing_says_what_lacks(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Releasing or waiting without a fault is the test's own mistake, and told as one."""
    monkeypatch.setattr(record, "PATIENCE_SECONDS", 0.01)
    with pytest.raises(RuntimeError, match="no request is held back"):
        proxy.release()
    with pytest.raises(TimeoutError, match="no planned fault has fired"):
        proxy.settled()
    with pytest.raises(TimeoutError, match="no client sent a statement like 'INSERT'"):
        proxy.wait_for_statement("INSERT")
