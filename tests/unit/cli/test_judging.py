from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from semel.cli.doctor import judge_all
from semel.cli.findings import Facts, File, Finding
from semel.cli.judging import CHECKS
from semel.errors import error

SETTINGS: dict[str, dict[str, str]] = {
    "postgresql": {
        "default_transaction_isolation": "read committed",
        "default_transaction_read_only": "off",
        "fsync": "on",
        "full_page_writes": "on",
        "idle_in_transaction_session_timeout": "60000",
        "lock_timeout": "0",
        "make": "PostgreSQL 16.4 on x86_64-pc-linux-gnu, compiled by gcc",
        "server_version": "16.4",
        "standby": "false",
        "statement_timeout": "0",
        "synchronous_commit": "on",
        "synchronous_standby_names": "",
    },
    "mariadb": {
        "binlog_format": "MIXED",
        "character_set_client": "utf8mb4",
        "character_set_connection": "utf8mb4",
        "character_set_database": "utf8mb4",
        "character_set_results": "utf8mb4",
        "innodb_flush_log_at_trx_commit": "1",
        "innodb_snapshot_isolation": "ON",
        "log_bin": "ON",
        "make": "MariaDB Server",
        "read_only": "OFF",
        "sql_mode": "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION",
        "sync_binlog": "1",
        "tx_isolation": "READ-COMMITTED",
        "version": "11.4.2-MariaDB",
    },
    "sqlite": {"foreign_keys": "1", "journal_mode": "wal", "synchronous": "2", "version": "3.45.0"},
}


def facts(family: str, **others: Any) -> Facts:
    """Make the facts of a database that is all right, with some of them changed."""
    settings = SETTINGS[family] | others.pop("settings", {})
    right = Facts(
        family=family,
        settings=settings,
        server=None,
        schema=None,
        counting=None,
        versions={"core": 1},
        ahead_seconds=0.01,
        unsure_seconds=0.01,
        behind_pooler=False,
        is_pooled=None,
        file=File("shop.db", is_writable=True, has_writable_folder=True) if family == "sqlite" else None,
    )
    return replace(right, **others)


def judge(given: Facts) -> dict[str, Finding]:
    """Judge facts."""
    return dict(judge_all(given))


@pytest.mark.parametrize("family", SETTINGS)
def test_a_database_that_is_right_is_all_ok(family: str) -> None:
    """Where nothing is wrong, no check says anything else, and each says what it saw."""
    for subject, finding in judge(facts(family)).items():
        assert (finding.verdict, finding.advice) == ("ok", ""), subject
        assert finding.value, subject


SET = [
    ("postgresql", "synchronous_commit", {"synchronous_commit": "off"}, "problem"),
    ("postgresql", "synchronous_commit", {"synchronous_commit": "local"}, "ok"),
    ("postgresql", "synchronous_commit", {"synchronous_commit": "local", "synchronous_standby_names": "*"}, "warn"),
    (
        "postgresql",
        "synchronous_commit",
        {"synchronous_commit": "remote_apply", "synchronous_standby_names": "*"},
        "ok",
    ),
    ("postgresql", "fsync", {"fsync": "off"}, "problem"),
    ("postgresql", "fsync", {"full_page_writes": "off"}, "problem"),
    ("postgresql", "default_transaction_isolation", {"default_transaction_isolation": "serializable"}, "warn"),
    ("postgresql", "default_transaction_isolation", {"default_transaction_isolation": "repeatable read"}, "warn"),
    ("postgresql", "statement_timeout", {"statement_timeout": "4999"}, "warn"),
    ("postgresql", "statement_timeout", {"statement_timeout": "5000"}, "ok"),
    ("postgresql", "lock_timeout", {"lock_timeout": "1"}, "ok"),
    ("postgresql", "idle_in_transaction_session_timeout", {"idle_in_transaction_session_timeout": "0"}, "warn"),
    ("postgresql", "role", {"standby": "true"}, "problem"),
    ("postgresql", "role", {"default_transaction_read_only": "on"}, "problem"),
    ("mariadb", "role", {"read_only": "ON"}, "problem"),
    ("mariadb", "role", {"read_only": "NO_LOCK"}, "problem"),
    ("mariadb", "innodb_flush_log_at_trx_commit", {"innodb_flush_log_at_trx_commit": "0"}, "problem"),
    ("mariadb", "innodb_flush_log_at_trx_commit", {"innodb_flush_log_at_trx_commit": "2"}, "problem"),
    ("mariadb", "innodb_flush_log_at_trx_commit", {"innodb_flush_log_at_trx_commit": "3"}, "ok"),
    ("mariadb", "sync_binlog", {"sync_binlog": "0"}, "warn"),
    ("mariadb", "sync_binlog", {"sync_binlog": "0", "log_bin": "OFF"}, "ok"),
    ("mariadb", "binlog_format", {"binlog_format": "STATEMENT"}, "problem"),
    ("mariadb", "binlog_format", {"binlog_format": "STATEMENT", "log_bin": "OFF"}, "ok"),
    ("mariadb", "sql_mode", {"sql_mode": ""}, "problem"),
    ("mariadb", "sql_mode", {"sql_mode": "ANSI_QUOTES"}, "problem"),
    ("mariadb", "sql_mode", {"sql_mode": "ANSI_QUOTES,STRICT_ALL_TABLES"}, "ok"),
    ("mariadb", "tx_isolation", {"tx_isolation": "REPEATABLE-READ"}, "problem"),
    ("mariadb", "tx_isolation", {"tx_isolation": "", "transaction_isolation": "READ-COMMITTED"}, "ok"),
    ("mariadb", "innodb_snapshot_isolation", {"innodb_snapshot_isolation": ""}, "ok"),
    ("mariadb", "character sets", {"character_set_client": "latin1"}, "problem"),
    ("mariadb", "character sets", {"character_set_database": "latin1"}, "warn"),
    ("sqlite", "journal_mode", {"journal_mode": "delete"}, "problem"),
    ("sqlite", "synchronous", {"synchronous": "1"}, "problem"),
    ("sqlite", "synchronous", {"synchronous": "3"}, "ok"),
]


