from __future__ import annotations

import json
from xml.etree import ElementTree as ET

from tests.e2e.cli.conftest import Shell
from tests.e2e.cli.test_check import SEED, spoil

TEXT = """\
billing (billing_periods.status)

[ draft ] initial
    approve (admin) ──▶ [ approved ]

[ approved ]
    close (admin) ╌╌▶ ┆ closing ┆
    close (cron) ──▶ ║ closed ║

┆ closing ┆ claim
    release ╌╌▶ [ approved ]
    close ──▶ ║ closed ║

║ closed ║ terminal
"""


def test_a_workflow_is_drawn_as_text(shell: Shell) -> None:
    """Text is what a terminal shows: claims dashed, terminal statuses doubled."""
    shell.write("billing.json", json.dumps(SEED))
    run = shell.run("diagram", "billing.json")
    assert (run.status, run.out) == (0, TEXT)


def test_a_workflow_is_drawn_as_svg_into_a_file(shell: Shell) -> None:
    """-o writes the drawing, whole and well-formed, and prints only where."""
    shell.write("billing.json", json.dumps(SEED))
    run = shell.run("diagram", "billing.json", "--format", "svg", "-o", "billing.svg")
    assert (run.status, run.out) == (0, "Wrote billing.svg.\n")
    drawn = ET.fromstring((shell.folder / "billing.svg").read_text(encoding="utf-8"))
    assert drawn.tag.endswith("svg")


def test_a_drawing_is_one_document_with_json(shell: Shell) -> None:
    """A program gets the drawing as a text; mermaid is one of the forms."""
    shell.write("billing.json", json.dumps(SEED))
    document = shell.run("diagram", "billing.json", "--format", "mermaid", "--json").json
    assert (document["workflow"], document["format"]) == ("billing", "mermaid")
    assert document["drawing"].startswith("stateDiagram-v2\n")


def test_a_file_whose_rules_are_broken_is_drawn(shell: Shell) -> None:
    """A mistake is easier to see in a picture."""
    shell.write("billing.json", json.dumps(spoil(terminal=[])))
    assert shell.run("diagram", "billing.json").status == 0


def test_what_cannot_be_read_is_not_drawn(shell: Shell) -> None:
    """The problems are told instead."""
    shell.write("billing.json", json.dumps(spoil(steps=3)))
    run = shell.run("diagram", "billing.json")
    assert run.status == 1
    assert "billing.json: $.steps: shape:" in run.out
    assert shell.run("diagram", "absent.json", "--json").json["ok"] is False


def test_misuse_of_a_drawing_is_told_in_a_sentence(shell: Shell) -> None:
    """An unknown form, a folder of several files, a file that cannot be written."""
    shell.write("flows/billing.json", json.dumps(SEED))
    shell.write("flows/other.json", json.dumps(spoil(workflow="other", entity_table="others")))
    for words, told in (
        (["flows", "--format", "gif"], "Invalid value for '--format'"),
        (["flows"], "holds 2 workflows"),
        (["flows/billing.json", "-o", "nowhere/x.svg"], "SEMEL-CLI-5"),
    ):
        run = shell.run("diagram", *words)
        assert run.status == 2
        assert told in run.err
        assert "Traceback" not in run.err
