-- +goose Up
-- What is known of the OpenAPI documents of a project beside their entries in the definition, by name. text is base64.
ALTER TABLE projects ADD COLUMN documents TEXT NOT NULL DEFAULT '{}';

-- +goose Down
ALTER TABLE projects DROP COLUMN documents;
