package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/mail"
	"os"
	"path/filepath"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/management/auth"
	"github.com/mockbase/mockbase/store/sqlite"
)

// userCommands look after accounts.
type userCommands struct {
	List          userListCommand          `cmd:"" help:"List the accounts."`
	Create        userCreateCommand        `cmd:"" help:"Make an account with a password."`
	Invite        userInviteCommand        `cmd:"" help:"Make a link with which somebody makes an account."`
	SetRole       userSetRoleCommand       `cmd:"" help:"Make somebody an administrator, or a member."`
	Disable       userDisableCommand       `cmd:"" help:"Keep somebody out: sign-ins and personal tokens end at once."`
	Enable        userEnableCommand        `cmd:"" help:"Let somebody in again."`
	ResetPassword userResetPasswordCommand `cmd:"" help:"Make a link to a new password; with --data-dir, set the password."`
}

// accountFlags say where accounts are: at a server, or in a data directory.
type accountFlags struct {
	config.Target
	config.Data
	signInFlags
}

// Help is what kong prints below the summary.
func (*accountFlags) Help() string {
	return `Accounts are looked after through a server, by an administrator. With --data-dir, or where nobody is signed in, this is
done in the data directory itself: for the first administrator, and for one who forgot the password. A server may run
meanwhile, and minds the change at once.`
}

// offline tells whether the data directory is meant: it is stated more closely than a server, or nobody is signed in.
func (*accountFlags) offline(p *process) (bool, error) {
	switch p.closest("data-dir", "server", "ready-file", "context", "token", "token-file") {
	case "data-dir":
		return true, nil
	case "":
		kept, err := p.loadCredentials()
		return err == nil && kept.Contexts[kept.Current] == nil, err
	}
	return false, nil
}

// userCreateCommand makes an account (M-120, rule M-38).
type userCreateCommand struct {
	accountFlags

	Address      string `arg:"" name:"email" help:"E-mail address, with which the person signs in."`
	Name         string `name:"name" placeholder:"TEXT" help:"The person's name."`
	Admin        bool   `name:"admin" help:"Make an administrator."`
	PasswordFile string `name:"password-file" placeholder:"FILE" help:"File with the new password; without it, it is asked for, or read from standard input."`
}

// Run writes the new account's id to standard output, or the account in the form that was asked for.
func (c *userCreateCommand) Run(p *process) error {
	if a, err := mail.ParseAddress(c.Address); err != nil || a.Address != c.Address {
		return &failure{code: exitUsage, err: fmt.Errorf("%q is no e-mail address", c.Address), fix: "write it like ada@example.com"}
	}
	if c.Ephemeral {
		return &failure{code: exitUsage, err: errors.New("--ephemeral keeps nothing, and an account is there to be kept"), fix: "leave it out, and name the folder with --data-dir"}
	}
	offline, err := c.offline(p)
	if err != nil {
		return err
	}
	if offline {
		return c.runOffline(p)
	}
	return p.call(&c.Target, "make account", func(r *remote) error {
		password, err := newPassword(r.ctx, p, c.PasswordFile)
		if err != nil {
			return err
		}
		body := map[string]any{"email": c.Address, "name": c.Name, "role": c.role(), "password": password}
		answer, err := r.exchange(client.Request{Method: http.MethodPost, Path: "/users", Creates: true}, body)
		if err != nil {
			return err
		}
		return p.printUser(c.Output, answer.Body)
	})
}

func (c *userCreateCommand) role() mockbase.InstanceRole {
	if c.Admin {
		return mockbase.InstanceAdmin
	}
	return mockbase.InstanceMember
}

// runOffline makes the account in the data directory. Nothing is opened before it is known to be right.
func (c *userCreateCommand) runOffline(p *process) error {
	password, err := newPassword(p.ctx, p, c.PasswordFile)
	if err != nil {
		return err
	}
	user, err := newUser(p, strings.ToLower(c.Address), password, c.role())
	if err != nil {
		return err
	}
	user.Name = c.Name
	if !c.Admin {
		if _, err := os.Stat(filepath.Join(c.DataDir, databaseName)); errors.Is(err, fs.ErrNotExist) {
			return firstIsAdmin()
		}
	}
	return p.withAccounts(&c.Data, makeMissing, func(db *sqlite.DB) error {
		if err := c.keep(p, db, user); err != nil {
			return err
		}
		return p.printUser(c.Output, userDocument(user))
	})
}

// keep stores the account. A server whose first account is no administrator's could never be administered: the set-up
// code is for servers without any account.
func (c *userCreateCommand) keep(p *process, db *sqlite.DB, user *mockbase.User) error {
	users, err := db.UserCount(p.ctx)
	if err != nil {
		return fail(exitEnvironment, "count accounts", err)
	}
	if users == 0 && !c.Admin {
		return firstIsAdmin()
	}
	if err := db.CreateUser(p.audited("createUser", user), user); err != nil {
		return &failure{code: exitConflict, what: "make account", err: err}
	}
	return nil
}

func firstIsAdmin() error {
	return &failure{code: exitUsage, what: "make account", err: errors.New("the first account must be an administrator's"), fix: "add --admin"}
}

// newPassword reads a new password from its file or from standard input, or asks for it twice. One trailing newline is
// dropped.
func newPassword(ctx context.Context, p *process, path string) (string, error) {
	const fix = "name its file with --password-file, or pipe it in"
	if path != "" {
		text, err := os.ReadFile(path) //nolint:gosec // the user names the file
		if err != nil {
			return "", &failure{code: exitUsage, what: "read password", err: err, fix: fix}
		}
		return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), nil
	}
	asked := isTerminal(p.In)
	password, err := p.password(ctx, !asked, "New password")
	if err != nil || !asked {
		return password, err
	}
	again, err := p.password(ctx, false, "Once more")
	if err == nil && again != password {
		err = &failure{code: exitUsage, what: "read password", err: errors.New("the two are not the same"), fix: "try again"}
	}
	return password, err
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
