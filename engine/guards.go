package engine

import (
	"net/textproto"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/operator"
)

// guards are the conditions of a mock beside method, path and host.
type guards struct {
	conditions
	// raw wants the target's query as it was sent (rules C12 and C13).
	raw         *rawQuery
	matrix      []condition
	strictQuery bool
}

// rawQuery is the query of a rawTarget; asked tells an empty one from none.
type rawQuery struct {
	text  string
	asked bool
}

// condition is what the values of one name must satisfy.
type condition struct {
	// name is as the author wrote it; key is the canonical form of a header's.
	name, key string
	clauses   clauses
}

func compileNamed(named []mockbase.NamedMatch, at string, faults *mockbase.Faults) []condition {
	if len(named) == 0 {
		return nil
	}
	compiled := make([]condition, 0, len(named))
	for _, n := range named {
		compiled = append(compiled, condition{
			name:    n.Name,
			key:     textproto.CanonicalMIMEHeaderKey(n.Name),
			clauses: operator.Texts(n.Match, pointerTo(at, mockbase.PointerToken(n.Name)), faults),
		})
	}
	return compiled
}

// compileGuards compiles the conditions of a request matcher.
func compileGuards(r *mockbase.RequestMatcher, faults *mockbase.Faults) guards {
	const at = "#/request"
	stated := mockbase.Condition{
		Query: r.Query, Headers: r.Headers, Cookies: r.Cookies, Auth: r.Auth, Body: r.Body,
		AnyOf: r.AnyOf, AllOf: r.AllOf, Not: r.Not,
	}
	g := guards{
		conditions:  *compileConditions(&stated, at, faults),
		matrix:      compileNamed(r.Matrix, pointerTo(at, "matrix"), faults),
		strictQuery: r.StrictQuery,
	}
	if r.RawTarget != "" {
		_, query, asked := strings.Cut(r.RawTarget, "?")
		g.raw = &rawQuery{text: query, asked: asked}
	}
	return g
}

// guards compiles the conditions of a request matcher; those without any share the same.
func (s *settings) guards(r *mockbase.RequestMatcher, faults *mockbase.Faults) *guards {
	g := compileGuards(r, faults)
	if !g.any() {
		return s.unguarded
	}
	return &g
}

// any tells whether there is a condition at all.
func (g *guards) any() bool {
	return g.stated || g.raw != nil || len(g.matrix) > 0 || g.strictQuery
}

// hold tells whether a request satisfies every condition.
func (g *guards) hold(q *inquiry) bool {
	if g.raw != nil && !g.raw.match(q) || !q.allHold(g.matrix, q.matrixOf) || !g.conditions.hold(q) {
		return false
	}
	return !g.strictQuery || q.affordsNames() && g.unmentioned(q) == ""
}

func (r *rawQuery) match(q *inquiry) bool {
	return r.text == q.rawQuery && r.asked == q.asked
}

func (c *condition) holdsFor(v texts) bool {
	return c.failing(&v) == nil
}

// failing returns the first clause that does not hold, or nil.
func (c *condition) failing(v *texts) *operator.Clause[string] {
	return c.clauses.Failing(v)
}

// unmentioned returns a name of the query that no condition mentions, "" if there is none (rule C10). The empty name is
// reported as =.
func (g *guards) unmentioned(q *inquiry) string {
	for _, p := range q.pairs() {
		if !g.mention(p.name) {
			return p.name + strings.Repeat("=", 1-min(1, len(p.name)))
		}
	}
	return ""
}
