-- Part core, version 1. MariaDB commits after each statement, so each one can be run again. Names are compared byte by byte:
-- utf8mb4_bin alone would take "a" and "a " for the same.
CREATE TABLE IF NOT EXISTS {p}meta (
    name varchar(100) NOT NULL PRIMARY KEY,
    value varchar(255) NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

-- Who moved what, when, by which step. The primary key is also what makes an operation happen once.
CREATE TABLE IF NOT EXISTS {p}journal (
    operation_id varchar(32) NOT NULL,
    ordinal bigint NOT NULL,
    kind varchar(16) NOT NULL,
    entity varchar(100),
    row_id varchar(190),
    from_status varchar(100),
    to_status varchar(100),
    version bigint,
    workflow varchar(100),
    step_key varchar(100),
    requester varchar(100),
    detail longtext,
    at_us bigint NOT NULL,
    PRIMARY KEY (operation_id, ordinal)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
CREATE INDEX IF NOT EXISTS {i}journal_row ON {p}journal (entity, row_id, version);

-- One row per (workflow, table, row, step key, status); it stays after the finish, because it carries the pass.
CREATE TABLE IF NOT EXISTS {p}claims (
    workflow varchar(100) NOT NULL,
    entity varchar(100) NOT NULL,
    row_id varchar(190) NOT NULL,
    step_key varchar(100) NOT NULL,
    status varchar(100) NOT NULL,
    held bigint NOT NULL CHECK (held IN (0, 1)),
    fence bigint NOT NULL,
    claim_status varchar(100) NOT NULL,
    back_to varchar(100) NOT NULL,
    requester varchar(100) NOT NULL,
    input longtext,
    recovery varchar(16) NOT NULL CHECK (recovery IN ('revert', 'resume', 'review')),
    owner varchar(100),
    lease_us bigint NOT NULL CHECK (lease_us > 0),
    beats bigint NOT NULL DEFAULT 0,
    resumes bigint NOT NULL DEFAULT 0,
    next_look_us bigint NOT NULL,
    review longtext,
    request varchar(64),
    pass_number bigint NOT NULL DEFAULT 1 CHECK (pass_number > 0),
    workflow_hash varchar(64) NOT NULL,
    claimed_us bigint NOT NULL,
    PRIMARY KEY (workflow, entity, row_id, step_key, status)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
-- Keepers look here, and only here, for what may be stranded.
CREATE INDEX IF NOT EXISTS {i}claims_look ON {p}claims (held, next_look_us);
CREATE INDEX IF NOT EXISTS {i}claims_row ON {p}claims (entity, row_id);

CREATE TABLE IF NOT EXISTS {p}outbox (
    effect_id varchar(32) NOT NULL PRIMARY KEY,
    name varchar(100) NOT NULL,
    entity varchar(100) NOT NULL,
    row_id varchar(190) NOT NULL,
    workflow varchar(100) NOT NULL,
    version bigint NOT NULL,
    ordinal bigint NOT NULL,
    payload longtext NOT NULL,
    state varchar(16) NOT NULL CHECK (state IN ('due', 'taken', 'delivered', 'parked')),
    owner varchar(100),
    beats bigint NOT NULL DEFAULT 0,
    lease_us bigint NOT NULL DEFAULT 0,
    attempts bigint NOT NULL DEFAULT 0,
    next_look_us bigint NOT NULL,
    problem longtext,
    recorded_us bigint NOT NULL,
    delivered_us bigint
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
CREATE INDEX IF NOT EXISTS {i}outbox_look ON {p}outbox (state, next_look_us);
-- Not unique: the version begins anew where a deleted row's id is used again.
CREATE INDEX IF NOT EXISTS {i}outbox_row ON {p}outbox (entity, row_id, workflow, recorded_us);

CREATE TABLE IF NOT EXISTS {p}keepers (
    keeper_id varchar(64) NOT NULL,
    duty varchar(16) NOT NULL,
    started_us bigint NOT NULL,
    looked_us bigint NOT NULL,
    beats bigint NOT NULL DEFAULT 0,
    done bigint NOT NULL DEFAULT 0,
    problem longtext,
    PRIMARY KEY (keeper_id, duty)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
