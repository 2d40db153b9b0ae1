"""The transaction that an action writes in: fenced at its start, finished or dropped at its end.

A savepoint stands in it as a token. Whoever ends the transaction takes the token along, so the finish asks for it before it
writes, and a transaction without it is never committed here.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from semel.asks import Asking
from semel.errors import SemelError, error
from semel.performers.explaining import as_told
from semel.performers.opened import (
    BACK_TO_JOINED,
    BACK_TO_TOKEN,
    GIVE_JOINED_UP,
    GIVE_TOKEN_UP,
    SET_JOINED,
    SET_TOKEN,
)
from semel.performers.quoting import quote
from semel.performers.stepping import Steps
from semel.performers.wires.wire import Wire
from semel.store.dialects import Fault, classify

logger = logging.getLogger("semel")


class Finishing:
    """What a conductor does with a transaction that an action writes in."""

    def beside(self, wire: Wire, connection: Any) -> Any:
        """Answer a conductor for a connection that somebody else began and will end."""
        raise NotImplementedError

    def run_first(self, opened: Any, begin: Callable[[], Asking[Any]]) -> Steps[Any]:
        """Run a protocol at the start of a transaction that an action will write in; after an error it is rolled back."""
        try:
            connection = yield opened.connection
            if opened.borrowed:
                yield partial(opened.say, SET_JOINED)
            answer = yield from self.beside(opened.wire(connection), connection).conduct_inside(connection, begin())
            yield partial(opened.say, SET_TOKEN)
        except BaseException as problem:
            yield from self.drop(opened)
            raise as_told(problem, writing=False) from problem
        return answer

    def run_within(self, opened: Any, begin: Callable[[], Asking[Any]]) -> Steps[Any]:
        """Run a protocol at the end of a transaction that an action has written in, and commit it."""
        if opened.borrowed:
            return (yield from self.run_in_savepoint(opened, begin))
        committing = False
        try:
            yield from self.give_token_up(opened)
            connection = yield opened.connection
            answer = yield from self.beside(opened.wire(connection), connection).conduct_inside(connection, begin())
            committing = True
            yield opened.commit
        except BaseException as problem:
            yield from self.drop(opened)
            raise as_told(problem, writing=committing) from problem
        return answer

    def run_in_savepoint(self, opened: Any, begin: Callable[[], Asking[Any]]) -> Steps[Any]:
        """Run a protocol at the end of a step that joined the user's transaction; what fails goes back to the savepoint."""
        try:
            yield opened.commit  # of the action's own session, which is a savepoint inside ours
            yield from self.give_token_up(opened)
            connection = yield opened.connection
            answer = yield from self.beside(opened.wire(connection), connection).conduct_inside(connection, begin())
            yield partial(opened.say, GIVE_JOINED_UP)
        except BaseException as problem:
            yield from self.drop(opened)
            raise as_told(problem, writing=False) from problem
        return answer

    def give_token_up(self, opened: Any) -> Steps[None]:
        """See that the transaction still is the one that was fenced. Otherwise it must not be finished."""
        try:
            yield partial(opened.say, GIVE_TOKEN_UP)
        except SemelError:
            raise
        except Exception as problem:
            if opened.gave_way:
                raise error("SEMEL-STORE-1", reason=quote(problem)) from problem
            if classify(problem) is Fault.POISONED:
                raise error("SEMEL-STEP-7") from problem
            if classify(problem) is Fault.LOST:
                raise
            raise error("SEMEL-STEP-8") from problem

    def drop(self, opened: Any) -> Steps[bool]:
        """Roll back what an action left open; answer whether all of it was there to be rolled back.

        False: the action ended the transaction itself, and may have committed. A connection that died took it along.
        """
        if opened.borrowed:
            yield from self.end_session(opened)
        whole = yield from self.go_back(opened)
        if not opened.borrowed:
            yield from self.end_session(opened)
        return whole

    def go_back(self, opened: Any) -> Steps[bool]:
        """Roll back to where the step began; answer whether that was still there, or is gone with all that was written."""
        try:
            if opened.borrowed:
                yield partial(opened.say, BACK_TO_JOINED)
                yield partial(opened.say, GIVE_JOINED_UP)
            else:
                yield partial(opened.say, BACK_TO_TOKEN)
        except Exception as problem:  # noqa: BLE001 - what it means is looked up
            return opened.is_gone_by_itself or classify(problem) is Fault.LOST
        return True

    def end_session(self, opened: Any) -> Steps[None]:
        """Roll the action's session back. A connection that cannot is closed by SQLAlchemy, which rolls back too."""
        try:
            yield opened.rollback
        except Exception as problem:  # noqa: BLE001 - the error that led here is the one to tell
            logger.warning("a rollback got no answer: %s", quote(problem))
