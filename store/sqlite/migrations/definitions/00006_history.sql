-- +goose Up
-- The last versions of each mock, the one in force among them. A mock that is written anew is taken away first, so that its
-- versions may not hang on it.
CREATE TABLE mock_versions (
    mock_id    TEXT    NOT NULL,
    version    INTEGER NOT NULL,
    project_id TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    name       TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    by         TEXT    NOT NULL,
    owner      TEXT    NOT NULL,
    edited     INTEGER NOT NULL,
    document   TEXT    NOT NULL,
    PRIMARY KEY (mock_id, version)
) STRICT;

CREATE INDEX mock_versions_by_project ON mock_versions (project_id);

INSERT INTO mock_versions (mock_id, version, project_id, name, at, by, owner, edited, document)
SELECT id, version, project_id, name, updated_at, updated_by, owner, edited, document FROM mocks;

-- Mocks that were deleted and can be restored. source is the one whose apply deleted the mock, or empty.
CREATE TABLE mock_trash (
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
    deleted_at INTEGER NOT NULL,
    deleted_by TEXT    NOT NULL,
    source     TEXT    NOT NULL,
    expires_at INTEGER NOT NULL,
    document   TEXT    NOT NULL
) STRICT;

CREATE INDEX mock_trash_by_project ON mock_trash (project_id, deleted_at);
CREATE INDEX mock_trash_by_end ON mock_trash (expires_at);

-- +goose Down
DROP TABLE mock_trash;
DROP TABLE mock_versions;
