from __future__ import annotations

import re

import pytest

from tests.databases import Database
from tests.e2e.cli.conftest import Shell
from tests.e2e.cli.stand import lay_stand

GOLDEN = """\
The story of orders 1
 when what move version step requester operation detail
 TIME claim pending -> paying 1 pay customer ID
 TIME finish paying -> paid 2 pay customer ID
 TIME claim paid -> packing 3 send customer ID

The claim that is held
 status step requester holder age sign of life review
 packing send customer OWNER AGE within its lease

After-effects
 recorded after-effect state attempts what became of it
 TIME Mail due 0 next look TIME

orders 1 is 'packing' at version 3.
"""


def blank_out(text: str) -> str:
    """Put words in place of what is different each time."""
    for pattern, word in (
        (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME"),
        (r"\S+:\d+:[0-9a-f]{32}", "OWNER"),
        (r"\b[0-9a-f]{32}\b", "ID"),
        (r"\b\d+ (min|s)\b( \d+ s\b)?", "AGE"),
        (r" +", " "),
    ):
        text = re.sub(pattern, word, text)
    return text


def test_a_rows_story_is_told_in_its_order(shell: Shell, database: Database) -> None:
    """Claims, finishes and releases as they happened; what holds the row now; what it owes: for people and as JSON."""
    stand = lay_stand(shell, database)
    stand.add_orders(1)
    stand.take(1, "pay")
    stand.take(1, "send", "die")
    run = stand.run("why", "orders", "1")
    assert (run.status, blank_out(run.out)) == (0, GOLDEN)
    released = stand.run("release", "orders", "1", "--reason", "the pod is gone", "--force", "--by", "kim")
    assert released.status == 0, released
    story = stand.ask("why", "orders", "1")
    moves = [(each["kind"], each["from"], each["to"], each["version"], each["requester"]) for each in story["moves"]]
    assert moves == [
        ("claim", "pending", "paying", 1, "customer"),
        ("finish", "paying", "paid", 2, "customer"),
        ("claim", "paid", "packing", 3, "customer"),
        ("release", "packing", "paid", 4, "kim"),
    ]
    assert story["moves"][-1]["detail"] == "the pod is gone"
    assert (story["status"], story["version"], story["more"]) == ("paid", 4, [])
    assert [(each["name"], each["state"]) for each in story["effects"]] == [("Mail", "due")]
    assert [each["held"] for each in story["claims"]] == [False, False]
    assert len({each["operation"] for each in story["moves"]}) == 4


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_story_is_told_without_an_app(shell: Shell, database: Database) -> None:
    """The journal knows it; the row itself is read where its columns have the usual names, or are named."""
    stand = lay_stand(shell, database)
    stand.add_orders(1)
    stand.take(1, "touch")
    story = shell.run("why", "orders", "1", "--db", database.url, "--json").json
    assert [each["kind"] for each in story["moves"]] == ["step"]
    assert (story["status"], story["version"], story["note"]) == ("pending", 1, "")
    run = shell.run("why", "orders", "1", "--db", database.url, "--status-column", "state")
    assert run.status == 0
    assert "The row itself was not read" in run.out


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_of_a_row_nobody_knows_there_is_no_story(shell: Shell, database: Database) -> None:
    """Exit status 1, for an id that is free and for one that is none."""
    stand = lay_stand(shell, database)
    for row in ("7", "seven"):
        run = stand.run("why", "orders", row)
        assert (run.status, run.out.partition(":")[0]) == (1, f"Nothing is known of orders {row}")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_long_story_is_told_from_its_end(shell: Shell, database: Database) -> None:
    """The limit keeps the newest, and the answer says that there are older ones."""
    stand = lay_stand(shell, database)
    stand.add_orders(1)
    for _ in range(3):
        stand.take(1, "touch")
    story = stand.ask("why", "orders", "1", "--limit", "2")
    assert [each["version"] for each in story["moves"]] == [2, 3]
    assert story["more"] == ["moves", "effects"]
