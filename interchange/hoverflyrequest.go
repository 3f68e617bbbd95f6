package interchange

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// hoverflyMatcher is one condition, in the words of version 5.
type hoverflyMatcher struct {
	kind    string
	operand value
	// chain is a condition on what this one selects.
	chain value
	from  value
}

// hoverflyMatchers reads a condition of any version: a list of matchers, an object whose keys are kinds, or a text.
func hoverflyMatchers(v value) []hoverflyMatcher {
	older := map[string]string{
		"exactMatch": "exact", "globMatch": "glob", "regexMatch": "regex", "jsonMatch": "json", "jsonPathMatch": "jsonpath", "xmlMatch": "xml", "xpathMatch": "xpath",
	}
	var list []hoverflyMatcher
	switch {
	case v.is(mockbase.NodeList):
		for _, item := range v.items() {
			list = append(list, hoverflyMatchers(item)...)
		}
	case v.is(mockbase.NodeObject) && v.has("matcher"):
		list = append(list, hoverflyMatcher{strings.ToLower(v.member("matcher").text()), v.member("value"), v.member("doMatch"), v})
	case v.is(mockbase.NodeObject):
		for _, e := range v.entries() {
			if kind, ok := older[e.key]; !ok {
				list = append(list, hoverflyMatcher{e.key, e.value, value{}, e.value})
			} else if e.ok() {
				list = append(list, hoverflyMatcher{kind, e.value, value{}, e.value})
			}
		}
	case v.ok():
		list = append(list, hoverflyMatcher{"glob", v, value{}, v})
	}
	return list
}

// hoverflyShape is the request of a pair, of any version.
func hoverflyShape() conditionShape {
	const matchers = aText | aList | anObject
	return conditionShape{
		places: []string{"path"},
		members: map[string]kinds{
			"method": matchers, "path": matchers, "destination": matchers, "scheme": matchers, "body": matchers, "query": matchers,
			"deprecatedQuery": matchers, "queriesWithMatchers": anObject, "headers": anObject, "headersWithMatchers": anObject,
			"requiresState": anObject, "requestType": aText,
		},
	}
}

func (p *hoverflyPair) request(r *object) {
	p.mock.strength = hoverflyStrength(r)
	p.methods(hoverflyMatchers(r.get("method")))
	p.where(r)
	p.query(r)
	headers := &doc{}
	for _, name := range []string{"headers", "headersWithMatchers"} {
		p.named(r.get(name), headers)
	}
	p.mock.request.doc("headers", headers)
	for _, m := range hoverflyMatchers(r.get("body")) {
		p.body(m)
	}
	p.requires(r.get("requiresState"))
	r.done()
}

// hoverflyStrength is what a pair counts where several match: two for each exact condition and one for any other.
func hoverflyStrength(r *object) int {
	strength := len(r.member("requiresState").entries())
	count := func(v value) {
		for _, m := range hoverflyMatchers(v) {
			if strength++; m.kind == "exact" || m.kind == "containsexactly" {
				strength++
			}
		}
	}
	for _, name := range []string{"method", "path", "body", "deprecatedQuery"} {
		count(r.member(name))
	}
	for _, name := range []string{"query", "queriesWithMatchers", "headers", "headersWithMatchers"} {
		v := r.member(name)
		if v.has("exactMatch") {
			count(v)
			continue
		}
		for _, e := range v.entries() {
			count(e.value)
		}
	}
	return strength
}

// methods translates the conditions on the method.
func (p *hoverflyPair) methods(methods []hoverflyMatcher) {
	p.mock.request.set("method", textNode("ANY"))
	for _, m := range methods {
		switch text := m.operand.text(); {
		case m.kind == "exact" && len(methods) == 1 && text != "":
			p.method = text
			p.mock.request.set("method", textNode(strings.ToUpper(text)))
		case m.kind == "glob" || m.kind == "regex":
			if m.kind == "glob" {
				text = globPattern(text)
			}
			p.mock.methodPattern(m.from, true, text)
		case m.kind == "negate" && len(methods) == 1 && text != "":
			p.methodsBut(m.from, text)
		default:
			p.mock.unmet(m.from, "the condition on the method has no equivalent")
		}
	}
}

