from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from tests.e2e.cli.conftest import Run, Shell
from tests.e2e.cli.stand import FLOW

SEED: dict[str, Any] = {
    "$schema": "semel.schema.json", "workflow": "billing", "owning_module": "billing", "entity_table": "billing_periods",
    "status_types": ["draft", "approved", "closing", "closed"], "initial": "draft", "terminal": ["closed"],
    "steps": [
        {"step_id": 10, "step_key": "approve", "status": "draft", "successful_state": {"admin": "approved"}},
        {
            "step_id": 20, "step_key": "close", "status": "approved",
            "successful_claim_state": {"admin": ["closing", "approved"]},
            "successful_state": {"admin": "closed", "cron": "closed"},
            "action": {"admin": "CloseBilling", "cron": "CloseBilling"},
            "success_after_effect": {"admin": ["SendInvoices"]}, "lease_seconds": 30,
        },
    ],
}  # fmt: skip

APP = """
from semel import Semel
once = Semel("sqlite:///shop.db", lease_seconds=10, modules=["shop.steps"], workflows="workflows")
"""

STEPS = """
from shop.app import once
print("this module prints")

@once.action("CloseBilling", idempotent={idempotent})
def close(step): pass

@once.effect("SendInvoices")
def send(effect): pass
{cover}
"""


def write_flow(shell: Shell, document: Any = SEED, name: str = "billing.json") -> None:
    """Write a workflow file."""
    shell.write(name, document if isinstance(document, str) else json.dumps(document))


def write_app(shell: Shell, *, idempotent: bool = True, cover: str = 'once.janitor("billing")') -> None:
    """Write an application that loads workflows/ and registers what the seed's file names."""
    shell.write("shop/__init__.py", "")
    shell.write("shop/app.py", APP)
    shell.write("shop/steps.py", STEPS.format(idempotent=idempotent, cover=cover))
    write_flow(shell, name="workflows/billing.json")


def spoil(**changes: Any) -> dict[str, Any]:
    """Answer the seed's file with other values."""
    return copy.deepcopy(SEED) | changes


def test_a_sound_file_is_fine(shell: Shell) -> None:
    """No problem, what was not checked, and how long a row whose worker died waits at worst."""
    write_flow(shell)
    run = shell.run("check", "billing.json")
    assert run == Run(
        0,
        "billing: a row stranded in 'closing' is released within 65 s (30 + 5 + 30).\n"
        "no problems in 1 file.\n"
        "Not checked without --app: R8, R11.\n",
        "",
    )
    assert shell.run("check", "billing.json", "--json").json == {
        "ok": True,
        "problems": [],
        "not_checked": ["R8", "R11"],
    }


def test_all_problems_are_told_at_once(shell: Shell) -> None:
    """Each with its file, JSON path, rule, and how to mend it."""
    broken = spoil(
        initial="drafted", steps=[SEED["steps"][0], {**SEED["steps"][1], "successful_claim_state": "closing"}]
    )
    write_flow(shell, broken)
    run = shell.run("check", "billing.json", "--json")
    assert run.status == 1
    assert run.json["ok"] is False
    found = {(each["rule"], each["file"], each["path"]) for each in run.json["problems"]}
    assert {("R1", "billing.json", "$.steps[1].successful_claim_state"), ("R2", "billing.json", "$.initial")} <= found
    assert all(set(each) == {"rule", "file", "path", "message"} and each["message"] for each in run.json["problems"])
    told = shell.run("check", "billing.json").out.splitlines()
    assert told[0].startswith("billing.json: $.")
    assert told[-2] == f"{len(found)} problems in 1 file."


