"""Loading: every way a file can be given, and every way it can be wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from semel.workflow.documents import DEPTH_LIMIT, VALUES_LIMIT
from semel.workflow.load import FILE_BYTES_LIMIT, Loaded, load
from semel.workflow.model import CallPlan, Claim
from semel.workflow.rules import check
from semel.workflow.shape import STEPS_LIMIT
from tests.unit.workflow.examples import (
    BILLING_TEXT,
    INVOICES_TOML,
    ORDERS_TEXT,
    Application,
    billing,
    changed,
    orders,
    without,
)


def only_problem(loaded: Loaded) -> tuple[str, str]:
    """The path and the sentence of the only problem, which is one of shape."""
    (problem,) = loaded.problems
    assert problem.rule == "shape"
    assert loaded.workflows == ()
    return problem.path, problem.message


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "billing.json").write_text(BILLING_TEXT)
    (tmp_path / "invoices.toml").write_text(INVOICES_TOML)
    return tmp_path


def test_the_billing_file_loads_unchanged(folder: Path) -> None:
    """The shape that people write by hand is read as it is, without a problem."""
    loaded = load(folder / "billing.json")
    assert loaded.problems == ()
    (workflow,) = loaded.workflows
    assert (workflow.name, workflow.owning_module, workflow.table) == ("billing", "billing", "billing_periods")
    assert workflow.file == str(folder / "billing.json")
    close = workflow.steps[1]
    assert close.claim_for("admin") == Claim("closing", "approved")
    assert close.claim_for("cron") is None
    assert close.successes_for("cron") == ("closed",)
    assert close.after_effects_for("admin") == ("SendInvoices",)
    assert (close.lease_seconds, close.recovery, close.position) == (30.0, "revert", 1)
    assert check(loaded, Application()).ok


def test_the_orders_file_loads_with_plain_values_for_everyone(tmp_path: Path) -> None:
    """A plain value instead of a map holds for every requester."""
    (tmp_path / "orders.json").write_text(ORDERS_TEXT)
    report = check(load(str(tmp_path / "orders.json")), Application())
    assert report.ok
    pay = report.workflows[0].steps[0]
    assert pay.claim_for("customer") == pay.claim_for(None) == Claim("charging", "pending")
    assert pay.refused_state_for("customer") == "declined"
    assert pay.calls == (CallPlan("stripe.charge"),)
    assert pay.recovery == "resume"


def test_toml_has_the_same_keys(folder: Path) -> None:
    """TOML is read like JSON, every optional key included."""
    report = check(load(folder / "invoices.toml"), Application())
    assert report.ok
    (workflow,) = report.workflows
    assert (workflow.status_column, workflow.version_column, workflow.id_column) == ("state", "semel_version", "number")
    assert workflow.outside == ("imported",)
    first, second = workflow.steps[1:]
    assert first.successes_for("admin") == ("paid", "sent")
    assert first.secret_input == ("card_number",)
    assert first.validators_for("admin") == ("FitsOpenAmount",)
    assert second.calls == (CallPlan("bank.collect", "CollectPayload"),)
    assert second.has_declared_calls
    assert (second.recovery, second.wait_seconds, second.retired) == ("review", 600.0, True)


def test_a_folder_is_read_without_the_schema_that_lies_in_it(folder: Path) -> None:
    """Every JSON and TOML file of a folder is read, in the order of names; the schema for editors and others are left."""
    (folder / "semel.schema.json").write_text("{}")
    (folder / "README.md").write_text("workflows")
    assert [workflow.name for workflow in load(folder).workflows] == ["billing", "invoices"]


def test_a_file_named_twice_is_read_once(folder: Path) -> None:
    """A folder and a file in it can be given together."""
    loaded = load([folder, folder / "billing.json", str(folder / "invoices.toml")])
    assert [workflow.name for workflow in loaded.workflows] == ["billing", "invoices"]
    assert loaded.problems == ()


def test_dicts_are_sources_too() -> None:
    """A dict is read like a file, whatever kind of mapping and sequence it is made of."""
    document = orders()
    document["steps"] = tuple(MappingProxyType(step) for step in document["steps"])
    loaded = load([MappingProxyType(document), billing()])
    assert [workflow.name for workflow in loaded.workflows] == ["orders", "billing"]
    assert loaded.workflows[0].hash == load(orders()).workflows[0].hash


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", b"{", "line 1 column 2"),
        ("a.json", b"[1, 2]", "a workflow is an object"),
        ("a.json", b"null", "a workflow is an object"),
        ("a.json", b"", "line 1 column 1"),
        ("a.json", b"\xff\xfe", "utf-8"),
        ("a.json", b'{"a": NaN}', "NaN is not a number of JSON"),
        ("a.json", b"[" * 100_000, "nested deeper"),
        ("a.json", b'{"a": ' * 30 + b"1" + b"}" * 30, f"nested deeper than {DEPTH_LIMIT} levels"),
        ("a.json", b'{"workflow": "\\ud800"}', "half a character"),
        ("a.json", b'{"\\ud800": 1}', "half a character"),
        ("a.json", b'{"workflow": ' + b"1" * 5_000 + b"}", "4300 digits"),
        ("a.json", b" " * (FILE_BYTES_LIMIT + 1), "larger than 1,000,000 bytes"),
        ("a.toml", b"workflow = ]", "line 1, column 12"),
        ("a.toml", b"a = 1\na = 2\n", "overwrite"),
        ("a.toml", b"a = " + b"[" * 100_000, "nested deeper"),
        ("a.yaml", b"workflow: a", "must end in .json or .toml"),
    ],
)
def test_a_file_that_is_no_document_is_one_problem(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    """What cannot even be parsed is told in one sentence, without a traceback."""
    (tmp_path / name).write_bytes(content)
    _, message = only_problem(load(tmp_path / name))
    assert said in message


def test_a_byte_order_mark_is_no_problem(tmp_path: Path) -> None:
    """Some editors begin a file with a mark that nobody sees."""
    (tmp_path / "a.json").write_bytes(b"\xef\xbb\xbf" + BILLING_TEXT.encode())
    assert load(tmp_path).problems == ()


def test_a_file_that_is_not_there_is_one_problem(tmp_path: Path) -> None:
    """A wrong path is told like any other problem, and so is a folder with nothing in it."""
    path, message = only_problem(load(tmp_path / "none.json"))
    assert path == "$"
    assert "No such file" in message
    assert "holds no workflow file" in only_problem(load(tmp_path))[1]
    assert "cannot be read" in only_problem(load("a\0.json"))[1]


def test_a_key_that_stands_twice_is_a_problem(tmp_path: Path) -> None:
    """JSON's parser would drop one of the values in silence; the path leads to the object in which it happened."""
    (tmp_path / "a.json").write_text(BILLING_TEXT.replace('"step_id": 20', '"step_id": 21, "step_id": 20'))
    path, message = only_problem(load(tmp_path))
    assert path == "$.steps[1]"
    assert "'step_id'" in message


