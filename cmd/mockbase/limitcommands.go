package main

import (
	"net/http"
	"net/url"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// limitCommands are about the limits that mocks pretend to have.
type limitCommands struct {
	List     limitListCommand     `cmd:"" help:"List the simulated limits of a project."`
	Show     limitShowCommand     `cmd:"" help:"Show a limit."`
	Keys     limitKeysCommand     `cmd:"" help:"List who is counted by a limit."`
	Reset    limitResetCommand    `cmd:"" help:"Begin to count anew."`
	SetUsed  limitSetUsedCommand  `cmd:"" help:"Say how much a key has used."`
	Simulate limitSimulateCommand `cmd:"" help:"Say what a limit would do with so many requests."`
}

func limitColumns() []column {
	return columns("NAME=name", "SCOPE=scope", "MOCK=mock", "POLICY=policy", "PEAK %=usage.peakPercent", "LIMITED 24H=usage.limited24h")
}

// limitListCommand lists limits (M-205).
type limitListCommand struct {
	config.Target
	sessionFlag
}

// Run prints the list.
func (c *limitListCommand) Run(p *process) error {
	return p.projectList(&c.Target, "list limits", c.query(), limitColumns(), "rate-limits")
}

// limitShowCommand shows a limit (M-206).
type limitShowCommand struct {
	config.Target

	Name string `arg:"" name:"limit" help:"Name of a policy, or mock:NAME for the limit inside a mock."`
}

// Run prints the limit.
func (c *limitShowCommand) Run(p *process) error {
	return p.projectCall(&c.Target, "show limit "+c.Name, nil, limitColumns(), http.MethodGet, "rate-limits", c.Name)
}

// limitKeysCommand lists keys (M-210).
type limitKeysCommand struct {
	config.Target
	sessionFlag

	Name string `arg:"" name:"limit" help:"Name of a policy, or mock:NAME."`
	Key  string `name:"key" placeholder:"TEXT" help:"Only keys that hold this text."`
}

// Run prints the list, whoever was limited most first.
func (c *limitKeysCommand) Run(p *process) error {
	q := url.Values{"sort": {"-limited"}}
	if c.Session != "" {
		q.Set("session", c.Session)
	}
	if c.Key != "" {
		q.Set("key", c.Key)
	}
	return p.projectList(&c.Target, "list keys of "+c.Name, q,
		columns("KEY=keyId", "WHO=label", "REQUESTS=requests", "LIMITED=limited", "USED=used", "REMAINING=remaining", "RESETS=resetAt"), "rate-limits", c.Name, "keys")
}

// limitResetCommand begins to count anew (M-213).
type limitResetCommand struct {
	config.Target
	sessionFlag

	Name string `arg:"" name:"limit" help:"Name of a policy, or mock:NAME."`
	Key  string `name:"key" placeholder:"KEY" help:"For this key alone."`
}

// Run prints how many keys were cleared.
func (c *limitResetCommand) Run(p *process) error {
	body := c.into(map[string]any{})
	if c.Key != "" {
		body["keyId"] = c.Key
	}
	return p.projectCall(&c.Target, "reset limit "+c.Name, body, columns("CLEARED=cleared"), http.MethodPost, "rate-limits", c.Name, "reset")
}

// limitSetUsedCommand says how much is used (M-212).
type limitSetUsedCommand struct {
	config.Target
	sessionFlag

	Name string `arg:"" name:"limit" help:"Name of a policy, or mock:NAME."`
	Used int64  `arg:"" name:"used" help:"How much is used."`
	Key  string `name:"key" required:"" placeholder:"KEY" help:"The key."`
}

// Run prints the key as it is then.
func (c *limitSetUsedCommand) Run(p *process) error {
	return p.projectCall(&c.Target, "set used of "+c.Name, c.into(map[string]any{"used": c.Used}),
		columns("KEY=keyId", "USED=used", "REMAINING=remaining", "RESETS=resetAt"), http.MethodPut, "rate-limits", c.Name, "keys", c.Key)
}

// limitSimulateCommand says what a limit would do (M-214).
type limitSimulateCommand struct {
	config.Target

	Name  string  `arg:"" name:"limit" help:"Name of a policy, or mock:NAME."`
	Count int     `name:"count" default:"20" placeholder:"N" help:"How many requests."`
	Rate  float64 `name:"rate" default:"10" placeholder:"N" help:"How many each second."`
	Key   string  `name:"key" placeholder:"KEY" help:"Whose requests."`
}

// Run prints each decision; nothing is consumed.
func (c *limitSimulateCommand) Run(p *process) error {
	return p.call(&c.Target, "simulate limit "+c.Name, func(r *remote) error {
		path, err := r.below("rate-limits", c.Name, "simulate")
		if err != nil {
			return err
		}
		body := map[string]any{"count": c.Count, "ratePerSecond": c.Rate}
		if c.Key != "" {
			body["key"] = c.Key
		}
		answer, err := r.exchange(client.Request{Method: http.MethodPost, Path: path}, body)
		if err != nil {
			return err
		}
		return r.printMembers(answer, "decisions", columns("AT=at", "KEY=key", "ALLOWED=allowed", "REMAINING=remaining", "RETRY AFTER MS=retryAfterMs"))
	})
}
