"""How the doctor judges the settings of a PostgreSQL server."""

from __future__ import annotations

from semel.cli.findings import Check, Facts, Finding, bad, doubtful, fine


def judge_synchronous_commit(facts: Facts) -> Finding:
    """Judge whether a commit that returned can be lost."""
    value, standbys = facts.settings.get("synchronous_commit", ""), facts.settings.get("synchronous_standby_names", "")
    if value == "off":
        return bad(value, "A crash could take back what was moved: ALTER DATABASE … SET synchronous_commit = on.")
    if standbys and value in ("local", "remote_write"):
        return doubtful(
            f"{value}, although standbys are synchronous ({standbys})",
            "A failover could take back what was moved: ALTER DATABASE … SET synchronous_commit = on.",
        )
    return fine(f"{value}, synchronous standbys: {standbys or 'none'}")


def judge_durability(facts: Facts) -> Finding:
    """Judge whether what was written survives the power."""
    off = [name for name in ("fsync", "full_page_writes") if facts.settings.get(name) == "off"]
    if off:
        return bad(f"{' and '.join(off)} off", "A crash could ruin the whole database: switch both on.")
    return fine("fsync and full_page_writes on")


def judge_isolation(facts: Facts) -> Finding:
    """Judge the isolation that transactions begin with: Semel is right at every level, and waits least at the lowest."""
    value = facts.settings.get("default_transaction_isolation", "")
    if value not in ("read committed", "read uncommitted"):
        return doubtful(value, "Semel gives way and runs again more often here; read committed is enough for it.")
    return fine(value)


def judge_statement_timeout(facts: Facts) -> Finding:
    """Judge the bound on statements; 0 is none."""
    from semel.store.dialects import LOCK_WAIT_SECONDS

    value = read_ms(facts, "statement_timeout")
    if 0 < value < LOCK_WAIT_SECONDS * 1000:
        return doubtful(
            show_ms(value),
            f"Waits for a row end as errors before their time: allow more than {LOCK_WAIT_SECONDS} s.",
        )
    return fine(show_ms(value))


def judge_lock_timeout(facts: Facts) -> Finding:
    """Tell the bound on waits for locks: Semel's statements bring their own, yours have this one."""
    return fine(show_ms(read_ms(facts, "lock_timeout")))


def judge_idle_transactions(facts: Facts) -> Finding:
    """Judge how long a transaction may hold rows and do nothing; 0 is for ever."""
    value = read_ms(facts, "idle_in_transaction_session_timeout")
    if value == 0:
        return doubtful(
            show_ms(value),
            "A client that hangs in a transaction holds its rows for ever: "
            "ALTER DATABASE … SET idle_in_transaction_session_timeout = '60s'.",
        )
    return fine(show_ms(value))


def judge_pooler(facts: Facts) -> Finding:
    """Judge whether Semel knows about the pooler in front of the server."""
    if not facts.behind_pooler:
        return fine("none was noticed")
    if facts.is_pooled:
        return fine("there is one, and the app says pooled=True")
    return doubtful("there is one", "If it pools transactions (pgbouncer), make the Semel with pooled=True.")


def read_ms(facts: Facts, name: str) -> int:
    """Read a setting in milliseconds; 0, if the server does not tell it."""
    text = facts.settings.get(name, "")
    return int(text) if text.isdecimal() else 0


def show_ms(value: int) -> str:
    """Write a bound; 0 is none."""
    return f"{value} ms" if value else "no limit"


POSTGRESQL_CHECKS: tuple[Check, ...] = (
    Check("synchronous_commit", "Money is moved when COMMIT returns.", "postgresql", judge_synchronous_commit),
    Check("fsync", "What COMMIT promised must be on the disk.", "postgresql", judge_durability),
    Check("default_transaction_isolation", "Higher levels make statements give way.", "postgresql", judge_isolation),
    Check("lock_timeout", "Nobody should wait for a row for ever.", "postgresql", judge_lock_timeout),
    Check("statement_timeout", "It must leave room for a wait on a row.", "postgresql", judge_statement_timeout),
    Check(
        "idle_in_transaction_session_timeout",
        "A transaction that does nothing holds its rows.",
        "postgresql",
        judge_idle_transactions,
    ),
    Check("pooler", "Prepared statements do not survive a pooler of transactions.", "postgresql", judge_pooler),
)
