from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from semel import ConfigError, Missed, Moved
from tests.conformance.conftest import Open
from tests.conformance.faces import Once, Orders
from tests.conformance.families import on_servers, on_sqlite
from tests.conformance.shop import Order, lay_orders, read_journal, read_moves, read_rows
from tests.databases import Database, connect_admin


class Base(DeclarativeBase):
    pass


class Counted(Base):
    __tablename__ = "counted"
    id: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[str] = mapped_column(sa.String(40))
    version: Mapped[int] = mapped_column(sa.BigInteger)
    fence: Mapped[int] = mapped_column(sa.BigInteger, server_default="0")
    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy reads it as a plain dict


UNSAFE = [
    ("a BIGINT, b BIGINT, status VARCHAR(9), version BIGINT NOT NULL, PRIMARY KEY (a, b)", "SEMEL-TABLE-5"),
    ("id BIGINT, status VARCHAR(9), version BIGINT NOT NULL", "SEMEL-TABLE-5"),
    ("id FLOAT PRIMARY KEY, status VARCHAR(9), version BIGINT NOT NULL", "SEMEL-TABLE-5"),
    ("id BIGINT PRIMARY KEY, version BIGINT NOT NULL", "SEMEL-TABLE-2"),
    ("id BIGINT PRIMARY KEY, status VARCHAR(9)", "SEMEL-TABLE-2"),
    ("id BIGINT PRIMARY KEY, status VARCHAR(9), version BIGINT", "SEMEL-TABLE-3"),
    ("id BIGINT PRIMARY KEY, status VARCHAR(9), version SMALLINT NOT NULL", "SEMEL-TABLE-3"),
    ("id BIGINT PRIMARY KEY, status VARCHAR(9), version VARCHAR(9) NOT NULL", "SEMEL-TABLE-3"),
]


def test_a_table_that_cannot_be_safe_is_refused_at_boot(database: Database, once: Once, open_once: Open) -> None:
    """Composite, missing and inexact keys; missing columns; a version that may be NULL, overflow, or is no number."""
    once.boot()
    for number, (columns, code) in enumerate(UNSAFE):
        with database.engine().begin() as connection:
            connection.execute(sa.text(f"CREATE TABLE odd_{number} ({columns})"))
        refusing = open_once()
        refusing.table(f"odd_{number}")
        with pytest.raises(ConfigError) as caught:
            refusing.boot()
        assert caught.value.code == code, columns


def test_a_missing_version_comes_with_the_sql_that_adds_it(database: Database, once: Once) -> None:
    """The remedy can be pasted, and then the table is fine."""
    with database.engine().begin() as connection:
        connection.execute(sa.text("CREATE TABLE plain (id BIGINT PRIMARY KEY, status VARCHAR(9))"))
        connection.execute(sa.text("INSERT INTO plain VALUES (1, 'new')"))
    plain = once.table("plain")
    with pytest.raises(ConfigError) as caught:
        once.boot()
    with database.engine().begin() as connection:
        connection.execute(sa.text(caught.value.remedy.partition(": ")[2].rstrip(".")))
    assert plain.transition(1, "new", to="old") == Moved(1)


def test_a_table_that_is_not_there_is_refused_at_boot(once: Once) -> None:
    """The error names it."""
    once.table("nowhere")
    with pytest.raises(ConfigError, match="no table 'nowhere'") as caught:
        once.boot()
    assert caught.value.code == "SEMEL-TABLE-1"


def test_a_version_that_the_mapper_counts_is_refused_at_once(database: Database, once: Once) -> None:
    """The mapper's own writes would fence Semel's claims out; another column beside it is fine."""
    with pytest.raises(ConfigError, match="version_id_col") as caught:
        once.table(Counted)
    assert caught.value.code == "SEMEL-TABLE-4"
    Base.metadata.create_all(database.engine())
    with Session(database.engine()) as session:
        session.add(Counted(id=1, status="new"))
        session.commit()
    assert once.table(Counted, version="fence").transition(1, "new", to="old") == Moved(1)


def test_columns_go_by_any_of_their_names(database: Database, once: Once) -> None:
    """Status, version and id may be named as attribute, column or text; a unique column may be the id."""
    with database.engine().begin() as connection:
        connection.execute(
            sa.text(
                "CREATE TABLE shop_orders (a BIGINT, b BIGINT, nr VARCHAR(20) NOT NULL UNIQUE, state VARCHAR(9) NOT NULL,"
                " fence BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (a, b))"
            )
        )
        connection.execute(sa.text("INSERT INTO shop_orders (a, b, nr, state) VALUES (1, 1, 'x-1', 'new')"))
    table = sa.Table("shop_orders", sa.MetaData(), autoload_with=database.engine())
    by_name = once.table("shop_orders", status="state", version="fence", id="nr")
    by_column = once.table(table, status=table.c.state, version=table.c.fence, id=table.c.nr)
    assert by_name.transition("x-1", "new", to="paid", a=1) == Moved(1)
    assert by_column.transition("x-1", "paid", to="sent", b=[1, 2]) == Moved(2)


