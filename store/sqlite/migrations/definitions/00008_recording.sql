-- +goose Up
-- How the exchanges of a project are recorded: redaction and retention.
ALTER TABLE projects ADD COLUMN recording TEXT NOT NULL DEFAULT '{}';

-- +goose Down
ALTER TABLE projects DROP COLUMN recording;
