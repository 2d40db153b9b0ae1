"""Errors, sorted by whose fault they are.

`ConfigError` is yours, at boot. `UsageError` is yours, at a call. `StoreError` is the database's; its `retryable` says
whether the same call may be made again. Every text is a row of `TEXTS`: a stable code, one sentence on what happened,
and what to do next. The page `docs/reference/errors.md` is drawn from that table.
"""

from __future__ import annotations

from dataclasses import dataclass


class SemelError(Exception):
    """Any error that Semel raises. `code` is stable; `happened` and `remedy` are for people."""

    def __init__(self, code: str, happened: str, remedy: str) -> None:
        """Keep the three parts; the message is all of them."""
        super().__init__(f"{code}: {happened}\n  {remedy}")
        self.code = code
        self.happened = happened
        self.remedy = remedy


class ConfigError(SemelError):
    """The application is set up in a way that cannot be safe; it refuses to start."""


class UsageError(SemelError):
    """A call that cannot mean anything; nothing was written."""


class StoreError(SemelError):
    """The database could not do it. `retryable` says whether the same call may simply be made again.

    `operation` is the operation id of a write whose outcome could not be learned in time; it is None otherwise. `reason` is
    what the driver said, in short.
    """

    retryable = False

    def __init__(
        self, code: str, happened: str, remedy: str, *, operation: str | None = None, reason: str = ""
    ) -> None:
        """Keep the operation id and the driver's words beside the three parts."""
        super().__init__(code, happened, remedy)
        self.operation = operation
        self.reason = reason


class ConflictedError(StoreError):
    """Nothing was written, and the same work may be run again from its start."""

    retryable = True


class LockHeldError(ConflictedError):
    """Somebody held the row longer than the wait was allowed to be; nothing was written."""


class PoolEmptyError(ConflictedError):
    """Every connection stayed lent longer than one may be waited for; nothing was written."""


class ClaimLostError(StoreError):
    """The claim is somebody else's by now; what was written under it was rolled back."""


class ClaimLeft(BaseException):
    """Leaves an action whose claim is lost. Nothing the action could do would count any more."""


class OutcomeUnknownError(StoreError):
    """The answer to a write or a COMMIT never came: it may have happened, or may still happen."""


@dataclass(frozen=True, slots=True)
class Text:
    """One row of the table of texts."""

    kind: type[SemelError]
    happened: str
    remedy: str