@pytest.mark.parametrize(
    ("document", "path", "said"),
    [
        ({**billing(), "status_type": []}, "$.status_type", "Did you mean 'status_types'?"),
        ({**billing(), "zzz": 1}, "$.zzz", "Known keys: $schema, workflow"),
        (changed(billing(), "steps", 0, "actoin", to="A"), "$.steps[0].actoin", "Did you mean 'action'?"),
        (
            changed(orders(), "steps", 0, "calls", to=[{"provider": "a", "paylod": "b"}]),
            "$.steps[0].calls[0].paylod",
            "'payload'",
        ),
        (changed(billing(), "steps", 0, "a b", to=1), '$.steps[0]["a b"]', "not a known key"),
        (without(billing(), "workflow"), "$", "the key 'workflow' is missing"),
        (without(billing(), "steps", 0, "status"), "$.steps[0]", "the key 'status' is missing"),
        (changed(billing(), "steps", to={}), "$.steps", "it must be a list"),
        (changed(billing(), "steps", 1, to=7), "$.steps[1]", "it must be an object"),
        (changed(billing(), "steps", 0, "step_id", to="10"), "$.steps[0].step_id", "it must be a whole number"),
        (changed(billing(), "steps", 0, "step_id", to=True), "$.steps[0].step_id", "it must be a whole number"),
        (changed(billing(), "steps", 0, "retired", to="yes"), "$.steps[0].retired", "true or false"),
        (changed(billing(), "steps", 0, "lease_seconds", to=0), "$.steps[0].lease_seconds", "greater than 0"),
        (changed(billing(), "steps", 0, "lease_seconds", to=10**6), "$.steps[0].lease_seconds", "86400"),
        (changed(billing(), "steps", 0, "wait_seconds", to=float("nan")), "$.steps[0].wait_seconds", "finite"),
        (
            changed(billing(), "steps", 0, "recovery", to="retry"),
            "$.steps[0].recovery",
            "'revert', 'resume' or 'review'",
        ),
        (changed(billing(), "steps", 0, "successful_state", to={}), "$.steps[0].successful_state", "at least 1 item"),
        (changed(billing(), "steps", 0, "successful_state", to=[]), "$.steps[0].successful_state", "at least 1 item"),
        (
            changed(billing(), "steps", 0, "successful_state", to={"": "closed"}),
            '$.steps[0].successful_state[""]',
            "empty",
        ),
        (changed(billing(), "status_types", to=["draft", "draft"]), "$.status_types", "'draft' more than once"),
        (changed(billing(), "status_types", to=[]), "$.status_types", "at least 1 item"),
        (changed(billing(), "entity_table", to=" billing"), "$.entity_table", "no spaces around it"),
        (changed(billing(), "entity_table", to="a\nb"), "$.entity_table", "line breaks"),
        (changed(billing(), "entity_table", to="b" * 101), "$.entity_table", "at most 100 characters"),
        (changed(billing(), "owning_module", to=""), "$.owning_module", "it must not be empty"),
        (changed(billing(), "steps", 0, "action", to=None), "$.steps[0].action", "it must be text"),
        ({**billing(), 7: "seven"}, "$", "the key 7 is not text"),
    ],
)
def test_a_wrong_shape_is_told_with_its_path(document: dict[Any, Any], path: str, said: str) -> None:
    """Each fault of the shape has the path of its value, and a sentence that says what is expected."""
    where, message = only_problem(load(document))
    assert where == path
    assert said in message


