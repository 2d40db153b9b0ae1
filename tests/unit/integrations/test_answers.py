from __future__ import annotations

import json
import subprocess
import sys
from http import HTTPStatus
from typing import Any

import pytest

from semel import Busy, Done, Missed, Moved, NotAllowed, Pending, Refused, Rejected, UsageError
from semel.integrations.answers import answer_of
from semel.integrations.fastapi import answer

PROBLEMS = (
    (Refused("card_declined", "declined"), 402, "refused"),
    (Rejected("sold out"), 422, "rejected"),
    (Busy("close"), 409, "busy"),
    (Busy("lock"), 409, "busy"),
    (Pending("stripe.charge"), 202, "pending"),
    (Pending(None), 202, "pending"),
    (NotAllowed("closed"), 409, "not_allowed"),
    (Missed("paid"), 409, "missed"),
    (Missed(None), 409, "missed"),
)


@pytest.mark.parametrize(("outcome", "status", "code"), PROBLEMS, ids=str)
def test_what_is_not_done_is_a_problem_with_a_code(outcome: Any, status: int, code: str) -> None:
    """Every outcome that is false has its status, its code and a sentence, as RFC 9457 has it."""
    made = answer_of(outcome, row={"id": 1})
    body = json.loads(made.body)
    assert (made.status, body["status"], body["code"]) == (status, status, code)
    assert made.headers["Content-Type"] == "application/problem+json"
    assert body["title"] == HTTPStatus(status).phrase
    assert body["type"] == "about:blank"
    assert body["detail"]
    assert "id" not in body


def test_who_comes_second_is_told_so() -> None:
    """The sentence of Busy is the one that clients may wait for, and it says when to come back."""
    made = answer_of(Busy("regenerate"))
    assert json.loads(made.body)["detail"] == "another operation is already in progress"
    assert made.headers["Retry-After"] == "1"


def test_what_is_still_open_says_when_to_ask_again() -> None:
    """Pending names a pause, and not which call is open: that is nobody's business outside."""
    made = answer_of(Pending("stripe.charge"))
    assert made.headers["Retry-After"] == "1"
    assert b"stripe" not in made.body


def test_a_refusal_says_why_and_where_the_row_is() -> None:
    """The provider's reason and the status stand beside the sentence, for a program to read."""
    body = json.loads(answer_of(Refused("card_declined", "declined")).body)
    assert (body["reason"], body["now"]) == ("card_declined", "declined")


@pytest.mark.parametrize(
    ("outcome", "row", "body"),
    [
        (Done("paid"), None, {"status": "paid", "result": None}),
        (Done("paid", {"receipt": 7}), None, {"status": "paid", "result": {"receipt": 7}}),
        (Done("paid", {"receipt": 7}), {"id": 1}, {"id": 1}),
        (Done("paid"), {}, {}),
        (Moved(4), None, {"moved": True}),
        (Moved(4), {"id": 1}, {"id": 1}),
    ],
)
def test_a_success_shows_the_row(outcome: Any, row: Any, body: Any) -> None:
    """Done and Moved are 200, and show what the route wants to show, or else what the step answered."""
    made = answer_of(outcome, row)
    assert (made.status, made.headers["Content-Type"], json.loads(made.body)) == (200, "application/json", body)


def test_the_fence_is_nobodys_business() -> None:
    """A version is compared by Semel alone, so no client is told one."""
    assert b"41" not in answer_of(Moved(41)).body


def test_a_result_that_is_no_json_is_refused_by_name() -> None:
    """An action that answered something else is told so, with a code, and not by a traceback of the encoder."""
    with pytest.raises(UsageError) as caught:
        answer_of(Done("paid", object()))
    assert caught.value.code == "SEMEL-STEP-4"


def test_starlette_sends_the_same() -> None:
    """The response of the framework has the same status, headers and bytes."""
    for outcome in (Done("paid"), *(outcome for outcome, _, _ in PROBLEMS)):
        made, response = answer_of(outcome, {"id": 1}), answer(outcome, {"id": 1})
        assert (response.status_code, response.body) == (made.status, made.body)
        assert {name: response.headers[name] for name in made.headers} == dict(made.headers)


def test_answers_need_no_framework() -> None:
    """Making answers imports neither FastAPI nor Starlette."""
    code = "import sys, semel.integrations.answers; sys.exit('starlette' in sys.modules or 'fastapi' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
