-- Part core, version 1. Each statement can be run again.
CREATE TABLE IF NOT EXISTS {p}meta (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

-- Who moved what, when, by which step. The primary key is also what makes an operation happen once.
CREATE TABLE IF NOT EXISTS {p}journal (
    operation_id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    kind TEXT NOT NULL,
    entity TEXT,
    row_id TEXT,
    from_status TEXT,
    to_status TEXT,
    version INTEGER,
    workflow TEXT,
    step_key TEXT,
    requester TEXT,
    detail TEXT,
    at_us INTEGER NOT NULL,
    PRIMARY KEY (operation_id, ordinal)
) STRICT;
CREATE INDEX IF NOT EXISTS {i}journal_row ON {p}journal (entity, row_id, version);

-- One row per (workflow, table, row, step key, status); it stays after the finish, because it carries the pass.
CREATE TABLE IF NOT EXISTS {p}claims (
    workflow TEXT NOT NULL,
    entity TEXT NOT NULL,
    row_id TEXT NOT NULL,
    step_key TEXT NOT NULL,
    status TEXT NOT NULL,
    held INTEGER NOT NULL CHECK (held IN (0, 1)),
    fence INTEGER NOT NULL,
    claim_status TEXT NOT NULL,
    back_to TEXT NOT NULL,
    requester TEXT NOT NULL,
    input TEXT,
    recovery TEXT NOT NULL CHECK (recovery IN ('revert', 'resume', 'review')),
    owner TEXT,
    lease_us INTEGER NOT NULL CHECK (lease_us > 0),
    beats INTEGER NOT NULL DEFAULT 0,
    resumes INTEGER NOT NULL DEFAULT 0,
    next_look_us INTEGER NOT NULL,
    review TEXT,
    request TEXT,
    pass_number INTEGER NOT NULL DEFAULT 1 CHECK (pass_number > 0),
    workflow_hash TEXT NOT NULL,
    claimed_us INTEGER NOT NULL,
    PRIMARY KEY (workflow, entity, row_id, step_key, status)
) STRICT;
-- Keepers look here, and only here, for what may be stranded.
CREATE INDEX IF NOT EXISTS {i}claims_look ON {p}claims (held, next_look_us);
CREATE INDEX IF NOT EXISTS {i}claims_row ON {p}claims (entity, row_id);

CREATE TABLE IF NOT EXISTS {p}outbox (
    effect_id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    entity TEXT NOT NULL,
    row_id TEXT NOT NULL,
    workflow TEXT NOT NULL,
    version INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    payload TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('due', 'taken', 'delivered', 'parked')),
    owner TEXT,
    beats INTEGER NOT NULL DEFAULT 0,
    lease_us INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_look_us INTEGER NOT NULL,
    problem TEXT,
    recorded_us INTEGER NOT NULL,
    delivered_us INTEGER
) STRICT;
CREATE INDEX IF NOT EXISTS {i}outbox_look ON {p}outbox (state, next_look_us);
-- Not unique: the version begins anew where a deleted row's id is used again.
CREATE INDEX IF NOT EXISTS {i}outbox_row ON {p}outbox (entity, row_id, workflow, recorded_us);

CREATE TABLE IF NOT EXISTS {p}keepers (
    keeper_id TEXT NOT NULL,
    duty TEXT NOT NULL,
    started_us INTEGER NOT NULL,
    looked_us INTEGER NOT NULL,
    beats INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    problem TEXT,
    PRIMARY KEY (keeper_id, duty)
) STRICT;
