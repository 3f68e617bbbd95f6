package openapi

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
)

// The limit that stands where a declared 429 says neither how many nor in which time.
const (
	assumedLimit  = 60
	assumedWindow = "1m"
)

// Limits makes simulated limits of the operations that declare a 429 (group X). They are members of the document's entry in a
// definition: rateLimit where all that declare one declare the same, else operations; none where no operation declares any. The
// warnings tell what a 429 leaves open.
func (s *Source) Limits() ([]mockbase.Member, []mockbase.FieldError) {
	d := s.compile(&mockbase.Document{BasePath: "accept"})
	for _, op := range d.operations {
		op.ready()
	}
	before := len(s.Warnings())
	var first *mockbase.Node
	differ, each := false, &object{}
	for _, op := range d.operations {
		found := op.limit()
		if found == nil {
			continue
		}
		if first == nil {
			first = found
		}
		differ = differ || string(first.JSON()) != string(found.JSON())
		own := &object{}
		own.set("rateLimit", found)
		each.set(op.name, own.node())
	}
	told := s.Placed(s.Warnings()[before:])
	switch {
	case first == nil:
		return nil, nil
	case differ:
		return []mockbase.Member{{Key: "operations", Value: each.node()}}, told
	default:
		return []mockbase.Member{{Key: "rateLimit", Value: first}}, told
	}
}

// limit makes a simulated limit of a declared 429 (group X); nil without one. Numbers come from the examples of its headers,
// else from what descriptions say.
func (op *operation) limit() *mockbase.Node {
	r := op.find(statusText(http.StatusTooManyRequests))
	if r == nil {
		return nil
	}
	l := &limitReader{operation: op, response: r}
	for _, h := range r.headers {
		l.header(h)
	}
	l.describe()
	if l.limit == 0 || l.window == "" {
		op.document.source.notes.add(r.at, mockbase.FieldRequired,
			"the 429 does not say how many requests in which time; "+strconv.Itoa(assumedLimit)+" in "+assumedWindow+" stand for what is missing")
	}
	return l.node()
}

// limitReader reads a declared 429.
type limitReader struct {
	operation *operation
	response  *response

	limit  int64
	window string
	// dialect is that of the headers, names are headers of no dialect, reset is how a time of reset is written.
	dialect, reset           string
	names                    object
	retries, date, announces bool
	// others are the headers that have nothing to do with the limit.
	others object
}

// header reads what one header says.
func (l *limitReader) header(h *responseHeader) {
	value := ""
	if n := h.value(&making{}); n != nil {
		value, _ = h.simple(n)
	}
	switch name := strings.ToLower(h.name); {
	case name == "retry-after":
		l.retries = true
		l.date = strings.Contains(value, "GMT")
		l.span(value)
	case name == "ratelimit-policy" || name == "ratelimit":
		l.dialect, l.announces = "draft", true
		l.policy(value)
	case isLimitHeader(name):
		l.announces = true
		l.counter(h.name, name, value)
	default:
		if value != "" && name != "content-type" {
			l.others.set(h.name, textNode(value))
		}
	}
}

// limitHeader knows the names that limits are announced by: RateLimit-Limit, X-RateLimit-Remaining, X-Rate-Limit-Reset.
var limitHeader = regexp.MustCompile(`^(x-)?rate-?limit-?(limit|remaining|reset|max)(-.*)?$|^(x-)?rate-?limit-(requests|total|capacity)$`)

func isLimitHeader(name string) bool { return limitHeader.MatchString(name) }

// counter reads one of the three headers that count.
func (l *limitReader) counter(name, lower, value string) {
	switch {
	case l.dialect != "":
	case strings.HasPrefix(lower, "ratelimit-"):
		l.dialect = "split"
	case strings.HasPrefix(lower, "x-ratelimit-"):
		l.dialect = "x"
	}
	switch {
	case strings.Contains(lower, "remaining"):
		l.names.set("remaining", textNode(name))
	case strings.Contains(lower, "reset"):
		l.names.set("reset", textNode(name))
		l.resets(value)
	default:
		l.names.set("limit", textNode(name))
		l.policy(value)
		if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err == nil && n > 0 && l.limit == 0 {
			l.limit = n
		}
	}
}

// resets reads when a window ends: in so many seconds, or at a time.
func (l *limitReader) resets(value string) {
	const years, millis = 1_000_000_000, 100_000_000_000
	n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
	switch {
	case err != nil && value != "":
		l.reset = "http_date"
	case n >= millis:
		l.reset = "epoch_ms"
	case n >= years:
		l.reset = "epoch"
	default:
		l.reset = "seconds"
		l.span(value)
	}
}

// span takes a number of seconds for the window where nothing better is known.
func (l *limitReader) span(value string) {
	const longest = 30 * 24 * 3600
	if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err == nil && n > 0 && n <= longest && l.window == "" {
		l.window = strconv.FormatInt(n, 10) + "s"
	}
}

