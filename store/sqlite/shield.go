package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/mockbase/mockbase"
)

// Setting returns a stored document.
func (d *DB) Setting(ctx context.Context, name string) (*mockbase.Setting, error) {
	s := mockbase.Setting{Name: name}
	var (
		document string
		updated  int64
	)
	row := d.definitions.read.QueryRowContext(ctx, "SELECT version, document, updated_at, updated_by FROM settings WHERE name = ?", name)
	err := row.Scan(&s.Version, &document, &updated, &s.UpdatedBy)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, mockbase.Errorf(mockbase.CodeNotFound, "there is no such setting")
	}
	if err != nil {
		return nil, fault("read setting", err)
	}
	s.Document, s.UpdatedAt = json.RawMessage(document), moment(updated)
	return &s, nil
}

// PutSetting stores a document in the place of an older version.
func (d *DB) PutSetting(ctx context.Context, s *mockbase.Setting) error {
	return d.definitions.change(ctx, "store setting", func(ctx context.Context, tx *sql.Tx) error {
		var have int64
		err := tx.QueryRowContext(ctx, "SELECT version FROM settings WHERE name = ?", s.Name).Scan(&have)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if have >= s.Version {
			return &mockbase.Error{Code: mockbase.CodeVersionMismatch, Message: "the setting has changed", Version: have}
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO settings (name, version, document, updated_at, updated_by) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET version = excluded.version, document = excluded.document, updated_at = excluded.updated_at,
			updated_by = excluded.updated_by`, s.Name, s.Version, string(s.Document), nanos(s.UpdatedAt), s.UpdatedBy)
		return err
	})
}

// Bans returns all bans by administrators, the newest first.
func (d *DB) Bans(ctx context.Context) ([]mockbase.Ban, error) {
	rows, err := d.definitions.read.QueryContext(ctx, `SELECT id, subject_type, subject_value, subject_key, reason, created_by,
		created_at, expires_at FROM bans ORDER BY created_at DESC, id DESC`)
	if err != nil {
		return nil, fault("read bans", err)
	}
	defer rows.Close()
	var bans []mockbase.Ban
	for rows.Next() {
		var (
			b                mockbase.Ban
			created, expires int64
		)
		if err := rows.Scan(&b.ID, &b.Subject.Type, &b.Subject.Value, &b.Key, &b.Reason, &b.CreatedBy, &created, &expires); err != nil {
			return nil, fault("read bans", err)
		}
		b.CreatedAt, b.ExpiresAt = moment(created), moment(expires)
		bans = append(bans, b)
	}
	return bans, fault("read bans", rows.Err())
}

// PutBan stores a ban in the place of the one with its id.
func (d *DB) PutBan(ctx context.Context, b *mockbase.Ban) error {
	return d.definitions.change(ctx, "store ban", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO bans (id, subject_type, subject_value, subject_key, reason, created_by,
			created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, b.ID, b.Subject.Type, b.Subject.Value, b.Key, b.Reason, b.CreatedBy,
			nanos(b.CreatedAt), nanos(b.ExpiresAt))
		return err
	})
}

// DeleteBans deletes the bans with these ids.
func (d *DB) DeleteBans(ctx context.Context, ids ...string) error {
	return d.definitions.change(ctx, "delete bans", func(ctx context.Context, tx *sql.Tx) error {
		for _, id := range ids {
			if _, err := tx.ExecContext(ctx, "DELETE FROM bans WHERE id = ?", id); err != nil {
				return err
			}
		}
		return nil
	})
}
