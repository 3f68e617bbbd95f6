-- +goose Up
-- The tokens that a sign-in used up lately, with the time when each got its successor. A larger id is a later one.
CREATE TABLE rotations (
    id         INTEGER NOT NULL PRIMARY KEY,
    sign_in_id TEXT    NOT NULL REFERENCES sign_ins (id) ON DELETE CASCADE,
    hash       BLOB    NOT NULL UNIQUE,
    rotated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX rotations_by_sign_in ON rotations (sign_in_id);

INSERT INTO rotations (sign_in_id, hash, rotated_at)
SELECT id, previous_hash, rotated_at FROM sign_ins WHERE previous_hash IS NOT NULL;

DROP INDEX sign_ins_by_previous_hash;

-- +goose Down
CREATE INDEX sign_ins_by_previous_hash ON sign_ins (previous_hash);
DROP TABLE rotations;
