"""How the doctor judges every database: each check is a small function over facts, and a line in `CHECKS`."""

from __future__ import annotations

from semel.cli.findings import Check, Facts, Finding, bad, doubtful, fine, refused
from semel.cli.judging_mariadb import MARIADB_CHECKS
from semel.cli.judging_postgresql import POSTGRESQL_CHECKS
from semel.errors import error

CLOCK_SECONDS = 2.0
"""How far two clocks may be apart: logs of two machines can still be read side by side, and a signature that is good for
minutes is judged alike on both."""


def judge_server(facts: Facts) -> Finding:
    """Judge make and version."""
    if facts.server is not None and facts.server.code != "SEMEL-DB-4":
        return refused(facts.server)
    if facts.family == "postgresql":
        return fine(facts.settings.get("make", "").partition(" on ")[0])
    if facts.family == "mariadb":
        return fine(f"{facts.settings.get('version', '')} ({facts.settings.get('make', '')})")
    return fine(f"SQLite {facts.settings.get('version', '')}")


def judge_role(facts: Facts) -> Finding:
    """Judge whether this server can write."""
    if facts.settings.get("standby") == "true" or facts.settings.get("read_only", "OFF") != "OFF":
        return refused(error("SEMEL-DB-4"))
    if facts.settings.get("default_transaction_read_only") == "on":
        return bad(
            "primary, default_transaction_read_only = on",
            "Every write would be refused: ALTER ROLE … SET default_transaction_read_only = off.",
        )
    return fine("primary")


def judge_tables(facts: Facts) -> Finding:
    """Judge Semel's own tables."""
    if facts.schema is not None:
        return refused(facts.schema)
    return fine(", ".join(f"part {part} at version {version}" for part, version in sorted(facts.versions.items())))


def judge_counting(facts: Facts) -> Finding:
    """Judge the counting test."""
    if facts.counting is None:
        return fine("matched rows are counted")
    if facts.schema is not None:
        return doubtful("not tested, because Semel's tables are not there", "Mend them first, then look again.")
    return refused(facts.counting)


def judge_clock(facts: Facts) -> Finding:
    """Judge how far the database's clock is from the local one, as far as the way there lets it be known."""
    ahead, unsure = facts.ahead_seconds, facts.unsure_seconds
    value = f"the database's clock is {abs(ahead):.3f} s {'ahead' if ahead >= 0 else 'behind'} (± {unsure:.3f} s)"
    if abs(ahead) - unsure > CLOCK_SECONDS:
        return doubtful(value, "Let NTP or chrony keep the clocks of both machines.")
    return fine(value)


def judge_journal_mode(facts: Facts) -> Finding:
    """Judge whether readers and the writer get along."""
    value = facts.settings.get("journal_mode", "")
    if value != "wal":
        return bad(value, "Semel asked for WAL and did not get it: move the file to a local disk that can be written.")
    return fine(value)


def judge_sqlite_synchronous(facts: Facts) -> Finding:
    """Judge whether a commit is on the disk when it returns: 2 is FULL, 3 is EXTRA."""
    value = {"0": "OFF", "1": "NORMAL", "2": "FULL", "3": "EXTRA"}.get(facts.settings.get("synchronous", ""), "unknown")
    if value not in ("FULL", "EXTRA"):
        return bad(value, "A commit could be lost with the power: set PRAGMA synchronous = FULL.")
    return fine(value)


def judge_file(facts: Facts) -> Finding:
    """Judge whether SQLite can write: it needs the folder too, for the files beside the database."""
    file = facts.file
    if file is None:
        return doubtful("named by a file: URI, which is not looked at", "See that its folder can be written.")
    if not file.is_writable:
        return bad(f"{file.path} cannot be written", "Give this user the right to write the file.")
    if not file.has_writable_folder:
        return bad(f"the folder of {file.path} cannot be written", "Give this user the right to make files beside it.")
    return fine(file.path)


CHECKS: tuple[Check, ...] = (
    Check("server", "Older servers and other makes lack guarantees that money code relies on.", None, judge_server),
    Check("role", "Only a primary can write, and only a primary knows what is true now.", None, judge_role),
    Check("Semel's tables", "A boot refuses tables that are missing, older, newer or damaged.", None, judge_tables),
    Check("row counts", "Every guard is a count of 0 or 1, so matched rows must be counted.", None, judge_counting),
    Check("clock", "Times are the database's; yours judges signatures and writes logs.", None, judge_clock),
    *POSTGRESQL_CHECKS,
    *MARIADB_CHECKS,
    Check("file", "SQLite writes the file and others beside it.", "sqlite", judge_file),
    Check("journal_mode", "In WAL, readers do not stop the writer.", "sqlite", judge_journal_mode),
    Check("synchronous", "Money is moved when COMMIT returns.", "sqlite", judge_sqlite_synchronous),
)
"""Every check, in the order in which it is shown."""
