"""Greenlets: the user's plain functions, which stop where they touch the database and go on when they are answered.

A function runs in a greenlet of its own. What it asks for (a deed, or a protocol to be performed) is handed to whoever
drives it; whoever is driven without a driver has been killed, and their world is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from greenlet import GreenletExit, getcurrent, greenlet  # type: ignore[import-untyped] # it ships no types

from semel.asks import Asking
from semel.testing.prove.deeds import Deed
from semel.testing.prove.life import STAGE, Deeds, Life


@dataclass
class Perform:
    """A protocol that a function wants performed."""

    protocol: Asking[Any]


class _Green(greenlet):  # type: ignore[misc] # greenlet ships no usable type for subclassing
    """A greenlet that knows whether somebody still drives it."""

    is_driven = True


def run_in_greenlet(life: Life, function: Callable[[], Any]) -> Generator[Deed, Any, Any]:
    """Run a function, and pass on what it asks for, until it returns or raises."""
    green = _Green(function)
    try:
        made = green.switch()
        while not green.dead:
            made = yield from _serve(life, green, made)
        return made
    finally:
        if not green.dead:
            green.is_driven = False
            green.throw(GreenletExit)


def _serve(life: Life, green: _Green, wanted: Any) -> Deeds:
    try:
        answer = yield from (life.perform(wanted.protocol) if isinstance(wanted, Perform) else life.do(wanted))
    except Exception as problem:  # noqa: BLE001 - it belongs to the function that asked
        green.parent = getcurrent()
        return green.throw(problem)
    green.parent = getcurrent()
    return green.switch(answer)


def perform_deed(deed: Deed) -> Any:
    """Do a deed from inside a function; in a dead world nothing is done any more."""
    return _ask(deed)


def perform(protocol: Asking[Any]) -> Any:
    """Perform a protocol from inside a function."""
    return _ask(Perform(protocol))


def is_dead() -> bool:
    """Whether nobody drives this function any more."""
    green = getcurrent()
    return not (isinstance(green, _Green) and green.is_driven)


def _ask(wanted: Any) -> Any:
    if is_dead():
        raise GreenletExit
    return getcurrent().parent.switch(wanted)


def current_life() -> Life:
    """Answer whose function runs."""
    assert STAGE.life is not None, "a function runs in somebody's life"
    return STAGE.life
