-- +goose Up
-- What administrators set for the whole server, a document for each subject.
CREATE TABLE settings (
    name       TEXT    NOT NULL PRIMARY KEY,
    version    INTEGER NOT NULL,
    document   TEXT    NOT NULL,
    updated_at INTEGER NOT NULL,
    updated_by TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- Bans by administrators. subject_key is what the limiter knows the subject by.
CREATE TABLE bans (
    id            TEXT    NOT NULL PRIMARY KEY,
    subject_type  TEXT    NOT NULL,
    subject_value TEXT    NOT NULL,
    subject_key   TEXT    NOT NULL,
    reason        TEXT    NOT NULL,
    created_by    TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE bans;
DROP TABLE settings;
