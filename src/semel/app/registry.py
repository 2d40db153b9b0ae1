"""What the user registers: actions, validators, handlers of after-effects, and which modules keep their claims."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy.orm import Mapper

from semel.errors import error
from semel.workflow.rule import CallFacts

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Registered:
    """A function under its name."""

    function: Callable[[Any], Any]
    idempotent: bool = True


@dataclass
class Registry:
    """Everything registered on one Semel."""

    is_async: bool
    lease_seconds: float
    actions: dict[str, Registered] = field(default_factory=dict)
    validators: dict[str, Registered] = field(default_factory=dict)
    effects: dict[str, Registered] = field(default_factory=dict)
    mappers: dict[str, Mapper[Any]] = field(default_factory=dict)
    janitors: set[str] = field(default_factory=set)

    def register(self, shelf: str, name: str, *, idempotent: bool = True) -> Callable[[Function], Function]:
        """Answer a decorator that keeps a function under a name, once."""
        kept: dict[str, Registered] = getattr(self, shelf)

        def keep(function: Function) -> Function:
            if name in kept and kept[name].function is not function:
                raise error("SEMEL-APP-4", kind=shelf.removesuffix("s"), name=name)
            kept[name] = Registered(function, idempotent)
            return function

        return keep

    @property
    def unrepeatable_actions(self) -> set[str]:
        """The actions that must never run beside themselves."""
        return {name for name, registered in self.actions.items() if not registered.idempotent}

    @property
    def payloads(self) -> dict[str, Registered]:
        """The payload functions of declared calls."""
        return {}

    @property
    def calls(self) -> dict[str, CallFacts]:
        """The calls of the providers."""
        return {}

    def wrong_colours(self) -> list[str]:
        """Answer every registered function that this kind of Semel cannot run, and why."""
        wrong = []
        for shelf in ("actions", "validators", "effects"):
            for name, registered in getattr(self, shelf).items():
                if _is_async(registered.function) != self.is_async:
                    needed = "async def" if self.is_async else "def"
                    wrong.append(f"the {shelf.removesuffix('s')} {name!r} must be a `{needed}` function")
        return wrong

    def action(self, name: str) -> Callable[[Any], Any]:
        """Answer an action."""
        return self._find("actions", name)

    def validator(self, name: str) -> Callable[[Any], Any]:
        """Answer a validator."""
        return self._find("validators", name)

    def effect(self, name: str) -> Callable[[Any], Any]:
        """Answer the handler of an after-effect."""
        return self._find("effects", name)

    def mapper(self, entity: str) -> Mapper[Any] | None:
        """Answer the mapped class of a table, if it has one."""
        return self.mappers.get(entity)

    def _find(self, shelf: str, name: str) -> Callable[[Any], Any]:
        kept: dict[str, Registered] = getattr(self, shelf)
        if name not in kept:
            raise error("SEMEL-APP-5", kind=shelf.removesuffix("s"), name=name)
        return kept[name].function


def _is_async(function: Callable[..., Any]) -> bool:
    called = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004 - an object that is called
    return inspect.iscoroutinefunction(inspect.unwrap(called))
