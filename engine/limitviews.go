package engine

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/session"
	"github.com/mockbase/mockbase/engine/simlimit"
	"github.com/mockbase/mockbase/ratelimit"
)

// What management sees and changes of simulated limits (M-205 to M-214). Projects are named by their ids, sessions by name
// or id, "" being the default one; limits as [mockbase.LimitView] says. What is not there is CodeNotFound.

// Prefixes of the names of limits that no policy has.
const (
	mockLimitPrefix       = "mock:"
	collectionLimitPrefix = "collection:"
)

// Limits lists the limits of a project with their use in a session: the named policies, then those inside mocks and
// collections. Mocks that use a named policy have no entry of their own.
func (e *Engine) Limits(projectID, sessionName string) ([]mockbase.LimitView, error) {
	p, s, err := e.living(projectID, sessionName)
	if err != nil {
		return nil, err
	}
	var views []mockbase.LimitView
	for _, known := range p.limits() {
		views = append(views, e.limitViewOf(p, s, &known))
	}
	return views, nil
}

// Limit returns one limit with its use in a session.
func (e *Engine) Limit(projectID, sessionName, name string) (mockbase.LimitView, error) {
	p, s, known, err := e.knownLimit(projectID, sessionName, name)
	if err != nil {
		return mockbase.LimitView{}, err
	}
	return e.limitViewOf(p, s, known), nil
}

// LimitTimeline returns the use of a limit in a session, over at least a time that ends now, up to a week, in steps that
// are the finer the shorter it is (M-209).
func (e *Engine) LimitTimeline(projectID, sessionName, name string, span time.Duration) (mockbase.LimitTimeline, error) {
	p, s, known, err := e.knownLimit(projectID, sessionName, name)
	if err != nil {
		return mockbase.LimitTimeline{}, err
	}
	space, err := e.spaceFor(p, s)
	if err != nil {
		return mockbase.LimitTimeline{}, err
	}
	return space.Timeline(known.Limit, span), nil
}

// LimitKeys lists the keys of a limit in a session with what they have left, the one used last first (M-210). A bounded
// number of keys is known.
func (e *Engine) LimitKeys(projectID, sessionName, name string) ([]mockbase.LimitKey, error) {
	p, s, known, err := e.knownLimit(projectID, sessionName, name)
	if err != nil {
		return nil, err
	}
	space, err := e.spaceFor(p, s)
	if err != nil {
		return nil, err
	}
	return space.Keys(known.Limit, s.Clock().Now()), nil
}

// LimitKey returns one key of a limit with its last 50 decisions (M-211).
func (e *Engine) LimitKey(projectID, sessionName, name, keyID string) (mockbase.LimitKey, error) {
	p, s, known, err := e.knownLimit(projectID, sessionName, name)
	if err != nil {
		return mockbase.LimitKey{}, err
	}
	space, err := e.spaceFor(p, s)
	if err != nil {
		return mockbase.LimitKey{}, err
	}
	key, err := space.Key(known.Limit, keyID, s.Clock().Now())
	return key, limitFailure(err, keyID)
}

// SetLimitUsed makes a key have used a number of units, as if its window had just begun (M-212), and returns the key. A
// number that the limit cannot have is CodeValidationFailed with the pointer #/used.
func (e *Engine) SetLimitUsed(projectID, sessionName, name, keyID string, used int64) (mockbase.LimitKey, error) {
	p, s, known, err := e.knownLimit(projectID, sessionName, name)
	if err != nil {
		return mockbase.LimitKey{}, err
	}
	space, err := e.spaceFor(p, s)
	if err != nil {
		return mockbase.LimitKey{}, err
	}
	if err := space.SetUsed(known.Limit, keyID, used, s.Clock().Now()); err != nil {
		return mockbase.LimitKey{}, limitFailure(err, keyID)
	}
	return e.LimitKey(projectID, sessionName, name, keyID)
}

