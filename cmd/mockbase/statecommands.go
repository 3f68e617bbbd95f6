package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// projectCall makes a call below the project and prints its answer. The call is a method and the segments of its path.
func (p *process) projectCall(t *config.Target, what string, body any, cols []column, call ...string) error {
	return p.call(t, what, func(r *remote) error {
		path, err := r.below(call[1:]...)
		if err != nil {
			return err
		}
		return r.act(client.Request{Method: call[0], Path: path}, body, cols)
	})
}

// projectList lists what is below the project.
func (p *process) projectList(t *config.Target, what string, q url.Values, cols []column, segments ...string) error {
	return p.call(t, what, func(r *remote) error {
		path, err := r.below(segments...)
		if err != nil {
			return err
		}
		return r.list(path, q, cols)
	})
}

// sessionCommands are about isolated states for tests.
type sessionCommands struct {
	Start sessionStartCommand `cmd:"" help:"Start a session, and print its address."`
	List  sessionListCommand  `cmd:"" help:"List the sessions."`
	Show  sessionShowCommand  `cmd:"" help:"Show a session."`
	Reset sessionResetCommand `cmd:"" help:"Take back what happened in a session."`
	End   sessionEndCommand   `cmd:"" help:"End a session; its traffic is kept."`
}

func sessionColumns() []column {
	return columns("NAME=name", "URL=url", "HEADER=header.value", "SEED=seed", "EXPIRES=expiresAt", "CALLS=counts.calls", "ENDED=endedAt")
}

// sessionStartCommand starts a session (M-186).
type sessionStartCommand struct {
	config.Target

	Name   string            `name:"name" placeholder:"NAME" help:"Name of the session; made up without it."`
	TTL    string            `name:"ttl" placeholder:"TIME" help:"How long it lasts after its last call, 24h at most."`
	Seed   string            `name:"seed" placeholder:"TEXT" help:"Seed of everything random in it."`
	Labels map[string]string `name:"label" mapsep:"none" placeholder:"NAME=VALUE" help:"Label; may be repeated."`
}

// Run prints the session.
func (c *sessionStartCommand) Run(p *process) error {
	body := map[string]any{}
	for name, value := range map[string]string{"name": c.Name, "ttl": c.TTL, "seed": c.Seed} {
		if value != "" {
			body[name] = value
		}
	}
	if len(c.Labels) > 0 {
		body["labels"] = c.Labels
	}
	return p.call(&c.Target, "start session", func(r *remote) error {
		path, err := r.below("sessions")
		if err != nil {
			return err
		}
		return r.make(path, body, sessionColumns())
	})
}

// sessionListCommand lists sessions (M-185).
type sessionListCommand struct {
	config.Target

	Label string `name:"label" placeholder:"NAME=VALUE" help:"Only sessions with this label."`
}

// Run prints those that are active.
func (c *sessionListCommand) Run(p *process) error {
	q := url.Values{"active": {"true"}}
	if c.Label != "" {
		q.Set("label", c.Label)
	}
	return p.projectList(&c.Target, "list sessions", q, sessionColumns(), "sessions")
}

// sessionShowCommand shows a session (M-187).
type sessionShowCommand struct {
	config.Target

	Name string `arg:"" name:"session" default:"default" help:"Name or id; default is what calls without a session use."`
}

// Run prints the session.
func (c *sessionShowCommand) Run(p *process) error {
	return p.projectCall(&c.Target, "show session "+c.Name, nil, append(sessionColumns(), columns("NOW=clock.now")...), http.MethodGet, "sessions", c.Name)
}

// sessionResetCommand resets a session (M-189).
type sessionResetCommand struct {
	config.Target

	Name string   `arg:"" name:"session" help:"Name or id."`
	What []string `name:"what" placeholder:"LEVEL" help:"counters, scenarios, limits, data, journal or all; the first four without it."`
}

