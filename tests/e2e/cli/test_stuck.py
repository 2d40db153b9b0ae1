from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.databases import Database
from tests.e2e.cli.conftest import Shell
from tests.e2e.cli.stand import Stand, lay_stand


def sort_out(document: Any) -> dict[str, list[Any]]:
    """Answer what is stuck by its kind."""
    kinds: dict[str, list[Any]] = {}
    for each in document["stuck"]:
        kinds.setdefault(each["kind"], []).append(each)
    return kinds


@pytest.mark.parametrize(
    ("database", "kind"),
    [("sqlite", "AsyncSemel"), ("postgresql", "AsyncSemel"), ("mariadb", "Semel")],
    indirect=["database"],
)
def test_everything_that_waits_is_listed(shell: Shell, database: Database, kind: str) -> None:
    """Overdue claims, claims in review, foreign rows, late after-effects, odd statuses: what to do with each; no healthy row."""
    stand = lay_stand(shell, database, kind)
    stand.add_orders(1, 2, 3, 4, 5, 6)
    quiet = stand.ask("stuck")
    assert (quiet["ok"], quiet["stuck"], quiet["not_checked"]) == (True, [], [])
    assert stand.take(1, "pay", "die").status == 9
    assert stand.take(2, "pay").status == 0
    assert stand.take(2, "check", "die").status == 9
    stand.let_leases_end()
    stand.write("UPDATE semel_claims SET review = 'it was run five times' WHERE step_key = 'check'")
    stand.write("UPDATE orders SET status = 'packing' WHERE id = 4")
    stand.write("UPDATE orders SET status = 'odd' WHERE id = 5")
    stand.make_effects_late()
    assert stand.take(6, "pay", "die").status == 9  # its lease still runs, so it is nobody's business
    run = stand.run("stuck", "--json")
    assert run.status == 1
    kinds = sort_out(run.json)
    assert {each: len(found) for each, found in kinds.items()} == {
        "claim": 1,
        "review": 1,
        "foreign": 1,
        "late": 1,
        "unknown": 1,
    }
    claim, review, foreign, late, unknown = (
        kinds[each][0] for each in ("claim", "review", "foreign", "late", "unknown")
    )
    assert (claim["row"], claim["status"], claim["recovery"], claim["step"]) == ("1", "paying", "revert", "pay")
    assert (review["row"], review["review"]) == ("2", "it was run five times")
    assert (foreign["row"], foreign["status"], foreign["age_seconds"]) == ("4", "packing", None)
    assert (late["row"], late["name"], late["state"]) == ("2", "Mail", "due")
    assert (unknown["status"], unknown["rows"]) == ("odd", 1)
    assert 3600 <= late["age_seconds"] < 3700
    assert all(each["remedy"] and each["why"] for each in run.json["stuck"])
    assert "semel release orders 1 --reason TEXT" in claim["remedy"]


GOLDEN = """\
Claims whose lease is over
  what              age    why
  orders 1: paying  TIME  step pay, revert, overdue for TIME, run again 0 times: OWNER is silent
  -> A janitor releases it, if one runs (semel worker); by hand: semel release orders 1 --reason TEXT

Rows in a claim status that nobody claimed
  what               age  why
  orders 2: packing  ?    version 0; no claim row says who works on it, so no keeper touches it
  -> Find out what became of it (semel why orders 2), then semel release orders 2 --reason TEXT

DATABASE: 2 things are stuck.
"""


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_people_read_what_to_do(shell: Shell, database: Database) -> None:
    """Kind by kind, each with its age, why, and what to do; then how many there are."""
    stand = lay_stand(shell, database)
    stand.add_orders(1, 2)
    stand.take(1, "pay", "die")
    stand.let_leases_end()
    stand.write("UPDATE orders SET status = 'packing' WHERE id = 2")
    run = stand.run("stuck")
    assert run.status == 1
    told = re.sub(r"\b\d+ (d|h|min|s)\b( \d+ (h|min|s)\b)?", "TIME", run.out)
    told = re.sub(r"\S+:\d+:[0-9a-f]{32}", "OWNER", re.sub(r"sqlite\S+db", "DATABASE", told))
    assert re.sub(r" +", " ", told) == re.sub(r" +", " ", GOLDEN)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_without_an_app_it_says_what_it_did_not_look_at(shell: Shell, database: Database) -> None:
    """Semel's own tables tell of claims; only a workflow tells which rows are foreign."""
    stand = lay_stand(shell, database)
    stand.add_orders(1, 2)
    stand.take(1, "pay", "die")
    stand.let_leases_end()
    stand.write("UPDATE orders SET status = 'packing' WHERE id = 2")
    run = shell.run("stuck", "--db", database.url)
    assert run.status == 1
    assert "orders 1: paying" in run.out
    assert "orders 2" not in run.out
    assert "Not looked at: foreign rows" in run.out
    assert len(shell.run("stuck", "--db", database.url, "--json").json["not_checked"]) == 1


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_an_app_that_refuses_to_boot_hides_nothing_else(shell: Shell, database: Database) -> None:
    """What Semel's own tables tell is told all the same, and why the rows were not looked at."""
    stand = lay_stand(shell, database)
    stand.add_orders(1)
    stand.take(1, "pay", "die")
    stand.let_leases_end()
    shell.write("shop/cover.py", "")
    run = stand.run("stuck", "--json")
    assert run.status == 1
    assert len(run.json["stuck"]) == 1
    assert "SEMEL-FLOW-2" in run.json["not_checked"][0]