// ResetLimit empties the bucket of a limit in a session and lifts its bans, or those of one key (M-213). It returns how
// many keys were known.
func (e *Engine) ResetLimit(projectID, sessionName, name, keyID string) (int, error) {
	p, s, known, err := e.knownLimit(projectID, sessionName, name)
	if err != nil {
		return 0, err
	}
	space, err := e.spaceFor(p, s)
	if err != nil {
		return 0, err
	}
	if keyID == "" {
		cleared, err := space.ResetBucket(known.Limit)
		return cleared, limitFailure(err, keyID)
	}
	if err := space.ResetKey(known.Limit, keyID); err != nil {
		return 0, limitFailure(err, keyID)
	}
	return 1, nil
}

// SimulateLimit decides about made-up requests under a limit, or a policy in its place, which begins with empty buckets;
// nothing is consumed (M-214). What cannot be tried is CodeValidationFailed with pointers relative to the trial.
func (e *Engine) SimulateLimit(projectID, name string, trial *mockbase.LimitTrial) ([]mockbase.LimitTrialDecision, error) {
	p, s, known, err := e.knownLimit(projectID, "", name)
	if err != nil {
		return nil, err
	}
	tried := known.Limit
	if trial.Policy != nil {
		var faults mockbase.Faults
		if tried = simlimit.Compile(trial.Policy, simlimit.PolicyPlace(known.bucket()), "#/policy", &faults); tried == nil {
			return nil, faults.Err()
		}
	}
	requests, err := trialRequests(trial)
	if err != nil {
		return nil, err
	}
	if isTemplate := func(text string) bool { return strings.HasPrefix(text, "template:") }; slices.ContainsFunc(tried.Source.Keys, isTemplate) {
		requests = withKey(requests, e.bareKey(p, s, tried.Source.Keys))
	}
	return tried.Simulate(requests), nil
}

// withKey gives a key to the requests that state none.
func withKey(requests []mockbase.LimitTrialRequest, text string) []mockbase.LimitTrialRequest {
	keyed := slices.Clone(requests)
	for i := range keyed {
		keyed[i].Key = cmp.Or(keyed[i].Key, text)
	}
	return keyed
}

// bareKey is the key of a request that has nothing which keys read: that of a template is what it says then.
func (e *Engine) bareKey(p *program, s *session.Session, texts []string) string {
	b := &limitsBuilder{settings: p.settings, faults: new(mockbase.Faults)}
	k := b.key(texts, "#/key")
	at := e.prefix + p.project.Slug + "/"
	c := e.look(p, &http.Request{Method: http.MethodGet, RequestURI: at, URL: &url.URL{Path: at}, Header: http.Header{}, Body: http.NoBody})
	c.session = s
	return k.of(c)
}

// trialRequests are the requests of a trial one by one.
func trialRequests(trial *mockbase.LimitTrial) ([]mockbase.LimitTrialRequest, error) {
	most := "must be from 1 to " + strconv.Itoa(mockbase.MaxLimitTrial)
	requests := trial.Requests
	switch {
	case len(requests) > mockbase.MaxLimitTrial:
		return nil, untried("#/requests", most+" requests")
	case len(requests) > 0:
	case trial.Count < 1 || trial.Count > mockbase.MaxLimitTrial:
		return nil, untried("#/count", most)
	default:
		pace := trial.RatePerSecond
		if !(pace > 0) || math.IsInf(pace, 0) || float64(trial.Count)/pace > ratelimit.MaxWindow.Seconds() {
			return nil, untried("#/ratePerSecond", "must be above 0, and end within ten years")
		}
		for i := range trial.Count {
			at := time.Duration(float64(i) / pace * float64(time.Second))
			requests = append(requests, mockbase.LimitTrialRequest{At: at, Key: trial.Key, Cost: trial.Cost})
		}
	}
	return requests, checkTrial(requests)
}