// Run says what was reset.
func (c *sessionResetCommand) Run(p *process) error {
	return done(p, "reset session "+c.Name, p.projectCall(&c.Target, "reset session "+c.Name, levels(c.What, ""), nil, http.MethodPost, "sessions", c.Name, "reset"))
}

// levels is the body of a reset (M-138).
func levels(what []string, session string) any {
	body := map[string]any{}
	if len(what) > 0 {
		body["what"] = what
	}
	if session != "" {
		body["session"] = session
	}
	if len(body) == 0 {
		return nil
	}
	return body
}

// done says that something was done, unless it failed.
func done(p *process, what string, err error) error {
	if err == nil {
		p.done("%s: done", printable(what))
	}
	return err
}

// sessionEndCommand ends a session (M-188).
type sessionEndCommand struct {
	config.Target

	Name string `arg:"" name:"session" help:"Name or id."`
}

// Run says what was ended.
func (c *sessionEndCommand) Run(p *process) error {
	return done(p, "end session "+c.Name, p.projectCall(&c.Target, "end session "+c.Name, nil, nil, http.MethodDelete, "sessions", c.Name))
}

// clockCommands are about the clock of a session.
type clockCommands struct {
	Show    clockShowCommand    `cmd:"" help:"Tell the time in a session."`
	Advance clockAdvanceCommand `cmd:"" help:"Let time pass in a session."`
	Set     clockSetCommand     `cmd:"" help:"Set the clock of a session forward to a time."`
	Reset   clockResetCommand   `cmd:"" help:"Set the clock of a session back to the real time."`
}

// clockFlags name the session.
type clockFlags struct {
	config.Target

	Session string `name:"session" default:"default" placeholder:"NAME" help:"Name or id of the session."`
}

func (f *clockFlags) clock(p *process, what, method string, body any) error {
	return p.projectCall(&f.Target, what, body, columns("NOW=now", "OFFSET-MS=offsetMs"), method, "sessions", f.Session, "clock")
}

// clockShowCommand tells the time (M-190).
type clockShowCommand struct{ clockFlags }

// Run prints the time.
func (c *clockShowCommand) Run(p *process) error { return c.clock(p, "tell time", http.MethodGet, nil) }

// clockAdvanceCommand lets time pass (M-191).
type clockAdvanceCommand struct {
	clockFlags

	By string `name:"by" required:"" placeholder:"TIME" help:"How much time, as 1h or 90s."`
}

// Run prints the time as it is then.
func (c *clockAdvanceCommand) Run(p *process) error {
	return c.clock(p, "advance clock", http.MethodPost, map[string]any{"advance": c.By})
}

// clockSetCommand sets the clock (M-191).
type clockSetCommand struct {
	clockFlags

	To string `name:"to" required:"" placeholder:"TIME" help:"The time, as 2030-01-31T12:00:00Z."`
}

// Run prints the time as it is then.
func (c *clockSetCommand) Run(p *process) error {
	return c.clock(p, "set clock", http.MethodPost, map[string]any{"set": c.To})
}

// clockResetCommand sets the clock back (M-191).
type clockResetCommand struct{ clockFlags }

// Run prints the time as it is then.
func (c *clockResetCommand) Run(p *process) error {
	return c.clock(p, "reset clock", http.MethodPost, map[string]any{"reset": true})
}

// scenarioCommands are about the states of scenarios.
type scenarioCommands struct {
	List  scenarioListCommand  `cmd:"" help:"List scenarios with their states."`
	Set   scenarioSetCommand   `cmd:"" help:"Put a scenario into a state."`
	Reset scenarioResetCommand `cmd:"" help:"Put scenarios into their first state."`
}

// sessionFlag names a session.
type sessionFlag struct {
	Session string `name:"session" placeholder:"NAME" help:"In this session; without it, in that of calls without one."`
}

func (f *sessionFlag) query() url.Values {
	if f.Session == "" {
		return nil
	}
	return url.Values{"session": {f.Session}}
}

