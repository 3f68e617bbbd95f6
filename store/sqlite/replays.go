package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store"
)

// Replay finds the answer to a request that was answered before.
func (d *DB) Replay(ctx context.Context, r *mockbase.Replay, since time.Time) (*mockbase.Replay, error) {
	found := mockbase.Replay{Caller: r.Caller, Method: r.Method, Path: r.Path, Key: r.Key}
	var (
		at     int64
		header string
	)
	err := d.definitions.read.QueryRowContext(ctx, `SELECT digest, at, status, media_type, header, body FROM replays
		WHERE caller = ? AND method = ? AND path = ? AND key = ? AND at > ?`, r.Caller, r.Method, r.Path, r.Key, nanos(since)).
		Scan(&found.Digest, &at, &found.Status, &found.MediaType, &header, &found.Body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, mockbase.Errorf(mockbase.CodeNotFound, "there is no answer to such a request")
	}
	if err == nil {
		err = json.Unmarshal([]byte(header), &found.Header)
	}
	found.At = moment(at)
	return &found, fault("read answer", err)
}

// PutReplay keeps an answer, and forgets the oldest beyond the bounds.
func (d *DB) PutReplay(ctx context.Context, r *mockbase.Replay) error {
	header, err := text(r.Header)
	if err != nil {
		return fault("keep answer", err)
	}
	body := r.Body
	if body == nil {
		body = []byte{}
	}
	return d.definitions.change(mockbase.WithAudit(ctx, nil), "keep answer", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO replays (caller, method, path, key, digest, at, status, media_type, header, size, body)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, r.Caller, r.Method, r.Path, r.Key, r.Digest, nanos(r.At), r.Status, r.MediaType, header,
			len(body), body)
		if err != nil {
			return err
		}
		// The newest that fit stay: a running sum from the newest on finds the first that does not.
		_, err = tx.ExecContext(ctx, `DELETE FROM replays WHERE seq IN (SELECT seq FROM (
			SELECT seq, row_number() OVER newest AS place, sum(size) OVER newest AS held FROM replays WINDOW newest AS (ORDER BY seq DESC))
			WHERE place > ? OR held > ?)`, store.MaxReplays, store.MaxReplayBytes)
		return err
	})
}

// DeleteReplays forgets old answers.
func (d *DB) DeleteReplays(ctx context.Context, before time.Time) (int, error) {
	return d.run(ctx, "forget answers", "DELETE FROM replays WHERE at < ?", nanos(before))
}
