package engine

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/template"
)

// maxNotes bounds what an exchange is told about its rendering.
const maxNotes = 50

// scope is what the templates of this call see. All of them share it, and with it one time, one stream of random values and
// one budget (rules P9 and P13).
func (c *call) scope() *template.Scope {
	if c.rendering == nil {
		c.rendering = &template.Scope{
			Request: asked{c}, Variables: c.variables(), State: c.instant.state, Call: c.instant.number, Seed: c.seed(c.session),
			Now: c.now(), Rand: func() *rand.Rand { return c.chance(c.drawnBy()) }, Notes: c.noteMissing(),
			Limit: c.limitView(),
		}
		if !c.session.IsDefault() {
			c.rendering.Session = c.session.ID()
		}
	}
	return c.rendering
}

// variables are those of the session over those of the project.
func (c *call) variables() map[string]json.RawMessage {
	own := c.session.Variables()
	all := c.program.variables
	switch {
	case len(own) == 0 && c.veiled && c.program.veiled != nil:
		return c.program.veiled
	case len(own) == 0:
		return all
	case all == nil:
		return own
	}
	all = maps.Clone(all)
	maps.Copy(all, own)
	if c.veiled && c.program.veiled != nil {
		return veil(c.program.project, all)
	}
	return all
}

// nextScope begins the rendering of the next event or message, which has a time, a budget and random values of its own.
func (c *call) nextScope() {
	c.rendering = nil
	c.pieces++
}

// drawnBy is the purpose of what templates draw (rule AA19).
func (c *call) drawnBy() string {
	if c.pieces == 0 {
		return "template"
	}
	return "template/" + strconv.Itoa(c.pieces)
}

// forgetScope begins the rendering again.
func (c *call) forgetScope() { c.rendering = nil }

// noteMissing is told of missing values, where somebody will read it.
func (c *call) noteMissing() func(string) {
	if c.recording == nil {
		return nil
	}
	return c.note
}

// note adds a warning to the exchange, once.
func (c *call) note(text string) {
	if c.recording == nil || len(c.exchange.Warnings) >= maxNotes || slices.Contains(c.exchange.Warnings, text) {
		return
	}
	c.exchange.Warnings = append(c.exchange.Warnings, text)
}

// variablesOf are a project's variables by name.
func variablesOf(c *mockbase.Config) map[string]json.RawMessage {
	if len(c.Variables) == 0 {
		return nil
	}
	variables := make(map[string]json.RawMessage, len(c.Variables))
	for _, v := range c.Variables {
		variables[v.Name] = v.Value
	}
	return variables
}
