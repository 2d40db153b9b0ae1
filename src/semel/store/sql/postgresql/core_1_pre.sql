-- Part core, version 1. Each statement can be run again.
CREATE TABLE IF NOT EXISTS {p}meta (
    name varchar(100) COLLATE "C" NOT NULL PRIMARY KEY,
    value varchar(255) COLLATE "C" NOT NULL
);

-- Who moved what, when, by which step. The primary key is also what makes an operation happen once.
CREATE TABLE IF NOT EXISTS {p}journal (
    operation_id varchar(32) COLLATE "C" NOT NULL,
    ordinal bigint NOT NULL,
    kind varchar(16) COLLATE "C" NOT NULL,
    entity varchar(100) COLLATE "C",
    row_id varchar(190) COLLATE "C",
    from_status varchar(100) COLLATE "C",
    to_status varchar(100) COLLATE "C",
    version bigint,
    workflow varchar(100) COLLATE "C",
    step_key varchar(100) COLLATE "C",
    requester varchar(100) COLLATE "C",
    detail text,
    at_us bigint NOT NULL,
    PRIMARY KEY (operation_id, ordinal)
);
CREATE INDEX IF NOT EXISTS {i}journal_row ON {p}journal (entity, row_id, version);

-- One row per (workflow, table, row, step key, status); it stays after the finish, because it carries the pass.
CREATE TABLE IF NOT EXISTS {p}claims (
    workflow varchar(100) COLLATE "C" NOT NULL,
    entity varchar(100) COLLATE "C" NOT NULL,
    row_id varchar(190) COLLATE "C" NOT NULL,
    step_key varchar(100) COLLATE "C" NOT NULL,
    status varchar(100) COLLATE "C" NOT NULL,
    held bigint NOT NULL CHECK (held IN (0, 1)),
    fence bigint NOT NULL,
    claim_status varchar(100) COLLATE "C" NOT NULL,
    back_to varchar(100) COLLATE "C" NOT NULL,
    requester varchar(100) COLLATE "C" NOT NULL,
    input text,
    recovery varchar(16) COLLATE "C" NOT NULL CHECK (recovery IN ('revert', 'resume', 'review')),
    owner varchar(100) COLLATE "C",
    lease_us bigint NOT NULL CHECK (lease_us > 0),
    beats bigint NOT NULL DEFAULT 0,
    resumes bigint NOT NULL DEFAULT 0,
    next_look_us bigint NOT NULL,
    review text,
    request varchar(64) COLLATE "C",
    pass_number bigint NOT NULL DEFAULT 1 CHECK (pass_number > 0),
    workflow_hash varchar(64) COLLATE "C" NOT NULL,
    claimed_us bigint NOT NULL,
    PRIMARY KEY (workflow, entity, row_id, step_key, status)
);
-- Keepers look here, and only here, for what may be stranded.
CREATE INDEX IF NOT EXISTS {i}claims_look ON {p}claims (held, next_look_us);
CREATE INDEX IF NOT EXISTS {i}claims_row ON {p}claims (entity, row_id);

CREATE TABLE IF NOT EXISTS {p}outbox (
    effect_id varchar(32) COLLATE "C" NOT NULL PRIMARY KEY,
    name varchar(100) COLLATE "C" NOT NULL,
    entity varchar(100) COLLATE "C" NOT NULL,
    row_id varchar(190) COLLATE "C" NOT NULL,
    workflow varchar(100) COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    ordinal bigint NOT NULL,
    payload text NOT NULL,
    state varchar(16) COLLATE "C" NOT NULL CHECK (state IN ('due', 'taken', 'delivered', 'parked')),
    owner varchar(100) COLLATE "C",
    beats bigint NOT NULL DEFAULT 0,
    lease_us bigint NOT NULL DEFAULT 0,
    attempts bigint NOT NULL DEFAULT 0,
    next_look_us bigint NOT NULL,
    problem text,
    recorded_us bigint NOT NULL,
    delivered_us bigint
);
CREATE INDEX IF NOT EXISTS {i}outbox_look ON {p}outbox (state, next_look_us);
-- Not unique: the version begins anew where a deleted row's id is used again.
CREATE INDEX IF NOT EXISTS {i}outbox_row ON {p}outbox (entity, row_id, workflow, recorded_us);

CREATE TABLE IF NOT EXISTS {p}keepers (
    keeper_id varchar(64) COLLATE "C" NOT NULL,
    duty varchar(16) COLLATE "C" NOT NULL,
    started_us bigint NOT NULL,
    looked_us bigint NOT NULL,
    beats bigint NOT NULL DEFAULT 0,
    done bigint NOT NULL DEFAULT 0,
    problem text,
    PRIMARY KEY (keeper_id, duty)
);
