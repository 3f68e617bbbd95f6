package management

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/catalog"
)

// limitMatch compares If-Match with the version of a named policy.
func (c *call) limitMatch(name string) (catalog.Match, error) {
	p := c.project.Project
	if !hasLimit(p, name) {
		return catalog.Match{}, nil
	}
	return c.ifMatch(p.LimitVersion(name))
}

func hasLimit(p *mockbase.Project, name string) bool {
	return slices.ContainsFunc(p.Config.RateLimits, func(l mockbase.NamedLimit) bool { return l.Name == name })
}

// setLimit makes a named policy or changes one (M-207). What was consumed stays.
func (s *Server) setLimit(c *call) error {
	name, err := pathParam(c, "rateLimit")
	if err != nil {
		return err
	}
	match, err := c.limitMatch(name)
	if err != nil {
		return err
	}
	change := catalog.LimitChange{Name: name, Match: match, OnlyNew: readCondition(c, "If-None-Match").any}
	given, err := c.policy(name)
	if err != nil {
		return c.body.judged(c.located(err), func() []mockbase.FieldError {
			if given.node == nil {
				return nil
			}
			return below(given.at, s.Catalog.LimitFaults(c.project.Project, name, given.read))
		})
	}
	change.Policy = given.node.JSON()
	made, err := s.Catalog.SetLimit(c.ctx(), c.project.Project.ID, change)
	if err != nil {
		return fromPolicy(name, given.at, err)
	}
	return s.answerLimit(c, name, made)
}

// givenPolicy is a policy as a body states it, at a place of the body; node is nil where there is none.
type givenPolicy struct {
	node *mockbase.Node
	at   string
	read *mockbase.LimitPolicy
}

// below puts faults with pointers relative to a place at that place.
func below(at string, faults []mockbase.FieldError) []mockbase.FieldError {
	for i := range faults {
		faults[i].Pointer = at + strings.TrimPrefix(faults[i].Pointer, "#")
	}
	return faults
}

// policy reads the text of a policy. What a GET gave, with the policy as a member, is taken too (rule M-8).
// Beside faults comes what could be read.
func (c *call) policy(name string) (givenPolicy, error) {
	body, err := c.read(typeJSON)
	if err != nil {
		return givenPolicy{}, err
	}
	root, err := parse(body, c.route.body)
	if err != nil {
		return givenPolicy{}, err
	}
	var faults mockbase.Faults
	given := givenPolicy{node: root, at: "#"}
	if inside := root.Find("policy"); inside != nil {
		f := mockbase.NewFields(root, "#", &faults)
		f.ReadOnly("scope", "mock", "bucket", "usage", "store", "degraded", "version", "source", "policy")
		own := name
		if f.Text("name", &own) && own != name {
			f.Fault("name", mockbase.FieldConflict, "is %s, and the address names %s", shown(own), shown(name))
		}
		f.Done()
		given.node, given.at = inside, f.Pointer("policy")
	}
	given.read = mockbase.DecodeLimitPolicy(given.node, given.at, &faults)
	if !mockbase.ValidSlug(name) {
		faults.Append(mockbase.FieldError{
			Pointer: "#", Code: mockbase.FieldPattern,
			Detail: shown(name) + " is no name of a policy: use lower-case letters, digits and hyphens; a limit inside a mock is changed with the mock",
		})
	}
	return given, faults.Err()
}

// fromPolicy makes pointers into the project's definition that are about a policy lead to where the body states it.
func fromPolicy(name, at string, err error) error {
	known, ok := errors.AsType[*mockbase.Error](err)
	if !ok || len(known.Fields) == 0 {
		return err
	}
	placed := *known
	placed.Fields = slices.Clone(known.Fields)
	for i := range placed.Fields {
		if rest, inside := strings.CutPrefix(placed.Fields[i].Pointer, "#/rateLimits/"+mockbase.PointerToken(name)); inside {
			placed.Fields[i].Pointer = at + rest
		}
	}
	return placed.Retold()
}

func (s *Server) answerLimit(c *call, name string, made bool) error {
	fresh, ok := s.Catalog.Project(c.project.Project.ID)
	if !ok {
		return noSuchProject()
	}
	found, err := s.Limits.Limit(fresh.Project.ID, "", name)
	if err != nil {
		return err
	}
	view := viewOfLimit(fresh, &found)
	return c.written(made, view.Version, view)
}

// deleteLimit deletes a named policy that nothing uses (M-208).
func (s *Server) deleteLimit(c *call) error {
	name, err := pathParam(c, "rateLimit")
	if err != nil {
		return err
	}
	if !hasLimit(c.project.Project, name) {
		return s.notDeletable(c, name)
	}
	match, err := c.limitMatch(name)
	if err != nil {
		return err
	}
	if err := s.Catalog.DeleteLimit(c.ctx(), c.project.Project.ID, name, match); err != nil {
		return err
	}
	return c.nothing()
}

// notDeletable tells a limit that a mock or collection states itself from one that does not exist.
func (s *Server) notDeletable(c *call, name string) error {
	found, err := s.Limits.Limit(c.project.Project.ID, "", name)
	if err != nil {
		return err
	}
	return &mockbase.Error{
		Code: mockbase.CodeInUse, Message: shown(found.Mock) + " states the limit " + shown(name) + " itself", Hint: "take it out there",
	}
}

