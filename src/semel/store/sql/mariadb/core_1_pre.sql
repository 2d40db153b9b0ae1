-- Part core, version 1. {p} is replaced by the schema and prefix. Every name is compared byte by byte.
CREATE TABLE {p}meta (
    name varchar(100) NOT NULL PRIMARY KEY,
    value varchar(255) NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Who moved what, when, by which step. The primary key is also what makes an operation happen once.
CREATE TABLE {p}journal (
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
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE INDEX {i}journal_row ON {p}journal (entity, row_id, version);

-- One row per (workflow, table, row, step key, status); it stays after the finish, because it carries the pass.
CREATE TABLE {p}claims (
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
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
-- Keepers look here, and only here, for what may be stranded.
CREATE INDEX {i}claims_look ON {p}claims (held, next_look_us);
CREATE INDEX {i}claims_row ON {p}claims (entity, row_id);

CREATE TABLE {p}outbox (
    effect_id varchar(32) NOT NULL PRIMARY KEY,
    name varchar(100) NOT NULL,
    entity varchar(100) NOT NULL,
    row_id varchar(190) NOT NULL,
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
    delivered_us bigint,
    UNIQUE (entity, row_id, version, ordinal)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE INDEX {i}outbox_look ON {p}outbox (state, next_look_us);

CREATE TABLE {p}keepers (
    keeper_id varchar(64) NOT NULL,
    duty varchar(16) NOT NULL,
    started_us bigint NOT NULL,
    looked_us bigint NOT NULL,
    beats bigint NOT NULL DEFAULT 0,
    done bigint NOT NULL DEFAULT 0,
    problem longtext,
    PRIMARY KEY (keeper_id, duty)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
