package engine

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase/engine/body"
	"github.com/mockbase/mockbase/engine/operator"
)

// texts are what a request sent under one name.
type texts = operator.Values[string]

// clauses are what they must satisfy.
type clauses = operator.Match[string]

// inquiry is what the conditions ask about a request. Matching never changes the request (rule K10).
type inquiry struct {
	request *http.Request
	// header is the request's header as mocks see it.
	header http.Header
	method method
	// rules are those by which the path was split.
	rules pathRules
	path  requestPath
	// wholePath is the text of the path, once somebody asks.
	wholePath string
	// plain is the path without its matrix parameters, which are in matrix (rule B16); they are taken out when a mock of the
	// project states some.
	plain  requestPath
	matrix []pair
	// rawQuery is parsed when a condition asks first; asked tells an empty query from none.
	rawQuery string
	asked    bool
	parsed   bool
	query    []pair
	// cookies are parsed when a condition asks first.
	cookiesParsed bool
	cookies       []pair
	// collected are the values of names that were asked for, where a request sends many.
	collected map[sender]texts
	// message is the body, nil where none was read.
	message *body.Message
	// effort bounds what conditions may cost.
	effort operator.Effort
	// settled tells that conditions on a large body were tested before the step that asks them.
	settled bool
	// passesBody leaves the body out of findings, which cost the most.
	passesBody bool
	// route is the mock that is asked at the moment: it names the parameters of the path. bound is the one that parameters
	// are those of.
	route, bound *route
	parameters   []pair
	// moment answers what conditions ask beside the request itself; nil knows of no state and no call.
	moment moment
}

// moment is the time of a request as far as conditions ask for it: the state of the scenario of the mock that is asked,
// and the number of the call.
type moment interface {
	inState(states []string) bool
	callNumber() int64
}

// bodyMessage returns the body; one that was not read is empty.
func (q *inquiry) bodyMessage() *body.Message {
	if q.message == nil {
		q.message = body.New(nil, q.header).Of(line{q}).Within(&q.effort)
	}
	return q.message
}

// line shows conditions on the body what the request says beside it.
type line struct{ q *inquiry }

var _ body.Line = line{}

// Method implements body.Line.
func (l line) Method() string { return l.q.method.name }

// Parameter implements body.Line.
func (l line) Parameter(name string) (string, bool) { return first(l.q.pairs(), name) }

func (q *inquiry) pairs() []pair {
	if !q.parsed {
		q.query, q.parsed = parseQuery(q.rawQuery), true
	}
	return q.query
}

// valuesOf returns the values of a name in their order; names are case-sensitive (rules C7 and C9).
func valuesOf(pairs []pair, name string) texts {
	var v texts
	for _, p := range pairs {
		if p.name == name {
			v.List = append(v.List, p.value)
		}
	}
	return v
}

func (q *inquiry) queryOf(c *condition) texts  { return q.valuesIn(fromQuery, q.pairs(), c.name) }
func (q *inquiry) headerOf(c *condition) texts { return q.headerValues(c.key) }
func (q *inquiry) cookieOf(c *condition) texts {
	return q.valuesIn(fromCookies, q.cookiePairs(), c.name)
}
func (q *inquiry) matrixOf(c *condition) texts { return q.valuesIn(fromMatrix, q.matrix, c.name) }
func (q *inquiry) paramOf(c *condition) texts  { return valuesOf(q.pathParameters(), c.name) }

// pathParameters returns the parameters of the path by the names that the mock which is asked gives them.
func (q *inquiry) pathParameters() []pair {
	if q.route == nil {
		return nil
	}
	if q.bound != q.route {
		q.parameters, q.bound = q.route.bind(q, q.parameters[:0]), q.route
	}
	return q.parameters
}

// headerValues returns the field lines of a header, by its canonical name, and all lines joined (rules D1 to D3).
// Mockbase-* headers speak to the server and are hidden from mocks (rule AA12).
func (q *inquiry) headerValues(key string) texts {
	if strings.HasPrefix(key, "Mockbase-") {
		return texts{}
	}
	lines := q.header[key]
	if len(lines) == 0 {
		lines = q.movedHeader(key)
	}
	if len(lines) < manyValues {
		return fieldLines(lines)
	}
	return q.once(fromHeader, key, func() texts { return fieldLines(lines) })
}

// fieldLines are the lines of a header as the values of a name.
func fieldLines(lines []string) texts {
	v := texts{List: trimmed(lines)}
	if len(lines) > 1 {
		v.Several, v.Joined = true, strings.Join(v.List, ", ")
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
