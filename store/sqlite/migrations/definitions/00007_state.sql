-- +goose Up
-- What is known of the variables of a project beside their values, by name.
ALTER TABLE projects ADD COLUMN variables TEXT NOT NULL DEFAULT '{}';

-- The data of collections that persist. items holds one item of JSON a line, in the order of their creation; next_id
-- is the next counted id, drawn the number of ids that were made up.
CREATE TABLE collections (
    project_id TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    name       TEXT    NOT NULL,
    next_id    INTEGER NOT NULL,
    drawn      INTEGER NOT NULL,
    items      BLOB    NOT NULL,
    PRIMARY KEY (project_id, name)
) STRICT;

-- +goose Down
DROP TABLE collections;
ALTER TABLE projects DROP COLUMN variables;
