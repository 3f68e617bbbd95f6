-- +goose Up
-- config holds the sections of the definition as they were given, by key; owners the sources that wrote their items.
CREATE TABLE projects (
    id               TEXT    NOT NULL PRIMARY KEY,
    slug             TEXT    NOT NULL UNIQUE,
    name             TEXT    NOT NULL,
    description      TEXT    NOT NULL,
    access           TEXT    NOT NULL,
    config           TEXT    NOT NULL,
    owners           TEXT    NOT NULL,
    persist_traffic  INTEGER NOT NULL,
    require_if_match INTEGER NOT NULL,
    origin           TEXT    NOT NULL,
    version          INTEGER NOT NULL,
    revision         INTEGER NOT NULL,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL
) STRICT;

CREATE TABLE project_members (
    project_id TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    user_id    TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    role       TEXT    NOT NULL,
    added_at   INTEGER NOT NULL,
    PRIMARY KEY (project_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX project_members_by_user ON project_members (user_id);

-- document is the mock itself, as it was given; the other columns are its identity and history. The document stands
-- last, so that reading the rest of a row never reads the pages of a large one.
CREATE TABLE mocks (
    id         TEXT    NOT NULL PRIMARY KEY,
    project_id TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    name       TEXT    NOT NULL,
    ord        INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    updated_by TEXT    NOT NULL,
    owner      TEXT    NOT NULL,
    edited     INTEGER NOT NULL,
    origin     TEXT    NOT NULL,
    document   TEXT    NOT NULL,
    UNIQUE (project_id, name)
) STRICT;

-- +goose Down
DROP TABLE mocks;
DROP TABLE project_members;
DROP TABLE projects;
