package management

import (
	"math"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
)

// trafficFilters are the parameters that select exchanges (M-175).
func trafficFilters() []string {
	return []string{"since", "until", "method", "path", "status", "answeredBy", "matched", "mock", "policy", "session", "client", "minDurationMs", "q"}
}

// answeredBy is the closed list of rule AA5.
func answeredBy() []string {
	return []string{
		string(mockbase.AnsweredByMock), string(mockbase.AnsweredByCollection), string(mockbase.AnsweredByDocument),
		string(mockbase.AnsweredByProxy), string(mockbase.AnsweredBySimulatedLimit), string(mockbase.AnsweredByShield),
		string(mockbase.AnsweredByPreflight), string(mockbase.AnsweredByOverlay), string(mockbase.AnsweredByUnmatched),
		string(mockbase.AnsweredByError),
	}
}

// maxDuration is the longest duration in milliseconds that a filter takes: a day.
const maxDuration = 24 * 60 * 60 * 1000

// trafficFilter reads the filter of a query.
func trafficFilter(p *params) mockbase.TrafficFilter {
	f := mockbase.TrafficFilter{
		Since: p.moment("since"), Until: p.moment("until"), Method: p.method("method"), PathPrefix: p.text("path"),
		Session: p.session("session"), Mock: p.text("mock"), Policy: p.text("policy"), ClientIP: p.address("client"), Text: p.text("q"),
		MinDuration: time.Duration(p.number("minDurationMs", 0, maxDuration, 0)) * time.Millisecond,
	}
	f.StatusMin, f.StatusMax = p.status("status")
	if !f.Until.IsZero() && !f.Until.After(f.Since) {
		p.fault("until", mockbase.FieldRange, "until is a time after since, so that something can be between them, not %s", shown(p.text("until")))
	}
	if f.PathPrefix != "" && f.PathPrefix[0] != '/' {
		p.fault("path", mockbase.FieldPattern, "path is what the path begins with, from its first slash on, like /users, not %s", shown(f.PathPrefix))
	}
	if strings.ContainsAny(f.Mock, " \t\r\n") && !strings.HasPrefix(f.Mock, "document/") {
		p.fault("mock", mockbase.FieldPattern, "mock is the name of a mock like get-users-id or an id like mck_…, not %s", shown(f.Mock))
	}
	if p.values.Has("matched") {
		f.Matched = new(p.flag("matched"))
	}
	f.AnsweredBy = p.answerers("answeredBy")
	return f
}

// answerers reads who answered; several are separated by commas.
func (p *params) answerers(name string) []mockbase.AnsweredBy {
	text := p.text(name)
	if text == "" {
		return nil
	}
	var list []mockbase.AnsweredBy
	for by := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(by) == "" {
			p.fault(name, mockbase.FieldEnum, "%s holds an empty name: %s", name, shown(text))
			continue
		}
		one := params{values: map[string][]string{name: {strings.TrimSpace(by)}}}
		list = append(list, mockbase.AnsweredBy(one.choice(name, answeredBy())))
		for _, fault := range one.faults.Fields() {
			p.faults.Append(fault)
		}
	}
	return list
}

// method reads a method, which is a token (RFC 9110, section 9.1).
func (p *params) method(name string) string {
	value := p.text(name)
	if value != "" && !headerName(value) {
		p.fault(name, mockbase.FieldPattern, "%s is one method like GET, not %s", name, shown(value))
	}
	return strings.ToUpper(value)
}

// address reads the address of a client.
func (p *params) address(name string) string {
	value := p.text(name)
	if _, err := netip.ParseAddr(value); err != nil && value != "" {
		p.fault(name, mockbase.FieldPattern, "%s is one address like 192.0.2.7 or 2001:db8::7, without a port, not %s", name, shown(value))
	}
	return value
}

// session reads the name of a session or its id.
func (p *params) session(name string) string {
	value := p.text(name)
	known := func(c rune) bool {
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-'
	}
	if len(value) > longestSession || strings.TrimFunc(value, known) != "" {
		p.fault(name, mockbase.FieldPattern, "%s is the name of a session, 1 to 64 of A-Z, a-z, 0-9, point, underscore and hyphen, not %s", name, shown(value))
	}
	return value
}

