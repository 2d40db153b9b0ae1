"""Every answer that is not what was asked for, as `application/problem+json` with a stable code (RFC 9457)."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DBAPIError
from starlette.exceptions import HTTPException

from semel import StoreError, UsageError

log = logging.getLogger("media_store")

RETRY_SECONDS = 1
"""When to come back after the database gave way or was away: a lock is gone by then, and a failover asks a few times."""

NO_SUCH_ROW = "SEMEL-ROW-1"


class Problem(Exception):  # noqa: N818 - it is an answer, not an error of the program
    """A request that is answered with something else than what it asked for."""

    def __init__(self, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        """Keep the answer."""
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.headers = headers


@contextmanager
def or_not_found(what: str, detail: str) -> Iterator[None]:
    """Answer 404 where Semel says that there is no such row."""
    try:
        yield
    except UsageError as problem:
        if problem.code != NO_SUCH_ROW:
            raise
        raise Problem(404, f"no_such_{what}", detail) from problem


def write_problem(status: int, code: str, detail: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Make the answer."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "code": code, "detail": detail}
    return JSONResponse(body, status, dict(headers or {}), media_type="application/problem+json")


async def answer_problem(_request: Request, problem: Exception) -> JSONResponse:
    """Answer what a route raised on purpose."""
    raised = cast("Problem", problem)
    return write_problem(raised.status, raised.code, raised.detail, raised.headers)


async def answer_http(_request: Request, problem: Exception) -> JSONResponse:
    """Answer what the framework refused: an unknown path, a method that is not there."""
    raised = cast("HTTPException", problem)
    code = HTTPStatus(raised.status_code).name.lower()
    return write_problem(raised.status_code, code, str(raised.detail), raised.headers)


async def answer_invalid(_request: Request, problem: Exception) -> JSONResponse:
    """Answer a request whose words do not fit, naming each that does not."""
    raised = cast("RequestValidationError", problem)
    faults = (f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in raised.errors())
    return write_problem(422, "invalid", "; ".join(faults))


async def answer_store_error(_request: Request, problem: Exception) -> JSONResponse:
    """Answer what the database could not do for Semel: 503 where the same request may simply be sent again."""
    raised = cast("StoreError", problem)
    log.warning("%s", raised)
    if raised.retryable:
        return write_problem(
            503, raised.code, "Nothing was written; send it again.", {"Retry-After": str(RETRY_SECONDS)}
        )
    return write_problem(500, raised.code, "The database could not do this; the log says why.")


async def answer_unread(_request: Request, problem: Exception) -> JSONResponse:
    """Answer a read that the database did not; reading again cannot do harm."""
    log.warning("The database did not answer: %s", problem)
    retry = {"Retry-After": str(RETRY_SECONDS)}
    return write_problem(503, "database_away", "The database did not answer; send it again.", retry)


async def answer_bug(_request: Request, _problem: Exception) -> JSONResponse:
    """Answer what nobody expected; the server logs it."""
    return write_problem(500, "unexpected", "This is a mistake of the store; the log says which.")


def add_problems(app: FastAPI) -> None:
    """Let the application answer in this form."""
    app.add_exception_handler(Problem, answer_problem)
    app.add_exception_handler(HTTPException, answer_http)
    app.add_exception_handler(RequestValidationError, answer_invalid)
    app.add_exception_handler(StoreError, answer_store_error)
    app.add_exception_handler(DBAPIError, answer_unread)
    app.add_exception_handler(ConnectionError, answer_unread)
    app.add_exception_handler(Exception, answer_bug)
