package main

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// banCommands are about who is kept out of the server.
type banCommands struct {
	List banListCommand   `cmd:"" help:"List who is banned."`
	Add  banAddCommand    `cmd:"" help:"Ban an address, a network or an account."`
	Rm   banRemoveCommand `cmd:"" help:"Lift bans."`
}

func banColumns() []column {
	return columns("ID=id", "WHO=subject", "REASON=reason", "RULE=rule", "SOURCE=source", "HITS=hits", "UNTIL=expiresAt")
}

// banListCommand lists bans (M-225).
type banListCommand struct{ config.Target }

// Run prints those that hold now.
func (c *banListCommand) Run(p *process) error {
	return p.call(&c.Target, "list bans", func(r *remote) error {
		return r.list("/admin/bans", url.Values{"active": {"true"}}, banColumns())
	})
}

// banAddCommand bans (M-226).
type banAddCommand struct {
	config.Target

	Who    string `arg:"" name:"who" help:"Address, network such as 10.0.0.0/8, or e-mail address of an account."`
	For    string `name:"for" default:"1h" placeholder:"TIME" help:"How long, or forever."`
	Reason string `name:"reason" required:"" placeholder:"TEXT" help:"Why, for those who look at the list."`
}

// Run prints the ban.
func (c *banAddCommand) Run(p *process) error {
	kind := "ip"
	switch {
	case strings.Contains(c.Who, "@"):
		kind = "account"
	case strings.Contains(c.Who, "/"):
		kind = "cidr"
	}
	return p.call(&c.Target, "ban "+c.Who, func(r *remote) error {
		return r.make("/admin/bans", map[string]any{"subject": map[string]string{"type": kind, "value": c.Who}, "duration": c.For, "reason": c.Reason}, banColumns())
	})
}

// banRemoveCommand lifts bans (M-218).
type banRemoveCommand struct {
	config.Target

	IDs []string `arg:"" name:"id" help:"Ids of bans."`
}

// Run prints how many were lifted.
func (c *banRemoveCommand) Run(p *process) error {
	return p.call(&c.Target, "lift bans", func(r *remote) error {
		request := client.Request{Method: http.MethodDelete, Path: "/admin/bans", Query: url.Values{"id": {strings.Join(c.IDs, ",")}}}
		answer, err := r.exchange(request, nil)
		if err != nil {
			return err
		}
		var done struct {
			Lifted int `json:"lifted"`
		}
		if err := answer.JSON(&done); err != nil {
			return err
		}
		if wanted := len(slices.Compact(slices.Sorted(slices.Values(c.IDs)))); done.Lifted < wanted {
			err = fmt.Errorf("%d of %d bans are not there", wanted-done.Lifted, wanted)
			return &failure{code: exitConflict, what: "lift bans", err: err, fix: "mockbase ban list shows those that hold"}
		}
		return r.printOne(r.output, answer.Body, columns("LIFTED=lifted"))
	})
}

// shieldCommands are about the limits that keep the server alive.
type shieldCommands struct {
	Show   shieldShowCommand   `cmd:"" help:"Show the settings of the shield."`
	Status shieldStatusCommand `cmd:"" help:"Show what the shield did, and how its store is."`
	Check  shieldCheckCommand  `cmd:"" help:"Say what the shield would decide about an address."`
}

// shieldShowCommand shows the settings (M-220).
type shieldShowCommand struct{ config.Target }

// Run prints the policies; the other forms hold everything.
func (c *shieldShowCommand) Run(p *process) error {
	return p.members(&c.Target, "show shield", "/admin/shield", "policies", columns("POLICY=name", "LIMIT=limit", "WINDOW=window", "ALGORITHM=algorithm", "KEY=key", "MODE=mode", "ON STORE FAILURE=onStoreFailure"))
}

// shieldStatusCommand shows the state (M-222).
type shieldStatusCommand struct{ config.Target }

// Run prints the counts; the other forms hold everything.
func (c *shieldStatusCommand) Run(p *process) error {
	return p.members(&c.Target, "show state of the shield", "/admin/shield/status", "policies", columns("POLICY=name", "ALLOWED=allowed", "LIMITED=limited", "WOULD LIMIT=wouldLimit", "FAILED OPEN=failedOpen"))
}

// members shows an object whose list is what people want to see.
func (p *process) members(t *config.Target, what, path, list string, cols []column) error {
	return p.call(t, what, func(r *remote) error {
		answer, err := r.Do(r.ctx, client.Request{Method: http.MethodGet, Path: path})
		if err != nil {
			return err
		}
		return r.printMembers(answer, list, cols)
	})
}

// shieldCheckCommand asks about an address (M-223).
type shieldCheckCommand struct {
	config.Target

	IP   string `name:"ip" required:"" placeholder:"ADDRESS" help:"Address of the client."`
	Path string `name:"path" placeholder:"PATH" help:"Path that it asks for."`
}

// Run prints the decision; nothing is consumed.
func (c *shieldCheckCommand) Run(p *process) error {
	body := map[string]any{"ip": c.IP}
	if c.Path != "" {
		body["path"] = c.Path
	}
	return p.call(&c.Target, fmt.Sprintf("check %s", c.IP), func(r *remote) error {
		return r.act(client.Request{Method: http.MethodPost, Path: "/admin/shield/check"}, body, columns("CLIENT=client", "DECIDED BY=decidedBy", "POLICY=policy", "REMAINING=remaining"))
	})
}