// methodsBut lists the common methods but one.
func (p *hoverflyPair) methodsBut(from value, not string) {
	(&mockserverMock{out: p.out, mock: p.mock}).methodsBut(from, not)
}

// where translates path and destination.
func (p *hoverflyPair) where(r *object) {
	paths := hoverflyMatchers(r.get("path"))
	for i, m := range paths {
		if i > 0 {
			p.mock.unmet(m.from, "a path can have one condition")
			break
		}
		p.pathMatcher(m)
	}
	if len(paths) == 0 {
		p.mock.place("path", "/**")
	}
	if len(paths) == 0 && r.has("path") {
		p.mock.unmet(r.get("path"), "the path has no condition that is known")
	}
	if v := r.get("scheme"); v.ok() {
		p.out.lost(v, "the scheme is left out: MockBase answers on its own")
	}
	p.destination(r)
}

func (p *hoverflyPair) pathMatcher(m hoverflyMatcher) {
	text := m.operand.text()
	if !m.operand.scalar() {
		p.mock.place("path", "/**")
		p.mock.unmet(m.from, "the condition on the path has no value that is a text")
		return
	}
	switch m.kind {
	case "exact":
		p.path = text
		p.mock.literalPath(text)
	case "glob":
		if strings.Trim(text, "*/") == "" {
			p.mock.place("path", "/**")
			return
		}
		p.mock.place("pathMatches", globPattern(text))
	case "regex":
		p.mock.searchPath(m.from, text)
	default:
		p.mock.place("path", "/**")
		p.mock.unmet(m.from, "the condition %s cannot be put on a path", quoted(m.kind))
	}
}

// globPattern turns a glob into a regular expression.
func globPattern(glob string) string {
	parts := strings.Split(glob, "*")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return strings.Join(parts, ".*")
}

// query translates conditions on parameters, and those on the query as a whole where that can be taken apart.
func (p *hoverflyPair) query(r *object) {
	query := &doc{}
	for _, name := range []string{"query", "queriesWithMatchers", "deprecatedQuery"} {
		v := r.get(name)
		if name != "deprecatedQuery" && !v.has("exactMatch") {
			p.named(v, query)
			continue
		}
		for _, m := range hoverflyMatchers(v) {
			p.wholeQuery(m, query)
		}
	}
	p.mock.request.doc("query", query)
}

func (p *hoverflyPair) wholeQuery(m hoverflyMatcher, query *doc) {
	pairs, err := url.ParseQuery(m.operand.text())
	if m.kind != "exact" || err != nil {
		p.mock.unmet(m.from, "a condition on the query as a whole cannot be taken apart")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		var list []*mockbase.Node
		for _, text := range pairs[name] {
			list = append(list, textNode(text))
		}
		query.set(name, with("exactly", listNode(list...)).node())
	}
	p.mock.request.set("strictQuery", trueNode())
}

// named translates conditions by name.
func (p *hoverflyPair) named(v value, to *doc) {
	for _, e := range p.out.object(v).entries() {
		var list []*mockbase.Node
		for _, m := range hoverflyMatchers(e.value) {
			if n := p.condition(m); n != nil {
				list = append(list, n)
			}
		}
		if len(list) == 1 {
			to.set(e.key, list[0])
		} else {
			to.list(e.key, list)
		}
	}
}

