package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/mockbase/mockbase"
)

const signInColumns = `id, user_id, current_hash, previous_hash, rotated_at, created_at, last_used_at, auth_time, expires_at,
	revoked_at, ip, user_agent`

// CreateSignIn stores a new family of refresh tokens.
func (d *DB) CreateSignIn(ctx context.Context, s *mockbase.SignIn) error {
	return d.definitions.change(ctx, "create sign-in", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO sign_ins ("+signInColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", s.ID, s.UserID,
			s.CurrentHash, digest(s.PreviousHash), nanos(s.RotatedAt), nanos(s.CreatedAt), nanos(s.LastUsedAt), nanos(s.AuthTime),
			nanos(s.ExpiresAt), nanos(s.RevokedAt), s.IP, s.UserAgent)
		if breaksReference(err) {
			return noUser()
		}
		return err
	})
}

// digest makes NULL of a digest that is not there, so that no look-up finds it.
func digest(hash []byte) any {
	if len(hash) == 0 {
		return nil
	}
	return hash
}

// SignIn finds a sign-in by id.
func (d *DB) SignIn(ctx context.Context, id string) (*mockbase.SignIn, error) {
	return scanSignIn(d.definitions.read.QueryRowContext(ctx, "SELECT "+signInColumns+" FROM sign_ins WHERE id = ?", id))
}

// SignInByRefreshHash finds a sign-in by the digest of its current or its previous token.
func (d *DB) SignInByRefreshHash(ctx context.Context, hash []byte) (*mockbase.SignIn, error) {
	return scanSignIn(d.definitions.read.QueryRowContext(ctx, "SELECT "+signInColumns+` FROM sign_ins WHERE current_hash = ?1
		UNION ALL SELECT `+signInColumns+" FROM sign_ins WHERE previous_hash = ?1 LIMIT 1", hash))
}

func scanSignIn(row *sql.Row) (*mockbase.SignIn, error) {
	var (
		s                                                  mockbase.SignIn
		rotated, created, used, authed, expires, revokedAt int64
	)
	err := row.Scan(&s.ID, &s.UserID, &s.CurrentHash, &s.PreviousHash, &rotated, &created, &used, &authed, &expires, &revokedAt,
		&s.IP, &s.UserAgent)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, mockbase.Errorf(mockbase.CodeNotFound, "there is no such sign-in")
	}
	if err != nil {
		return nil, fault("read sign-in", err)
	}
	s.RotatedAt, s.CreatedAt, s.LastUsedAt = moment(rotated), moment(created), moment(used)
	s.AuthTime, s.ExpiresAt, s.RevokedAt = moment(authed), moment(expires), moment(revokedAt)
	return &s, nil
}

// RotateSignIn replaces the current token if it is still the one that the caller saw.
func (d *DB) RotateSignIn(ctx context.Context, id string, from, to []byte, now time.Time) (rotated bool, err error) {
	rows, err := d.changeSignIns(ctx, "rotate sign-in", `UPDATE sign_ins SET previous_hash = current_hash, current_hash = ?, rotated_at = ?,
		last_used_at = ? WHERE id = ? AND current_hash = ? AND revoked_at = 0`, to, nanos(now), nanos(now), id, from)
	return rows > 0, err
}

// RevokeSignIn ends a sign-in, once.
func (d *DB) RevokeSignIn(ctx context.Context, id string, now time.Time) error {
	_, err := d.changeSignIns(ctx, "revoke sign-in", "UPDATE sign_ins SET revoked_at = ? WHERE id = ? AND revoked_at = 0", nanos(now), id)
	return err
}

// DeleteExpiredSignIns deletes the sign-ins whose end has come.
func (d *DB) DeleteExpiredSignIns(ctx context.Context, now time.Time) (int, error) {
	return d.changeSignIns(ctx, "delete expired sign-ins", "DELETE FROM sign_ins WHERE expires_at <= ?", nanos(now))
}

func (d *DB) changeSignIns(ctx context.Context, what, statement string, args ...any) (rows int, err error) {
	err = d.definitions.change(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, statement, args...)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		rows = int(n)
		return err
	})
	return rows, err
}
