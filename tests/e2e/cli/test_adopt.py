from __future__ import annotations

import json
from typing import Any

import pytest
import sqlalchemy as sa

from semel import Done, Semel
from tests.databases import Database
from tests.e2e.cli.conftest import Shell
from tests.e2e.cli.shapes import CHECKED, DJANGO, SHAPES, Shape

PAIRS = [
    (family, name)
    for family in ("sqlite", "postgresql", "mariadb")
    for name, shape in SHAPES.items()
    if family in shape.makes
]
BY_SHAPE = pytest.mark.parametrize(("database", "name"), PAIRS, indirect=["database"])


def adopt(shell: Shell, database: Database, shape: Shape, *words: str) -> Any:
    """Ask what a table needs."""
    names = ("--status-column", shape.status) if shape.status != "status" else ()
    run = shell.run("adopt", shape.name, "--db", database.url, "--json", *names, *words)
    assert run.status == 0, run.err
    return run.json


def apply(database: Database, statements: list[str]) -> None:
    """Run printed SQL as a person would: one statement after the other."""
    with database.engine().connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def snapshot(database: Database) -> Any:
    """Answer what the database is like."""
    inspector = sa.inspect(database.engine())
    return {name: [each["name"] for each in inspector.get_columns(name)] for name in inspector.get_table_names()}


@BY_SHAPE
def test_what_is_printed_boots(shell: Shell, database: Database, name: str) -> None:
    """The SQL runs, the file passes every rule, and an application with both starts; looking changed nothing."""
    shape = SHAPES[name]
    shape.lay(database)
    before = snapshot(database)
    document = adopt(shell, database, shape, "--module", "shop")
    assert snapshot(database) == before
    apply(database, document["sql"])
    shell.write("flow.json", json.dumps(document["workflow"]))
    assert shell.run("check", "flow.json").status == 0
    assert document["workflow"]["owning_module"] == "shop"
    once = Semel(database.url, workflows=str(shell.folder / "flow.json"))
    once.create_tables()
    with once:
        pass


@BY_SHAPE
def test_a_claim_status_finds_room(shell: Shell, database: Database, name: str) -> None:
    """With --claim the enum, CHECK or length is widened; then a step claims into it, and there is nothing left to widen."""
    shape = SHAPES[name]
    shape.lay(database)
    document = adopt(shell, database, shape, "--claim", shape.claim)
    apply(database, document["sql"])
    flow = document["workflow"]
    assert shape.claim in flow["status_types"]
    end = next(status for status in flow["status_types"] if status not in (shape.born, shape.claim))
    flow["outside"] = [status for status in flow["outside"] if status != shape.claim]
    flow["steps"] = [
        {
            "step_id": 1,
            "step_key": "go",
            "status": shape.born,
            "successful_claim_state": [shape.claim, shape.born],
            "successful_state": end,
            "action": "Go",
        }
    ]
    once = Semel(database.url, workflows=flow)
    once.create_tables()
    names = {"status": shape.status, "version": flow["version_column"]}
    table = once.table(shape.name, **names)
    seen: list[str] = []
    quoted = database.engine().dialect.identifier_preparer.quote
    read = f"SELECT id FROM {shape.name} WHERE {quoted(shape.status)} = '{shape.born}'"
    with database.engine().connect() as connection:
        row = connection.exec_driver_sql(read).scalar_one()

    @once.action("Go")
    def go(step: Any) -> None:
        seen.append(step.row[shape.status] if isinstance(step.row, dict) else getattr(step.row, shape.status))

    with once:
        assert table.advance(row, "go") == Done(end)
    assert seen == [shape.claim]
    assert (
        adopt(shell, database, shape, "--claim", shape.claim, "--version-column", flow["version_column"])["sql"] == []
    )


@pytest.mark.parametrize("name", ["checked"])
def test_a_relaxed_check_still_demands_the_rest(shell: Shell, database: Database, name: str) -> None:
    """Only the new status is let past: an unknown one is refused as before, and so is an end without its time."""
    shape = SHAPES[name]
    shape.lay(database)
    apply(database, adopt(shell, database, shape, "--claim", shape.claim)["sql"])
    for status in ("nonsense", "it''s over"):
        with pytest.raises(sa.exc.DBAPIError):
            apply(database, [f"UPDATE subscriptions SET state = '{status}' WHERE id = 1"])
    apply(database, [f"UPDATE subscriptions SET state = '{shape.claim}' WHERE id = 1"])


KNOWN = {
    "checked": {"trial", "active", "processing", "it's over"},
    "enum": {"requested", "in_progress", "done", "failed"},
    "django": {"PENDING", "PROCESSING", "PAID"},
}


