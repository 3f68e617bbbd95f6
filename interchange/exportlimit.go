package interchange

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/simlimit"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/dialect"
)

// The actions of onExceed that are no plain refusal, and the mode that refuses nobody.
const (
	actionDelay = "delay"
	actionDrop  = "drop"
	modeEnforce = "enforce"
)

// exportedLimit is a limit with the place that says it.
type exportedLimit struct {
	*mockbase.LimitPolicy

	// name is the one that clients are told.
	name string
	at   value
}

// limitsOf are the limits of a mock that are in force: its own, or those that the project gives every mock.
func (w *openAPIWriter) limitsOf(x *exportedMock) []exportedLimit {
	stated := x.RateLimit
	at := x.doc.get("rateLimit")
	if stated == nil {
		stated, at = w.config.Defaults.RateLimit, value{nil, "#/rateLimit", x.Name}
	}
	if stated == nil || stated.None {
		return nil
	}
	var list []exportedLimit
	for i := range stated.Limits {
		l := exportedLimit{stated.Limits[i].Policy, x.Name, at}
		if use := stated.Limits[i].Use; use != "" {
			l.name = use
			if j := slices.IndexFunc(w.config.RateLimits, func(n mockbase.NamedLimit) bool { return n.Name == use }); j >= 0 {
				l.LimitPolicy = &w.config.RateLimits[j].Policy
			}
		}
		if l.LimitPolicy == nil {
			continue
		}
		l.name = cmp.Or(l.Bucket, l.name)
		list = append(list, l)
	}
	return list
}

// limits writes what the mocks of an operation answer beyond their limits: a response with the fields that the limit is
// told by.
func (w *openAPIWriter) limits(op *exportedOperation, d *doc, bodies map[string]*mediaTypes) {
	told := map[string]bool{}
	for _, a := range op.answers {
		if told[a.mock.Name] {
			continue
		}
		told[a.mock.Name] = true
		for _, l := range w.limitsOf(a.mock) {
			if w.limitLosses(&l) {
				w.limited(&l, d, bodies)
			}
		}
	}
}

// limitLosses tells what a document cannot say of a limit; it reports whether there is an answer to write.
func (w *openAPIWriter) limitLosses(l *exportedLimit) bool {
	action := ""
	if l.OnExceed != nil {
		action = l.OnExceed.Action
	}
	switch {
	case l.Mode != "" && l.Mode != modeEnforce:
		w.lost(l.at, "a limit that refuses nobody (mode %s) is left out", l.Mode)
		return false
	case action == actionDrop:
		w.lost(l.at, "beyond the limit the connection is cut, which cannot be said: the limit is left out")
		return false
	case action == actionDelay:
		w.lost(l.at, "requests beyond the limit wait first, which cannot be said: the answer to those that wait in vain is written")
	}
	w.lost(l.at, "when the limit is reached is said in words and by examples alone")
	for _, unsaid := range []struct {
		what string
		is   bool
	}{
		{"that requests cost different amounts", l.CostTemplate != "" || l.Cost != nil && *l.Cost != 1},
		{"the ban of those who go on", l.Ban != nil},
		{"the units that are used at the start", l.InitialUsed > 0},
		{"that the count is shared with others", l.Bucket != ""},
	} {
		if unsaid.is {
			w.lost(l.at, "%s cannot be said", unsaid.what)
		}
	}
	return true
}

// limited writes the answer of a limit into the response of its status.
func (w *openAPIWriter) limited(l *exportedLimit, d *doc, bodies map[string]*mediaTypes) {
	policy := ratelimit.Policy{Name: l.name, Algorithm: ratelimit.Algorithm(l.Algorithm), Limit: l.Limit, Window: l.Window, Burst: valueOr(l.Burst)}
	answer, own, code := l.denial(&policy), (*mockbase.PlainResponse)(nil), http.StatusTooManyRequests
	if l.OnExceed != nil && l.OnExceed.Response != nil {
		own, code = l.OnExceed.Response, cmp.Or(l.OnExceed.Response.Status, code)
	}
	status := strconv.Itoa(code)
	response := membersOf(d.get(status))
	if response.get("$ref") != nil {
		response = &doc{}
	}
	words := statusText(code) + ": " + allowance(&policy) + countedBy(l.Keys)
	switch old := response.get("description"); {
	case old == nil || old.Text == "" || old.Text == statusText(code):
		response.set("description", textNode(words))
	case !strings.Contains(old.Text, words):
		response.set("description", textNode(old.Text+"; "+words))
	}
	if bodies[status] == nil {
		bodies[status] = newMediaTypes(response.get("content"))
	}
	headers := membersOf(response.get("headers"))
	for _, h := range l.fields(answer) {
		headers.set(h.Key, h.Value)
	}
	w.limitBody(l, answer, own, headers, bodies[status])
	response.doc("headers", headers)
	if len(bodies[status].list) > 0 {
		response.set("content", bodies[status].node())
	}
	d.set(status, response.node())
}

