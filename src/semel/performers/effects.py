"""`Effect`: what the handler of an after-effect is given."""

from __future__ import annotations

import json
import zlib
from functools import cached_property
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession
from sqlalchemy.orm import Session

from semel.asks import Deliver
from semel.performers.checks import check_sqlalchemy
from semel.performers.wanted import look_at
from semel.performers.wires.borrowed import AsyncSqlalchemyWire, SqlalchemyWire


class _EffectFacts:
    """What both kinds of effects know."""

    def __init__(self, deliver: Deliver, note: Any) -> None:
        """Keep what is delivered."""
        self._deliver = deliver
        self._note = note

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name} {self.id}>"

    @property
    def id(self) -> str:
        """The effect's id: the same at every delivery. Use it as the message id of whatever you send."""
        return self._deliver.effect_id

    @property
    def name(self) -> str:
        """The effect's name."""
        return self._deliver.name

    @property
    def table(self) -> str:
        """The table of the row that owes it."""
        return self._deliver.entity

    @property
    def row_id(self) -> str:
        """The row that owes it, as text."""
        return self._deliver.row_id

    @property
    def attempt(self) -> int:
        """Which delivery this is, from 1."""
        return self._deliver.attempt

    @cached_property
    def payload(self) -> dict[str, Any]:
        """What was recorded with it."""
        read: dict[str, Any] = json.loads(self._deliver.payload)
        return read

    def _params(self, consumer: str) -> dict[str, object]:
        # A consumer's number is the ordinal of its journal row; 0 is never one.
        return {"effect_id": self.id, "consumer": zlib.crc32(consumer.encode()) + 1}


class Effect(_EffectFacts):
    """An after-effect that is being delivered: what a `def` handler is given."""

    def first_time(self, on: Session, consumer: str = "handler") -> bool:
        """Answer whether this consumer has not handled the effect yet, noting it in the transaction of your own session.

        Write what the effect does through the same session, and commit: however often it is delivered, it happens once.
        """
        connection = on.connection()
        with look_at(on) as given:
            check_sqlalchemy(connection, given)
        wire = SqlalchemyWire(connection.dialect)
        rendered = self._note.render(wire.dialect)
        return wire.execute(connection, rendered.text, rendered.bind(self._params(consumer))) == 1


class AsyncEffect(_EffectFacts):
    """An after-effect that is being delivered: what an `async def` handler is given."""

    async def first_time(self, on: AsyncSession, consumer: str = "handler") -> bool:
        """Answer whether this consumer has not handled the effect yet, noting it in the transaction of your own session.

        Write what the effect does through the same session, and commit: however often it is delivered, it happens once.
        """
        connection: AsyncConnection = await on.connection()
        with look_at(on) as given:
            check_sqlalchemy(connection.sync_connection, given)
        wire = AsyncSqlalchemyWire(connection.dialect)
        rendered = self._note.render(wire.dialect)
        return await wire.execute(connection, rendered.text, rendered.bind(self._params(consumer))) == 1