@BY_SHAPE
def test_a_table_is_told_as_it_is(shell: Shell, database: Database, name: str) -> None:
    """Every status, seen or only known, is outside at first; rows in a passing one are counted, with the age of the oldest."""
    shape = SHAPES[name]
    shape.lay(database)
    document = adopt(shell, database, shape)
    flow = document["workflow"]
    assert flow["outside"] == flow["status_types"]
    assert (set(flow["status_types"]), flow["steps"], flow["terminal"]) == (KNOWN[name], [], [])
    if name != "django":  # its column has no default, and capital letters tell nothing
        assert flow["initial"] == shape.born
    transient = {each["status"]: each for each in document["transient"]}
    assert tuple(sorted(transient)) == shape.stuck
    three_days = 3 * 86_400
    assert all(each["rows"] == 1 for each in transient.values())
    assert all(three_days - 5 <= each["age_seconds"] < three_days + 600 for each in transient.values())


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_version_of_somebody_elses_is_left_alone(shell: Shell, database: Database) -> None:
    """Semel's column gets another name, unless one is named; the index is printed where none begins with the status."""
    DJANGO.lay(database)
    document = adopt(shell, database, DJANGO)
    assert document["sql"] == [
        "ALTER TABLE shop_order ADD COLUMN semel_version BIGINT NOT NULL DEFAULT 0",
        "CREATE INDEX IF NOT EXISTS ix_shop_order_status ON shop_order (status)",
    ]
    assert any("somebody else's" in note for note in document["notes"])
    assert adopt(shell, database, DJANGO, "--version-column", "lock")["workflow"]["version_column"] == "lock"


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_table_that_is_copied_keeps_everything(shell: Shell, database: Database) -> None:
    """SQLite cannot change a CHECK: the copy has the rows, the index, the trigger and the counter; view and key find it."""
    CHECKED.lay(database)
    apply(database, adopt(shell, database, CHECKED, "--claim", "renewing")["sql"])
    apply(database, ["INSERT INTO subscriptions (state, updated_at) VALUES ('active', '2026-01-01')"])
    with database.engine().connect() as connection:
        rows = connection.exec_driver_sql("SELECT id, state, shout, version FROM subscriptions ORDER BY id").all()
        assert rows[0] == (1, "trial", "TRIAL", 0)
        assert [row[0] for row in rows] == [1, 2, 3, 5]  # 4 was given out before, and is not given out again
        assert connection.exec_driver_sql("SELECT id FROM active ORDER BY id").scalars().all() == [3, 5]
        assert connection.exec_driver_sql("SELECT COUNT(*) FROM log WHERE subscription_id = 5").scalar() == 1
        assert [row[1] for row in connection.exec_driver_sql("PRAGMA foreign_key_check")] == [
            4
        ]  # deleted before the copy
    indexes = {each["name"] for each in sa.inspect(database.engine()).get_indexes("subscriptions")}
    assert indexes == {"by_time", "ix_subscriptions_state"}


GOLDEN = """\
-- Review this SQL and run it; Semel does not.

-- The version is Semel's own: nothing else may write it.
ALTER TABLE subscriptions ADD COLUMN version BIGINT NOT NULL DEFAULT 0;

-- Semel's own statements find rows by their id; semel stuck looks for rows by status.
CREATE INDEX IF NOT EXISTS ix_subscriptions_state ON subscriptions (state);

workflows/subscriptions.json:

{
  "$schema": "semel.schema.json",
  "workflow": "subscriptions",
  "entity_table": "subscriptions",
  "status_column": "state",
  "version_column": "version",
  "status_types": [
    "trial",
    "active",
    "processing",
    "it's over"
  ],
  "initial": "trial",
  "terminal": [],
  "outside": [
    "trial",
    "active",
    "processing",
    "it's over"
  ],
  "steps": []
}

Rows that stand where they should not stay:
  processing: 1, the oldest for 3 d (by updated_at, as UTC)
  Find out what became of each, and move it, before a step claims into its status.

Note: The column's CHECK lists its statuses. For a claim, name the new status: --claim NAME prints the change.
"""


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_people_read_sql_a_file_and_what_to_look_at(shell: Shell, database: Database) -> None:
    """The whole answer as it is printed, ready to be copied."""
    CHECKED.lay(database)
    run = shell.run("adopt", "subscriptions", "--db", database.url, "--status-column", "state")
    assert (run.status, run.out) == (0, GOLDEN)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_what_cannot_be_adopted_is_told(shell: Shell, database: Database) -> None:
    """No such table, no status column, a column with a value of its own for each row, a key of two columns."""
    with database.engine().begin() as connection:
        connection.exec_driver_sql("CREATE TABLE pairs (a int, b int, status text, note text, PRIMARY KEY (a, b))")
        for number in range(501):
            connection.exec_driver_sql("INSERT INTO pairs VALUES (?, 0, ' ', ?)", (number, f"note {number}"))
    for words, told in (
        (["nothing"], "SEMEL-TABLE-1"),
        (["pairs", "--status-column", "state"], "SEMEL-TABLE-2"),
        (["pairs", "--status-column", "note"], "SEMEL-TABLE-8"),
        (["pairs", "--status-column", "a"], "SEMEL-TABLE-6"),
    ):
        run = shell.run("adopt", *words, "--db", database.url)
        assert (run.status, run.out) == (2, "")
        assert told in run.err
    notes = shell.run("adopt", "pairs", "--db", database.url, "--json").json["notes"]
    assert any("primary key" in note for note in notes)
    assert any("cannot name these statuses: ' '" in note for note in notes)
