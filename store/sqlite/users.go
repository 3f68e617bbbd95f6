package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/mockbase/mockbase"
)

// AllUsers returns every user by e-mail address.
func (d *DB) AllUsers(ctx context.Context) ([]*mockbase.User, error) {
	rows, err := d.definitions.read.QueryContext(ctx, "SELECT "+userColumns+" FROM users ORDER BY email")
	if err != nil {
		return nil, fault("read users", err)
	}
	return collect("read users", rows, func(row scanner) (*mockbase.User, error) { return scanUser(row) })
}

// ChangeUser changes a user and ends what the change says.
func (d *DB) ChangeUser(ctx context.Context, c mockbase.UserChange) (u *mockbase.User, err error) {
	err = d.definitions.change(ctx, "change user", func(ctx context.Context, tx *sql.Tx) error {
		u, err = d.changeUser(ctx, tx, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return u, nil
}

func (d *DB) changeUser(ctx context.Context, tx *sql.Tx, c mockbase.UserChange) (*mockbase.User, error) {
	u, err := scanUser(tx.QueryRowContext(ctx, "SELECT "+userColumns+" FROM users WHERE id = ?", c.ID))
	if err != nil {
		return nil, err
	}
	if err := c.Change(u); err != nil {
		return nil, err
	}
	u.ID = c.ID
	if err := d.updateUser(ctx, tx, u); err != nil {
		return nil, err
	}
	if c.EndSignIns {
		if _, err := tx.ExecContext(ctx, "UPDATE sign_ins SET revoked_at = ? WHERE user_id = ? AND id <> ? AND revoked_at = 0",
			nanos(c.At), c.ID, c.KeepSignIn); err != nil {
			return nil, err
		}
	}
	if c.EndTokens {
		return u, endTokens(ctx, tx, c.ID)
	}
	return u, nil
}

// updateUser replaces a user, ends the links that do not outlive the change, and refuses to leave the server without an
// administrator.
func (d *DB) updateUser(ctx context.Context, tx *sql.Tx, u *mockbase.User) error {
	if err := d.endResetsOf(ctx, tx, u); err != nil {
		return err
	}
	err := keepAdmin(ctx, tx, func() error {
		rows, err := changed(tx.ExecContext(ctx, `UPDATE users SET email = ?, name = ?, role = ?, password_hash = ?, disabled = ?, epoch = ?,
			last_seen_at = ?, created_at = ?, updated_at = ? WHERE id = ?`, u.Email, u.Name, string(u.Role), u.PasswordHash, u.Disabled,
			u.Epoch, nanos(u.LastSeenAt), nanos(u.CreatedAt), nanos(u.UpdatedAt), u.ID))
		if err == nil && rows == 0 {
			return noUser()
		}
		return emailTaken(u, err)
	})
	if err != nil {
		return err
	}
	return d.endLinksBy(ctx, tx, u.ID)
}

// keepAdmin refuses a change after which there is no administrator any more who is not disabled (rule M-50).
func keepAdmin(ctx context.Context, tx *sql.Tx, do func() error) error {
	count := func(n *int) error {
		return tx.QueryRowContext(ctx, "SELECT count(*) FROM users WHERE role = 'admin' AND disabled = 0").Scan(n)
	}
	var before, after int
	if err := count(&before); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	if err := count(&after); err != nil {
		return err
	}
	if before > 0 && after == 0 {
		return lastAdmin()
	}
	return nil
}

func lastAdmin() error {
	return &mockbase.Error{
		Code: mockbase.CodeLastAdmin, Message: "this is the only administrator who is not disabled", Hint: "make somebody else an administrator first",
	}
}

// DeleteUser deletes a user with what is theirs alone.
func (d *DB) DeleteUser(ctx context.Context, id string) error {
	return d.definitions.change(ctx, "delete user", func(ctx context.Context, tx *sql.Tx) error {
		if err := keepOwned(ctx, tx, id); err != nil {
			return err
		}
		if err := endTokens(ctx, tx, id); err != nil {
			return err
		}
		err := keepAdmin(ctx, tx, func() error {
			rows, err := changed(tx.ExecContext(ctx, "DELETE FROM users WHERE id = ?", id))
			if err == nil && rows == 0 {
				return noUser()
			}
			return err
		})
		if err != nil {
			return err
		}
		return d.endLinksBy(ctx, tx, id)
	})
}

// keepOwned refuses to take an owner away from a project that nobody else owns who can act (rule M-50). Whoever is the last
// administrator as well is told that first: it is what other people have to change.
func keepOwned(ctx context.Context, tx *sql.Tx, userID string) error {
	var last bool
	err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM users WHERE id = ?1 AND role = 'admin' AND disabled = 0)
		AND NOT EXISTS (SELECT 1 FROM users WHERE id <> ?1 AND role = 'admin' AND disabled = 0)`, userID).Scan(&last)
	if err != nil {
		return err
	}
	if last {
		return lastAdmin()
	}
	owned, err := solelyOwned(ctx, tx, userID)
	if err == nil && owned != "" {
		return lastOwner(owned)
	}
	return err
}

// solelyOwned is the slug of a project that nobody else owns who is not disabled, "" if there is none. A user who is disabled
// owns nothing alone as long as another owner is there: it could not get worse.
func solelyOwned(ctx context.Context, tx *sql.Tx, userID string) (slug string, err error) {
	err = tx.QueryRowContext(ctx, `SELECT p.slug FROM project_members m JOIN projects p ON p.id = m.project_id
		WHERE m.user_id = ?1 AND m.role = 'owner' AND NOT EXISTS (
			SELECT 1 FROM project_members o JOIN users u ON u.id = o.user_id WHERE o.project_id = m.project_id AND o.role = 'owner' AND o.user_id <> ?1
			AND (u.disabled = 0 OR (SELECT disabled FROM users WHERE id = ?1) = 1))
		ORDER BY p.slug LIMIT 1`, userID).Scan(&slug)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return slug, err
}

func lastOwner(slug string) error {
	return &mockbase.Error{
		Code: mockbase.CodeLastOwner, Message: "the user is the only owner of the project " + slug + " who is not disabled",
		Hint: "make somebody else an owner first, or delete the project",
	}
}

func endTokens(ctx context.Context, tx *sql.Tx, userID string) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM tokens WHERE created_by = ? AND kind = ?", userID, mockbase.TokenPersonal)
	return err
}

// Members returns the members of a project by e-mail address.
func (d *DB) Members(ctx context.Context, projectID string) ([]mockbase.ProjectMember, error) {
	rows, err := d.definitions.read.QueryContext(ctx, "SELECT "+userColumns+`, m.role, m.added_at FROM project_members m
		JOIN users ON users.id = m.user_id WHERE m.project_id = ? ORDER BY email`, projectID)
	if err != nil {
		return nil, fault("read members", err)
	}
	return collect("read members", rows, func(row scanner) (mockbase.ProjectMember, error) {
		var (
			m     mockbase.ProjectMember
			added int64
		)
		u, err := scanUser(row, &m.Role, &added)
		if err != nil {
			return m, err
		}
		m.User, m.AddedAt = *u, moment(added)
		return m, nil
	})
}

// PutMember gives a user a role in a project.
func (d *DB) PutMember(ctx context.Context, projectID, userID string, role mockbase.ProjectRole, now time.Time) (added bool, err error) {
	err = d.definitions.change(ctx, "change member", func(ctx context.Context, tx *sql.Tx) error {
		before, err := ownersOf(ctx, tx, projectID)
		if err != nil {
			return err
		}
		rows, err := changed(tx.ExecContext(ctx, "UPDATE project_members SET role = ? WHERE project_id = ? AND user_id = ?",
			string(role), projectID, userID))
		if err != nil {
			return err
		}
		if added = rows == 0; added {
			_, err := tx.ExecContext(ctx, "INSERT INTO project_members (project_id, user_id, role, added_at) VALUES (?, ?, ?, ?)",
				projectID, userID, string(role), nanos(now))
			if breaksReference(err) {
				return mockbase.Errorf(mockbase.CodeNotFound, "there is no such user or project")
			}
			return err
		}
		if err := keepOwner(ctx, tx, projectID, before); err != nil {
			return err
		}
		return d.endLinksBy(ctx, tx, userID)
	})
	return added && err == nil, err
}

// owners are those of a project: all of them, and those who are not disabled.
type owners struct {
	slug        string
	all, acting int
}

func ownersOf(ctx context.Context, tx *sql.Tx, projectID string) (o owners, err error) {
	err = tx.QueryRowContext(ctx, `SELECT slug, count(m.user_id), count(CASE WHEN u.disabled = 0 THEN 1 END) FROM projects p
		LEFT JOIN project_members m ON m.project_id = p.id AND m.role = 'owner' LEFT JOIN users u ON u.id = m.user_id WHERE p.id = ? GROUP BY p.id`,
		projectID).Scan(&o.slug, &o.all, &o.acting)
	if errors.Is(err, sql.ErrNoRows) {
		return o, nil
	}
	return o, err
}

// keepOwner refuses a change that leaves a project without an owner who can act (rule M-50). Where nobody could before, an
// owner at all is enough.
func keepOwner(ctx context.Context, tx *sql.Tx, projectID string, before owners) error {
	after, err := ownersOf(ctx, tx, projectID)
	if err == nil && after.slug != "" && (after.all == 0 || before.acting > 0 && after.acting == 0) {
		return lastOwner(after.slug)
	}
	return err
}

// DeleteMember takes a user's role in a project away.
func (d *DB) DeleteMember(ctx context.Context, projectID, userID string) error {
	return d.definitions.change(ctx, "delete member", func(ctx context.Context, tx *sql.Tx) error {
		before, err := ownersOf(ctx, tx, projectID)
		if err != nil {
			return err
		}
		var role mockbase.ProjectRole
		err = tx.QueryRowContext(ctx, "DELETE FROM project_members WHERE project_id = ? AND user_id = ? RETURNING role", projectID, userID).Scan(&role)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return mockbase.Errorf(mockbase.CodeNotFound, "the user has no role in the project")
		case err != nil || role != mockbase.RoleOwner:
			return err
		}
		if err := keepOwner(ctx, tx, projectID, before); err != nil {
			return err
		}
		return d.endLinksBy(ctx, tx, userID)
	})
}

// scanner is a row of a result.
type scanner interface{ Scan(to ...any) error }

// collect reads all rows of a result and closes it.
func collect[T any](what string, rows *sql.Rows, scan func(scanner) (T, error)) ([]T, error) {
	defer rows.Close()
	var all []T
	for rows.Next() {
		item, err := scan(rows)
		if err != nil {
			return nil, fault(what, err)
		}
		all = append(all, item)
	}
	return all, fault(what, rows.Err())
}
