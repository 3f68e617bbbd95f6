package interchange

import (
	"regexp"
	"slices"

	"github.com/mockbase/mockbase"
)

// onlyDestination tells whether a request says a destination, and nothing else of what is asked for.
func onlyDestination(request value) bool {
	others := []string{"path", "body", "headers", "headersWithMatchers", "query", "queriesWithMatchers"}
	return len(hoverflyMatchers(request.member("destination"))) > 0 &&
		!slices.ContainsFunc(others, func(name string) bool { return !request.member(name).silent() })
}

// severalHosts tells whether pairs that say a destination alone say different ones. Without it, the first of them would
// answer for all.
func severalHosts(pairs value) bool {
	first := ""
	for _, pair := range pairs.items() {
		request := pair.member("request")
		if !onlyDestination(request) {
			continue
		}
		text := string(request.member("destination").node.JSON())
		if first != "" && text != first {
			return true
		}
		first = text
	}
	return false
}

// destination leaves the host out, as Hoverfly does as a web server, unless it tells pairs apart that say nothing else.
func (p *hoverflyPair) destination(r *object) {
	v := r.get("destination")
	matchers := hoverflyMatchers(v)
	for _, m := range matchers {
		if m.kind == "exact" {
			p.host = m.operand.text()
		}
	}
	switch only := onlyDestination(r.value); {
	case len(matchers) == 0:
		return
	case !only:
		p.out.lost(v, "the destination is left out: the mock answers at its own address, as Hoverfly does as a web server")
		return
	case !p.file.hosts:
		p.out.lost(v, "the destination, which is all that the request says, is left out: the mock answers what no other mock does, as Hoverfly does as a web server")
		return
	}
	p.out.lost(v, "the destination is all that the request says, and others say other ones: it becomes the host, so that the mock answers only there")
	if p.host != "" && len(matchers) == 1 {
		p.mock.request.set("host", textNode(p.host))
		return
	}
	for _, m := range matchers {
		p.hostMatcher(m)
	}
}

// hostMatcher makes a condition on the host of one on the destination, which has no port here unless it states one.
func (p *hoverflyPair) hostMatcher(m hoverflyMatcher) {
	text, operator := m.operand.text(), "matches"
	const port = `(?::\d+)?`
	switch {
	case !m.operand.scalar():
		p.mock.unmet(m.from, "the condition on the destination has no value that is a text")
		return
	case m.kind == "exact":
		text = regexp.QuoteMeta(text) + port
	case m.kind == "glob":
		text = globPattern(text) + port
	case m.kind == "regex":
		operator = "search"
	default:
		p.mock.unmet(m.from, "the condition %s cannot be put on a destination", quoted(m.kind))
		return
	}
	if p.mock.expression(m.from, text) {
		p.mock.needs(with("headers", with("Host", with(operator, textNode(text)).node()).node()).node())
	}
}

// array translates a matcher on all values of a name. Unless its configuration says so, they come in this order, each as often
// as it is listed, and no others.
func (p *hoverflyPair) array(m hoverflyMatcher) *mockbase.Node {
	config := m.from.member("config")
	list := scalars(m.operand)
	order, unknown, often := config.member("ignoreOrder").isTrue(), config.member("ignoreUnknown").isTrue(), config.member("ignoreOccurrences").isTrue()
	if !order && (unknown || often) {
		p.out.lost(config, "values come in any order where others may come, or come more often")
	}
	var once []*mockbase.Node
	for _, n := range list {
		if !slices.ContainsFunc(once, func(o *mockbase.Node) bool { return o.Text == n.Text }) {
			once = append(once, n)
		}
	}
	switch {
	case often && unknown:
		return with("all", listNode(once...)).node()
	case often:
		both := with("all", listNode(once...))
		both.set("every", with("in", listNode(once...)).node())
		return both.node()
	case unknown:
		return with("all", listNode(list...)).node()
	case order:
		return with("exactly", listNode(list...)).node()
	}
	return with("ordered", listNode(list...)).node()
}
