package engine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/collection"
	"github.com/mockbase/mockbase/engine/session"
	"github.com/mockbase/mockbase/engine/template"
)

// program is a project's snapshot, compiled. It is immutable.
type program struct {
	project  *mockbase.Project
	snapshot *mockbase.Snapshot
	settings *settings
	// redaction masks the secrets of what is recorded.
	redaction *mockbase.Redaction
	// entries are all mocks in creation order, routes that are disabled among them, and after them the collections.
	entries []entry
	index   forest
	// aside tells that recorded mocks are no candidates.
	aside bool
	// matrix finds the mocks that state matrix parameters, by the path without them (rule B16); nil if there are none.
	matrix *index
	// expressions are the mocks whose path is a regular expression (rule A5). They alone are asked one by one.
	expressions leaf
	methods     methodSet
	// variables are those of the project, by name.
	variables map[string]json.RawMessage
	// veiled are the same with masks in the place of secrets, nil where there are no secrets.
	veiled map[string]json.RawMessage
	// leaves tells that some mock leaves the body unread (rule N9).
	leaves bool
	// layout is what sessions remember for the program, scenarios what it knows of theirs, in the same order.
	layout    *session.Layout
	scenarios []scenarioRules
	// collections are those of the project, and collected their routes, which come after the mocks in entries.
	collections *collection.Set
	collected   []*route
	// lost is the sample data that cannot be read now.
	lost []seedFault
	// policies are the project's named limits, in its order.
	policies []namedLimit
	// keeper stores what collections of the default session hold, nil when nothing does.
	keeper *keeper
	// documents are the project's OpenAPI documents, and operations the number of all their operations.
	documents  []*described
	operations int
	// sessions are those of the project; nil as long as the program is not published.
	sessions *session.Registry
	// sieves are those of the leaves whose mocks were asked for warnings.
	sieves sync.Map
	// served tells that exchanges were recorded that this program answered.
	served atomic.Bool
	// reach is what proxies and webhooks may call.
	reach *reach
}

// route is a compiled mock. It depends on the mock and the settings alone, so that programs share it.
type route struct {
	mock    *mockbase.Mock
	pattern *pattern
	// names finds the parameters of a raw path where there is no pattern.
	names func(path string) []pair
	// precedence orders routes by priority and specificity of the path (rule A2).
	precedence string
	// guards are those of the settings where the mock has none.
	guards *guards

	// What is asked of every candidate and noted of every answer lies together, at the end where the response of a plot
	// follows: among many mocks each further place in memory is a place that the processor waits for. What most
	// mocks have alike, they share.
	selection *selection
	stated    *statedMethods
	*terms
	// headIsFree is the mock's (rule L2), guarded tells that there are guards at all, byText that the pattern is about the
	// text of the path (rule A5).
	headIsFree, guarded, byText bool
	// readsBody tells that a condition or an answer looks at the request body, so that all of it must be kept.
	readsBody bool
	// readsParts tells that a condition looks at the fields of a form or the parts of a multipart body.
	readsParts bool
	// recordsAll tells that a proxy of the mock records everything (rule T17).
	recordsAll     bool
	rank, headRank rank
	// responses are at least one, in the order of their author.
	responses []response
	ref       mockbase.MockRef
	// by says who answers with the route: a mock or a collection.
	by mockbase.AnsweredBy
}

// terms are what few mocks state.
type terms struct {
	// host is nil for every one, limits for none.
	host   *hostPattern
	limits limiter
	// clients tells the mock's clients apart whose back-off is judged, where the mock says how.
	clients *key
}

// plot is a route with what most mocks have, in one piece of memory: one response, which is the same for every request.
type plot struct {
	route
	response [1]response
	answer   answer
}

// lot is a plot with a short body, which is then where the processor looks anyway.
type lot struct {
	plot
	body [192]byte
}

