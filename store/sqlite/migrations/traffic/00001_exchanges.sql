-- +goose Up
-- seq is the order of arrival; size is the length of the exchange's text, for the retention by bytes.
CREATE TABLE exchanges (
    seq        INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    size       INTEGER NOT NULL,
    exchange   BLOB    NOT NULL
) STRICT;

CREATE INDEX exchanges_by_project ON exchanges (project_id, seq, size);
CREATE INDEX exchanges_by_time ON exchanges (at);

-- +goose Down
DROP TABLE exchanges;
