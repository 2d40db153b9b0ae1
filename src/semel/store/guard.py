"""The guard: an optional trigger of the user's table that refuses, or notes, moves which go past Semel. Printed, never run.

Three things are a breach, whoever does them, raw SQL included: a terminal status is left; the status changes and the version
does not grow; the version changes and the status does not. The last is Semel's own way only where a claim is taken over and
where a step leads back to its own status, so statuses in which that happens are excepted.

Every name is quoted by the dialect and every status is a quoted literal; what neither can carry safely is refused.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from semel.store.dialects import FAMILIES, Family
from semel.store.entity import StatusCodec
from semel.store.quoted import NAME_CHARACTERS, quote_name, quote_table, quote_word, quote_words
from semel.store.tables import OwnTables
from semel.workflow.model import Workflow

Mode: TypeAlias = Literal["record", "refuse"]

FOREIGN = "foreign"
"""The journal's kind of a move that went past Semel."""

MESSAGE_CHARACTERS = 128
"""How long a refusal may be: MariaDB refuses longer ones, with a message that says nothing of the guard."""

TAG = "$semel$"
"""What a PostgreSQL function's text stands between."""

DIGEST_CHARACTERS = 8
"""How many digits tell two names apart whose beginnings are the same; a table has one guard for each status column."""