// setLimitKey says how much a key has used (M-212).
func (s *Server) setLimitKey(c *call) error {
	name, keyID, err := limitAndKey(c)
	if err != nil {
		return err
	}
	projectID, session := c.project.Project.ID, ""
	if _, err := s.Limits.Limit(projectID, "", name); err != nil {
		return err
	}
	var used int64
	err = c.object(typeJSON, func(f *mockbase.Fields) {
		f.Int64("used", &used, 0, mostUsed)
		f.Text("session", &session)
		f.Required("used")
	})
	if err != nil {
		return err
	}
	if err := s.audited(c); err != nil {
		return err
	}
	found, err := s.Limits.SetLimitUsed(projectID, session, name, keyID, used)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, viewOfKey(&found))
}

// mostUsed is more than any limit allows; the plane knows the limit.
const mostUsed = 1 << 53

// resetLimit empties the bucket of a limit, or one key of it (M-213). A body is not needed.
func (s *Server) resetLimit(c *call) error {
	name, err := pathParam(c, "rateLimit")
	if err != nil {
		return err
	}
	projectID, session, keyID := c.project.Project.ID, "", ""
	if _, err := s.Limits.Limit(projectID, "", name); err != nil {
		return err
	}
	err = c.maybeObject(func(f *mockbase.Fields) {
		f.Text("session", &session)
		f.Text("keyId", &keyID)
	})
	if err != nil {
		return err
	}
	if err := s.audited(c); err != nil {
		return err
	}
	cleared, err := s.Limits.ResetLimit(projectID, session, name, keyID)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, struct {
		Cleared int `json:"cleared"`
	}{cleared})
}

// simulateLimit tells what would be decided about requests, and consumes nothing (M-214).
func (s *Server) simulateLimit(c *call) error {
	name, err := pathParam(c, "rateLimit")
	if err != nil {
		return err
	}
	projectID := c.project.Project.ID
	if _, err := s.Limits.Limit(projectID, "", name); err != nil {
		return err
	}
	var trial mockbase.LimitTrial
	err = c.objectIn(typeJSON, func(f *mockbase.Fields, faults *mockbase.Faults) {
		if policy := f.Node("policy"); policy != nil {
			trial.Policy = mockbase.DecodeLimitPolicy(policy, f.Pointer("policy"), faults)
		}
		readTrial(f, &trial)
	})
	if err != nil {
		return err
	}
	decisions, err := s.Limits.SimulateLimit(projectID, name, &trial)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, viewOfTrial(decisions))
}

// readTrial reads requests one by one, or their number and pace.
func readTrial(f *mockbase.Fields, t *mockbase.LimitTrial) {
	if f.Has("requests") {
		for _, name := range []string{"count", "ratePerSecond", "key", "cost"} {
			if f.Has(name) {
				f.Node(name)
				f.Fault(name, mockbase.FieldConflict, "cannot stand beside requests: each of them says it")
			}
		}
		given := f.Objects("requests")
		if len(given) == 0 {
			f.Fault("requests", mockbase.FieldLimit, "must have at least one request")
		}
		for _, one := range given {
			var r mockbase.LimitTrialRequest
			one.Duration("at", &r.At)
			one.Text("key", &r.Key)
			r.Cost = cost(one)
			one.Done()
			t.Requests = append(t.Requests, r)
		}
		return
	}
	var pace json.Number
	f.Int("count", &t.Count, 1, mockbase.MaxLimitTrial)
	if f.Number("ratePerSecond", &pace) {
		var err error
		if t.RatePerSecond, err = pace.Float64(); err != nil {
			f.Fault("ratePerSecond", mockbase.FieldRange, "is out of range")
		}
	}
	f.Text("key", &t.Key)
	t.Cost = cost(f)
	f.Required("count", "ratePerSecond")
}

func cost(f *mockbase.Fields) *int64 {
	var n int64
	if !f.Int64("cost", &n, 0, mostUsed) {
		return nil
	}
	return &n
}

type trialView struct {
	Decisions []trialDecisionView `json:"decisions"`
	Summary   trialSummary        `json:"summary"`
}

type trialDecisionView struct {
	At           string   `json:"at"`
	Key          string   `json:"key"`
	Allowed      bool     `json:"allowed"`
	Remaining    int64    `json:"remaining"`
	RetryAfterMs *float64 `json:"retryAfterMs"`
}

// trialSummary counts the decisions. FirstLimitedAt is the time of the first refusal, nil if there is none.
type trialSummary struct {
	Requests       int     `json:"requests"`
	Allowed        int     `json:"allowed"`
	Limited        int     `json:"limited"`
	Keys           int     `json:"keys"`
	FirstLimitedAt *string `json:"firstLimitedAt"`
}

func viewOfTrial(decisions []mockbase.LimitTrialDecision) trialView {
	v := trialView{Decisions: make([]trialDecisionView, len(decisions)), Summary: trialSummary{Requests: len(decisions)}}
	keys := map[string]bool{}
	for i, d := range decisions {
		keys[d.Key] = true
		v.Decisions[i] = trialDecisionView{durationText(d.At.Truncate(time.Millisecond)), d.Key, d.Allowed, d.Remaining, waitMs(d.RetryAfter)}
		if d.Allowed {
			v.Summary.Allowed++
			continue
		}
		v.Summary.Limited++
		if v.Summary.FirstLimitedAt == nil {
			v.Summary.FirstLimitedAt = &v.Decisions[i].At
		}
	}
	v.Summary.Keys = len(keys)
	return v
}
