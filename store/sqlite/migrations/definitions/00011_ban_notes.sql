-- +goose Up
-- What the register of bans leaves to the next process: bans by failed sign-ins, and lifts that a shared register does not know of.
CREATE TABLE ban_notes (
    rule        TEXT    NOT NULL,
    subject_key TEXT    NOT NULL,
    lifted      INTEGER NOT NULL,
    begins_at   INTEGER NOT NULL,
    ends_at     INTEGER NOT NULL,
    repeats     INTEGER NOT NULL,
    PRIMARY KEY (rule, subject_key, lifted)
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE ban_notes;
