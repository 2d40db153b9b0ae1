from __future__ import annotations

import re

import pytest

from tests.databases import Database
from tests.e2e.cli.conftest import WAIT_SECONDS, Shell
from tests.e2e.cli.stand import lay_stand

GOLDEN = """\
Claims that are held
 row status step holder age
 1 paying pay OWNER AGE

After-effects that are not delivered
 state how many
 due 1

orders is not drained.
"""


def test_a_table_is_drained_when_nothing_is_held_or_owed(shell: Shell, database: Database) -> None:
    """Status 1 and what is left; status 0 when it is gone."""
    stand = lay_stand(shell, database)
    stand.add_orders(1, 2)
    assert stand.ask("drain", "orders") == {
        "table": "orders",
        "drained": True,
        "claims": [],
        "more": False,
        "effects": {},
    }
    stand.take(1, "pay", "die")
    stand.take(2, "touch")
    run = stand.run("drain", "orders", "--json")
    assert run.status == 1
    assert [(each["row"], each["status"]) for each in run.json["claims"]] == [("1", "paying")]
    assert run.json["effects"] == {"due": 1}
    told = re.sub(r"\S+:\d+:[0-9a-f]{32}", "OWNER", stand.run("drain", "orders").out)
    assert re.sub(r" +", " ", re.sub(r"\b\d+ (min|s)\b", "AGE", told)) == GOLDEN
    stand.write("UPDATE semel_outbox SET state = 'delivered'")
    assert stand.run("release", "orders", "1", "--force", "--reason", "x").status == 0
    run = stand.run("drain", "orders")
    assert (run.status, run.out) == (0, "orders is drained: no claim is held, and no after-effect is owed.\n")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_waiting_ends_when_the_last_claim_does(shell: Shell, database: Database) -> None:
    """It looks again until nothing is left, and no longer than it was told to."""
    stand = lay_stand(shell, database)
    stand.add_orders(1, status="paid")
    with stand.hold(1, "check") as holder:
        assert stand.run("drain", "orders", "--wait", "--timeout", "0.1").status == 1
        with shell.start(
            "drain", "orders", "--app", "shop.app:once", "--wait", "--timeout", str(WAIT_SECONDS)
        ) as waiting:
            holder.communicate("go on\n", timeout=WAIT_SECONDS)
            said, _ = waiting.communicate(timeout=WAIT_SECONDS)
    assert (waiting.returncode, said.startswith("orders is drained")) == (0, True)
