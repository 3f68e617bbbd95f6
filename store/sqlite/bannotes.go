package sqlite

import (
	"context"
	"database/sql"

	"github.com/mockbase/mockbase"
)

// BanNotes returns what is noted of the register of bans.
func (d *DB) BanNotes(ctx context.Context) ([]mockbase.BanNote, error) {
	rows, err := d.definitions.read.QueryContext(ctx, `SELECT rule, subject_key, lifted, begins_at, ends_at, repeats FROM ban_notes
		ORDER BY rule, subject_key, lifted`)
	if err != nil {
		return nil, fault("read notes of bans", err)
	}
	defer rows.Close()
	var notes []mockbase.BanNote
	for rows.Next() {
		var (
			n            mockbase.BanNote
			begins, ends int64
		)
		if err := rows.Scan(&n.Rule, &n.Key, &n.Lifted, &begins, &ends, &n.Repeat); err != nil {
			return nil, fault("read notes of bans", err)
		}
		n.From, n.Until = moment(begins), moment(ends)
		notes = append(notes, n)
	}
	return notes, fault("read notes of bans", rows.Err())
}

// ChangeBanNotes stores and deletes notes at once.
func (d *DB) ChangeBanNotes(ctx context.Context, put, drop []mockbase.BanNote) error {
	return d.definitions.change(ctx, "note bans", func(ctx context.Context, tx *sql.Tx) error {
		for i := range drop {
			n := &drop[i]
			if _, err := tx.ExecContext(ctx, "DELETE FROM ban_notes WHERE rule = ? AND subject_key = ? AND lifted = ?", n.Rule, n.Key, n.Lifted); err != nil {
				return err
			}
		}
		for i := range put {
			n := &put[i]
			if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO ban_notes (rule, subject_key, lifted, begins_at, ends_at, repeats)
				VALUES (?, ?, ?, ?, ?, ?)`, n.Rule, n.Key, n.Lifted, nanos(n.From), nanos(n.Until), n.Repeat); err != nil {
				return err
			}
		}
		return nil
	})
}
