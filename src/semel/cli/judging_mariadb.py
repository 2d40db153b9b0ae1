"""How the doctor judges the settings of a MariaDB server, and of the sessions that Semel opens there."""

from __future__ import annotations

from semel.cli.findings import Check, Facts, Finding, bad, doubtful, fine


def judge_strictness(facts: Facts) -> Finding:
    """Judge what happens to a value that does not fit."""
    modes = facts.settings.get("sql_mode", "")
    if not {"STRICT_TRANS_TABLES", "STRICT_ALL_TABLES"} & set(modes.split(",")):
        return bad(
            modes or "empty", "Values that do not fit are cut off in silence: add STRICT_TRANS_TABLES to sql_mode."
        )
    return fine(modes)


def judge_log_flush(facts: Facts) -> Finding:
    """Judge whether a commit is on the disk when it returns: 1 and 3 write it there."""
    value = facts.settings.get("innodb_flush_log_at_trx_commit", "")
    if value not in ("1", "3"):
        return bad(
            value, "A crash takes back up to a second of commits: SET GLOBAL innodb_flush_log_at_trx_commit = 1."
        )
    return fine(value)


def judge_sync_binlog(facts: Facts) -> Finding:
    """Judge whether replicas know every commit that the primary knows after a crash."""
    if facts.settings.get("log_bin") != "ON":
        return fine("no binary log")
    value = facts.settings.get("sync_binlog", "")
    if value != "1":
        return doubtful(value, "After a crash a replica may lack commits, and a failover lose them: sync_binlog = 1.")
    return fine(value)


def judge_binlog_format(facts: Facts) -> Finding:
    """Judge whether InnoDB can write at all: at READ COMMITTED it refuses a binary log of statements."""
    if facts.settings.get("log_bin") != "ON":
        return fine("no binary log")
    value = facts.settings.get("binlog_format", "")
    if value == "STATEMENT":
        return bad(value, "InnoDB refuses to write at READ COMMITTED with it: SET GLOBAL binlog_format = 'ROW'.")
    return fine(value)


def judge_snapshot_isolation(facts: Facts) -> Finding:
    """Tell what a transaction of yours meets that Semel joins: ON is an error where OFF reads what is stale."""
    return fine(facts.settings.get("innodb_snapshot_isolation") or "unknown to this server")


def judge_isolation(facts: Facts) -> Finding:
    """Judge the isolation of Semel's own sessions, which ask for READ COMMITTED."""
    value = facts.settings.get("transaction_isolation") or facts.settings.get("tx_isolation", "")
    if value != "READ-COMMITTED":
        return bad(value, "Semel asked for READ COMMITTED and did not get it: does a proxy swallow SET SESSION?")
    return fine(value)


def judge_characters(facts: Facts) -> Finding:
    """Judge whether every character gets through."""
    names = ("character_set_client", "character_set_connection", "character_set_results")
    narrow = sorted({facts.settings.get(name, "") for name in names} - {"utf8mb4"})
    if narrow:
        return bad(
            ", ".join(narrow), "Characters get lost on the way: take charset= out of the URL, or set it to utf8mb4."
        )
    database = facts.settings.get("character_set_database", "")
    if database != "utf8mb4":
        return doubtful(
            f"utf8mb4, but the database makes tables in {database}",
            "Semel's own tables are utf8mb4 anyway; for yours: ALTER DATABASE … CHARACTER SET utf8mb4.",
        )
    return fine("utf8mb4")


MARIADB_CHECKS: tuple[Check, ...] = (
    Check("innodb_flush_log_at_trx_commit", "Money is moved when COMMIT returns.", "mariadb", judge_log_flush),
    Check("sync_binlog", "A replica that lacks commits may become the primary.", "mariadb", judge_sync_binlog),
    Check("binlog_format", "A log of statements goes with no READ COMMITTED.", "mariadb", judge_binlog_format),
    Check("sql_mode", "A value that does not fit must be an error.", "mariadb", judge_strictness),
    Check("tx_isolation", "Every statement must see what is committed now.", "mariadb", judge_isolation),
    Check(
        "innodb_snapshot_isolation",
        "It decides what REPEATABLE READ means in transactions that Semel joins.",
        "mariadb",
        judge_snapshot_isolation,
    ),
    Check("character sets", "What is stored must be what was sent.", "mariadb", judge_characters),
)
