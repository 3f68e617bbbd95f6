package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/management/auth"
	"github.com/mockbase/mockbase/store/sqlite"
)

func userColumns() []column {
	return columns("ID=id", "EMAIL=email", "NAME=name", "ROLE=role", "DISABLED=disabled", "LAST SEEN=lastSeenAt")
}

// printUser prints an account, or its id alone where no form is asked for, so that scripts can take it.
func (p *process) printUser(o config.Output, doc json.RawMessage) error {
	if o == config.OutputAuto {
		printf(p.Out, "%s\n", memberText(doc, "id"))
		return nil
	}
	return p.printOne(o, doc, userColumns())
}

// userDocument is an account as the API shows one (rule M-60).
func userDocument(u *mockbase.User) json.RawMessage {
	stamp := func(t time.Time) any {
		if t.IsZero() {
			return nil
		}
		return t.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	doc, err := json.Marshal(struct {
		ID         string                `json:"id"`
		Email      string                `json:"email"`
		Name       string                `json:"name"`
		Role       mockbase.InstanceRole `json:"role"`
		Disabled   bool                  `json:"disabled"`
		LastSeenAt any                   `json:"lastSeenAt"`
		CreatedAt  any                   `json:"createdAt"`
	}{u.ID, u.Email, u.Name, u.Role, u.Disabled, stamp(u.LastSeenAt), stamp(u.CreatedAt)})
	if err != nil {
		return nil // texts and times can always be written
	}
	return doc
}

// userListCommand lists accounts (M-119).
type userListCommand struct {
	accountFlags
}

// Run prints the list.
func (c *userListCommand) Run(p *process) error {
	offline, err := c.offline(p)
	if err != nil {
		return err
	}
	if !offline {
		return p.call(&c.Target, "list accounts", func(r *remote) error { return r.list("/users", nil, userColumns()) })
	}
	return p.withAccounts(&c.Data, mustExist, func(db *sqlite.DB) error {
		users, err := db.AllUsers(p.ctx)
		if err != nil {
			return fail(exitEnvironment, "list accounts", err)
		}
		items := make([]json.RawMessage, 0, len(users))
		for _, u := range users {
			items = append(items, userDocument(u))
		}
		return p.printList(c.Output, items, userColumns())
	})
}

// userInviteCommand makes an invitation (M-127).
type userInviteCommand struct {
	accountFlags

	Address string   `arg:"" name:"email" help:"E-mail address of the person."`
	Admin   bool     `name:"admin" help:"Invite an administrator."`
	Grants  []string `name:"member" placeholder:"PROJECT=ROLE" help:"Role in a project: viewer, editor or owner; may be repeated."`
}

// Run prints the link, which is shown this once.
func (c *userInviteCommand) Run(p *process) error {
	offline, err := c.offline(p)
	if err != nil {
		return err
	}
	role := mockbase.InstanceMember
	if c.Admin {
		role = mockbase.InstanceAdmin
	}
	grants := []mockbase.Grant{}
	for _, text := range c.Grants {
		project, in, ok := strings.Cut(text, "=")
		if !ok {
			return &failure{code: exitUsage, err: fmt.Errorf("--member: %q is no role in a project", text), fix: "write it like shop=editor"}
		}
		grants = append(grants, mockbase.Grant{ProjectID: project, Role: mockbase.ProjectRole(in)})
	}
	if offline {
		return c.runOffline(p, role)
	}
	return p.call(&c.Target, "invite "+c.Address, func(r *remote) error {
		answer, err := r.exchange(client.Request{Method: http.MethodPost, Path: "/invitations", Creates: true}, map[string]any{
			"email": c.Address, "role": role, "projects": grants,
		})
		if err != nil {
			return err
		}
		return p.printLink(c.Output, answer.Body)
	})
}

// printLink prints a link alone, or everything in the form that was asked for.
func (p *process) printLink(o config.Output, doc json.RawMessage) error {
	if o == config.OutputAuto {
		printf(p.Out, "%s\n", memberText(doc, "url"))
		p.done("the link is shown this once and is good until %s", memberText(doc, "expiresAt"))
		return nil
	}
	return p.printOne(o, doc, columns("URL=url", "UNTIL=expiresAt"))
}

// invitationLife is how long the link of an invitation is good (rule M-42).
const invitationLife = 72 * time.Hour

func (c *userInviteCommand) runOffline(p *process, role mockbase.InstanceRole) error {
	if len(c.Grants) > 0 {
		return &failure{code: exitUsage, err: errors.New("--member needs a server"), fix: "leave it out, or sign in with mockbase login"}
	}
	return p.withAccounts(&c.Data, mustExist, func(db *sqlite.DB) error {
		now, secret := p.clock().UTC(), auth.NewLinkSecret()
		made := &mockbase.Invitation{
			ID: mockbase.NewID(mockbase.PrefixInvite, now), Email: strings.ToLower(c.Address), Role: role, Hash: secret.Hash,
			CreatedAt: now, ExpiresAt: now.Add(invitationLife),
		}
		target := &mockbase.User{ID: made.ID, Email: made.Email}
		if err := db.CreateInvitation(p.audited("createInvitation", target), made); err != nil {
			return &failure{code: exitConflict, what: "invite " + c.Address, err: err}
		}
		doc, err := json.Marshal(map[string]any{
			"id": made.ID, "email": made.Email, "role": role, "projects": []string{}, "expiresAt": made.ExpiresAt.Format("2006-01-02T15:04:05.000Z"),
			"url": p.publicURL() + "/invite#token=" + secret.Text,
		})
		if err != nil {
			return err
		}
		return p.printLink(c.Output, doc)
	})
}

// publicURL is where people reach the server, as far as the environment says it.
func (p *process) publicURL() string {
	if stated, ok := p.lookup(config.EnvName("public-url")); ok && stated != "" {
		return strings.TrimSuffix(stated, "/")
	}
	return defaultServer
}

// userSetRoleCommand changes a role (M-122).
type userSetRoleCommand struct {
	accountFlags

	Who  string `arg:"" name:"user" help:"E-mail address or id."`
	Role string `arg:"" enum:"admin,member" help:"admin or member."`
}

// Run changes the role. Access tokens of that person end.
func (c *userSetRoleCommand) Run(p *process) error {
	role := mockbase.InstanceRole(c.Role)
	return c.change(p, c.Who, map[string]any{"role": role}, func(u *mockbase.User) mockbase.UserChange {
		return mockbase.UserChange{ID: u.ID, Change: func(u *mockbase.User) error {
			if u.Role != role {
				u.Epoch++
			}
			u.Role = role
			return nil
		}}
	})
}

// userDisableCommand keeps somebody out (M-122, rule M-39).
type userDisableCommand struct {
	accountFlags

	Who string `arg:"" name:"user" help:"E-mail address or id."`
}

// Run ends everything that the account has open.
func (c *userDisableCommand) Run(p *process) error {
	return c.change(p, c.Who, map[string]any{"disabled": true}, func(u *mockbase.User) mockbase.UserChange {
		return mockbase.UserChange{ID: u.ID, EndSignIns: true, EndTokens: true, Change: func(u *mockbase.User) error {
			u.Disabled = true
			u.Epoch++
			return nil
		}}
	})
}

// userEnableCommand lets somebody in again (M-122).
type userEnableCommand struct {
	accountFlags

	Who string `arg:"" name:"user" help:"E-mail address or id."`
}

// Run leaves ended sign-ins ended.
func (c *userEnableCommand) Run(p *process) error {
	return c.change(p, c.Who, map[string]any{"disabled": false}, func(u *mockbase.User) mockbase.UserChange {
		return mockbase.UserChange{ID: u.ID, Change: func(u *mockbase.User) error {
			u.Disabled = false
			return nil
		}}
	})
}

// change changes an account at a server by a merge patch, or in the data directory.
func (f *accountFlags) change(p *process, who string, patch map[string]any, offline func(*mockbase.User) mockbase.UserChange) error {
	here, err := f.offline(p)
	if err != nil {
		return err
	}
	if here {
		return f.changeOffline(p, who, "updateUser", offline)
	}
	return p.call(&f.Target, "change account "+who, func(r *remote) error {
		return r.elevated(&f.signInFlags, func(as *client.Client) error {
			var doc json.RawMessage
			request := client.Request{Method: http.MethodPatch, Path: client.Path("users", who), Type: "application/merge-patch+json"}
			if err := as.Send(r.ctx, request, patch, &doc); err != nil {
				return err
			}
			return p.printUser(f.Output, doc)
		})
	})
}

// changeOffline changes an account in the data directory.
func (f *accountFlags) changeOffline(p *process, who, action string, change func(*mockbase.User) mockbase.UserChange) error {
	return p.withAccounts(&f.Data, mustExist, func(db *sqlite.DB) error {
		user, err := findUser(p, db, who)
		if err != nil {
			return err
		}
		wanted := change(user)
		wanted.At = p.clock().UTC()
		inner := wanted.Change
		wanted.Change = func(u *mockbase.User) error {
			u.UpdatedAt = wanted.At
			return inner(u)
		}
		changed, err := db.ChangeUser(p.audited(action, user), wanted)
		if err != nil {
			return &failure{code: exitConflict, what: "change account " + who, err: err}
		}
		return p.printUser(f.Output, userDocument(changed))
	})
}

// findUser finds an account by its address or id.
func findUser(p *process, db *sqlite.DB, who string) (*mockbase.User, error) {
	find := db.UserByEmail
	if strings.HasPrefix(who, mockbase.PrefixUser) {
		find = db.UserByID
	} else {
		who = strings.ToLower(strings.TrimSpace(who))
	}
	user, err := find(p.ctx, who)
	if err != nil {
		return nil, &failure{code: exitConflict, what: "find account " + printable(who), err: err, fix: "mockbase user list shows all"}
	}
	return user, nil
}

// userResetPasswordCommand makes a link to a new password (M-125), or sets one in the data directory (rule M-42).
type userResetPasswordCommand struct {
	accountFlags

	Who          string `arg:"" name:"user" help:"E-mail address or id."`
	PasswordFile string `name:"password-file" placeholder:"FILE" help:"With --data-dir: file with the new password; without it, it is asked for, or read from standard input."`
}

// Run prints the link, or the account whose password is new. Every sign-in of that person ends.
func (c *userResetPasswordCommand) Run(p *process) error {
	offline, err := c.offline(p)
	if err != nil {
		return err
	}
	if offline {
		return c.runOffline(p)
	}
	return p.call(&c.Target, "reset password of "+c.Who, func(r *remote) error {
		return r.elevated(&c.signInFlags, func(as *client.Client) error {
			var doc json.RawMessage
			request := client.Request{Method: http.MethodPost, Path: client.Path("users", c.Who, "password-reset"), Creates: true}
			if err := as.Send(r.ctx, request, nil, &doc); err != nil {
				return err
			}
			return p.printLink(c.Output, doc)
		})
	})
}

func (c *userResetPasswordCommand) runOffline(p *process) error {
	password, err := newPassword(p.ctx, p, c.PasswordFile)
	if err != nil {
		return err
	}
	if err := auth.CheckPassword("#/password", password, c.Who); err != nil {
		return weakPassword(err)
	}
	hash, err := auth.NewHasher(auth.HasherOptions{}).Hash(p.ctx, password)
	if err != nil {
		return fmt.Errorf("hash password: %w", err)
	}
	return c.changeOffline(p, c.Who, "resetPassword", func(u *mockbase.User) mockbase.UserChange {
		return mockbase.UserChange{ID: u.ID, EndSignIns: true, Change: func(u *mockbase.User) error {
			u.PasswordHash = hash
			u.Epoch++
			return nil
		}}
	})
}
