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
	err := d.definitions.reads.row(ctx, `SELECT digest, at, status, media_type, header, body FROM replays
		WHERE caller = ? AND method = ? AND path = ? AND key = ? AND at > ?`, r.Caller, r.Method, r.Path, r.Key, nanos(since)).
		Scan(&found.Digest, &at, &found.Status, &found.MediaType, &header, &found.Body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, mockbase.Errorf(mockbase.CodeNotFound, "there is no answer to such a request")
	}
	if err == nil {
		err = json.Unmarshal([]byte(header), &found.Header)
	}
	found.At = moment(at)
	if err == nil {
		// The change that was answered may have waited for the disk in vain: what is told again must last.
		err = d.definitions.disk.flush()
	}
	return &found, fault("read answer", err)
}

// PutReplay keeps an answer, and forgets the oldest beyond the bounds.
func (d *DB) PutReplay(ctx context.Context, r *mockbase.Replay) error {
	return d.definitions.change(alone(ctx), "keep answer", func(ctx context.Context, tx *sql.Tx) error {
		return d.definitions.replays.put(ctx, tx, r)
	})
}

// DeleteReplays forgets old answers.
func (d *DB) DeleteReplays(ctx context.Context, before time.Time) (int, error) {
	var rows int
	err := d.definitions.change(alone(ctx), "forget answers", func(ctx context.Context, tx *sql.Tx) (err error) {
		d.definitions.replays.forget()
		rows, err = changed(tx.ExecContext(ctx, "DELETE FROM replays WHERE at < ?", nanos(before)))
		return err
	})
	return rows, err
}

// keptReplays knows how much is kept, so that a change need not count it. It belongs to whoever has the connection that writes.
type keptReplays struct {
	known        bool
	count, bytes int64
}

// forget has what is kept counted anew: a transaction that changed it was not done.
func (k *keptReplays) forget() { k.known = false }

// put keeps an answer in the place of an older one, and lets go of the oldest beyond the bounds.
func (k *keptReplays) put(ctx context.Context, tx *sql.Tx, r *mockbase.Replay) (err error) {
	defer func() {
		if err != nil {
			k.forget()
		}
	}()
	header, err := text(r.Header)
	if err != nil {
		return err
	}
	if err := k.learn(ctx, tx); err != nil {
		return err
	}
	err = k.release(ctx, tx, "DELETE FROM replays WHERE caller = ? AND method = ? AND path = ? AND key = ? RETURNING size",
		r.Caller, r.Method, r.Path, r.Key)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	body := append([]byte{}, r.Body...)
	_, err = tx.ExecContext(ctx, `INSERT INTO replays (caller, method, path, key, digest, at, status, media_type, header, size, body)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, r.Caller, r.Method, r.Path, r.Key, r.Digest, nanos(r.At), r.Status, r.MediaType, header,
		len(body), body)
	if err != nil {
		return err
	}
	k.count, k.bytes = k.count+1, k.bytes+int64(len(body))
	for k.count > store.MaxReplays || k.bytes > store.MaxReplayBytes {
		err := k.release(ctx, tx, "DELETE FROM replays WHERE seq = (SELECT min(seq) FROM replays) RETURNING size")
		if err != nil {
			return err
		}
	}
	return nil
}

// learn counts what is kept, once. What is forgotten elsewhere is counted anew.
func (k *keptReplays) learn(ctx context.Context, tx *sql.Tx) error {
	if k.known {
		return nil
	}
	err := tx.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(size), 0) FROM replays").Scan(&k.count, &k.bytes)
	k.known = err == nil
	return err
}

// release runs a statement that deletes one row, and takes its size off.
func (k *keptReplays) release(ctx context.Context, tx *sql.Tx, statement string, args ...any) error {
	var size int64
	if err := tx.QueryRowContext(ctx, statement, args...).Scan(&size); err != nil {
		return err
	}
	k.count, k.bytes = k.count-1, k.bytes-size
	return nil
}
