package main

import (
	"net/http"
	"net/url"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// tokenCommands look after API tokens.
type tokenCommands struct {
	Create tokenCreateCommand `cmd:"" help:"Make a token, and print its secret, this once."`
	List   tokenListCommand   `cmd:"" help:"List your tokens."`
	Revoke tokenRevokeCommand `cmd:"" help:"End a token."`
}

func tokenColumns() []column {
	return columns("ID=id", "NAME=name", "KIND=kind", "PREFIX=prefix", "SCOPES=scopes", "PROJECTS=projects", "EXPIRES=expiresAt", "LAST USED=lastUsedAt")
}

// tokenCreateCommand makes a token (M-116).
type tokenCreateCommand struct {
	config.Target
	signInFlags

	Name    string   `arg:"" help:"What the token is for."`
	Scopes  []string `name:"scope" placeholder:"SCOPE" help:"What it may do, such as mocks:read, traffic:read, verify or mocks:write; may be repeated."`
	Kind    string   `name:"kind" enum:"personal,service,public" default:"personal" placeholder:"KIND" help:"personal (acts for you), service (belongs to its projects) or public (calls mocks of a project that asks for a token)."`
	Expires string   `name:"expires" default:"90d" placeholder:"TIME" help:"How long it is good for, 366d at most, or never."`
}

// Run prints the secret alone, so that a script can take it; the other forms hold it among the rest.
func (c *tokenCreateCommand) Run(p *process) error {
	return p.call(&c.Target, "make token", func(r *remote) error {
		body := map[string]any{"name": c.Name, "kind": c.Kind, "expiresIn": c.Expires, "projects": []string{"*"}}
		if c.Kind != "public" {
			body["scopes"] = append([]string{}, c.Scopes...)
		}
		if c.Kind != "personal" || r.slug != "" {
			slug, err := r.project()
			if err != nil {
				return err
			}
			body["projects"] = []string{slug}
		}
		return r.elevated(&c.signInFlags, func(as *client.Client) error {
			one := *r
			one.Client = as
			answer, err := one.exchange(client.Request{Method: http.MethodPost, Path: "/tokens", Creates: true}, body)
			if err != nil {
				return err
			}
			if c.Output == config.OutputAuto {
				printf(p.Out, "%s\n", memberText(answer.Body, "token"))
				p.done("token %s; it is shown this once", memberText(answer.Body, "id"))
				return nil
			}
			return p.printOne(c.Output, answer.Body, append(tokenColumns(), columns("TOKEN=token")...))
		})
	})
}

// tokenListCommand lists tokens (M-115).
type tokenListCommand struct {
	config.Target

	All bool `name:"all" help:"Those of everybody; for administrators."`
}

// Run prints the list: of a project, when one is named.
func (c *tokenListCommand) Run(p *process) error {
	return p.call(&c.Target, "list tokens", func(r *remote) error {
		q := url.Values{}
		if c.All {
			q.Set("all", "true")
		}
		if r.slug != "" {
			q.Set("project", r.slug)
		}
		return r.list("/tokens", q, tokenColumns())
	})
}

// tokenRevokeCommand ends a token (M-118).
type tokenRevokeCommand struct {
	config.Target

	ID string `arg:"" name:"id" help:"Id of the token."`
}

// Run says what was ended.
func (c *tokenRevokeCommand) Run(p *process) error {
	return p.call(&c.Target, "revoke token "+c.ID, func(r *remote) error { return r.remove("token "+c.ID, client.Path("tokens", c.ID)) })
}

// auditCommand prints the audit log (M-231).
type auditCommand struct {
	config.Target

	Since string `name:"since" placeholder:"TIME" help:"Only since a time, or since so long ago, as 7d."`
	Actor string `name:"actor" placeholder:"WHO" help:"Only what this user or token did."`
}

// Run prints the newest entries first; of a project, when one is named.
func (c *auditCommand) Run(p *process) error {
	return p.call(&c.Target, "read audit log", func(r *remote) error {
		q := url.Values{}
		since, err := moment(c.Since, p.clock())
		if err != nil {
			return err
		}
		if since != "" {
			q.Set("since", since)
		}
		if c.Actor != "" {
			q.Set("actor", c.Actor)
		}
		path := "/admin/audit"
		if r.slug != "" {
			path = client.Path("projects", r.slug, "audit")
		}
		return r.list(path, q, columns("AT=at", "ACTOR=actor.label", "ACTION=action", "TARGET=target.name", "OUTCOME=outcome", "IP=ip"))
	})
}

// keyCommands look after the keys that sign access tokens.
type keyCommands struct {
	List   keyListCommand   `cmd:"" help:"List the keys."`
	Rotate keyRotateCommand `cmd:"" help:"Sign with a new key from now on."`
}

func keyColumns() []column {
	return columns("ID=id", "ALGORITHM=algorithm", "STATE=state", "CREATED=createdAt", "RETIRES=retiresAt")
}

// keyListCommand lists keys (M-229).
type keyListCommand struct {
	config.Target
}

// Run prints the list.
func (c *keyListCommand) Run(p *process) error {
	return p.call(&c.Target, "list keys", func(r *remote) error { return r.list("/admin/keys", nil, keyColumns()) })
}

// keyRotateCommand rotates keys (M-230).
type keyRotateCommand struct {
	config.Target
	signInFlags

	RevokeNow bool `name:"revoke-now" help:"Drop the old keys at once, which ends every sign-in."`
}

// Run prints the keys as they are then.
func (c *keyRotateCommand) Run(p *process) error {
	return p.call(&c.Target, "rotate keys", func(r *remote) error {
		return r.elevated(&c.signInFlags, func(as *client.Client) error {
			var made client.Page
			err := as.Send(r.ctx, client.Request{Method: http.MethodPost, Path: "/admin/keys/rotate"}, map[string]any{"revokeNow": c.RevokeNow}, &made)
			if err != nil {
				return err
			}
			return p.printList(c.Output, made.Items, keyColumns())
		})
	})
}
