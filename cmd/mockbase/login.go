package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// loginCommand trades a password for a token, and keeps the token (rule C-40).
type loginCommand struct {
	config.Target
	signInFlags

	Expires string `name:"expires" default:"90d" placeholder:"TIME" help:"How long the token is good for, 366d at most."`
}

// Help is what kong prints below the summary.
func (*loginCommand) Help() string {
	return `A token of its own is made for this machine and kept in the user's configuration directory, which nobody else may
read; the password is not kept. --context gives the sign-in a name, so that several servers can be used side by side.`
}

// Run makes the token, keeps it, and deletes the one that it takes the place of.
func (c *loginCommand) Run(p *process) error {
	kept, err := p.loadCredentials()
	if err != nil {
		return err
	}
	if kept.Contexts[c.Context] == nil || p.origins["server"].Stated() {
		p.origins["context"] = config.FromDefault // it names what is to be kept, and no server
	}
	return p.call(&c.Target, "sign in", func(r *remote) error {
		name := c.name(r, kept)
		usual := ""
		if old := kept.Contexts[name]; old != nil {
			usual = old.Email
		}
		made := &signIn{Server: r.Server(), CAFile: c.CAFile}
		if err := r.withPassword(&c.signInFlags, usual, func(as *client.Client) error { return c.makeToken(r, as, made) }); err != nil {
			return err
		}
		old := kept.Contexts[name]
		kept.Contexts[name], kept.Current = made, name
		if err := kept.save(); err != nil {
			_ = r.revoke(made) // a token that nobody knows ends by itself
			return err
		}
		if old != nil && old.Server == made.Server {
			_ = r.revoke(old) // likewise
		}
		p.done("signed in at %s as %s; context %s%s", made.Server, made.Email, name, until(made.ExpiresAt))
		return nil
	})
}

// name is the context that the sign-in is kept as: that of --context, the one there is for this server, or the host.
func (c *loginCommand) name(r *remote, kept *credentials) string {
	if c.Context != "" {
		return c.Context
	}
	for _, name := range kept.names() {
		if kept.Contexts[name].Server == r.Server() {
			return name
		}
	}
	at, err := url.Parse(r.Server())
	if err != nil {
		return r.Server()
	}
	return strings.TrimSuffix(at.Host+at.Path, "/")
}

// makeToken makes a token that may do what its owner may.
func (c *loginCommand) makeToken(r *remote, as *client.Client, made *signIn) error {
	var me struct {
		User struct {
			Email string                `json:"email"`
			Role  mockbase.InstanceRole `json:"role"`
		} `json:"user"`
	}
	if err := as.Get(r.ctx, "/auth/me", nil, &me); err != nil {
		return err
	}
	scope := "project:admin"
	if me.User.Role == mockbase.InstanceAdmin {
		scope = "admin"
	}
	var token struct {
		ID        string     `json:"id"`
		Token     string     `json:"token"`
		ExpiresAt *time.Time `json:"expiresAt"`
	}
	request := client.Request{Method: http.MethodPost, Path: "/tokens", Creates: true}
	err := as.Send(r.ctx, request, map[string]any{
		"name": "cli@" + hostName(), "kind": mockbase.TokenPersonal, "scopes": []string{scope}, "projects": []string{mockbase.AllProjects}, "expiresIn": c.Expires,
	}, &token)
	if err != nil {
		return err
	}
	if token.Token == "" {
		return errors.New("the server made a token and its answer was lost: sign in again")
	}
	made.Email, made.Token, made.TokenID, made.ExpiresAt = me.User.Email, token.Token, token.ID, token.ExpiresAt
	return nil
}

func hostName() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "localhost"
	}
	return name
}

// revoke deletes a token by itself, as far as the server still knows it, and tells whether it is gone.
func (r *remote) revoke(s *signIn) error {
	request := client.Request{Method: http.MethodDelete, Path: client.Path("tokens", s.TokenID)}
	_, err := r.As(s.Token).Do(context.WithoutCancel(r.ctx), request)
	if refused, ok := errors.AsType[*client.RefusedError](err); ok && (refused.Status == http.StatusUnauthorized || refused.Status == http.StatusNotFound) {
		return nil
	}
	return err
}

func until(at *time.Time) string {
	if at == nil {
		return ""
	}
	return ", until " + at.Format(time.DateOnly)
}

// logoutCommand deletes the token that login made, here and at the server.
type logoutCommand struct {
	config.Target
}

