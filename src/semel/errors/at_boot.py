"""The texts of what is wrong before anything is called: settings, databases, tables, workflow files, commands."""

from __future__ import annotations

from semel.errors.kinds import ConfigError, LockHeldError, UsageError
from semel.errors.text import Text

AT_BOOT: dict[str, Text] = {
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
    "SEMEL-APP-8": Text(
        UsageError,
        "rounds() was called before boot; keepers that know no table keep nothing.",
        "Call boot() first, or let `semel worker` or the lifespan do both.",
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
        "transition() from {source!r} to {target!r} is not a move that a step of the workflow {workflow!r} declares.",
        "Take a step with advance(), or list the move: once.table(…, allow=[({source!r}, {target!r})]).",
    ),
    "SEMEL-FLOW-8": Text(
        UsageError,
        "transition() from {source!r} to {target!r} would enter or leave a claim status of the workflow {workflow!r}.",
        "Only a claim does that: take a step with advance(); free a row that is stuck with: semel release.",
    ),
    "SEMEL-FLOW-9": Text(
        UsageError,
        "transition() would leave {source!r}, which is terminal in the workflow {workflow!r}.",
        "What is finished stays finished: make a new row, or do not call the status terminal.",
    ),
    "SEMEL-FLOW-3": Text(
        UsageError,
        "A workflow cannot be drawn as {given!r}.",
        "Choose one of: {known}.",
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
}