def add_keeper(stand: Stand, keeper: str, duty: str, seconds_ago: int) -> None:
    """Write down a keeper that looked some time ago; the shop's database is a file, so its clock is this one's."""
    now = "CAST(strftime('%%s', 'now') AS INTEGER) * 1000000".replace("%%", "%")
    looked = f"{now} - {seconds_ago}000000"
    columns = "keeper_id, duty, started_us, looked_us, beats, done"
    stand.write(f"INSERT INTO semel_keepers ({columns}) VALUES ('{keeper}', '{duty}', {looked}, {looked}, 0, 0)")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_keeper_that_fell_silent_shows(shell: Shell, database: Database) -> None:
    """Stuck is a duty that nobody does; a silent keeper whose duty another one does is only shown."""
    stand = lay_stand(shell, database)
    add_keeper(stand, "old", "janitor", 4000)
    add_keeper(stand, "new", "janitor", 10)
    run = stand.run("stuck", "--json")
    assert (run.status, run.json["ok"]) == (0, True)
    ((silent),) = run.json["stuck"]
    assert (silent["keeper"], silent["covered"], silent["stuck"]) == ("old", True, False)
    add_keeper(stand, "old", "courier", 4000)
    run = stand.run("stuck", "--json")
    assert run.status == 1
    assert [(each["keeper"], each["duty"]) for each in run.json["stuck"] if each["stuck"]] == [("old", "courier")]
    assert stand.run("stuck", "--late-seconds", "5000").status == 0


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_parked_effect_says_what_it_holds_up(shell: Shell, database: Database) -> None:
    """Later ones of its row wait for it, and are counted with it instead of being told as late."""
    stand = lay_stand(shell, database)
    stand.add_orders(1)
    stand.take(1, "touch")
    stand.park_effects()
    stand.take(1, "touch")
    stand.take(1, "touch")
    stand.write("UPDATE semel_outbox SET next_look_us = 0 WHERE state = 'due'")
    run = stand.run("stuck", "--json")
    assert run.status == 1
    (parked,) = run.json["stuck"]
    assert (parked["kind"], parked["blocked"], parked["attempts"]) == ("parked", 2, 10)
    assert f"semel effects retry {parked['effect']} --reason TEXT" in parked["remedy"]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_limit_is_kept_and_reported(shell: Shell, database: Database) -> None:
    """No more than asked for is listed, and the answer says of which kinds there is more."""
    stand = lay_stand(shell, database)
    stand.add_orders(*range(1, 6), status="paying")
    stand.add_orders(6, status="odd")
    document = stand.ask("stuck", "--limit", "2")
    assert {kind: len(found) for kind, found in sort_out(document).items()} == {"foreign": 2, "unknown": 1}
    assert (document["limit"], document["more"]) == (2, ["foreign"])


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_database_without_semels_tables_is_told(shell: Shell, database: Database) -> None:
    """It says what is missing and how to make it, and makes no file by looking."""
    run = shell.run("stuck", "--db", database.url)
    assert run.status == 1
    assert "SEMEL-SCHEMA-1" in run.err
    assert not Path(database.name).exists()