@dataclass(frozen=True)
class Guarded:
    """A status column to guard. `resting`: the statuses in which the version may grow by itself. `id` is for the journal."""

    family: Family
    tables: OwnTables
    name: str
    schema: str | None
    id: str
    status: str
    version: str
    terminal: tuple[str, ...]
    resting: tuple[str, ...]
    codec: StatusCodec = field(default_factory=StatusCodec)

    @property
    def entity(self) -> str:
        """The table's name as the journal keeps it."""
        return f"{self.schema}.{self.name}" if self.schema else self.name

    @property
    def table(self) -> str:
        """The table's name in SQL."""
        return quote_table(self.name, self.schema, self.family)

    @property
    def trigger(self) -> str:
        """The name of the trigger, and on PostgreSQL of its function."""
        whole = f"{self.tables.prefix}guard_{self.name}_{self.status}"
        if len(whole) <= NAME_CHARACTERS:
            return whole
        digest = hashlib.blake2b(whole.encode(), digest_size=DIGEST_CHARACTERS // 2).hexdigest()
        return f"{whole[: NAME_CHARACTERS - DIGEST_CHARACTERS - 1]}_{digest}"

    def column(self, name: str, side: Literal["OLD", "NEW"]) -> str:
        """Write a column of the row before or after."""
        return f"{side}.{quote_name(name, self.family)}"

    def hold(self, statuses: tuple[str, ...]) -> str:
        """Write statuses as the column holds them."""
        if self.codec.held is None:
            return quote_words(statuses)
        return ", ".join(str(int(self.codec.held[status])) for status in statuses)


def find_resting(workflow: Workflow, allow: Collection[tuple[str, str]] = ()) -> tuple[str, ...]:
    """Find the statuses in which Semel itself may raise the version of a row that stays."""
    loops = {edge.source for edge in workflow.edges() if edge.source == edge.target}
    lent = {status for status in workflow.statuses if workflow.allows(status, status) or (status, status) in allow}
    return tuple(sorted((workflow.claim_statuses | loops | lent) - set(workflow.terminal)))


def write_guard(guarded: Guarded, mode: Mode) -> list[str]:
    """Write the statements that lay the guard, in place of one that is there."""
    return [*write_drop(guarded), *WRITERS[guarded.family](guarded, mode)]


def write_drop(guarded: Guarded) -> list[str]:
    """Write the statements that take the guard away."""
    if guarded.family == "postgresql":
        trigger = quote_name(guarded.trigger, guarded.family)
        function = quote_table(guarded.trigger, guarded.schema, guarded.family)
        return [f"DROP TRIGGER IF EXISTS {trigger} ON {guarded.table}", f"DROP FUNCTION IF EXISTS {function}()"]
    return [f"DROP TRIGGER IF EXISTS {quote_table(guarded.trigger, guarded.schema, guarded.family)}"]


# What is a breach


def list_breaches(guarded: Guarded) -> list[tuple[str, str]]:
    """List each breach as its condition and the sentence that tells it."""
    old, new = guarded.column(guarded.status, "OLD"), guarded.column(guarded.status, "NEW")
    before, after = guarded.column(guarded.version, "OLD"), guarded.column(guarded.version, "NEW")
    changed = CHANGED[guarded.family].format(old=old, new=new)
    breaches = []
    if guarded.terminal:
        breaches.append((f"{changed} AND {old} IN ({guarded.hold(guarded.terminal)})", "a terminal status was left"))
    breaches.append((f"{changed} AND NOT {after} > {before}", "the status changed and the version did not grow"))
    touched = f"NOT ({changed}) AND {after} <> {before}"
    if guarded.resting:
        touched += f" AND NOT ({after} > {before} AND {old} IN ({guarded.hold(guarded.resting)}))"
    breaches.append((touched, "the version changed and the status did not"))
    return breaches


# NULL is a value like any other here; MariaDB would take upper and lower case for the same.
CHANGED: Mapping[Family, str] = {
    "postgresql": "{new} IS DISTINCT FROM {old}",
    "mariadb": "NOT (BINARY {new} <=> BINARY {old})",
    "sqlite": "{new} IS NOT {old}",
}


def write_any(guarded: Guarded) -> str:
    """Write the condition that something is a breach."""
    return " OR ".join(f"({condition})" for condition, _ in list_breaches(guarded))


def write_told(breaches: list[tuple[str, str]]) -> str:
    """Write the expression that tells which breach it is, where it is known that there is one."""
    cases = " ".join(f"WHEN {condition} THEN {told}" for condition, told in breaches[:-1])
    return f"CASE {cases} ELSE {breaches[-1][1]} END"


def write_messages(guarded: Guarded) -> list[tuple[str, str]]:
    """Write what a refused client reads, for each breach."""
    column = f"{guarded.entity}.{guarded.status}"
    return [
        (condition, quote_word(f"Semel's guard refuses it: {told} ({column})"[:MESSAGE_CHARACTERS]))
        for condition, told in list_breaches(guarded)
    ]


def write_words(guarded: Guarded) -> list[tuple[str, str]]:
    """Write what the journal says, for each breach."""
    return [(condition, quote_word(told)) for condition, told in list_breaches(guarded)]


# What is written down


def write_note(guarded: Guarded) -> str:
    """Write the INSERT of a journal row, up to its condition."""
    family = guarded.family
    values = {
        "operation_id": FRESH[family],
        "ordinal": "0",
        "kind": quote_word(FOREIGN),
        "entity": quote_word(guarded.entity),
        "row_id": TEXT[family].format(guarded.column(guarded.id, "NEW")),
        "from_status": name_status(guarded, "OLD"),
        "to_status": name_status(guarded, "NEW"),
        "version": guarded.column(guarded.version, "NEW"),
        "requester": WHO[family],
        "detail": write_told(write_words(guarded)),
        "at_us": FAMILIES[family].now,
    }
    journal = guarded.tables.named("journal")
    return f"INSERT INTO {journal} ({', '.join(values)}) SELECT {', '.join(values.values())}"


def name_status(guarded: Guarded, side: Literal["OLD", "NEW"]) -> str:
    """Write the status as the journal keeps it: by name, also where the table keeps a number."""
    column = guarded.column(guarded.status, side)
    text = TEXT[guarded.family].format(column)
    if guarded.codec.held is None:
        return text
    cases = " ".join(f"WHEN {int(value)} THEN {quote_word(name)}" for name, value in guarded.codec.held.items())
    return f"CASE {column} {cases} ELSE {text} END"


FRESH: Mapping[Family, str] = {
    "postgresql": "replace(CAST(gen_random_uuid() AS text), '-', '')",
    "mariadb": "REPLACE(UUID(), '-', '')",
    "sqlite": "lower(hex(randomblob(16)))",
}
TEXT: Mapping[Family, str] = {
    "postgresql": "CAST({} AS text)",
    "mariadb": "CAST({} AS CHAR)",
    "sqlite": "CAST({} AS TEXT)",
}
# Who a requester was is not known; who the database let in is.
WHO: Mapping[Family, str] = {
    "postgresql": "left(CAST(session_user AS text), 100)",
    "mariadb": "LEFT(USER(), 100)",
    "sqlite": "NULL",
}


# One writer for each family. Bodies stand on one line: clients that split at a semicolon and a line end leave them whole.


def write_postgresql(guarded: Guarded, mode: Mode) -> list[str]:
    """Write a function and the trigger that calls it only for a breach. After the row, other triggers have had their say."""
    function = quote_table(guarded.trigger, guarded.schema, guarded.family)
    if mode == "refuse":
        body = f"RAISE EXCEPTION USING ERRCODE = '23514', MESSAGE = {write_told(write_messages(guarded))};"
    else:
        body = f"{write_note(guarded)}; RETURN NULL;"
    assert TAG not in body, "a word that holds the tag was refused when it was quoted"
    # The path of whoever lays the guard is kept, so that the journal is found whatever the path of whoever writes.
    head = f"CREATE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT"
    trigger = (
        f"CREATE TRIGGER {quote_name(guarded.trigger, guarded.family)} AFTER UPDATE ON {guarded.table} FOR EACH ROW"
    )
    return [
        f"{head} AS {TAG} BEGIN {body} END; {TAG}",
        f"{trigger} WHEN ({write_any(guarded)}) EXECUTE FUNCTION {function}()",
    ]


def write_mariadb(guarded: Guarded, mode: Mode) -> list[str]:
    """Write a trigger. A refusal's text cannot be an expression there, so each breach has its own."""
    trigger = quote_table(guarded.trigger, guarded.schema, guarded.family)
    head = f"CREATE TRIGGER {trigger} AFTER UPDATE ON {guarded.table} FOR EACH ROW"
    if mode == "record":
        return [f"{head} {write_note(guarded)} FROM DUAL WHERE {write_any(guarded)}"]
    branches = " ELSEIF ".join(
        f"{condition} THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = {message};"
        for condition, message in write_messages(guarded)
    )
    return [f"{head} IF {branches} END IF"]


def write_sqlite(guarded: Guarded, mode: Mode) -> list[str]:
    """Write a trigger that runs only for a breach."""
    if mode == "record":
        body = write_note(guarded)
    else:
        aborts = [(condition, f"RAISE(ABORT, {message})") for condition, message in write_messages(guarded)]
        body = f"SELECT {write_told(aborts)}"
    head = f"CREATE TRIGGER {quote_name(guarded.trigger, guarded.family)} AFTER UPDATE ON {guarded.table} FOR EACH ROW"
    return [f"{head} WHEN {write_any(guarded)} BEGIN {body}; END"]


WRITERS: Mapping[Family, Callable[[Guarded, Mode], list[str]]] = {
    "postgresql": write_postgresql,
    "mariadb": write_mariadb,
    "sqlite": write_sqlite,
}


def needs_delimiter(guarded: Guarded, mode: Mode) -> bool:
    """Whether the database's own client must be told where the trigger ends, because it has semicolons inside."""
    return guarded.family == "mariadb" and mode == "refuse"