// denial is the first refusal of a limit: nothing is left, and a whole wait lies before the client.
func (*exportedLimit) denial(p *ratelimit.Policy) *dialect.Answer {
	a := &dialect.Answer{Now: exampleTime(), Decision: ratelimit.Decision{Limit: p.Capacity(), Policy: p, Reset: p.Window, RetryAfter: p.Window}}
	switch {
	case p.Limit == 0, p.Algorithm == ratelimit.Concurrency:
		a.RetryAfter = ratelimit.Never
	case p.Algorithm == ratelimit.TokenBucket, p.Algorithm == ratelimit.LeakyBucket, p.Algorithm == ratelimit.GCRA:
		a.RetryAfter = p.Window / time.Duration(p.Limit)
		a.Reset = a.RetryAfter * time.Duration(p.Capacity())
	}
	return a
}

// exampleTime is the instant of examples: one and the same, so that an export of the same is the same.
func exampleTime() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }

// fields are the headers of a refusal, in the order of their names.
func (l *exportedLimit) fields(a *dialect.Answer) []mockbase.Member {
	writer, err := dialect.New(simlimit.FieldOptions(l.LimitPolicy))
	if err != nil {
		return nil // A stored limit always has fields that go together.
	}
	h := http.Header{}
	writer.Limit(h, a)
	writer.RetryAfter(h, a.RetryAfter, a.Now)
	var list []mockbase.Member
	for name, values := range h {
		kind, example := "string", textNode(values[0])
		if n, err := strconv.ParseInt(values[0], 10, 64); err == nil {
			kind, example = "integer", numberNode(n)
		}
		header := with("schema", with("type", textNode(kind)).node())
		header.set("example", example)
		list = append(list, mockbase.Member{Key: name, Value: header.node()})
	}
	slices.SortFunc(list, func(a, b mockbase.Member) int { return strings.Compare(a.Key, b.Key) })
	return list
}

// limitBody adds the body of a refusal: the author's own, or the problem that the server makes.
func (w *openAPIWriter) limitBody(l *exportedLimit, a *dialect.Answer, own *mockbase.PlainResponse, headers *doc, content *mediaTypes) {
	title := l.at.file + " limited"
	if own == nil {
		text, err := json.Marshal(a.Problem(http.StatusTooManyRequests, a.RetryAfter))
		if err == nil {
			content.find("application/problem+json").example(title, parsedOr(text))
		}
		return
	}
	kind := ownHeaders(own, headers)
	switch own.Body.Kind {
	case mockbase.BodyJSON:
		content.find(cmp.Or(kind, "application/json")).example(title, parsedOr(own.Body.Bytes))
	case mockbase.BodyText:
		n := textNode(string(own.Body.Bytes))
		if isJSONType(kind) {
			n = parsedOr(own.Body.Bytes)
		}
		content.find(cmp.Or(kind, "text/plain")).example(title, n)
	case mockbase.BodyBase64:
		w.lost(l.at, "the bytes of the answer beyond the limit are written as base64 in an example")
		content.find(cmp.Or(kind, "application/octet-stream")).example(title, textNode(base64.StdEncoding.EncodeToString(own.Body.Bytes)))
	case mockbase.BodyFile:
		w.lost(l.at, "the body beyond the limit lies in the file %s on the server: it is left out", quoted(string(own.Body.Bytes)))
	case mockbase.BodyNone:
	}
	if own.StatusTemplate != "" {
		w.lost(l.at, "the status beyond the limit is a template: 429 is taken")
	}
	if own.Delay != nil {
		w.lost(l.at, "the delay of the answer beyond the limit cannot be said")
	}
}

// ownHeaders adds the headers of an author's own refusal, and returns its media type, "" for none.
func ownHeaders(own *mockbase.PlainResponse, headers *doc) (kind string) {
	for _, h := range own.Headers {
		switch {
		case h.Remove || len(h.Values) == 0:
		case strings.EqualFold(h.Name, "Content-Type"):
			kind = h.Values[0]
		default:
			header := with("schema", with("type", textNode("string")).node())
			header.set("example", textNode(h.Values[0]))
			headers.set(h.Name, header.node())
		}
	}
	return kind
}

// allowance says in words what a policy allows, in the form that an import reads.
func allowance(p *ratelimit.Policy) string {
	if p.Algorithm == ratelimit.Concurrency {
		return fmt.Sprintf("%d at one time", p.Limit)
	}
	requests := "requests"
	if p.Limit == 1 {
		requests = "request"
	}
	for _, u := range []struct {
		span time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		switch n := p.Window / u.span; {
		case p.Window%u.span != 0:
		case n == 1:
			return fmt.Sprintf("%d %s in 1 %s", p.Limit, requests, u.name)
		default:
			return fmt.Sprintf("%d %s in %d %ss", p.Limit, requests, n, u.name)
		}
	}
	return fmt.Sprintf("%d %s in %d ms", p.Limit, requests, p.Window.Milliseconds())
}

// countedBy says in words what a limit counts by.
func countedBy(keys []string) string {
	if len(keys) == 0 || slices.Equal(keys, []string{"global"}) {
		return ""
	}
	return ", counted by " + strings.Join(keys, " and ")
}

func valueOr(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
