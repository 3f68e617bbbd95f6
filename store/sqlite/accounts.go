package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/mockbase/mockbase"
)

const userColumns = `users.id, users.email, users.name, users.role, users.password_hash, users.disabled, users.epoch,
	users.last_seen_at, users.created_at, users.updated_at`

// CreateFirstAdmin creates a user in the transaction that makes sure there is none.
func (d *DB) CreateFirstAdmin(ctx context.Context, u *mockbase.User) error {
	return d.definitions.change(ctx, "create first administrator", func(ctx context.Context, tx *sql.Tx) error {
		var users int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM users").Scan(&users); err != nil {
			return err
		}
		if users > 0 {
			return mockbase.Errorf(mockbase.CodeAlreadySetUp, "there is an administrator already")
		}
		return insertUser(ctx, tx, u)
	})
}

// CreateUser creates a user.
func (d *DB) CreateUser(ctx context.Context, u *mockbase.User) error {
	return d.definitions.change(ctx, "create user", func(ctx context.Context, tx *sql.Tx) error {
		return insertUser(ctx, tx, u)
	})
}

func insertUser(ctx context.Context, tx *sql.Tx, u *mockbase.User) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO users (id, email, name, role, password_hash, disabled, epoch, last_seen_at, created_at,
		updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, u.ID, u.Email, u.Name, string(u.Role), u.PasswordHash, u.Disabled, u.Epoch, nanos(u.LastSeenAt), nanos(u.CreatedAt), nanos(u.UpdatedAt))
	return emailTaken(u, err)
}

// UpdateUser replaces a user.
func (d *DB) UpdateUser(ctx context.Context, u *mockbase.User) error {
	return d.definitions.change(ctx, "change user", func(ctx context.Context, tx *sql.Tx) error {
		return d.updateUser(ctx, tx, u)
	})
}

func emailTaken(u *mockbase.User, err error) error {
	if !breaksUnique(err, "users.email") {
		return err
	}
	return &mockbase.Error{
		Code: mockbase.CodeNameTaken, Err: err,
		Message: fmt.Sprintf("there is a user with the e-mail address %q already", u.Email),
	}
}

func noUser() error {
	return mockbase.Errorf(mockbase.CodeNotFound, "there is no such user")
}

// UserCount counts all users.
func (d *DB) UserCount(ctx context.Context) (int, error) {
	var users int
	err := d.definitions.read.QueryRowContext(ctx, "SELECT count(*) FROM users").Scan(&users)
	return users, fault("count users", err)
}

// UserByEmail finds a user by e-mail address.
func (d *DB) UserByEmail(ctx context.Context, email string) (*mockbase.User, error) {
	return scanUser(d.definitions.reads.row(ctx, "SELECT "+userColumns+" FROM users WHERE email = ?", email))
}

// UserByID finds a user by id.
func (d *DB) UserByID(ctx context.Context, id string) (*mockbase.User, error) {
	return scanUser(d.definitions.reads.row(ctx, "SELECT "+userColumns+" FROM users WHERE id = ?", id))
}

// scanUser reads a user, and what stands behind it in the row.
func scanUser(row scanner, more ...any) (*mockbase.User, error) {
	var (
		u                      mockbase.User
		seen, created, updated int64
	)
	err := row.Scan(append([]any{
		&u.ID, &u.Email, &u.Name, &u.Role, &u.PasswordHash, &u.Disabled, &u.Epoch, &seen, &created, &updated,
	}, more...)...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, noUser()
	}
	if err != nil {
		return nil, fault("read user", err)
	}
	u.LastSeenAt, u.CreatedAt, u.UpdatedAt = moment(seen), moment(created), moment(updated)
	return &u, nil
}

// ProjectRole tells what a user may do in a project.
func (d *DB) ProjectRole(ctx context.Context, projectID, userID string) (mockbase.ProjectRole, error) {
	var role mockbase.ProjectRole
	err := d.definitions.reads.row(ctx, "SELECT role FROM project_members WHERE project_id = ? AND user_id = ?",
		projectID, userID).Scan(&role)
	if errors.Is(err, sql.ErrNoRows) {
		return mockbase.RoleNone, nil
	}
	return role, fault("read role", err)
}

// Memberships returns a user's roles by project id.
func (d *DB) Memberships(ctx context.Context, userID string) (map[string]mockbase.ProjectRole, error) {
	rows, err := d.definitions.read.QueryContext(ctx, "SELECT project_id, role FROM project_members WHERE user_id = ?", userID)
	if err != nil {
		return nil, fault("read roles", err)
	}
	defer rows.Close()
	roles := map[string]mockbase.ProjectRole{}
	for rows.Next() {
		var (
			project string
			role    mockbase.ProjectRole
		)
		if err := rows.Scan(&project, &role); err != nil {
			return nil, fault("read roles", err)
		}
		roles[project] = role
	}
	return roles, fault("read roles", rows.Err())
}
