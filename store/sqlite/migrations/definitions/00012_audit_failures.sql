-- +goose Up
-- Entries of the audit log that were written before what they tell of, which failed then. It is only added to, as the log is, so
-- that neither can be used to hide what was done.
CREATE TABLE audit_failures (
    entry TEXT NOT NULL PRIMARY KEY REFERENCES audit (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- +goose StatementBegin
CREATE TRIGGER audit_failures_are_never_changed BEFORE UPDATE ON audit_failures
BEGIN
    SELECT RAISE(ABORT, 'the audit log cannot be changed');
END;
-- +goose StatementEnd

-- +goose Down
DROP TABLE audit_failures;
