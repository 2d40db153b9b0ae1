"""The texts of what goes wrong at a call: rows, handles, steps, claims, and the database."""

from __future__ import annotations

from semel.errors.kinds import (
    ClaimLostError,
    ConflictedError,
    LockHeldError,
    OutcomeUnknownError,
    PoolEmptyError,
    StoreError,
    UsageError,
)
from semel.errors.text import Text

AT_CALLS: dict[str, Text] = {
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
        "A statement through step.session {reason}, so it would not belong to the step's commit.",
        "Use step.session as it is, without bind arguments or AUTOCOMMIT; write to another database in an after-effect.",
    ),
    "SEMEL-STEP-10": Text(
        UsageError,
        "The action wrote the status or the version of row {id} of {table!r} itself, so its step could not be finished.",
        "Leave both columns to the step: return Finish(…) to pick a status. What the action wrote was rolled back.",
    ),
    "SEMEL-ON-6": Text(
        UsageError,
        "Step {step!r} has a claim or calls, which need commits of their own, so it cannot join a transaction with on=.",
        "Call it without on=, after your commit; or record an after-effect in your transaction that advances the row.",
    ),
    "SEMEL-PROVE-2": Text(
        UsageError,
        "The scenario asks for the table {table!r}, which the application has not declared.",
        "Declare it with once.table(…), or in a workflow file.",
    ),
    "SEMEL-PROVE-1": Text(
        UsageError,
        "There is no scenario {place!r}.",
        "Name a Python file with subclasses of semel.testing.Scenario, or FILE:Scenario, or :Scenario. Known here: {known}.",
    ),
    "SEMEL-SQL-1": Text(
        UsageError,
        "{text!r} cannot be part of SQL that is printed: {reason}.",
        "Rename it, or write this SQL by hand.",
    ),
}
