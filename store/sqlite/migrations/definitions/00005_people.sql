-- +goose Up
-- grants are the roles in projects that the invitation gives, as JSON.
CREATE TABLE invitations (
    id          TEXT    NOT NULL PRIMARY KEY,
    email       TEXT    NOT NULL COLLATE NOCASE,
    role        TEXT    NOT NULL,
    grants      TEXT    NOT NULL,
    hash        BLOB    NOT NULL UNIQUE,
    created_by  TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    accepted_at INTEGER NOT NULL
) STRICT;

CREATE TABLE password_resets (
    user_id    TEXT    NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    hash       BLOB    NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;

-- A service token outlives its maker, so that created_by refers to nothing.
CREATE TABLE tokens (
    id           TEXT    NOT NULL PRIMARY KEY,
    kind         TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    prefix       TEXT    NOT NULL,
    hash         BLOB    NOT NULL UNIQUE,
    scopes       TEXT    NOT NULL,
    projects     TEXT    NOT NULL,
    allowed_ips  TEXT    NOT NULL,
    created_by   TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL,
    last_used_ip TEXT    NOT NULL
) STRICT;

CREATE INDEX tokens_by_maker ON tokens (created_by);

-- The audit log is only added to. seq is the order in which entries were written.
CREATE TABLE audit (
    seq            INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    id             TEXT    NOT NULL UNIQUE,
    at             INTEGER NOT NULL,
    actor_type     TEXT    NOT NULL,
    actor_id       TEXT    NOT NULL,
    actor_label    TEXT    NOT NULL,
    token_prefix   TEXT    NOT NULL,
    action         TEXT    NOT NULL,
    target_type    TEXT    NOT NULL,
    target_id      TEXT    NOT NULL,
    target_name    TEXT    NOT NULL,
    target_project TEXT    NOT NULL,
    outcome        TEXT    NOT NULL,
    ip             TEXT    NOT NULL,
    user_agent     TEXT    NOT NULL,
    request_id     TEXT    NOT NULL,
    before_state   TEXT    NOT NULL,
    after_state    TEXT    NOT NULL
) STRICT;

CREATE INDEX audit_by_time ON audit (at);
CREATE INDEX audit_by_project ON audit (target_project, seq);

-- +goose StatementBegin
CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit log cannot be changed');
END;
-- +goose StatementEnd

-- The answers to requests that carried an Idempotency-Key.
CREATE TABLE replays (
    seq        INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    caller     TEXT    NOT NULL,
    method     TEXT    NOT NULL,
    path       TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    digest     BLOB    NOT NULL,
    at         INTEGER NOT NULL,
    status     INTEGER NOT NULL,
    media_type TEXT    NOT NULL,
    header     TEXT    NOT NULL,
    size       INTEGER NOT NULL,
    body       BLOB    NOT NULL,
    UNIQUE (caller, method, path, key)
) STRICT;

-- +goose Down
DROP TABLE replays;
DROP TABLE audit;
DROP TABLE tokens;
DROP TABLE password_resets;
DROP TABLE invitations;
