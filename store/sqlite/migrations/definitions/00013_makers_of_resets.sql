-- +goose Up
-- A link to a new password is as good as the rights of who made it. Of the links before nobody knows who that was.
DELETE FROM password_resets;
ALTER TABLE password_resets ADD COLUMN created_by TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE password_resets DROP COLUMN created_by;