var (
	policyQuota  = regexp.MustCompile(`(?:^|;)\s*(?:q|r)=(\d{1,8})`)
	policyWindow = regexp.MustCompile(`;\s*w=(\d{1,7})`)
	policyPlain  = regexp.MustCompile(`(\d{1,8});\s*w=(\d{1,7})`)
)

// policy reads the first policy of a list such as "default";q=100;w=60 or 100;w=60.
func (l *limitReader) policy(value string) {
	if found := policyPlain.FindStringSubmatch(value); found != nil {
		l.limit, _ = strconv.ParseInt(found[1], 10, 64)
		l.window = found[2] + "s"
		return
	}
	first, _, _ := strings.Cut(value, ",")
	if found := policyQuota.FindStringSubmatch(first); found != nil && l.limit == 0 {
		l.limit, _ = strconv.ParseInt(found[1], 10, 64)
	}
	if found := policyWindow.FindStringSubmatch(first); found != nil {
		l.window = found[1] + "s"
	}
}

// spoken knows a limit in words: 100 requests per minute.
var spoken = regexp.MustCompile(
	`(?i)\b(\d[\d,]{0,10})\s*(?:api\s+)?(?:requests?|calls?|reqs?|queries)?\s*(?:per|/|each|every|an?|in)\s*(\d{1,5})?\s*-?(seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)\b`)

// describe reads descriptions, where the headers left something open.
func (l *limitReader) describe() {
	texts := []string{l.response.at.text("description"), l.operation.at.text("description"), l.operation.at.text("summary")}
	for _, h := range l.response.headers {
		texts = append(texts, h.at.text("description"))
	}
	for _, text := range texts {
		found := spoken.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		limit, _ := strconv.ParseInt(strings.ReplaceAll(found[1], ",", ""), 10, 64)
		if l.limit == 0 {
			l.limit = limit
		}
		if limit == l.limit || l.window == "" {
			l.window = firstText(found[2], "1") + strings.ToLower(found[3][:1])
		}
		return
	}
}

// node writes the limit as a definition has it.
func (l *limitReader) node() *mockbase.Node {
	const most = 10_000_000
	o := &object{}
	limit := min(l.limit, most)
	if l.limit > most {
		l.operation.document.source.notes.add(l.response.at, mockbase.FieldRange,
			"the declared limit of "+strconv.FormatInt(l.limit, 10)+" is beyond the bound: "+strconv.Itoa(most)+" is taken")
	}
	if limit == 0 {
		limit = assumedLimit
	}
	window := firstText(l.window, assumedWindow)
	if span, err := mockbase.ParseDuration(window); err != nil || span < 100*time.Millisecond || span > 30*24*time.Hour {
		window = assumedWindow
	}
	o.set("limit", &mockbase.Node{Kind: mockbase.NodeNumber, Text: strconv.FormatInt(limit, 10)})
	o.set("window", textNode(window))
	if key := l.key(); key != "" {
		o.set("key", &mockbase.Node{Kind: mockbase.NodeList, Items: []*mockbase.Node{textNode(key)}})
	}
	l.announce(o)
	exceeded := &object{}
	exceeded.set("action", textNode("reject"))
	exceeded.set("response", l.answer())
	o.set("onExceed", exceeded.node())
	return o.node()
}

// announce says which headers tell of the limit.
func (l *limitReader) announce(o *object) {
	switch {
	case l.dialect != "":
		o.set("headers", textNode(l.dialect))
	case len(l.names.members) > 0:
		o.set("headers", l.names.node())
	default:
		o.set("headers", textNode("none"))
	}
	if l.reset != "" && (l.dialect == "x" || l.dialect == "") {
		o.set("reset", textNode(l.reset))
	}
	switch {
	case l.date:
		o.set("retryAfter", textNode("http_date"))
	case l.retries:
		o.set("retryAfter", textNode("seconds"))
	case l.announces:
		o.set("retryAfter", textNode("none"))
	}
}

// key counts by the credentials of the operation, where it wants any.
func (l *limitReader) key() string {
	for _, one := range l.operation.security {
		for _, needed := range one {
			switch in, name := needed.scheme.text("in"), needed.scheme.text("name"); {
			case needed.scheme.text("type") != "apiKey":
				return "header:Authorization"
			case name != "" && slices.Contains([]string{inHeader, inQuery, inCookie}, in):
				return in + ":" + name
			}
		}
	}
	return ""
}

// answer is the declared 429.
func (l *limitReader) answer() *mockbase.Node {
	o, headers := &object{}, &object{members: l.others.members}
	o.set("status", &mockbase.Node{Kind: mockbase.NodeNumber, Text: statusText(http.StatusTooManyRequests)})
	if len(l.response.content) > 0 {
		v := variant{media: byDefault(l.response.content)}
		if n := l.operation.example(v.media); n != nil {
			v.body = n
		} else if v.media.schema != nil {
			v.body, _ = v.media.schema.static() // a body that cannot be made is left out
		}
		if v.body != nil {
			v.write(o, headers)
		}
	}
	if len(headers.members) > 0 {
		o.set("headers", headers.node())
	}
	return o.node()
}