BAD_FILES = {
    "not JSON": "{",
    "a list": "[1, 2]",
    "nothing": "",
    "deep": "[" * 100_000,
    "half a character": '{"workflow": "\\ud800"}',
    "a number for a claim": json.dumps(spoil(steps=[{**SEED["steps"][1], "successful_claim_state": 3}])),
    "steps that are no list": json.dumps(spoil(steps={"a": 1})),
    "not UTF-8": "",
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_bad_file_is_a_problem_and_never_a_traceback(shell: Shell, kind: str) -> None:
    """Whatever a file holds, the answer is a list of problems."""
    write_flow(shell, BAD_FILES[kind])
    if kind == "not UTF-8":
        (shell.folder / "billing.json").write_bytes(b"\xff\xfe{}")
    run = shell.run("check", "billing.json", "--json")
    assert run.status == 1, run
    assert run.json["problems"]
    assert {each["rule"] for each in run.json["problems"]} & {"shape", "R1"}
    assert "Traceback" not in run.err


def test_a_missing_file_is_a_problem(shell: Shell) -> None:
    """So is a folder without files; a file that is there is checked all the same."""
    write_flow(shell)
    (shell.folder / "empty").mkdir()
    run = shell.run("check", "billing.json", "absent.json", "empty", "--json")
    assert run.status == 1
    assert [(each["rule"], each["file"]) for each in run.json["problems"]] == [
        ("shape", "absent.json"),
        ("shape", "empty"),
    ]


def test_nothing_to_check_is_misuse(shell: Shell) -> None:
    """No file was named, and no app."""
    run = shell.run("check")
    assert run.status == 2
    assert "Name the files to check" in run.err


def test_an_application_is_asked_for_its_functions(shell: Shell) -> None:
    """With --app nothing is left unchecked: its modules are imported, and its own files are the default."""
    write_app(shell)
    run = shell.run("check", "--app", "shop.app:once", "--json")
    assert (run.status, run.json) == (0, {"ok": True, "problems": [], "not_checked": []})
    assert "this module prints" in run.err
    missing = spoil(steps=[SEED["steps"][0], {**SEED["steps"][1], "action": "Nobody"}])
    write_flow(shell, missing)
    run = shell.run("check", "billing.json", "--app", "shop.app:once", "--json")
    assert run.status == 1
    assert {each["rule"] for each in run.json["problems"]} == {"R8"}


def test_an_unrepeatable_action_must_claim(shell: Shell) -> None:
    """The seed's cron takes the step without a claim, which only an application can tell is wrong."""
    write_app(shell, idempotent=False)
    run = shell.run("check", "--app", "shop.app:once", "--json")
    assert run.status == 1
    assert {each["rule"] for each in run.json["problems"]} == {"R11"}


def test_an_uncovered_claim_is_a_problem(shell: Shell) -> None:
    """It names the workflow, the status, the module, and the line to add."""
    write_app(shell, cover="")
    run = shell.run("check", "--app", "shop.app:once")
    assert run.status == 1
    (line, *_) = run.out.splitlines()
    assert line.startswith("workflows/billing.json: $.owning_module: coverage: billing: 'closing' has no janitor;")
    assert 'Add once.janitor("billing")' in line


def test_the_wait_follows_the_applications_lease(shell: Shell) -> None:
    """A step without a lease of its own has the application's; each kind of recovery ends in its own way."""
    write_app(shell)
    flow = {**FLOW, "steps": [{**step, "action": {}, "success_after_effect": {}} for step in FLOW["steps"]]}
    write_flow(shell, {**flow, "owning_module": "billing"}, "orders.json")
    run = shell.run("check", "orders.json", "--app", "shop.app:once")
    assert run.out == (
        "orders: a row stranded in 'paying' is released within 25 s (10 + 5 + 10).\n"
        "orders: a row stranded in 'packing' is taken over and run again within 25 s (10 + 5 + 10).\n"
        "orders: a row stranded in 'checking' is parked for a person within 25 s (10 + 5 + 10).\n"
        "no problems in 1 file.\n"
    )


BROKEN_MODULES = {
    "1 / 0": "ZeroDivisionError",
    "import nowhere": "No module named 'nowhere'",
    "raise SystemExit": "SystemExit",
}


@pytest.mark.parametrize("text", BROKEN_MODULES)
def test_a_module_that_cannot_be_imported_is_told_in_a_sentence(shell: Shell, text: str) -> None:
    """What boot would import and cannot is the application's fault, without a traceback."""
    write_app(shell)
    shell.write("shop/steps.py", text)
    run = shell.run("check", "--app", "shop.app:once", "--json")
    assert run.status == 2
    assert run.json["error"]["code"] == "SEMEL-CLI-4"
    assert BROKEN_MODULES[text] in run.json["error"]["happened"]
    assert "Traceback" not in run.err


def test_the_shape_of_a_file_is_printed_for_editors(shell: Shell) -> None:
    """`semel schema config` is a JSON Schema, with and without --json the same, and every key is described."""
    run = shell.run("schema", "config")
    assert run.status == 0
    assert run.json == shell.run("schema", "config", "--json").json
    assert run.json["$schema"].startswith("https://json-schema.org/")
    assert all(each.get("description") for each in run.json["properties"].values())
