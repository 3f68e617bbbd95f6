package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store"
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
		if err != nil {
			return err
		}
		return seen(ctx, tx, s.ID, s.LastUsedAt)
	})
}

// seen notes that the user of a sign-in was there.
func seen(ctx context.Context, tx *sql.Tx, signInID string, at time.Time) error {
	_, err := tx.ExecContext(ctx, "UPDATE users SET last_seen_at = max(last_seen_at, ?) WHERE id = (SELECT user_id FROM sign_ins WHERE id = ?)",
		nanos(at), signInID)
	return err
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
	return scanSignIn(d.definitions.reads.row(ctx, "SELECT "+signInColumns+" FROM sign_ins WHERE id = ?", id))
}

// SignInByRefreshHash finds a sign-in by the digest of its current token or of one that it used up lately.
func (d *DB) SignInByRefreshHash(ctx context.Context, hash []byte) (*mockbase.SignIn, error) {
	return scanSignIn(d.definitions.reads.row(ctx, "SELECT "+signInColumns+` FROM sign_ins WHERE current_hash = ?1
		UNION ALL SELECT `+signInColumns+` FROM sign_ins WHERE id = (SELECT sign_in_id FROM rotations WHERE hash = ?1) LIMIT 1`, hash))
}

// RefreshRotatedAt finds the time at which a token that was used up lately got its successor.
func (d *DB) RefreshRotatedAt(ctx context.Context, id string, hash []byte) (time.Time, error) {
	var at int64
	row := d.definitions.read.QueryRowContext(ctx, "SELECT rotated_at FROM rotations WHERE sign_in_id = ? AND hash = ?", id, hash)
	switch err := row.Scan(&at); {
	case errors.Is(err, sql.ErrNoRows):
		return time.Time{}, mockbase.Errorf(mockbase.CodeNotFound, "the sign-in used no such token up lately")
	case err != nil:
		return time.Time{}, fault("read rotation", err)
	}
	return moment(at), nil
}

// SignedIn finds a sign-in with its user.
func (d *DB) SignedIn(ctx context.Context, id string) (*mockbase.SignIn, *mockbase.User, error) {
	var s signInRow
	u, err := scanUser(d.definitions.reads.row(ctx, signedIn, id), s.targets()...)
	if mockbase.ErrorCode(err) == mockbase.CodeNotFound {
		return nil, nil, noSignIn()
	}
	if err != nil {
		return nil, nil, err
	}
	return s.signIn(), u, nil
}

// signedIn is asked for each request of a person, so that it is one look-up.
const signedIn = "SELECT " + userColumns + `, s.id, s.user_id, s.current_hash, s.previous_hash, s.rotated_at, s.created_at, s.last_used_at,
	s.auth_time, s.expires_at, s.revoked_at, s.ip, s.user_agent FROM sign_ins s JOIN users ON users.id = s.user_id WHERE s.id = ?`

// signInRow is a sign-in as its row has it.
type signInRow struct {
	mockbase.SignIn

	rotated, created, used, authed, expires, revoked int64
}

// targets are what the columns of a sign-in are read into.
func (s *signInRow) targets() []any {
	return []any{
		&s.ID, &s.UserID, &s.CurrentHash, &s.PreviousHash, &s.rotated, &s.created, &s.used, &s.authed, &s.expires, &s.revoked, &s.IP, &s.UserAgent,
	}
}

func (s *signInRow) signIn() *mockbase.SignIn {
	s.RotatedAt, s.CreatedAt, s.LastUsedAt = moment(s.rotated), moment(s.created), moment(s.used)
	s.AuthTime, s.ExpiresAt, s.RevokedAt = moment(s.authed), moment(s.expires), moment(s.revoked)
	return &s.SignIn
}

func scanSignIn(row scanner) (*mockbase.SignIn, error) {
	var s signInRow
	err := row.Scan(s.targets()...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, noSignIn()
	}
	if err != nil {
		return nil, fault("read sign-in", err)
	}
	return s.signIn(), nil
}

func noSignIn() error {
	return mockbase.Errorf(mockbase.CodeNotFound, "there is no such sign-in")
}

// RotateSignIn replaces the current token if it is still the one that the caller saw, and forgets the oldest of those that
// were used up.
func (d *DB) RotateSignIn(ctx context.Context, id string, from, to []byte, now time.Time) (rotated bool, err error) {
	err = d.definitions.change(ctx, "rotate sign-in", func(ctx context.Context, tx *sql.Tx) error {
		rows, err := changed(tx.ExecContext(ctx, `UPDATE sign_ins SET previous_hash = current_hash, current_hash = ?, rotated_at = ?,
			last_used_at = ? WHERE id = ? AND current_hash = ? AND revoked_at = 0`, to, nanos(now), nanos(now), id, from))
		if rotated = rows > 0; err != nil || !rotated {
			return err
		}
		if err := seen(ctx, tx, id, now); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO rotations (sign_in_id, hash, rotated_at) VALUES (?, ?, ?)", id, from, nanos(now)); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM rotations WHERE sign_in_id = ?1 AND id <=
			(SELECT id FROM rotations WHERE sign_in_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)`, id, store.MaxRotations)
		return err
	})
	return rotated && err == nil, err
}

// RevokeSignIn ends a sign-in, once.
func (d *DB) RevokeSignIn(ctx context.Context, id string, now time.Time) error {
	_, err := d.run(ctx, "revoke sign-in", "UPDATE sign_ins SET revoked_at = ? WHERE id = ? AND revoked_at = 0", nanos(now), id)
	return err
}

// SignInsOf returns the sign-ins of a user that go on, the latest used first.
func (d *DB) SignInsOf(ctx context.Context, userID string, now time.Time) ([]*mockbase.SignIn, error) {
	rows, err := d.definitions.read.QueryContext(ctx, "SELECT "+signInColumns+` FROM sign_ins WHERE user_id = ? AND revoked_at = 0
		AND expires_at > ? ORDER BY last_used_at DESC, id DESC`, userID, nanos(now))
	if err != nil {
		return nil, fault("read sign-ins", err)
	}
	return collect("read sign-ins", rows, scanSignIn)
}

// RenewSignIn notes when the password was given again.
func (d *DB) RenewSignIn(ctx context.Context, id string, now time.Time) error {
	rows, err := d.run(ctx, "renew sign-in", "UPDATE sign_ins SET auth_time = ? WHERE id = ? AND revoked_at = 0", nanos(now), id)
	if err == nil && rows == 0 {
		return mockbase.Errorf(mockbase.CodeNotFound, "there is no such sign-in")
	}
	return err
}

// EndAllSignIns ends the sign-ins of everybody.
func (d *DB) EndAllSignIns(ctx context.Context, now time.Time) error {
	_, err := d.run(ctx, "end sign-ins", "UPDATE sign_ins SET revoked_at = ? WHERE revoked_at = 0", nanos(now))
	return err
}

// DeleteExpiredSignIns deletes the sign-ins whose end has come.
func (d *DB) DeleteExpiredSignIns(ctx context.Context, now time.Time) (int, error) {
	return d.run(ctx, "delete expired sign-ins", "DELETE FROM sign_ins WHERE expires_at <= ?", nanos(now))
}

func (d *DB) run(ctx context.Context, what, statement string, args ...any) (rows int, err error) {
	err = d.definitions.change(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		rows, err = changed(tx.ExecContext(ctx, statement, args...))
		return err
	})
	return rows, err
}

// changed is the number of rows that a statement changed.
func changed(result sql.Result, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}
