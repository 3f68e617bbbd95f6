package interchange

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// stubRequest writes the conditions of one stub.
type stubRequest struct {
	w    *wiremockWriter
	mock *exportedMock
	doc  doc
	// groups holds what is asked of parameters, headers and the like, by the member that it stands in.
	groups map[string]*doc
	body   []*mockbase.Node
	parts  []*mockbase.Node
	failed bool
	// several tells that what is asked about may have several values.
	several bool
	// presence says whether what is asked about is always there.
	presence exportedPresence
}

// request writes what a stub asks for; nil when a condition has no equivalent, without which it would answer too much.
func (w *wiremockWriter) request(x *exportedMock, b branch, at value) *doc {
	r := &stubRequest{w: w, mock: x, groups: map[string]*doc{}}
	x.request.skip("host", "strictQuery", "trailingSlash")
	r.place()
	r.host()
	for _, a := range b {
		r.atom(a)
	}
	if r.failed {
		w.lost(at, "the answer is left out: without the condition that has no equivalent it would answer too much")
		return nil
	}
	for _, name := range []string{"pathParameters", "queryParameters", "headers", "cookies", "formParameters"} {
		r.doc.doc(name, r.groups[name])
	}
	r.doc.list("bodyPatterns", r.body)
	r.doc.list("multipartPatterns", r.parts)
	return &r.doc
}

// unmet tells of a condition without equivalent.
func (r *stubRequest) unmet(v value, format string, args ...any) {
	r.failed = true
	r.w.lost(v, format, args...)
}

// place writes where the stub answers.
func (r *stubRequest) place() {
	m := r.mock
	strict := m.Request.StrictQuery
	path, plain := encodedPath(m.pattern)
	literal := m.ok && plain && len(parameters(m.pattern)) == 0
	switch {
	case r.target(path, literal):
		return
	case m.Request.PathMatches != "":
		r.doc.set("urlPathPattern", textNode(javaExpression(m.Request.PathMatches)))
	case !m.ok:
		r.unmet(m.doc.get("request"), "the path cannot be read")
	case !m.named():
		r.expression()
	case literal:
		r.doc.set("urlPath", textNode(path))
	default:
		r.pathTemplate(path)
	}
	if strict {
		r.unmet(m.request.get("strictQuery"), "a query that may hold nothing else has no equivalent")
	}
}

// target writes where the stub answers as a path with its query, if nothing else may be in that.
func (r *stubRequest) target(path string, literal bool) bool { //nolint:revive // what is known of the path
	q := &r.mock.Request
	if literal && q.StrictQuery && len(q.Query) == 0 {
		r.doc.set("url", textNode(path))
		return true
	}
	if q.RawTarget != "" {
		r.doc.set("url", textNode(q.RawTarget))
	}
	return q.RawTarget != ""
}

// expression writes the path as an expression.
func (r *stubRequest) expression() {
	text := pathExpression(r.mock.pattern)
	if r.mock.caseIgnored() {
		text = "(?i)" + text
	}
	if r.mock.slashIgnored() {
		text = strings.TrimSuffix(text, "/") + "/?"
	}
	r.doc.set("urlPathPattern", textNode(text))
}

// pathTemplate writes a path with parameters, and what they must be.
func (r *stubRequest) pathTemplate(path string) {
	r.doc.set("urlPathTemplate", textNode(path))
	for _, p := range parameters(r.mock.pattern) {
		if p.Pattern != "" {
			r.put("pathParameters", p.Name, with("matches", textNode(javaExpression(p.Pattern))))
		}
	}
}

// slashIgnored tells whether the path answers with and without a slash at its end (rule B10).
func (x *exportedMock) slashIgnored() bool {
	setting := x.Request.TrailingSlash
	if setting == "" {
		setting = x.exporter.config.Settings.TrailingSlash
	}
	return setting == mockbase.TrailingSlashIgnore && x.ok
}

// slashLoss tells that a path is written in one of the two ways in which it answers.
func (x *exportedMock) slashLoss() {
	if v := x.request.get("trailingSlash"); v.text() == string(mockbase.TrailingSlashIgnore) {
		x.exporter.lost(v, "a path has a slash at its end or none: it is written as it stands")
	}
}

// caseIgnored tells whether the path is compared without regard to the case of letters (rule B11).
func (x *exportedMock) caseIgnored() bool { return x.exporter.config.Settings.IgnorePathCase }

// named tells whether the parameters of the path have names in WireMock.
func (x *exportedMock) named() bool {
	_, plain := encodedPath(x.pattern)
	return x.ok && plain && !x.slashIgnored() && !x.caseIgnored()
}

func (r *stubRequest) host() {
	host := r.mock.Request.Host
	name, port, hasPort := strings.Cut(host, ":")
	switch {
	case host == "":
		return
	case hasPort && !strings.HasPrefix(host, "["):
		r.put("headers", "Host", with("equalTo", textNode(name+":"+port)))
	case strings.HasPrefix(host, "*."):
		r.doc.set("host", with("matches", textNode(`(?i).+`+regexp.QuoteMeta(host[1:])+`(?::\d+)?`)).node())
	default:
		r.doc.set("host", with("equalTo", textNode(host)).node())
	}
}

// put adds what is asked of a name. What is asked twice must both hold.
func (r *stubRequest) put(group, name string, pattern *doc) {
	d := r.groups[group]
	if d == nil {
		d = &doc{}
		r.groups[group] = d
	}
	if old := d.get(name); old != nil {
		pattern = both(group, &doc{members: old.Members}, pattern)
	}
	d.set(name, pattern.node())
}

