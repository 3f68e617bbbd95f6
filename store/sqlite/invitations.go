package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/mockbase/mockbase"
)

const invitationColumns = "id, email, role, grants, hash, created_by, created_at, expires_at, accepted_at"

// CreateInvitation stores an invitation of somebody who has no account.
func (d *DB) CreateInvitation(ctx context.Context, i *mockbase.Invitation) error {
	grants, err := text(i.Grants)
	if err != nil {
		return fault("create invitation", err)
	}
	return d.definitions.change(ctx, "create invitation", func(ctx context.Context, tx *sql.Tx) error {
		var users int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM users WHERE email = ?", i.Email).Scan(&users); err != nil {
			return err
		}
		if users > 0 {
			return mockbase.Errorf(mockbase.CodeNameTaken, "there is a user with the e-mail address %q already", i.Email)
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO invitations ("+invitationColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", i.ID, i.Email,
			string(i.Role), grants, i.Hash, i.CreatedBy, nanos(i.CreatedAt), nanos(i.ExpiresAt), nanos(i.AcceptedAt))
		if err != nil {
			return err
		}
		return stands(ctx, tx, "SELECT "+mayInvite+" FROM invitations WHERE id = ?", i.ID)
	})
}

// Invitations returns all invitations, the newest first.
func (d *DB) Invitations(ctx context.Context) ([]*mockbase.Invitation, error) {
	rows, err := d.definitions.read.QueryContext(ctx, "SELECT "+invitationColumns+" FROM invitations ORDER BY created_at DESC, id DESC")
	if err != nil {
		return nil, fault("read invitations", err)
	}
	return collect("read invitations", rows, scanInvitation)
}

// InvitationByHash finds an open invitation.
func (d *DB) InvitationByHash(ctx context.Context, hash []byte, now time.Time) (*mockbase.Invitation, error) {
	i, err := openInvitation(ctx, d.definitions.read, hash, now)
	return i, fault("read invitation", err)
}

// rower is a pool or a transaction.
type rower interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func openInvitation(ctx context.Context, in rower, hash []byte, now time.Time) (*mockbase.Invitation, error) {
	return scanInvitation(in.QueryRowContext(ctx, "SELECT "+invitationColumns+" FROM invitations WHERE hash = ? AND accepted_at = 0 AND expires_at > ? AND "+mayInvite,
		hash, nanos(now)))
}

func scanInvitation(row scanner) (*mockbase.Invitation, error) {
	var (
		i                          mockbase.Invitation
		grants                     string
		created, expires, accepted int64
	)
	err := row.Scan(&i.ID, &i.Email, &i.Role, &grants, &i.Hash, &i.CreatedBy, &created, &expires, &accepted)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, noInvitation()
	}
	if err != nil {
		return nil, err
	}
	i.CreatedAt, i.ExpiresAt, i.AcceptedAt = moment(created), moment(expires), moment(accepted)
	return &i, json.Unmarshal([]byte(grants), &i.Grants)
}

func noInvitation() error {
	return mockbase.Errorf(mockbase.CodeNotFound, "there is no such invitation")
}

// AcceptInvitation uses an invitation up and creates its user.
func (d *DB) AcceptInvitation(ctx context.Context, hash []byte, u *mockbase.User, now time.Time) error {
	return d.definitions.change(ctx, "accept invitation", func(ctx context.Context, tx *sql.Tx) error {
		i, err := openInvitation(ctx, tx, hash, now)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE invitations SET accepted_at = ? WHERE id = ?", nanos(now), i.ID); err != nil {
			return err
		}
		if err := insertUser(ctx, tx, u); err != nil {
			return err
		}
		for _, g := range i.Grants {
			_, err := tx.ExecContext(ctx, `INSERT INTO project_members (project_id, user_id, role, added_at)
				SELECT id, ?, ?, ? FROM projects WHERE id = ?`, u.ID, string(g.Role), nanos(now), g.ProjectID)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// DeleteInvitation deletes an invitation.
func (d *DB) DeleteInvitation(ctx context.Context, id string) error {
	return d.definitions.change(ctx, "delete invitation", func(ctx context.Context, tx *sql.Tx) error {
		rows, err := changed(tx.ExecContext(ctx, "DELETE FROM invitations WHERE id = ?", id))
		if err == nil && rows == 0 {
			return noInvitation()
		}
		return err
	})
}

// DeleteExpiredInvitations deletes invitations that ended long ago.
func (d *DB) DeleteExpiredInvitations(ctx context.Context, before time.Time) (int, error) {
	return d.run(ctx, "delete expired invitations", "DELETE FROM invitations WHERE expires_at < ?", nanos(before))
}

// CreatePasswordReset stores a reset in the place of the user's former one.
func (d *DB) CreatePasswordReset(ctx context.Context, r *mockbase.PasswordReset) error {
	return d.definitions.change(ctx, "create password reset", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO password_resets (user_id, hash, created_by, created_at, expires_at) VALUES (?, ?, ?, ?, ?)",
			r.UserID, r.Hash, r.CreatedBy, nanos(r.CreatedAt), nanos(r.ExpiresAt))
		switch {
		case breaksReference(err):
			return noUser()
		case err != nil:
			return err
		}
		return stands(ctx, tx, "SELECT "+mayReset+" FROM password_resets WHERE user_id = ?", r.UserID)
	})
}

// PasswordResetByHash finds an open reset.
func (d *DB) PasswordResetByHash(ctx context.Context, hash []byte, now time.Time) (*mockbase.PasswordReset, error) {
	r, err := openReset(ctx, d.definitions.read, hash, now)
	return r, fault("read password reset", err)
}

func openReset(ctx context.Context, in rower, hash []byte, now time.Time) (*mockbase.PasswordReset, error) {
	r := mockbase.PasswordReset{Hash: hash}
	var created, expires int64
	err := in.QueryRowContext(ctx, "SELECT user_id, created_by, created_at, expires_at FROM password_resets WHERE hash = ? AND expires_at > ? AND "+mayReset,
		hash, nanos(now)).Scan(&r.UserID, &r.CreatedBy, &created, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, mockbase.Errorf(mockbase.CodeNotFound, "there is no such password reset")
	}
	r.CreatedAt, r.ExpiresAt = moment(created), moment(expires)
	return &r, err
}

// UsePasswordReset uses a reset up and changes its user.
func (d *DB) UsePasswordReset(ctx context.Context, hash []byte, c mockbase.UserChange) (u *mockbase.User, err error) {
	err = d.definitions.change(ctx, "reset password", func(ctx context.Context, tx *sql.Tx) error {
		reset, err := openReset(ctx, tx, hash, c.At)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM password_resets WHERE user_id = ?", reset.UserID); err != nil {
			return err
		}
		c.ID = reset.UserID
		u, err = d.changeUser(ctx, tx, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return u, nil
}
