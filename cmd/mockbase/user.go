package main

import (
	"errors"
	"fmt"
	"io"
	"net/mail"
	"os"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/management/auth"
	"github.com/mockbase/mockbase/store/sqlite"
)

// userCreateCommand makes an account in the data directory, while no server uses it (rule M-38).
type userCreateCommand struct {
	config.Data

	Email        string `arg:"" help:"E-mail address, with which the person signs in."`
	Name         string `name:"name" placeholder:"TEXT" help:"The person's name."`
	Admin        bool   `name:"admin" help:"Make an administrator."`
	PasswordFile string `name:"password-file" placeholder:"FILE" help:"File with the password; without it the password is read from standard input."`
}

// Run writes the new account's id to standard output.
func (c *userCreateCommand) Run(p *process) error {
	if a, err := mail.ParseAddress(c.Email); err != nil || a.Address != c.Email {
		return &failure{code: exitUsage, err: fmt.Errorf("%q is no e-mail address", c.Email), fix: "write it like ada@example.com"}
	}
	if c.Ephemeral {
		return &failure{code: exitUsage, err: errors.New("--ephemeral keeps nothing, and an account is there to be kept"), fix: "leave it out, and name the folder with --data-dir"}
	}
	user, err := c.user(p)
	if err != nil {
		return err
	}
	logger := p.newJournalist(config.Messages{LogFormat: "auto", LogLevel: "warn"}).Logger
	folder := dataDir{path: c.DataDir, origin: p.origins["data-dir"], logger: logger, clock: p.clock}
	db, err := folder.open(p.ctx)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // closed below; this is for the ways out before
	if err := c.keep(p, db, user); err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return fail(exitEnvironment, "close data directory", err)
	}
	printf(p.Out, "%s\n", user.ID)
	return nil
}

// user makes the account, without keeping it: nothing is opened before it is known to be right.
func (c *userCreateCommand) user(p *process) (*mockbase.User, error) {
	password, err := c.password(p)
	if err != nil {
		return nil, err
	}
	role := mockbase.InstanceMember
	if c.Admin {
		role = mockbase.InstanceAdmin
	}
	user, err := newUser(p, c.Email, password, role)
	if err != nil {
		return nil, err
	}
	user.Name = c.Name
	return user, nil
}

// keep stores the account. A server whose first account is no administrator's could never be administered: the set-up
// code is for servers without any account.
func (c *userCreateCommand) keep(p *process, db *sqlite.DB, user *mockbase.User) error {
	users, err := db.UserCount(p.ctx)
	if err != nil {
		return fail(exitEnvironment, "count accounts", err)
	}
	if users == 0 && !c.Admin {
		return &failure{code: exitUsage, what: "make account", err: errors.New("the first account must be an administrator's"), fix: "add --admin"}
	}
	if err := db.CreateUser(p.ctx, user); err != nil {
		return &failure{code: exitConflict, what: "make account", err: err}
	}
	return nil
}

// password reads the password from its file or from standard input. One trailing newline is dropped.
func (c *userCreateCommand) password(p *process) (string, error) {
	var text []byte
	var err error
	switch {
	case c.PasswordFile != "":
		text, err = os.ReadFile(c.PasswordFile)
	case isTerminal(p.In):
		err = errors.New("a terminal would show it")
	default:
		text, err = io.ReadAll(io.LimitReader(p.In, 1<<16))
	}
	if err != nil {
		return "", &failure{code: exitUsage, what: "read password", err: err, fix: "name its file with --password-file, or pipe it in"}
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), nil
}

// newUser makes an account with a password that keeps the rules (rule M-36).
func newUser(p *process, email, password string, role mockbase.InstanceRole) (*mockbase.User, error) {
	if err := auth.CheckPassword("#/password", password, email); err != nil {
		return nil, weakPassword(err)
	}
	hash, err := auth.NewHasher(auth.HasherOptions{}).Hash(p.ctx, password)
	if err != nil {
		return nil, fmt.Errorf("hash password: %w", err)
	}
	now := p.clock().UTC()
	return &mockbase.User{
		ID: mockbase.NewID(mockbase.PrefixUser, now), Email: email, Role: role, PasswordHash: hash, CreatedAt: now, UpdatedAt: now,
	}, nil
}

// weakPassword names the rule that the password breaks, and never the password.
func weakPassword(err error) error {
	f := &failure{code: exitUsage, what: "weak password", err: err, fix: "choose 15 to 256 characters that nobody guesses; a few random words do"}
	if known, ok := errors.AsType[*mockbase.Error](err); ok && len(known.Fields) == 1 {
		f.err = errors.New(known.Fields[0].Detail)
	}
	return f
}
