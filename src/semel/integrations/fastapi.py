"""Answers for FastAPI, and for Starlette, which makes its responses."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from semel.integrations.answers import answer_of
from semel.outcomes import Missed, Moved, Outcome


def answer(outcome: Outcome | Moved | Missed, row: Any = None) -> Response:
    """Make the response to an outcome.

    A route ends with it: `return answer(await orders.advance(order_id, "pay"))`. `row` is what
    the client is shown after a success; everything else is a problem with a stable code.
    """
    made = answer_of(outcome, row)
    return Response(made.body, made.status, dict(made.headers))
