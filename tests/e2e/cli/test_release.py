from __future__ import annotations

import pytest

from tests.databases import Database
from tests.e2e.cli.conftest import WAIT_SECONDS, Shell
from tests.e2e.cli.stand import lay_stand

WHY = ("--reason", "the pod is gone")


def test_an_operator_lets_go_of_a_claim(shell: Shell, database: Database) -> None:
    """One that is overdue goes back to where its claim row says, also without an app; then there is nothing to release."""
    stand = lay_stand(shell, database)
    stand.add_orders(1, 2)
    stand.take(1, "pay", "die")
    stand.let_leases_end()
    run = shell.run("release", "orders", "1", "--db", database.url, *WHY)
    assert (run.status, run.out) == (0, "orders 1 was released from its claim: 'paying' -> 'pending', version 2.\n")
    assert stand.see(1) == ("pending", 2)
    run = stand.run("release", "orders", "1", *WHY)
    assert (run.status, run.out) == (1, "orders 1 is 'pending', which is no claim; there is nothing to release.\n")
    stand.write("UPDATE orders SET status = 'packing' WHERE id = 2")
    run = shell.run("release", "orders", "2", "--db", database.url, *WHY)
    assert run.status == 1
    assert "pass --app" in run.out
    document = stand.ask("release", "orders", "2", *WHY)
    assert document == {
        "table": "orders",
        "row": "2",
        "released": "foreign",
        "from": "packing",
        "to": "paid",
        "version": 1,
    }
    assert stand.see(2) == ("paid", 1)


@pytest.mark.parametrize(
    ("database", "kind"),
    [("sqlite", "Semel"), ("postgresql", "AsyncSemel"), ("mariadb", "Semel")],
    indirect=["database"],
)
def test_a_holder_that_lives_loses_its_claim_only_by_force(shell: Shell, database: Database, kind: str) -> None:
    """It is told why, and what force does; forced, the holder hears that its claim is gone, and nothing it did is kept."""
    stand = lay_stand(shell, database, kind)
    stand.add_orders(1)
    with stand.hold(1, "pay") as holder:
        run = stand.run("release", "orders", "1", *WHY)
        assert run.status == 1
        assert "gave a sign of life" in run.out
        assert "With --force" in run.out
        assert stand.see(1) == ("paying", 1)
        assert stand.run("release", "orders", "1", "--force", *WHY).status == 0
        said, _ = holder.communicate("go on\n", timeout=WAIT_SECONDS)
    assert said == "Pending(call=None)\n"
    assert stand.see(1) == ("pending", 2)
    assert stand.ask("effects", "list")["effects"] == []


MISUSES = {
    "orders 1": "Missing option '--reason'",
    "orders 1 --reason=": "A reason has 1 to 500 characters",
    f"orders 1 --reason={'x' * 501}": "A reason has 1 to 500 characters",
    "orders 1 --reason=x --by=": "A name has 1 to 100 characters",
    "orders one --reason=x": "SEMEL-ROW-3",
    "nothing 1 --reason=x": "SEMEL-TABLE-1",
    "orders 1 --reason=x --workflow=other": "no workflow 'other'",
    "orders 1 --reason=x --version-column=nope": "SEMEL-TABLE-2",
}


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_an_act_by_hand_needs_a_reason_and_a_row(shell: Shell, database: Database) -> None:
    """Each misuse is one sentence, and writes nothing."""
    stand = lay_stand(shell, database)
    stand.add_orders(1, status="paying")
    for words, told in MISUSES.items():
        run = stand.run("release", *words.split())
        assert (run.status, run.out) == (2, ""), words
        assert told in run.err
    assert stand.see(1) == ("paying", 0)
    assert stand.read("SELECT * FROM semel_journal") == []
    assert stand.run("release", "orders", "9", *WHY).out == "There is no row orders 9, and no claim on it.\n"