// status reads a status, or a class of them such as 4xx.
func (p *params) status(name string) (least, most int) {
	text := p.text(name)
	if text == "" {
		return 0, 0
	}
	if class, ok := strings.CutSuffix(strings.ToLower(text), "xx"); ok && len(class) == 1 && class[0] >= '1' && class[0] <= '9' {
		least = int(class[0]-'0') * 100
		return least, least + 99
	}
	status, err := strconv.Atoi(text)
	if err != nil || status < 100 || status > 999 {
		p.fault(name, mockbase.FieldPattern, "%s is a status like 404 or a class like 4xx, not %s", name, shown(text))
		return 0, 0
	}
	return status, status
}

// trafficPage is the answer of M-175.
type trafficPage struct {
	page

	Dropped int64   `json:"dropped"`
	Evicted int64   `json:"evicted"`
	Facets  *facets `json:"facets,omitempty"`
}

// facets count the exchanges that a filter selects, by what one may filter next.
type facets struct {
	AnsweredBy map[string]int `json:"answeredBy"`
	Status     map[string]int `json:"status"`
	Method     map[string]int `json:"method"`
	Mock       map[string]int `json:"mock"`
}

// listTraffic lists recorded exchanges, newest first (M-175).
func (s *Server) listTraffic(c *call) error {
	p := c.params()
	filter := trafficFilter(p)
	limit, wantFacets, count := p.number("limit", 1, maxLimit, defaultLimit), p.flag("facets"), p.flag("count")
	if err := p.err(); err != nil {
		return err
	}
	if c.offer == typeLines {
		c.mask(&filter)
		return s.answerLines(c, filter)
	}
	before, err := p.newestAfter()
	if err != nil {
		return err
	}
	if !c.seesSecrets() {
		c.mask(&filter)
	}
	found := s.Traffic.Traffic(c.project.Project.ID, filter, before, limit)
	items := make([]exchangeSummary, len(found.Items))
	for i, x := range found.Items {
		items[i] = summarize(c.hide(c.seen(x)))
	}
	answer := trafficPage{page: page{Items: items}, Dropped: found.Dropped, Evicted: found.Evicted}
	if count {
		answer.Total = &found.Total
	}
	if found.More {
		c.link(&answer.page, p.newestBehind(found.Items[len(found.Items)-1].ID))
	}
	if wantFacets {
		answer.Facets = countFacets(s.Traffic.Traffic(c.project.Project.ID, filter, "", math.MaxInt).Items)
	}
	return c.json(http.StatusOK, answer)
}

func countFacets(all []*mockbase.Exchange) *facets {
	f := &facets{AnsweredBy: map[string]int{}, Status: map[string]int{}, Method: map[string]int{}, Mock: map[string]int{}}
	for _, x := range all {
		f.AnsweredBy[string(x.AnsweredBy)]++
		f.Status[strconv.Itoa(x.Response.Status)]++
		f.Method[x.Request.Method]++
		if x.Mock.Name != "" {
			f.Mock[x.Mock.Name]++
		}
	}
	return f
}

// getExchange shows one exchange whole (M-176); the id latest is the newest one's.
func (s *Server) getExchange(c *call) error {
	x, err := s.exchange(c)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, exchangeDetail(c.shown(x)))
}

// clearTraffic forgets a project's exchanges, or those that a filter selects, and says how many they were (M-179).
func (s *Server) clearTraffic(c *call) error {
	p := c.params()
	filter := trafficFilter(p)
	for _, name := range trafficFilters() {
		if name != "matched" && p.values.Has(name) && p.text(name) == "" {
			// Whoever forgets a value does not mean to delete everything.
			p.fault(name, mockbase.FieldRequired, "%s is empty: write what to select, or leave it out", name)
		}
	}
	if err := p.err(); err != nil {
		return err
	}
	if err := s.audited(c); err != nil {
		return err
	}
	id := c.project.Project.ID
	var deleted int
	if filter.Matched != nil || slices.ContainsFunc(trafficFilters(), func(name string) bool { return p.text(name) != "" }) {
		deleted = s.Traffic.ClearSelected(id, filter)
	} else {
		deleted = s.Traffic.Clear(id)
	}
	return c.json(http.StatusOK, struct {
		Deleted int `json:"deleted"`
	}{deleted})
}
