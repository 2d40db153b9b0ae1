from __future__ import annotations

import json

import pytest
import sqlalchemy as sa

from tests.databases import Database
from tests.e2e.cli.conftest import Shell
from tests.e2e.cli.stand import Stand, lay_stand

LATE = "UPDATE orders SET status = 'pending' WHERE id = 1"


def lay(stand: Stand, *words: str) -> None:
    """Run the SQL that the command prints."""
    document = stand.ask("guard", "orders", *words)
    with stand.database.engine().begin() as connection:
        for statement in document["sql"]:
            connection.exec_driver_sql(statement)


def test_what_is_printed_guards_the_table(shell: Shell, database: Database) -> None:
    """Noted moves are part of the row's story, refused ones do not happen, Semel's own steps pass, and --drop ends it."""
    stand = lay_stand(shell, database)
    stand.add_orders(1)
    lay(stand, "--mode", "record")
    assert "Done" in stand.take(1, "touch").out
    assert "Done" in stand.take(1, "cancel").out
    stand.write(LATE)
    noted = stand.ask("why", "orders", "1")["moves"][-1]
    assert (noted["kind"], noted["from"], noted["to"], noted["version"]) == ("foreign", "cancelled", "pending", 2)
    assert noted["detail"] == "a terminal status was left"
    assert "Done" in stand.take(1, "cancel").out
    lay(stand, "--mode", "refuse")
    with pytest.raises(sa.exc.DBAPIError, match="a terminal status was left"):
        stand.write(LATE)
    lay(stand, "--drop")
    stand.write(LATE)


def write_flow(shell: Shell, table: str) -> None:
    """Write the smallest workflow of a table."""
    flow = {
        "workflow": "w",
        "entity_table": table,
        "status_types": ["a"],
        "initial": "a",
        "terminal": ["a"],
        "steps": [],
    }
    shell.write("flow.json", json.dumps(flow))


@pytest.mark.parametrize("dialect", ["postgresql", "mariadb", "sqlite"])
def test_printing_connects_to_nothing(shell: Shell, dialect: str) -> None:
    """Where the id is named, any dialect is printed, and the app's own database need not be there."""
    write_flow(shell, "shop.orders")
    shell.write(
        "app.py", "from semel import Semel\nonce = Semel('postgresql://nobody@127.0.0.1:1/x', workflows='flow.json')\n"
    )
    words = ("guard", "shop.orders", "--app", "app:once", "--mode", "record", "--dialect", dialect)
    run = shell.run(*words, "--id-column", "number")
    assert run.status == 0, run
    assert "INSERT INTO semel_journal" in run.out
    assert "NEW.number" in run.out
    assert "CREATE TRIGGER" in run.out
    run = shell.run(*words)
    assert run.status == (1 if dialect == "postgresql" else 2)


def test_mariadbs_client_is_told_where_a_trigger_ends(shell: Shell) -> None:
    """A refusing trigger has semicolons inside; with --json there are none around the statements."""
    write_flow(shell, "orders")
    shell.write(
        "app.py", "from semel import Semel\nonce = Semel('mariadb://nobody@127.0.0.1:1/x', workflows='flow.json')\n"
    )
    words = ("guard", "orders", "--app", "app:once", "--mode", "refuse")
    lines = shell.run(*words).out.splitlines()
    assert (lines[0], lines[-1]) == ("DELIMITER //", "DELIMITER ;")
    assert all(line.endswith(" //") for line in lines[1:-1])
    assert not any("//" in statement for statement in shell.run(*words, "--json").json["sql"])


MISUSES = {
    "orders": "Pass --mode record or --mode refuse, or --drop",
    "orders --mode record --drop": "Pass --mode record or --mode refuse, or --drop",
    "orders --mode watch": "Invalid value for '--mode'",
    "invoices --mode refuse": "SEMEL-CLI-7",
}


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_misuse_of_a_guard_is_told_in_a_sentence(shell: Shell, database: Database) -> None:
    """Neither mode nor drop, both, an unknown table, no app."""
    stand = lay_stand(shell, database)
    for words, told in MISUSES.items():
        run = stand.run("guard", *words.split())
        assert (run.status, run.out) == (2, ""), words
        assert told in run.err
    run = shell.run("guard", "orders", "--mode", "refuse")
    assert (run.status, run.err.partition(":")[0]) == (2, "SEMEL-CLI-6")
