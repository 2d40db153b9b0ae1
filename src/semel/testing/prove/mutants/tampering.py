"""Tampering: a protocol whose asks are changed, dropped or answered otherwise on the way to the performer.

A mutant that meddles with single asks stays small, and stays the product in everything else when the product changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from semel.asks import Asking, Execute, Fetch, Together
from semel.errors import SemelError

Meddle: TypeAlias = Callable[[Any], Asking[Any]]
"""Asks what is to be asked instead, and answers what the protocol is to hear."""


def tampered(protocol: Callable[..., Asking[Any]], meddle: Meddle) -> Callable[..., Asking[Any]]:
    """Answer the same protocol with somebody between it and the performer."""

    def begin(*given: Any, **named: Any) -> Asking[Any]:
        return run_tampered(protocol(*given, **named), meddle)

    return begin


def run_tampered(inner: Asking[Any], meddle: Meddle) -> Asking[Any]:
    """Drive a protocol, and let every ask go through other hands."""
    reply: Any = None
    problem: SemelError | None = None
    while True:
        try:
            ask = inner.send(reply) if problem is None else inner.throw(problem)
        except StopIteration as stop:
            return stop.value
        reply, problem = None, None
        try:
            reply = yield from meddle(ask)
        except SemelError as trouble:
            problem = trouble


def is_named(ask: Any, name: str) -> bool:
    """Whether an ask runs the statement of this name, or one of this family of names."""
    return isinstance(ask, Execute | Fetch) and ask.statement.name.startswith(name)


def instead(name: str, answer: Any) -> Meddle:
    """Leave one statement out, and answer as if it had run."""

    def meddle(ask: Any) -> Asking[Any]:
        if is_named(ask, name):
            return answer
        return (yield ask)

    return meddle


def believing(name: str, answer: Any) -> Meddle:
    """Run one statement, and hear something else than it said."""

    def meddle(ask: Any) -> Asking[Any]:
        reply = yield ask
        return answer if is_named(ask, name) else reply

    return meddle


def with_params(name: str, change: Callable[[Mapping[str, object]], Mapping[str, object]]) -> Meddle:
    """Run one statement with other parameters."""

    def meddle(ask: Any) -> Asking[Any]:
        return (yield replace(ask, params=change(ask.params)) if is_named(ask, name) else ask)

    return meddle


def later(name: str) -> Meddle:
    """Leave one statement out of every transaction, and run it alone when that has committed."""

    def meddle(ask: Any) -> Asking[Any]:
        if not isinstance(ask, Together):
            return (yield ask)
        left_out: list[Any] = []

        def leave_out(inner: Any) -> Asking[Any]:
            if is_named(inner, name):
                left_out.append(inner)
                return inner.rows_limit
            return (yield inner)

        begin = ask.begin
        answer = yield replace(ask, begin=lambda: run_tampered(begin(), leave_out))
        yield from left_out
        return answer

    return meddle