@pytest.mark.parametrize(("family", "subject", "settings", "verdict"), SET)
def test_a_setting_is_judged(family: str, subject: str, settings: dict[str, str], verdict: str) -> None:
    """What is unsafe is a problem, what could be better a warning; both say what to do, and nothing else changes."""
    found = judge(facts(family, settings=settings))
    assert found[subject].verdict == verdict
    assert bool(found[subject].advice) is (verdict != "ok")
    others = {each for each, finding in found.items() if finding.verdict != "ok"} - {subject}
    assert not others


OLD = error("SEMEL-DB-3", found="PostgreSQL 12", needed="PostgreSQL 13 or newer")
ABSENT = error("SEMEL-SCHEMA-1", table="semel_meta")
MISCOUNTED = error("SEMEL-DB-5", driver="pymysql", counted=0, expected=1)
KNOWN = [
    ("postgresql", "server", {"server": OLD}, "problem"),
    ("postgresql", "server", {"server": error("SEMEL-DB-4")}, "ok"),
    ("postgresql", "Semel's tables", {"schema": ABSENT}, "problem"),
    ("mariadb", "row counts", {"counting": MISCOUNTED}, "problem"),
    ("mariadb", "row counts", {"counting": MISCOUNTED, "schema": ABSENT}, "warn"),
    ("sqlite", "clock", {"ahead_seconds": 2.5, "unsure_seconds": 0.1}, "warn"),
    ("sqlite", "clock", {"ahead_seconds": -2.5, "unsure_seconds": 0.1}, "warn"),
    ("sqlite", "clock", {"ahead_seconds": 2.5, "unsure_seconds": 1.0}, "ok"),
    ("postgresql", "pooler", {"behind_pooler": True}, "warn"),
    ("postgresql", "pooler", {"behind_pooler": True, "is_pooled": False}, "warn"),
    ("postgresql", "pooler", {"behind_pooler": True, "is_pooled": True}, "ok"),
    ("sqlite", "file", {"file": None}, "warn"),
    ("sqlite", "file", {"file": File("x.db", is_writable=False, has_writable_folder=True)}, "problem"),
    ("sqlite", "file", {"file": File("x.db", is_writable=True, has_writable_folder=False)}, "problem"),
]


@pytest.mark.parametrize(("family", "subject", "known", "verdict"), KNOWN)
def test_what_else_is_known_is_judged(family: str, subject: str, known: dict[str, Any], verdict: str) -> None:
    """Server, tables, counting, clocks, poolers and files are judged as settings are."""
    finding = judge(facts(family, **known))[subject]
    assert finding.verdict == verdict
    assert bool(finding.advice) is (verdict != "ok")


@pytest.mark.parametrize("family", SETTINGS)
def test_a_server_that_tells_nothing_is_judged_without_an_error(family: str) -> None:
    """A setting that this server does not know is judged all the same."""
    assert judge(replace(facts(family), settings={}))


def test_each_check_has_its_own_name_and_reason() -> None:
    """The table of checks reads as a table: no name twice in one family, a reason for each."""
    names = [(check.family, check.subject) for check in CHECKS]
    assert len(set(names)) == len(names)
    assert all(check.why.endswith(".") for check in CHECKS)