// Run forgets the token even when the server cannot be told.
func (c *logoutCommand) Run(p *process) error {
	kept, err := p.loadCredentials()
	if err != nil {
		return err
	}
	name, err := c.name(p, kept)
	if err != nil {
		return err
	}
	found := kept.Contexts[name]
	target := c.Target
	target.Server, target.Context, target.ReadyFile = found.Server, "", ""
	if target.CAFile == "" {
		target.CAFile = found.CAFile
	}
	p.origins["server"], p.origins["context"], p.origins["ready-file"] = config.FromFlag, config.FromDefault, config.FromDefault
	r, err := p.connect(p.ctx, &target)
	if err != nil {
		return err
	}
	defer r.Close()
	revoked := r.revoke(found)
	kept.drop(name)
	if err := kept.save(); err != nil {
		return err
	}
	if revoked != nil && !p.quiet {
		printf(p.Err, "mockbase: warning: the server could not be told (%s): the token stays good there%s\n", oneLine(revoked.Error()), until(found.ExpiresAt))
	}
	p.done("signed out of %s", found.Server)
	return nil
}

// name is the context to end: that of --context or of the server that is named, else the current one.
func (c *logoutCommand) name(p *process, kept *credentials) (string, error) {
	switch {
	case p.origins["context"].Stated():
		_, err := kept.find(c.Context)
		return c.Context, err
	case p.origins["server"].Stated():
		for _, name := range kept.names() {
			if kept.Contexts[name].Server == strings.TrimSuffix(c.Server, "/") {
				return name, nil
			}
		}
	case kept.Contexts[kept.Current] != nil:
		return kept.Current, nil
	}
	return "", &failure{code: exitNotAllowed, err: errors.New("nobody is signed in"), fix: "mockbase context list shows where you are"}
}

// drop forgets a context; the first of those that are left is the current one then.
func (c *credentials) drop(name string) {
	delete(c.Contexts, name)
	if c.Current != name {
		return
	}
	c.Current = ""
	if rest := c.names(); len(rest) > 0 {
		c.Current = rest[0]
	}
}

// contextCommands are about the servers that login keeps a sign-in for.
type contextCommands struct {
	List contextListCommand   `cmd:"" help:"List the servers that you are signed in at."`
	Use  contextUseCommand    `cmd:"" help:"Call this server from now on."`
	Rm   contextRemoveCommand `cmd:"" help:"Forget a server. Its token stays good: logout ends it as well."`
}

// contextListCommand lists contexts; nothing is called.
type contextListCommand struct {
	config.Target
}

// Run prints the list, without tokens.
func (c *contextListCommand) Run(p *process) error {
	kept, err := p.loadCredentials()
	if err != nil {
		return err
	}
	items := make([]json.RawMessage, 0, len(kept.Contexts))
	for _, name := range kept.names() {
		one := kept.Contexts[name]
		item, err := json.Marshal(map[string]any{
			"name": name, "server": one.Server, "email": one.Email, "expiresAt": one.ExpiresAt, "current": name == kept.Current,
		})
		if err != nil {
			return err
		}
		items = append(items, item)
	}
	return p.printList(c.Output, items, columns("NAME=name", "SERVER=server", "EMAIL=email", "UNTIL=expiresAt", "CURRENT=current"))
}

// contextUseCommand makes a context the current one.
type contextUseCommand struct {
	config.Idle
	config.IdleProject
	config.IdleForm

	Name string `arg:"" help:"Name of the context."`
}

// Run fails for a name that nobody signed in as.
func (c *contextUseCommand) Run(p *process) error {
	kept, err := p.loadCredentials()
	if err != nil {
		return err
	}
	if err := kept.named(c.Name); err != nil {
		return err
	}
	kept.Current = c.Name
	if err := kept.save(); err != nil {
		return err
	}
	p.done("commands call %s now", kept.Contexts[c.Name].Server)
	return nil
}

// contextRemoveCommand forgets contexts.
type contextRemoveCommand struct {
	config.Idle
	config.IdleProject
	config.IdleForm

	Names []string `arg:"" name:"name" help:"Names of contexts."`
}

// Run fails for a name that is not there, and changes nothing then.
func (c *contextRemoveCommand) Run(p *process) error {
	kept, err := p.loadCredentials()
	if err != nil {
		return err
	}
	for _, name := range slices.Compact(c.Names) {
		if err := kept.named(name); err != nil {
			return err
		}
		kept.drop(name)
	}
	return kept.save()
}
