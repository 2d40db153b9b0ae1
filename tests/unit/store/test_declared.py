from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, column_property, mapped_column

from semel import ConfigError
from semel.store.declared import Declared, declare


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"
    __table_args__ = {"schema": "shop"}  # noqa: RUF012 - SQLAlchemy reads it as a plain dict
    key: Mapped[int] = mapped_column("id", primary_key=True)
    state: Mapped[str] = mapped_column("status", sa.String(9))
    fence: Mapped[int] = mapped_column("version", sa.BigInteger)
    label = column_property(sa.literal("x"))


class Joined(Base):
    __table__ = sa.join(
        Order.__table__, sa.Table("more", Base.metadata, sa.Column("more_id", sa.Integer, primary_key=True)), sa.true()
    )


def read(given: Any, *, status: Any = "status", version: Any = "version", id: Any = None) -> Declared:  # noqa: A002 - the public word
    return declare(given, status=status, version=version, id=id, status_values=None)


@pytest.mark.parametrize(
    ("given", "qualified", "shown"),
    [
        ("orders", "orders", "orders"),
        ("shop.orders", "shop.orders", "orders"),
        (Order.__table__, "shop.orders", "orders"),
        (Order, "shop.orders", "Order"),
    ],
)
def test_a_table_goes_by_three_kinds_of_names(given: Any, qualified: str, shown: str) -> None:
    """A name, a Table, a mapped class: the journal has the whole name, an error the one its reader knows."""
    declared = read(given)
    assert (declared.qualified, declared.shown) == (qualified, shown)


@pytest.mark.parametrize("given", ["robert'); DROP TABLE orders; --", "", "a.b.c", 7, object, None, Order(), Joined])
def test_what_is_no_table_is_refused(given: Any) -> None:
    """Names that would need quotes, instances, and classes over several tables."""
    with pytest.raises(ConfigError) as caught:
        read(given)
    assert caught.value.code == "SEMEL-TABLE-7"


def test_columns_are_named_by_attribute_column_or_text() -> None:
    """All of them mean the column's name in the database."""
    table = Order.__table__
    for words in (
        ("state", "fence", "key"),
        ("status", "version", "id"),
        (table.c.status, table.c.version, table.c.id),
    ):
        declared = read(Order, status=words[0], version=words[1], id=words[2])
        assert (declared.status, declared.version, declared.id) == ("status", "version", "id")
    attributes = read(Order, status=Order.state, version=Order.fence, id=Order.key)
    assert (attributes.status, attributes.version, attributes.id) == ("status", "version", "id")
    assert (attributes.status_attribute, attributes.version_attribute) == ("state", "fence")


def test_a_column_that_the_class_does_not_map_has_no_attribute() -> None:
    """The version may be Semel's alone."""
    assert read(Order, version="semel_version").version_attribute is None
    assert read("orders").status_attribute is None
