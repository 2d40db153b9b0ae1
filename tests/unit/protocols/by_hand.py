"""Driving a protocol by hand: each statement is answered by its name, and what was asked is listed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sqlalchemy as sa

from semel.asks import (
    Act,
    Ask,
    Asking,
    ClaimName,
    Deliver,
    Drop,
    Execute,
    Fetch,
    Fresh,
    OpenFinish,
    Tick,
    Together,
    Wait,
)
from semel.errors import SemelError, error
from semel.protocols.claim import Held, Wish
from semel.store.claims import Claims
from semel.store.dialects import Family
from semel.store.entity import Entity, StatusCodec
from semel.store.ground import Ground
from semel.store.journal import Journal
from semel.store.outbox import Outbox
from semel.store.tables import OwnTables

NAME = ClaimName("orders", "orders", "1", "pay", "pending")
OPERATION = "0" * 32


def make_claims(family: Family) -> Claims:
    """Make the statements over the claims of orders."""
    kinds = {"id": sa.BigInteger(), "status": sa.String(), "version": sa.BigInteger()}
    table = sa.table("orders", *(sa.column(name, kind) for name, kind in kinds.items()))
    columns = {column.name: column for column in table.c}
    entity = Entity(
        "orders", family, table, columns["id"], columns["status"], columns["version"], int, StatusCodec(), columns
    )
    ground = Ground(family, OwnTables())
    return Claims(entity, ground, Journal(ground), Outbox(ground))


def make_wish(family: Family) -> Wish:
    """Wish for the claim of paying order 1."""
    return Wish(
        claims=make_claims(family),
        name=NAME,
        row=1,
        into="paying",
        back_to="pending",
        requester="customer",
        input='{"card":"1"}',
        recovery="revert",
        owner="me",
        lease_us=30_000_000,
        workflow_hash="hash",
        claim_statuses=frozenset({"paying"}),
    )


def make_held(family: Family, fence: int = 5) -> Held:
    """Hold the claim of paying order 1."""
    return Held(make_wish(family), fence=fence, pass_number=1, values={"id": 1, "status": "paying", "version": fence})


class Hand:
    """Answers asks: statements from a table of answers by name, each used up in turn but the last, errors thrown."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = {name: list(each) if isinstance(each, tuple) else [each] for name, each in answers.items()}
        self.asked: list[str] = []
        self.params: dict[str, Mapping[str, object]] = {}

    def run(self, protocol: Asking[Any], *, inside: bool = False) -> Any:
        """Answer what the protocol answers. Inside a transaction an error ends it."""
        try:
            ask = next(protocol)
            while True:
                try:
                    answer = self.answer(ask)
                except SemelError as problem:
                    if inside:
                        raise
                    ask = protocol.throw(problem)
                else:
                    ask = protocol.send(answer)
        except StopIteration as stop:
            return stop.value

    def answer(self, ask: Ask) -> Any:
        match ask:
            case Tick():
                return 0.0
            case Wait():
                return None
            case Fresh():
                return OPERATION
            case Together(begin=begin):
                self.asked.append("together")
                answer = self.run(begin(), inside=True)
                self.say("commit")
                return answer
            case Fetch(statement=statement, params=params) | Execute(statement=statement, params=params):
                self.params[statement.name] = params
                return self.say(statement.name, 1)
            case Act() | Deliver() | Drop() | OpenFinish():
                return self.say(type(ask).__name__)
        raise AssertionError(ask)

    def say(self, name: str, default: Any = None) -> Any:
        """Answer by name, and list it; an answer that is an error is thrown."""
        self.asked.append(name)
        answers = self.answers.get(name, [default])
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, SemelError):
            raise answer
        return answer


def unknown() -> SemelError:
    """The answer to a write never came."""
    return error("SEMEL-STORE-3", reason="the line went dead", seconds=0.0)


def conflict() -> SemelError:
    """The database made the work give way."""
    return error("SEMEL-STORE-1", reason="deadlock")


Make = Callable[[Family], Any]