def test_an_id_that_is_not_unique_is_refused(database: Database, once: Once) -> None:
    """A column that may repeat although a wider key holds it, or a part of the rows, does not find one row."""
    columns = "id BIGINT PRIMARY KEY, nr BIGINT NOT NULL, status VARCHAR(9), version BIGINT NOT NULL, UNIQUE (nr, id)"
    with database.engine().begin() as connection:
        connection.execute(sa.text(f"CREATE TABLE odd ({columns})"))
        if database.family != "mariadb":
            connection.execute(sa.text("CREATE UNIQUE INDEX odd_new ON odd (nr) WHERE status = 'new'"))
    once.table("odd", id="nr")
    with pytest.raises(ConfigError, match="nr is not unique"):
        once.boot()


def test_two_prefixes_are_two_journals(database: Database, orders: Orders, open_once: Open) -> None:
    """A Semel with a prefix of its own has tables of its own, over the same orders."""
    other = open_once(prefix="pay_")
    with pytest.raises(ConfigError) as caught:
        other.boot()
    assert caught.value.code == "SEMEL-SCHEMA-1"
    other.create_tables()
    assert other.table(Order).transition(1, "pending", to="paid") == Moved(1)
    assert orders.transition(1, "pending", to="paid") == Missed("paid")
    assert (len(read_journal(database)), len(read_journal(database, "pay_journal"))) == (0, 1)


@pytest.fixture
def schema(database: Database) -> Iterator[str]:
    """A schema beside the test's own, where there are any: PostgreSQL's schemas, MariaDB's databases."""
    name = f"semel_test_{secrets.token_hex(6)}"
    with connect_admin(sa.make_url(database.url)) as admin:
        admin.exec_driver_sql(f"CREATE SCHEMA {name}")
        yield name
        admin.exec_driver_sql(f"DROP SCHEMA {name}" + (" CASCADE" if database.family == "postgresql" else ""))


@on_servers
def test_semel_may_live_in_a_schema_of_its_own(database: Database, schema: str, open_once: Open) -> None:
    """Semel's tables in one schema, the user's in another: the journal tells the user's by its whole name."""
    once = open_once(schema=schema, prefix="s_")
    once.create_tables()
    lay_orders(database)
    with database.engine().begin() as connection:
        connection.execute(sa.text(f"CREATE TABLE {schema}.orders AS SELECT * FROM orders"))
        connection.execute(sa.text(f"ALTER TABLE {schema}.orders ADD PRIMARY KEY (id)"))
        connection.execute(sa.text(f"ALTER TABLE {schema}.orders ALTER COLUMN version SET DEFAULT 5"))
        if database.family == "postgresql":
            connection.execute(sa.text(f"ALTER TABLE {schema}.orders ALTER COLUMN version SET NOT NULL"))
    theirs, ours = once.table(f"{schema}.orders"), once.table("orders")
    assert ours.transition(1, "pending", to="paid") == Moved(1)
    assert theirs.transition_many([1, 2], "pending", to="sent") == {1: Moved(1), 2: Moved(1)}
    assert read_rows(database, f"{schema}.orders")[1] == ("sent", 1)
    assert read_rows(database)[1] == ("paid", 1)
    entities = sorted((entry.entity, entry.row_id) for entry in read_moves(database, f"{schema}.s_journal"))
    assert entities == [("orders", "1"), (f"{schema}.orders", "1"), (f"{schema}.orders", "2")]


@on_sqlite
def test_sqlite_has_no_schemas(open_once: Open) -> None:
    """The setting is refused, and the error names the other one."""
    with pytest.raises(ConfigError, match="use prefix"):
        open_once(schema="semel")


def test_a_table_declared_after_boot_is_checked_at_its_first_verb(database: Database, once: Once) -> None:
    """Boot need not know every table; a later one is refused just the same."""
    lay_orders(database)
    once.boot()
    late = once.table(Order)
    assert late.transition(1, "pending", to="paid") == Moved(1)
    lost = once.table("nowhere")
    with pytest.raises(ConfigError, match="no table 'nowhere'"):
        lost.transition(1, "pending", to="paid")
    assert late.transition(2, "pending", to="paid") == Moved(1)
