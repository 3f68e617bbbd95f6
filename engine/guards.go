package engine

import (
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// guards are the conditions of a mock beside method, path and host.
type guards struct {
	query       []condition
	headers     []condition
	strictQuery bool
}

// condition is what the values of one name must satisfy.
type condition struct {
	// name is as the author wrote it; key is the canonical form of a header's.
	name, key string
	clauses   []clause
}

func compileConditions(named []mockbase.NamedMatch, at string, faults *mockbase.Faults) []condition {
	compiled := make([]condition, 0, len(named))
	for _, n := range named {
		compiled = append(compiled, condition{
			name:    n.Name,
			key:     textproto.CanonicalMIMEHeaderKey(n.Name),
			clauses: compileMatch(n.Match, pointerTo(at, mockbase.PointerToken(n.Name)), faults),
		})
	}
	return compiled
}

// any tells whether there is a condition at all.
func (g *guards) any() bool {
	return len(g.query) > 0 || len(g.headers) > 0 || g.strictQuery
}

// hold tells whether a request satisfies every condition.
func (g *guards) hold(q *inquiry) bool {
	for i := range g.headers {
		if !g.headers[i].holdsFor(q.headerValues(g.headers[i].key)) {
			return false
		}
	}
	if len(g.query) == 0 && !g.strictQuery {
		return true
	}
	for i := range g.query {
		if !g.query[i].holdsFor(q.queryValues(g.query[i].name)) {
			return false
		}
	}
	return !g.strictQuery || g.unmentioned(q) == ""
}

func (c *condition) holdsFor(v values) bool {
	return c.failing(&v) == nil
}

// failing returns the first clause that does not hold, or nil.
func (c *condition) failing(v *values) *clause {
	for i := range c.clauses {
		if !c.clauses[i].holds(v) {
			return &c.clauses[i]
		}
	}
	return nil
}

// unmentioned returns a name of the query that no condition mentions, "" if there is none (rule C10). The empty name is
// reported as =.
func (g *guards) unmentioned(q *inquiry) string {
	for _, p := range q.pairs() {
		if !g.mentions(p.name) {
			return p.name + strings.Repeat("=", 1-min(1, len(p.name)))
		}
	}
	return ""
}

func (g *guards) mentions(name string) bool {
	for i := range g.query {
		if g.query[i].name == name {
			return true
		}
	}
	return false
}

// inquiry is what the conditions ask about a request. Matching never changes the request (rule K10).
type inquiry struct {
	request *http.Request
	// header is the request's header as mocks see it.
	header http.Header
	method method
	path   requestPath
	// rawQuery is parsed when a condition asks first.
	rawQuery string
	parsed   bool
	query    []pair
}

func (q *inquiry) pairs() []pair {
	if !q.parsed {
		q.query, q.parsed = parseQuery(q.rawQuery), true
	}
	return q.query
}

// queryValues returns the values of a name in their order; names are case-sensitive (rules C7 and C9).
func (q *inquiry) queryValues(name string) values {
	var v values
	for _, p := range q.pairs() {
		if p.name == name {
			v.list = append(v.list, p.value)
		}
	}
	return v
}

// headerValues returns the field lines of a header, by its canonical name, and all lines joined (rules D1 to D3).
// Mockbase-* headers speak to the server and are hidden from mocks (rule AA12).
func (q *inquiry) headerValues(key string) values {
	if strings.HasPrefix(key, "Mockbase-") {
		return values{}
	}
	lines := q.header[key]
	if len(lines) == 0 {
		lines = q.movedHeader(key)
	}
	v := values{list: trimmed(lines)}
	if len(lines) > 1 {
		v.several, v.joined = true, strings.Join(v.list, ", ")
	}
	return v
}

// trimmed returns the lines without blanks at their ends (rule D2); the same lines when they have none, as those that
// net/http reads.
func trimmed(lines []string) []string {
	for i, line := range lines {
		if strings.Trim(line, " \t") == line {
			continue
		}
		clean := slices.Clone(lines)
		for j := i; j < len(clean); j++ {
			clean[j] = strings.Trim(clean[j], " \t")
		}
		return clean
	}
	return lines
}

// movedHeader finds what net/http moves out of its header map (rule D8).
func (q *inquiry) movedHeader(key string) []string {
	switch {
	case key == "Host" && q.request.Host != "":
		return []string{q.request.Host}
	case key == "Transfer-Encoding":
		return q.request.TransferEncoding
	case key == "Content-Length" && q.request.ContentLength > 0 && len(q.request.TransferEncoding) == 0:
		return []string{strconv.FormatInt(q.request.ContentLength, 10)}
	default:
		return nil
	}
}