func checkTrial(requests []mockbase.LimitTrialRequest) error {
	for i := range requests {
		at := "#/requests/" + strconv.Itoa(i)
		switch r := &requests[i]; {
		case r.At < 0 || r.At > ratelimit.MaxWindow:
			return untried(at+"/at", "must not be before the trial begins, nor ten years later")
		case r.Cost != nil && *r.Cost < 0:
			return untried(at+"/cost", "must be at least 0")
		}
	}
	return nil
}

func untried(pointer, detail string) error {
	return invalid("the limit cannot be tried so", mockbase.FieldError{Pointer: pointer, Code: mockbase.FieldRange, Detail: detail})
}

// programLimit is a limit of a program by its name.
type programLimit struct {
	*simlimit.Limit

	name, owner string
	scope       mockbase.LimitScope
}

func (l *programLimit) bucket() string { return l.Bucket() }

// limits lists the limits of a program: each policy, and each limit that a mock or collection states itself.
func (p *program) limits() []programLimit {
	var list []programLimit
	for _, named := range p.policies {
		list = append(list, programLimit{Limit: named.Limit, name: named.name, scope: mockbase.LimitOfPolicy})
	}
	met := make(map[limiter]bool)
	for i := range p.entries {
		own, ok := p.entries[i].limits.(*limits)
		if !ok || met[own] {
			continue
		}
		// The routes of a collection share their limits.
		met[own] = true
		owner := p.entries[i].mock.Name
		name := mockLimitPrefix + owner
		if collected, ok := strings.CutPrefix(owner, "collection/"); ok {
			owner, name = collected, collectionLimitPrefix+collected
		}
		n := 0
		for j := range own.list {
			if own.list[j].named {
				continue
			}
			numbered := name
			if n++; n > 1 {
				numbered += ":" + strconv.Itoa(n)
			}
			list = append(list, programLimit{Limit: own.list[j].Limit, name: numbered, owner: owner, scope: mockbase.LimitOfMock})
		}
	}
	return list
}

func (e *Engine) knownLimit(projectID, sessionName, name string) (*program, *session.Session, *programLimit, error) { //nolint:revive // each caller needs all
	p, s, err := e.living(projectID, sessionName)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, known := range p.limits() {
		if known.name == name {
			return p, s, &known, nil
		}
	}
	return nil, nil, nil, &mockbase.Error{
		Code: mockbase.CodeNotFound, Message: fmt.Sprintf("there is no rate limit %q", name),
		Hint: "limits inside mocks are named mock:{name}, and mock:{name}:2 from the second on",
	}
}

func (e *Engine) spaceFor(p *program, s *session.Session) (*simlimit.Space, error) {
	if space := e.spaceOf(p.project.ID, s); space != nil {
		return space, nil
	}
	return nil, mockbase.Errorf(mockbase.CodeNotFound, "the limits of the session cannot be kept")
}

func (e *Engine) limitViewOf(p *program, s *session.Session, known *programLimit) mockbase.LimitView {
	view := mockbase.LimitView{
		Name: known.name, Scope: known.scope, Mock: known.owner, Policy: known.Source, Bucket: known.bucket(),
		Store: e.options.Limits.Where(), Degraded: e.options.Limits.Health().Degraded,
	}
	if space := e.spaceOf(p.project.ID, s); space != nil {
		view.Use = space.Use(known.Limit)
	}
	return view
}

// limitFailure turns the errors of buckets into those that people see.
func limitFailure(err error, keyID string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, simlimit.ErrNoKey):
		return &mockbase.Error{
			Code: mockbase.CodeNotFound, Message: fmt.Sprintf("the limit knows no key %q", keyID),
			Hint: "a key is known from its first request on, until the limits are reset",
		}
	case errors.Is(err, ratelimit.ErrConfig):
		return invalid("the use cannot be set so", mockbase.FieldError{Pointer: "#/used", Code: mockbase.FieldRange, Detail: err.Error()})
	default:
		return err
	}
}
