"""What users write to declare a table and to move its rows, as type checkers see it."""

from __future__ import annotations

import enum
from typing import Any, assert_never, assert_type

from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from semel import (
    AsyncSemel,
    AsyncTable,
    ConfigError,
    Missed,
    Moved,
    Semel,
    SemelError,
    StoreError,
    Table,
    UsageError,
)


class Base(DeclarativeBase):
    pass


class Status(enum.Enum):
    PENDING = "pending"
    PAID = "paid"


class Order(Base):
    __tablename__ = "orders"

    id: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[Status]
    version: Mapped[int]


def declare(once: Semel, later: AsyncSemel) -> None:
    """A mapped class makes a typed handle; a name makes one of anything."""
    assert_type(once.table(Order), Table[Order])
    assert_type(once.table(Order, status=Order.status, version="version", id=Order.id), Table[Order])
    assert_type(once.table(Order.__table__), Table[Any])
    assert_type(once.table("orders", status_values={"pending": 0}), Table[Any])
    assert_type(later.table(Order), AsyncTable[Order])
    assert_type(later.table("orders"), AsyncTable[Any])


def open_and_close(url: str) -> None:
    """Both kinds are context managers of themselves."""
    with Semel(url) as once:
        assert_type(once, Semel)


async def open_and_close_later(url: str) -> None:
    """The async one likewise."""
    async with AsyncSemel(url, prefix="semel_", connections_limit=5) as once:
        assert_type(once, AsyncSemel)


def move(orders: Table[Order]) -> int | str | None:
    """The truth of an answer narrows its type, so each branch has what it needs and nothing else."""
    moved = orders.transition(1, "pending", to="paid", by="customer", total=100)
    assert_type(moved, Moved | Missed)
    if moved:
        assert_type(moved, Moved)
        assert_type(moved.fence, int)
        assert_type(moved.provisional, bool)
        return moved.fence
    assert_type(moved, Missed)
    return moved.now


def match_answers(orders: Table[Order]) -> str:
    """The union is closed: a match over both is complete."""
    moved = orders.transition(1, [Status.PENDING], to=Status.PAID, where={"id": 1})
    match moved:
        case Moved(fence=fence):
            return f"moved at {fence}"
        case Missed(now=now):
            return f"already {now}"
        case _:
            assert_never(moved)


def move_several(orders: Table[Order]) -> list[int]:
    """An answer for each id."""
    outcomes = orders.transition_many([1, 2], "pending", to="paid")
    assert_type(outcomes, dict[Any, Moved | Missed])
    return [outcome.fence for outcome in outcomes.values() if outcome]


async def move_later(orders: AsyncTable[Order]) -> int | None:
    """The async verbs answer the same, awaited."""
    moved = await orders.transition(1, "pending", to="paid")
    assert_type(moved, Moved | Missed)
    outcomes = await orders.transition_many([1, 2], "pending", to="paid")
    assert_type(outcomes, dict[Any, Moved | Missed])
    return moved.fence if moved else None


def sort_errors(orders: Table[Order]) -> str:
    """Errors are sorted by whose fault they are, and each says what to do next."""
    try:
        orders.transition(1, "pending", to="paid")
    except (ConfigError, UsageError) as problem:
        assert_type(problem.remedy, str)
        return problem.code
    except StoreError as problem:
        assert_type(problem.retryable, bool)
        assert_type(problem.operation, str | None)
        return problem.reason
    except SemelError as problem:
        return problem.happened
    return ""
