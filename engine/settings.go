package engine

import (
	"github.com/mockbase/mockbase"
)

// settings are a project's options in the form in which requests need them.
type settings struct {
	pathRules
	common          commonLines
	slash           mockbase.TrailingSlash
	strictMethods   bool
	origins         originRules
	hideDecision    bool
	ignorePreferred bool
	maxBody         int64
	// sandbox tells that pages are sandboxed in browsers (rule Y10).
	sandbox bool
	// noMatch replaces the answer to what no mock answers; nil keeps it (rule M1).
	noMatch *answer
	// noMatchStatus is false when the author left the status to the case.
	noMatchStatus bool
}

func (e *Engine) compileSettings(c *mockbase.Config) (*settings, error) {
	given := &c.Settings
	s := &settings{
		common:          newCommonLines(),
		pathRules:       pathRules{ignoreCase: given.IgnorePathCase, mergeEmpty: given.MergeEmptySegments},
		slash:           given.TrailingSlash,
		strictMethods:   given.StrictMethods,
		hideDecision:    given.HideDecision,
		ignorePreferred: given.IgnoreControlHeaders,
		maxBody:         e.options.MaxBody,
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
		d := draft{
			status: given.NoMatch.Status, kind: given.NoMatch.Body.Kind, body: given.NoMatch.Body.Bytes,
			headers: given.NoMatch.Headers, decision: s.decision(decisionNone),
		}
		s.noMatchStatus = d.status != 0
		if !s.noMatchStatus {
			d.status = 404
		}
		s.noMatch = d.compile(s)
	}
	return s, nil
}

// decision is the value of the decision header, "" when the project leaves it out (rule M7).
func (s *settings) decision(name string) string {
	if s.hideDecision {
		return ""
	}
	return name
}