def test_a_fault_shows_what_was_found_cut_short() -> None:
    """A sentence stays readable, whatever was written into the file."""
    _, message = only_problem(load(changed(billing(), "owning_module", to=["x" * 1_000])))
    assert "found ['xxx" in message
    assert len(message) < 300


def test_too_much_is_refused() -> None:
    """The number of steps and of values has a bound, also for a dict that a program made."""
    step = billing()["steps"][0]
    many = {**billing(), "steps": [{**step, "step_id": number} for number in range(STEPS_LIMIT + 1)]}
    assert any(f"{STEPS_LIMIT} are the limit" in problem.message for problem in load(many).problems)
    assert "values" in only_problem(load({"a": [0] * (VALUES_LIMIT + 1)}))[1]
    circle: dict[str, Any] = billing()
    circle["steps"].append(circle)
    assert "nested deeper" in only_problem(load(circle))[1]


def test_one_bad_file_does_not_hide_the_others(folder: Path) -> None:
    """What can be read is read, and only what was read whole may be run."""
    (folder / "a.json").write_text("{")
    (folder / "b.json").write_text(json.dumps(changed(orders(), "steps", 0, "actoin", to="A")))
    loaded = load(folder)
    assert [Path(problem.file).name for problem in loaded.problems] == ["a.json", "b.json"]
    assert [workflow.name for workflow in loaded.workflows] == ["billing", "invoices"]
    assert [declared.workflow.name for declared in loaded.declared] == ["orders", "billing", "invoices"]


def test_the_values_are_there_without_pydantic() -> None:
    """What the hot path imports stays light: only loading needs pydantic."""
    names = "semel.workflow.model, semel.workflow.coverage, semel.workflow.draw, semel.workflow.schema"
    code = f"import sys, {names}; print('pydantic' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"