// severalValues tells whether a name may have several values, each of which can meet another condition.
func severalValues(group string) bool {
	return group == "queryParameters" || group == "headers" || group == "formParameters"
}

// both joins two conditions on one name. They may hold for different values, unless one holds for none.
func both(group string, old, pattern *doc) *doc {
	forNone := func(d *doc) bool {
		return slices.ContainsFunc([]string{"absent", "or", "not", "hasExactly"}, func(key string) bool { return d.get(key) != nil })
	}
	if !severalValues(group) || forNone(old) || forNone(pattern) {
		return with("and", listNode(old.node(), pattern.node()))
	}
	list := []*mockbase.Node{old.node()}
	if already := old.get("includes"); already != nil {
		list = already.Items
	}
	if more := pattern.get("includes"); more != nil {
		return with("includes", listNode(slices.Concat(list, more.Items)...))
	}
	return with("includes", listNode(append(slices.Clip(list), pattern.node())...))
}

// atom writes a single condition.
func (r *stubRequest) atom(a atom) {
	groups := map[string]string{"path": "pathParameters", "query": "queryParameters", "headers": "headers", "cookies": "cookies", "body/form": "formParameters"}
	switch group := groups[a.place]; {
	case group != "":
		r.named(group, a)
	case a.place == "auth" && !a.not:
		r.auth(a)
	case a.place == "body/multipart" && !a.not:
		r.multipart(a)
	case strings.HasPrefix(a.place, "body/"):
		r.bodyAtom(a)
	default:
		r.unmet(a.at, "a condition on %s has no equivalent", a.place)
	}
}

// named writes a condition on something that has a name.
func (r *stubRequest) named(group string, a atom) {
	switch {
	case a.place == "path" && !r.mock.named():
		r.unmet(a.at, "a condition on a parameter of this path has no equivalent")
	case a.at.is(mockbase.NodeList) && severalValues(group):
		for _, item := range a.at.items() {
			a.at = item
			r.named(group, a)
		}
	case a.at.has("allOf") && !a.not && len(a.at.node.Members) == 1:
		for _, item := range a.at.member("allOf").items() {
			a.at = item
			r.named(group, a)
		}
	default:
		r.several = severalValues(group)
		if pattern := r.pattern(a.at); pattern != nil {
			r.put(group, a.name, r.negated(a, pattern))
		}
		r.several = false
	}
}

// negated turns a pattern around, if the condition must not hold. A negation holds here for what was not sent (rule K7).
func (*stubRequest) negated(a atom, pattern *doc) *doc {
	switch {
	case !a.not:
		return pattern
	case pattern.get("absent") != nil:
		return anything()
	}
	inverse := with("not", pattern.node())
	if a.place == "cookies" || a.place == "path" {
		return inverse
	}
	return with("or", listNode(with("absent", trueNode()).node(), inverse.node()))
}

// anything is a pattern that holds for every value that was sent.
func anything() *doc { return with("matches", textNode(`[\s\S]*`)) }

// auth writes a condition on credentials.
func (r *stubRequest) auth(a atom) {
	basic, bearer := a.at.member("basic"), a.at.member("bearer")
	switch {
	case bearer.ok():
		pattern := r.pattern(bearer)
		if pattern == nil {
			return
		}
		const scheme = `(?i:Bearer) +`
		switch equal, expression := pattern.get("equalTo"), pattern.get("matches"); {
		case len(pattern.members) == 1 && equal != nil:
			r.put("headers", "Authorization", with("matches", textNode(scheme+regexp.QuoteMeta(equal.Text))))
		case len(pattern.members) == 1 && expression != nil && !anchored(expression.Text):
			r.put("headers", "Authorization", with("matches", textNode(scheme+"(?:"+expression.Text+")")))
		default:
			r.unmet(bearer, "the condition on a bearer token has no equivalent")
		}
	case basic.member("username").scalar() && basic.member("password").scalar():
		credentials := with("username", textNode(basic.member("username").text()))
		credentials.set("password", textNode(basic.member("password").text()))
		r.doc.set("basicAuthCredentials", credentials.node())
	default:
		r.unmet(a.at, "credentials can be asked for as a user name and a password alone")
	}
}

// anchored tells whether an expression looks for the beginning of a text, which is another one behind a scheme.
func anchored(pattern string) bool {
	return strings.ContainsAny(strings.NewReplacer(`\^`, "", "[^", "").Replace(pattern), "^") || strings.Contains(pattern, `\A`) || strings.Contains(pattern, `\b`) || strings.Contains(pattern, `\B`)
}

// javaExpression writes a regular expression so that Java reads it the same way. What Java reads otherwise is written out.
func javaExpression(pattern string) string {
	for _, odd := range []string{"[:", "&&", "[[", "(?U", `\p{`, `\P{`, `\C`} {
		if !strings.Contains(pattern, odd) {
			continue
		}
		if parsed, err := syntax.Parse(pattern, syntax.Perl); err == nil {
			pattern = parsed.String()
		}
		break
	}
	return groupName.ReplaceAllStringFunc(pattern, func(group string) string {
		return "(?<" + strings.ReplaceAll(strings.TrimLeft(group, "(?P<"), "_", "")
	})
}

var groupName = regexp.MustCompile(`\(\?P?<[A-Za-z_][A-Za-z0-9_]*>`)