// newPlot makes a plot, with room for the body of the mock's only response where that is short.
func newPlot(m *mockbase.Mock) (p *plot, room []byte) {
	if len(m.Responses) == 1 {
		if n := len(m.Responses[0].Body.Bytes); n > 0 && n <= len(lot{}.body) {
			l := new(lot)
			return &l.plot, l.body[:0]
		}
	}
	return new(plot), nil
}

// compile makes the program of a snapshot. What former, which may be nil, has compiled already is taken over.
func (e *Engine) compile(s *mockbase.Snapshot, former *program) (*program, error) {
	p := &program{
		project: s.Project, snapshot: s, variables: variablesOf(&s.Project.Config), redaction: s.Project.Redaction(),
	}
	p.veiled = veil(p.project, p.variables)
	kept := inherit(former, s.Mocks)
	routes := heritage{}
	if former != nil && sameConfig(&former.project.Config, &s.Project.Config) {
		p.settings, routes = former.settings, kept
	} else if err := p.configure(e); err != nil {
		return nil, err
	}
	var err error
	if p.reach, err = e.reachOf(s.Project.UpstreamAllow, former); err != nil {
		return nil, err
	}
	p.policies = p.settings.policiesOf(&p.project.Config)
	if err := p.collect(former); err != nil {
		return nil, err
	}
	if err := p.enter(e, routes); err != nil {
		return nil, err
	}
	if err := p.describeAll(e, former); err != nil {
		return nil, err
	}
	if err := p.remember(e, kept); err != nil {
		return nil, err
	}
	p.aside = p.recordsAll()
	if !p.graft(kept) {
		p.plant()
	}
	return p, nil
}

// enter fills in the entries, compiling the mocks that are not known.
func (p *program) enter(e *Engine, kept heritage) error {
	mocks, known := p.snapshot.Mocks, kept.routes()
	p.entries = make([]entry, len(mocks), len(mocks)+len(p.collected))
	for i, m := range mocks {
		r := known[m]
		if at, ok := kept.place(i); ok {
			r = kept.former.entries[at].route
		}
		if r == nil {
			r = e.checked.take(m, p.settings)
		}
		if r == nil {
			var faults mockbase.Faults
			r = compileRoute(&p.project.Config, p.settings, m, &faults)
			if err := faults.Err(); err != nil {
				return fmt.Errorf("compile mock %q: %w", m.Name, err)
			}
			if r == nil {
				return fmt.Errorf("compile mock %q: it has no path or no response", m.Name)
			}
		}
		p.entries[i] = entry{route: r, age: i}
	}
	for _, r := range p.collected {
		p.entries = append(p.entries, entry{route: r, age: len(p.entries)})
	}
	return nil
}

// configure compiles the project's settings.
func (p *program) configure(e *Engine) error {
	var faults mockbase.Faults
	var err error
	if p.settings, err = e.compileSettings(&p.project.Config, &faults); err == nil {
		err = faults.Err()
	}
	if err != nil {
		return fmt.Errorf("compile settings: %w", err)
	}
	return nil
}

// sameConfig tells whether mocks compile alike under two configurations.
func sameConfig(a, b *mockbase.Config) bool {
	return a == b || reflect.DeepEqual(a.Settings, b.Settings) && reflect.DeepEqual(a.Defaults, b.Defaults) &&
		reflect.DeepEqual(a.RateLimits, b.RateLimits)
}