TEXTS: dict[str, Text] = {
    "SEMEL-APP-1": Text(
        UsageError,
        "{verb} of a sync Semel was called inside a running event loop, which it would block.",
        "Use AsyncSemel and await the verb, or call it from a thread: await asyncio.to_thread({verb}, …).",
    ),
    "SEMEL-APP-2": Text(
        UsageError,
        "This Semel was closed; its connections are gone.",
        "Make a new one, or close it later.",
    ),
    "SEMEL-APP-3": Text(
        ConfigError,
        "The setting {setting} is {value!r}: {rule}.",
        "Change {setting} where the Semel is made.",
    ),
    "SEMEL-APP-4": Text(
        ConfigError,
        "Two different functions are registered as the {kind} {name!r}.",
        "Give one of them another name.",
    ),
    "SEMEL-APP-5": Text(
        ConfigError,
        "No function is registered as the {kind} {name!r}.",
        "Register it with @once.{kind}({name!r}) in a module that is imported at boot: modules=[…].",
    ),
    "SEMEL-APP-6": Text(
        ConfigError,
        "Some functions have the wrong colour: {wrong}.",
        "Semel runs `def` functions and AsyncSemel `async def` ones; change the function, or the kind of Semel.",
    ),
    "SEMEL-APP-7": Text(
        UsageError,
        "The table {table!r} has no workflow, so there is no step {step!r} to take.",
        "Load its workflow file: workflows=[…], or use transition().",
    ),
    "SEMEL-DB-1": Text(
        ConfigError,
        "The database URL {url!r} cannot be used: {reason}.",
        "Use sqlite:///file.db, postgresql://… (PostgreSQL 13 or newer) or mariadb://… (MariaDB 10.6 or newer).",
    ),
    "SEMEL-DB-2": Text(
        ConfigError,
        "The driver {driver!r} is not installed.",
        "Install it with: pip install 'semel[{extra}]'.",
    ),
    "SEMEL-DB-3": Text(
        ConfigError,
        "The database server is {found}, and Semel needs {needed}.",
        "Upgrade the server; older ones lack a guarantee that money code relies on.",
    ),
    "SEMEL-DB-4": Text(
        ConfigError,
        "This is a read-only standby, not the primary.",
        "Point the URL at the primary; with libpq, add target_session_attrs=read-write.",
    ),
    "SEMEL-DB-5": Text(
        ConfigError,
        "The driver {driver} counts {counted} rows where {expected} matched.",
        "Make the connection count matched rows (MySQL drivers: client flag FOUND_ROWS); Semel cannot guard a row without it.",
    ),
    "SEMEL-DB-6": Text(
        ConfigError,
        "This SQLite file cannot use a write-ahead log; it stays in journal mode {mode!r}.",
        "Put the file on a local disk where its -wal and -shm files can be made beside it.",
    ),
    "SEMEL-SCHEMA-1": Text(
        ConfigError,
        "Semel's own tables are missing here ({table} was not found).",
        "Run: semel schema apply --db URL, or once.create_tables().",
    ),
    "SEMEL-SCHEMA-2": Text(
        ConfigError,
        "Semel's tables are at version {found} of part {part}, and this Semel needs version {needed}.",
        "Run: semel schema apply --db URL, or review the SQL first: semel schema print --from {found}.",
    ),
    "SEMEL-SCHEMA-3": Text(
        ConfigError,
        "Semel's tables are at version {found} of part {part}, which is newer than this Semel ({needed}).",
        "Upgrade Semel in this process; a newer one has changed the tables.",
    ),
    "SEMEL-SCHEMA-4": Text(
        ConfigError,
        "The table {table} lacks {missing}, although part {part} says it is at version {version}.",
        "Compare it with: semel schema print, and restore what is missing before you start.",
    ),
    "SEMEL-SCHEMA-5": Text(
        LockHeldError,
        "Another process has been changing Semel's tables for {seconds} s ({reason}); nothing was changed here.",
        "Let it finish, then run this again: it does only what is still missing.",
    ),
    "SEMEL-SCHEMA-6": Text(
        ConfigError,
        "There is no schema {schema!r} in this database.",
        "Create it first: CREATE SCHEMA {schema}; or leave the schema out.",
    ),
    "SEMEL-SCHEMA-7": Text(
        ConfigError,
        "The table {table} is not as Semel makes it; it lacks {missing}.",
        "Choose another prefix, or drop the table if nobody needs it; then run: semel schema apply.",
    ),
    "SEMEL-TABLE-1": Text(
        ConfigError,
        "There is no table {table!r} in this database.",
        "Create it, or correct the name given to once.table(…).",
    ),
    "SEMEL-TABLE-2": Text(
        ConfigError,
        "The table {table!r} has no column {column!r} for its {role}.",
        "{remedy}",
    ),
    "SEMEL-TABLE-3": Text(
        ConfigError,
        "The version column {table}.{column} is {found}; it must be a whole number that is never NULL.",
        "Change it to: {column} BIGINT NOT NULL DEFAULT 0.",
    ),
    "SEMEL-TABLE-4": Text(
        ConfigError,
        "{mapper} uses {table}.{column} as its version_id_col, so its own writes would fence Semel's claims out.",
        "Give Semel a version column of its own: once.table({mapper}, version='semel_version').",
    ),
    "SEMEL-TABLE-5": Text(
        ConfigError,
        "The primary key of {table!r} is {found}; Semel finds a row by one column (int, str or UUID).",
        "Add a unique id column and name it: once.table({table!r}, id='id').",
    ),
    "SEMEL-TABLE-6": Text(
        ConfigError,
        "The status column {table}.{column} has the type {found}, which Semel cannot read as a status.",
        "Use text, an enum, or integers with status_values={{'pending': 0, …}}.",
    ),
    "SEMEL-TABLE-7": Text(
        ConfigError,
        "once.table(…) was given {given!r}, which is not a mapped class, a Table, or the name of a table.",
        "Give the mapped class, its __table__, or the table's name as text.",
    ),
    "SEMEL-TABLE-8": Text(
        UsageError,
        "The column {table}.{column} holds more than {limit} different values, so it is no status.",
        "Name the status column: --status-column.",
    ),
    "SEMEL-ROW-1": Text(
        UsageError,
        "There is no row {ids} in {table!r}.",
        "Not committed yet? Commit first, or pass on= with the transaction that holds it.",
    ),
    "SEMEL-ROW-2": Text(
        UsageError,
        "{status!r} is not a status of {table}.{column}.",
        "Its statuses are: {known}.",
    ),
    "SEMEL-ROW-3": Text(
        UsageError,
        "The id {id!r} does not fit {table}.{column}, which holds {expected}.",
        "Pass an id of that kind.",
    ),
    "SEMEL-ROW-4": Text(
        UsageError,
        "The guard {guard!r} is not a column of {table!r}.",
        "Its columns are: {known}. A column whose name is taken by an argument goes into where={{…}}.",
    ),
    "SEMEL-ROW-5": Text(
        UsageError,
        "{count} {what} in one call; the limit is {limit}.",
        "{remedy}",
    ),
    "SEMEL-ROW-6": Text(
        UsageError,
        "by= was given {by!r}; a requester is named by 1 to {limit} characters.",
        "Name a role (admin, customer, cron), not a person: the journal keeps it.",
    ),
    "SEMEL-ON-1": Text(
        UsageError,
        "on= was given {given}, which Semel cannot join.",
        "{verbs} joins: {known}.",
    ),
    "SEMEL-ON-2": Text(
        UsageError,
        "on= was given {given} without an open transaction, so the move and its journal would be separate commits.",
        "{remedy}",
    ),
    "SEMEL-ON-3": Text(
        UsageError,
        "on= was given {given}, which belongs to {found}, but this Semel's database is {expected}.",
        "Pass a handle of the same database that this Semel was made for.",
    ),
    "SEMEL-ON-4": Text(
        UsageError,
        "on= was given {given}, whose connection counts changed rows instead of matched rows.",
        "Connect with the client flag FOUND_ROWS (SQLAlchemy and Django set it by themselves).",
    ),
    "SEMEL-ON-5": Text(
        UsageError,
        "on= was given {given}, whose transaction has already failed and can only be rolled back.",
        "Roll it back, then run the whole transaction again.",
    ),
    "SEMEL-ON-7": Text(
        UsageError,
        "on= was given {given}, which cannot be used ({reason}).",
        "Pass a handle that is open and belongs to this thread or task.",
    ),
    "SEMEL-STORE-1": Text(
        ConflictedError,
        "The database made this transaction give way ({reason}); nothing of it was written.",
        "Run it again from its start.",
    ),
    "SEMEL-STORE-2": Text(
        LockHeldError,
        "The row stayed locked for {seconds:g} s ({reason}); nothing was written.",
        "Look for a long transaction, most likely your own open one: commit it first, or pass it as on=.",
    ),
    "SEMEL-STORE-3": Text(
        OutcomeUnknownError,
        "The answer to a write never came ({reason}), and what became of it could not be learned within {seconds:g} s.",
        "Do not run it again blindly. Its operation id is {operation}: look it up in the journal when the database answers.",
    ),
    "SEMEL-STORE-4": Text(
        ConflictedError,
        "The connection to the database was lost ({reason}); nothing was written.",
        "Run it again; if it stays, see: semel doctor.",
    ),
    "SEMEL-STORE-5": Text(
        StoreError,
        "The database refused a statement ({reason}); nothing was written.",
        "Mend what it names, then run it again.",
    ),
    "SEMEL-STORE-6": Text(
        StoreError,
        "The statement {statement} matched {counted} rows where {expected} were promised.",
        "Is the id column unique? Run: semel doctor.",
    ),
    "SEMEL-STORE-7": Text(
        PoolEmptyError,
        "No connection came free within {seconds:g} s; all {limit} of them are in use, and nothing was written.",
        "Raise connections_limit, or look for verbs that wait inside open transactions.",
    ),
    "SEMEL-STORE-8": Text(
        ConflictedError,
        "The work gave way to others {attempts} times in {seconds:g} s ({reason}); nothing was written.",
        "Run it again later; if it stays, the row is too contended or a transaction is stuck.",
    ),
    "SEMEL-STORE-9": Text(
        UsageError,
        "This thread already holds SQLite's only writing connection, in a verb that has not returned.",
        "Call the other verb before or after it, or pass the open transaction as on=.",
    ),
    "SEMEL-FLOW-1": Text(
        ConfigError,
        "The workflow files have problems ({count}):\n{problems}",
        "Mend them there, and check again with: semel check FILES…",
    ),
    "SEMEL-FLOW-2": Text(
        ConfigError,
        "Rows could be stuck for ever, because nobody covers these claims:\n{claims}",
        "Add to the module that owes the cover: {lines}, and name the module in modules=[…] so that it is imported.",
    ),
    "SEMEL-FLOW-4": Text(
        ConfigError,
        "The file of workflow {workflow!r} names the version column {file!r}, and once.table(…) names {handle!r}.",
        "Name the same column in both.",
    ),
    "SEMEL-FLOW-5": Text(
        ConfigError,
        "The column {column} cannot hold every status of the workflow {workflow!r}; it lacks: {statuses}.",
        "Widen the column's enum first (semel adopt prints the SQL), or correct status_types.",
    ),
    "SEMEL-FLOW-6": Text(
        UsageError,
        "The workflow {workflow!r} has no step {step!r}.",
        "Its steps are: {known}.",
    ),
    "SEMEL-FLOW-7": Text(
        UsageError,
        "transition() from {source!r} to {target!r} is not a move of the workflow {workflow!r}: {why}.",
        "Take a step with advance(), or list the move: once.table(…, allow=[({source!r}, {target!r})]).",
    ),
    "SEMEL-FLOW-3": Text(
        UsageError,
        "A workflow cannot be drawn as {given!r}.",
        "Choose one of: {known}.",
    ),
    "SEMEL-CLAIM-1": Text(
        ClaimLostError,
        "The claim on row {id} of {table!r} was taken over while its action ran; what the action wrote was rolled back.",
        "Nothing to repeat: a keeper finishes or releases the row. Is the action slower than its lease_seconds?",
    ),
    "SEMEL-STEP-1": Text(
        UsageError,
        "The action of step {step!r} finished in {status!r}, which is not one of its successful states ({known}).",
        "Return Finish(…) with one of them, or add it to successful_state.",
    ),
    "SEMEL-STEP-2": Text(
        UsageError,
        "step.session.{verb}() was called; what is written through step.session belongs to the step's own commit.",
        "Return to finish; return Rejected(…) or raise to roll back; use step.session.begin_nested() for a part that may fail.",
    ),
    "SEMEL-STEP-3": Text(
        UsageError,
        "step.row.{name} of {table!r} was written; step.row is a frozen picture of the row.",
        "Write through step.session, for example: step.session.get(…), or an UPDATE.",
    ),
    "SEMEL-STEP-4": Text(
        UsageError,
        "{what} cannot be stored: {reason}.",
        "Pass plain JSON values of at most 64 KiB in all.",
    ),
    "SEMEL-STEP-5": Text(
        UsageError,
        "Step {step!r} was used after its action had ended.",
        "Use the step only inside its action; let work that comes later be an after-effect.",
    ),
    "SEMEL-STEP-6": Text(
        UsageError,
        "Step {step!r} joined a raw driver connection with on=, so there is no step.session.",
        "Write through the connection you passed, or pass a SQLAlchemy Connection or Session as on=.",
    ),
    "SEMEL-STEP-7": Text(
        UsageError,
        "The action went on after a database error, whose transaction can only be rolled back.",
        "Let the error leave the action, or wrap the part that may fail in step.session.begin_nested().",
    ),
    "SEMEL-STEP-8": Text(
        UsageError,
        "The action ended the step's transaction itself (COMMIT, ROLLBACK, or DDL on MariaDB); it may have kept half a step.",
        "Let the step commit: no transaction statements and no DDL inside an action. A person has to look at the row now.",
    ),
    "SEMEL-STEP-9": Text(
        UsageError,
        "A statement of step {step!r} was bound to another engine, so it would not belong to the step's commit.",
        "Use step.session without bind arguments; write to another database in an after-effect.",
    ),
    "SEMEL-ON-6": Text(
        UsageError,
        "Step {step!r} has a claim or calls, which need commits of their own, so it cannot join a transaction with on=.",
        "Call it without on=, after your commit; or record an after-effect in your transaction that advances the row.",
    ),
    "SEMEL-CLI-1": Text(
        UsageError,
        "No database was named.",
        "Pass --db URL, or --app module:name, or set SEMEL_APP, or [tool.semel] app in pyproject.toml.",
    ),
    "SEMEL-CLI-2": Text(
        UsageError,
        "The app {app!r} could not be loaded: {reason}.",
        "Name it as module:name, where name is your Semel or AsyncSemel.",
    ),
    "SEMEL-CLI-3": Text(
        UsageError,
        "It is not known for which database the SQL is to be.",
        "Pass --dialect postgresql, mariadb or sqlite, or name a database with --db URL or an app with --app module:name.",
    ),
    "SEMEL-PROVE-1": Text(
        UsageError,
        "There is no scenario {place!r}.",
        "Name a Python file with subclasses of semel.testing.Scenario, or FILE:Scenario, or :Scenario. Known here: {known}.",
    ),
    "SEMEL-CLI-4": Text(
        ConfigError,
        "The module {module!r}, which the app imports at boot, could not be loaded: {reason}.",
        "Mend the module, or correct modules=[…] where the app is made.",
    ),
    "SEMEL-CLI-5": Text(
        UsageError,
        "The file {file!r} could not be written: {reason}.",
        "Name a file in a folder that is there and may be written.",
    ),
    "SEMEL-CLI-6": Text(
        UsageError,
        "This command needs an app: {why}.",
        "Pass --app module:name, or set SEMEL_APP, or [tool.semel] app in pyproject.toml.",
    ),
    "SEMEL-CLI-7": Text(
        UsageError,
        "The app has no workflow of the table {table!r}.",
        "Tables with a workflow: {known}.",
    ),
    "SEMEL-SQL-1": Text(
        UsageError,
        "{text!r} cannot be part of SQL that is printed: {reason}.",
        "Rename it, or write this SQL by hand.",
    ),
}


def error(code: str, /, *, operation: str | None = None, **facts: object) -> SemelError:
    """Make the error of this code, its text filled in with the facts. The caller raises it."""
    text = TEXTS[code]
    happened, remedy = (
        text.happened.format(operation=operation, **facts),
        text.remedy.format(operation=operation, **facts),
    )
    if issubclass(text.kind, StoreError):
        return text.kind(code, happened, remedy, operation=operation, reason=str(facts.get("reason", "")))
    return text.kind(code, happened, remedy)
