-- +goose Up
-- A user is tied to one subject of an issuer at most.
CREATE TABLE identities (
    issuer     TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    user_id    TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    UNIQUE (issuer, subject),
    UNIQUE (issuer, user_id)
) STRICT;

-- +goose Down
DROP TABLE identities;