func (f *sessionFlag) into(body map[string]any) map[string]any {
	if f.Session != "" {
		body["session"] = f.Session
	}
	return body
}

// scenarioListCommand lists scenarios (M-192).
type scenarioListCommand struct {
	config.Target
	sessionFlag
}

// Run prints the list.
func (c *scenarioListCommand) Run(p *process) error {
	return p.projectList(&c.Target, "list scenarios", c.query(), columns("NAME=name", "STATE=state", "STATES=states", "MOCKS=mocks", "CHANGED=changedAt"), "scenarios")
}

// scenarioSetCommand sets a state (M-193).
type scenarioSetCommand struct {
	config.Target
	sessionFlag

	Name  string `arg:"" name:"scenario" help:"Name of the scenario."`
	State string `arg:"" help:"The state."`
}

// Run prints the scenario as it is then.
func (c *scenarioSetCommand) Run(p *process) error {
	return p.projectCall(&c.Target, "set scenario "+c.Name, c.into(map[string]any{"state": c.State}), columns("NAME=name", "STATE=state"), http.MethodPut, "scenarios", c.Name)
}

// scenarioResetCommand resets scenarios (M-194).
type scenarioResetCommand struct {
	config.Target
	sessionFlag

	Names []string `arg:"" optional:"" name:"scenario" help:"Names of scenarios; all without one."`
}

// Run says what was reset.
func (c *scenarioResetCommand) Run(p *process) error {
	body := c.into(map[string]any{})
	if len(c.Names) > 0 {
		body["names"] = c.Names
	}
	return done(p, "reset scenarios", p.projectCall(&c.Target, "reset scenarios", body, nil, http.MethodPost, "scenarios", "reset"))
}

// resetCommand takes back what happened in a project (M-138).
type resetCommand struct {
	config.Target
	sessionFlag

	What []string `name:"what" placeholder:"LEVEL" help:"counters, scenarios, limits, data, journal, mocks or all; the first four without it."`
}

// Run says what was reset.
func (c *resetCommand) Run(p *process) error {
	return done(p, "reset", p.projectCall(&c.Target, "reset", levels(c.What, c.Session), nil, http.MethodPost, "reset"))
}

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

// memberCommands are about who may do what in a project.
type memberCommands struct {
	List memberListCommand   `cmd:"" help:"List the members of a project."`
	Set  memberSetCommand    `cmd:"" help:"Give somebody a role in a project."`
	Rm   memberRemoveCommand `cmd:"" help:"Take somebody's role away."`
}

func memberColumns() []column { return columns("USER=user", "ROLE=role", "SINCE=addedAt") }

// memberListCommand lists members (M-135).
type memberListCommand struct{ config.Target }

// Run prints the list.
func (c *memberListCommand) Run(p *process) error {
	return p.projectList(&c.Target, "list members", nil, memberColumns(), "members")
}

// memberSetCommand gives a role (M-136).
type memberSetCommand struct {
	config.Target

	User string `arg:"" help:"E-mail address or id."`
	Role string `arg:"" enum:"viewer,editor,owner" help:"viewer, editor or owner."`
}

// Run prints the member.
func (c *memberSetCommand) Run(p *process) error {
	return p.projectCall(&c.Target, "set member "+c.User, map[string]any{"role": c.Role}, memberColumns(), http.MethodPut, "members", c.User)
}

// memberRemoveCommand takes a role away (M-137).
type memberRemoveCommand struct {
	config.Target

	User string `arg:"" help:"E-mail address or id."`
}

// Run says who is no member any more.
func (c *memberRemoveCommand) Run(p *process) error {
	return done(p, "remove member "+c.User, p.projectCall(&c.Target, "remove member "+c.User, nil, nil, http.MethodDelete, "members", c.User))
}

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
		return r.act(request, nil, columns("LIFTED=lifted"))
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
