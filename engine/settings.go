package engine

import (
	"encoding/json"
	"net/http"
	"os"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/simlimit"
)

// settings are a project's options in the form in which requests need them.
type settings struct {
	pathRules
	common          *commonLines
	slash           mockbase.TrailingSlash
	strictMethods   bool
	origins         originRules
	hideDecision    bool
	ignorePreferred bool
	maxBody         int64
	// unguarded are the guards of all mocks that state no condition.
	unguarded *guards
	// only is the selection of all mocks that have one response and give it whenever they are asked, unconditional are the
	// terms of all that state none, and bare is what responses have beside them that are sent at once and whole.
	only          *selection
	unconditional *terms
	bare          *beside
	// sandbox tells that pages are sandboxed in browsers (rule Y10).
	sandbox bool
	// files is what file bodies are read from; nil is none (rule O17). seed is the project's, "" for none.
	files   *os.Root
	scripts *scripts
	// limits keeps the buckets of simulated limits; nil is none.
	limits *simlimit.Keeper
	seed   string
	// noMatch replaces the answer to what no mock answers; nil keeps it (rule M1).
	noMatch *response
	// fallback answers what nothing else does; nil is none (rule L6).
	fallback *passing
	// noMatchStatus is false when the author left the status to the case.
	noMatchStatus bool
}

// compileSettings also notes what is wrong with the project's own answer; pointers are relative to the definition.
func (e *Engine) compileSettings(c *mockbase.Config, faults *mockbase.Faults) (*settings, error) {
	given := &c.Settings
	s := &settings{
		common:          newCommonLines(),
		unguarded:       &guards{},
		only:            &selection{kind: mockbase.SelectRules},
		unconditional:   &terms{},
		bare:            &beside{},
		pathRules:       pathRules{ignoreCase: given.IgnorePathCase, mergeEmpty: given.MergeEmptySegments},
		slash:           given.TrailingSlash,
		strictMethods:   given.StrictMethods,
		hideDecision:    given.HideDecision,
		ignorePreferred: given.IgnoreControlHeaders,
		maxBody:         e.options.MaxBody,
		files:           e.files,
		scripts:         &e.scripts,
		limits:          e.options.Limits,
		seed:            seedOf(given.Seed),
		sandbox:         e.options.SharedOrigin && e.options.Sandbox != SandboxOff,
	}
	if given.NoBrowserSandbox && e.options.Sandbox == SandboxProject {
		s.sandbox = false
	}
	if given.MaxBody != nil {
		s.maxBody = min(s.maxBody, *given.MaxBody)
	}
	var err error
	if s.origins, err = compileOrigins(&given.CORS); err != nil {
		return nil, err
	}
	if given.NoMatch != nil {
		s.noMatch = s.compileNoMatch(c, faults)
	}
	if given.Fallback != nil {
		w := &workbench{config: c, settings: s, decision: s.decision(decisionNone), faults: faults, at: "#/settings/fallback", renders: c.Defaults.Template}
		s.fallback = w.compilePass(given.Fallback, nil)
	}
	return s, nil
}

// compileNoMatch compiles the project's own answer to what no mock answers. Defaults are for mocks, and do not apply to it.
func (s *settings) compileNoMatch(c *mockbase.Config, faults *mockbase.Faults) *response {
	given := c.Settings.NoMatch
	bare := *c
	bare.Defaults = mockbase.Defaults{}
	source := &mockbase.Response{
		Name: "noMatch", Status: given.Status, StatusTemplate: given.StatusTemplate, Headers: given.Headers, Body: given.Body,
		Template: given.Template, Delay: given.Delay,
	}
	s.noMatchStatus = given.Status != 0 || given.StatusTemplate != ""
	if !s.noMatchStatus {
		source.Status = http.StatusNotFound
	}
	w := &workbench{config: &bare, settings: s, decision: s.decision(decisionNone), faults: faults, at: "#/settings/noMatch"}
	r := new(response)
	w.compile(r, source)
	return r
}

// seedOf is the text of a project's seed, "" for none: then each session draws its own (rule AA20).
func seedOf(given json.RawMessage) string {
	var text string
	if json.Unmarshal(given, &text) == nil {
		return text
	}
	return string(given)
}

// decision is the value of the decision header, "" when the project leaves it out (rule M7).
func (s *settings) decision(name string) string {
	if s.hideDecision {
		return ""
	}
	return name
}