// condition translates a matcher on a text.
func (p *hoverflyPair) condition(m hoverflyMatcher) *mockbase.Node {
	if m.chain.ok() {
		p.mock.unmet(m.chain, "a condition on what another one selects has no equivalent here")
		return nil
	}
	text := m.operand.text()
	if m.kind == "array" != m.operand.is(mockbase.NodeList) || m.kind != "array" && !m.operand.scalar() {
		p.mock.unmet(m.from, "the value of the condition %s is of another kind than it has to be", quoted(m.kind))
		return nil
	}
	switch m.kind {
	case "exact":
		return with("equals", textNode(text)).node()
	case "glob":
		if text == "*" {
			return with("exists", trueNode()).node()
		}
		return with("matches", textNode("(?s)"+globPattern(text))).node()
	case "regex":
		if !p.mock.expression(m.from, text) {
			return nil
		}
		return with("search", textNode(text)).node()
	case "negate":
		d := with("not", with("equals", textNode(text)).node())
		d.set("exists", trueNode())
		return d.node()
	case "array":
		return p.array(m)
	}
	p.mock.unmet(m.from, "the condition %s cannot be put on a text", quoted(m.kind))
	return nil
}

func scalars(v value) []*mockbase.Node {
	var list []*mockbase.Node
	for _, item := range v.items() {
		list = append(list, textNode(item.text()))
	}
	return list
}

// body translates a matcher on the body.
func (p *hoverflyPair) body(m hoverflyMatcher) {
	text := m.operand.text()
	switch m.kind {
	case "exact":
		if text == "" {
			p.mock.body(with("empty", trueNode()))
			return
		}
		p.mock.body(with("text", with("equals", textNode(text)).node()))
	case "json", "jsonpartial":
		p.json(m)
	case "jsonpath", "xpath":
		p.selected(m)
	case "xml":
		body := with("xml", textNode(text))
		body.set("xmlOptions", with("trimText", trueNode()).node())
		p.mock.body(body)
	case "form":
		form := &doc{}
		p.named(m.operand, form)
		if !form.empty() {
			p.mock.body(with("form", form.node()))
		}
	default:
		if n := p.condition(m); n != nil {
			p.mock.body(with("text", n))
		}
	}
}

func (p *hoverflyPair) json(m hoverflyMatcher) {
	expected := m.operand.node
	if m.operand.is(mockbase.NodeText) {
		n, err := mockbase.ParseNode([]byte(m.operand.text()), mockbase.FormatJSON, mockbase.ParseLimits{Depth: maxDepth})
		if err != nil {
			p.mock.unmet(m.from, "the expected body is not JSON")
			return
		}
		expected = n
	}
	if expected == nil {
		p.mock.unmet(m.from, "the condition says no value")
		return
	}
	if m.kind == "json" {
		p.mock.body(with("jsonExact", literalMatch(expected)))
		return
	}
	body := with("json", literalMatch(expected))
	body.set("jsonOptions", with("ignoreExtraItems", trueNode()).node())
	p.mock.body(body)
}

// selected translates a matcher on what a path selects.
func (p *hoverflyPair) selected(m hoverflyMatcher) {
	match := with("exists", trueNode()).node()
	if m.chain.ok() {
		for _, inner := range hoverflyMatchers(m.chain) {
			if match = p.condition(inner); match == nil {
				return
			}
		}
	}
	if m.kind == "xpath" {
		p.mock.body(with("xpath", with(m.operand.text(), match).node()))
		return
	}
	expression, err := standardPath(m.operand.text())
	if err != nil {
		p.mock.unmet(m.from, "the JSONPath %s: %v", quoted(m.operand.text()), err)
		return
	}
	p.mock.body(with("jsonPath", with(expression, match).node()))
}

// requires translates the state that a pair needs. A mock depends on one scenario here.
func (p *hoverflyPair) requires(v value) {
	for _, e := range p.out.object(v).entries() {
		if p.scenario != "" {
			p.mock.unmet(e.value, "a mock depends on one state, and the pair needs %s besides", quoted(e.key))
			continue
		}
		p.bind(e.value, e.key)
		p.mock.set("state", textNode(e.text()))
	}
}

// bind makes the mock one of the scenario that stands for a key of the state.
func (p *hoverflyPair) bind(from value, key string) {
	p.scenario = key
	slug := p.out.scenario(key)
	p.mock.set("scenario", textNode(slug))
	if strings.HasPrefix(key, "sequence:") && !p.file.initial[key] {
		p.file.initial[key] = true
		p.out.section("scenarios", from, slug, with("initial", textNode("1")).node())
	}
}
