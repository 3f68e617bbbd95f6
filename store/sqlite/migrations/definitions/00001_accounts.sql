-- +goose Up
CREATE TABLE users (
    id            TEXT    NOT NULL PRIMARY KEY,
    email         TEXT    NOT NULL UNIQUE COLLATE NOCASE,
    name          TEXT    NOT NULL,
    role          TEXT    NOT NULL,
    password_hash TEXT    NOT NULL,
    disabled      INTEGER NOT NULL,
    epoch         INTEGER NOT NULL,
    last_seen_at  INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
) STRICT;

-- The digest of the previous token is NULL until the first rotation, so that nothing finds a sign-in by an empty one.
CREATE TABLE sign_ins (
    id            TEXT    NOT NULL PRIMARY KEY,
    user_id       TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    current_hash  BLOB    NOT NULL UNIQUE,
    previous_hash BLOB,
    rotated_at    INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    last_used_at  INTEGER NOT NULL,
    auth_time     INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL,
    revoked_at    INTEGER NOT NULL,
    ip            TEXT    NOT NULL,
    user_agent    TEXT    NOT NULL
) STRICT;

CREATE INDEX sign_ins_by_previous_hash ON sign_ins (previous_hash);
CREATE INDEX sign_ins_by_user ON sign_ins (user_id);

-- +goose Down
DROP TABLE sign_ins;
DROP TABLE users;
