from __future__ import annotations

import re

import pytest

from tests.databases import Database
from tests.e2e.cli.conftest import Shell
from tests.e2e.cli.stand import lay_stand

GOLDEN = """\
After-effects
  id  name  row       state   attempts  age  problem
  ID  Mail  orders 1  parked  10        AGE  RuntimeError: no

1 parked after-effect.
"""


def test_a_parked_effect_is_listed_and_made_due_again(shell: Shell, database: Database) -> None:
    """Found by its state, retried with a reason; the second time there is nothing to retry, and no payload is shown."""
    stand = lay_stand(shell, database)
    stand.add_orders(1, 2)
    stand.take(1, "touch")
    stand.park_effects()
    stand.take(2, "touch")
    (parked,) = stand.ask("effects", "list", "--state", "parked")["effects"]
    assert (parked["row"], parked["attempts"], parked["problem"]) == ("1", 10, "RuntimeError: no")
    assert "payload" not in parked
    assert [each["row"] for each in stand.ask("effects", "list")["effects"]] == ["2", "1"]
    words = ("effects", "retry", parked["effect"], "--reason", "the mail server is back")
    document = stand.ask(*words)
    assert (document["retried"], document["was"]["state"]) == (True, "parked")
    run = stand.run(*words)
    assert (run.status, run.out) == (1, f"Mail {parked['effect']} is due, not parked; nothing was done.\n")
    assert {each["state"] for each in stand.ask("effects", "list")["effects"]} == {"due"}
    retry = stand.ask("why", "orders", "1")["moves"][-1]
    assert (retry["kind"], retry["requester"]) == ("retry", "operator")
    assert retry["detail"] == f"Mail {parked['effect']}: the mail server is back"


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_people_read_a_table(shell: Shell, database: Database) -> None:
    """One line each, and how many there are; or that there are none."""
    stand = lay_stand(shell, database)
    assert shell.run("effects", "list", "--db", database.url).out == "no after-effects.\n"
    stand.add_orders(1)
    stand.take(1, "touch")
    stand.park_effects()
    told = shell.run("effects", "list", "--db", database.url, "--state", "parked").out
    told = re.sub(r"\b\d+ (min|s)\b", "AGE", re.sub(r"[0-9a-f]{32}", "ID", told))
    assert re.sub(r" +", " ", told) == re.sub(r" +", " ", GOLDEN)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_no_more_is_listed_than_was_asked_for(shell: Shell, database: Database) -> None:
    """And the answer says that there is more."""
    stand = lay_stand(shell, database)
    stand.add_orders(1, 2)
    stand.take(1, "touch")
    stand.take(2, "touch")
    document = stand.ask("effects", "list", "--limit", "1")
    assert ([each["row"] for each in document["effects"]], document["more"], document["limit"]) == (["2"], True, 1)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_an_effect_that_is_not_there_cannot_be_retried(shell: Shell, database: Database) -> None:
    """Status 1 and one sentence; without a reason it is misuse."""
    stand = lay_stand(shell, database)
    run = stand.run("effects", "retry", "0" * 32, "--reason", "x")
    assert (run.status, run.out) == (1, f"There is no after-effect {'0' * 32}.\n")
    assert stand.run("effects", "retry", "0" * 32).status == 2


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_password_in_what_a_handler_raised_is_not_printed(shell: Shell, database: Database) -> None:
    """Whatever prints the reason, the password of a URL in it is taken out first."""
    stand = lay_stand(shell, database)
    stand.add_orders(1)
    stand.take(1, "touch")
    stand.write("UPDATE semel_outbox SET state = 'parked', problem = 'no answer from amqp://shop:v3ryS3cret@mq/x'")
    for words in (["effects", "list"], ["stuck"], ["why", "orders", "1"]):
        for form in ([], ["--json"]):
            run = stand.run(*words, *form)
            assert "amqp://shop:***@mq/x" in run.out
            assert "v3ryS3cret" not in run.out + run.err
