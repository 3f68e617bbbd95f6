package sqlite

import (
	"context"
	"database/sql"

	"github.com/mockbase/mockbase"
)

// UserByIdentity finds the user that is tied to a subject of an issuer.
func (d *DB) UserByIdentity(ctx context.Context, issuer, subject string) (*mockbase.User, error) {
	return scanUser(d.definitions.read.QueryRowContext(ctx, "SELECT "+userColumns+` FROM users JOIN identities i ON i.user_id = users.id
		WHERE i.issuer = ? AND i.subject = ?`, issuer, subject))
}

// LinkIdentity ties a user to a subject of an issuer.
func (d *DB) LinkIdentity(ctx context.Context, i mockbase.Identity) error {
	return d.definitions.change(ctx, "link identity", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO identities (issuer, subject, user_id, created_at) VALUES (?, ?, ?, ?)",
			i.Issuer, i.Subject, i.UserID, nanos(i.CreatedAt))
		if breaksUnique(err, "identities.issuer") {
			return &mockbase.Error{
				Code: mockbase.CodeNameTaken, Err: err, Message: "the user or the subject is tied to another one of this identity provider",
			}
		}
		return err
	})
}

// FederatedAdmins counts the administrators who are not disabled and are tied to a subject of an issuer.
func (d *DB) FederatedAdmins(ctx context.Context, issuer string) (int, error) {
	var admins int
	err := d.definitions.read.QueryRowContext(ctx, `SELECT count(*) FROM users JOIN identities i ON i.user_id = users.id
		WHERE i.issuer = ? AND users.role = 'admin' AND users.disabled = 0`, issuer).Scan(&admins)
	return admins, fault("count administrators", err)
}