// compileRoute compiles one mock; it returns nil when it has no path that can be read, or no response. All faults are
// told at once, whichever part of the mock they are in. Pointers are relative to the mock.
func compileRoute(c *mockbase.Config, s *settings, m *mockbase.Mock, faults *mockbase.Faults) *route {
	p, room := newPlot(m)
	p.route = route{
		mock: m, by: mockbase.AnsweredByMock, ref: mockbase.MockRef{ID: m.ID, Name: m.Name, Version: m.Version},
		terms: &terms{host: compileHost(m.Request.Host)}, headIsFree: m.HeadIsFree,
		recordsAll: !m.Disabled && slices.ContainsFunc(m.Responses, func(a mockbase.Response) bool { return recordsEverything(a.Proxy) }),
	}
	r := &p.route
	place := compilePlace(s, m, faults)
	r.pattern = cmp.Or(place, &pattern{rest: -1})
	r.stated, r.byText = s.common.methodsOf(m.Request.Methods), r.pattern.expr != nil
	r.guards = s.guards(&m.Request, faults)
	r.guarded = r.guards.any() || len(m.States) > 0
	r.precedence = precedence(m.Priority, r.pattern)
	r.rank, r.headRank = ranksOf(m.Request.Methods)
	var own selection
	if len(m.Responses) > 0 {
		own = compileSelection(m, r.guards, faults)
		r.responses = compileResponses(c, s, m, p, faults)
		if room != nil {
			p.answer.body = slices.Clip(append(room, p.answer.body...))
		}
	}
	own.remembers = own.remembers || m.Scenario != "" && r.uses(template.UsesState)
	r.selection = s.keep(own)
	r.noteReading(r.limit(c, s, faults)|r.tellApart(c, s, faults), faults)
	if *r.terms == *s.unconditional {
		r.terms = s.unconditional
	}
	if place == nil || len(m.Responses) == 0 {
		return nil // which was told when the mock was read
	}
	return r
}

// noteReading notes what of the request body must be kept for the mock; limits are what its limits use.
func (r *route) noteReading(limits template.Uses, faults *mockbase.Faults) {
	r.readsBody = r.rendersBody(limits) || r.guards.readsBody || r.selection.readsBody()
	r.readsParts = r.guards.readsParts || r.selection.readsParts()
	if r.readsBody && r.mock.LeaveBody {
		faults.Append(mockbase.FieldError{
			Pointer: "#/readBody", Code: mockbase.FieldConflict, Detail: "cannot be false: a template or a condition reads the body",
		})
	}
	// What is passed on is kept whole, unless it streams.
	r.readsBody = r.readsBody || passesBody(r.mock)
}

// passesBody tells whether a mock hands the whole request body on to an upstream.
func passesBody(m *mockbase.Mock) bool {
	return !m.LeaveBody && slices.ContainsFunc(m.Responses, func(a mockbase.Response) bool { return a.Proxy != nil })
}

// rendersBody tells whether a template of the mock, or of its limits, reads the body.
func (r *route) rendersBody(limits template.Uses) bool {
	return limits.Has(template.UsesBody) || r.uses(template.UsesBody)
}

// uses tells whether a template of the mock reads some of these things.
func (r *route) uses(what template.Uses) bool {
	return slices.ContainsFunc(r.responses, func(one response) bool { return one.uses.Has(what) })
}

// precedence is a text that orders by priority, larger first, and then by specificity.
func precedence(priority int, p *pattern) string {
	const lowest = 1 << 15
	inverted := uint16(min(max(lowest-priority, 0), 2*lowest-1)) //nolint:gosec // bounded to 16 bits
	return string([]byte{byte(inverted >> 8), byte(inverted)}) + p.specificity()
}

func ranksOf(methods []string) (ordinary, head rank) {
	if slices.Contains(methods, mockbase.MethodAny) {
		return rankAny, rankAny
	}
	if slices.Contains(methods, http.MethodHead) {
		return rankExact, rankExact
	}
	return rankExact, rankDerived
}

// statedMethods are those that a mock answers. Most state one.
type statedMethods struct {
	first  string
	others []string
}

// accepts tells whether the mock states the method of a request.
func (r *route) accepts(m *method) bool {
	if r.stated.first == "" {
		return false
	}
	return m.fits(r.stated.first) || slices.ContainsFunc(r.stated.others, m.fits)
}

// fits tells whether a stated method is that of the request.
func (m *method) fits(stated string) bool {
	switch stated {
	case m.name:
		return true
	case http.MethodGet:
		return m.derived
	case mockbase.MethodAny:
		return !m.stated
	}
	return false
}

// derives tells whether the mock answers HEAD only because it answers GET (rule L1).
func (r *route) derives(m *method) bool {
	return m.derived && r.headRank == rankDerived
}
