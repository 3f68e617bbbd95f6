package main

import (
	"net/http"
	"net/url"

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
