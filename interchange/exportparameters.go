package interchange

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// askedParameter is what is known of a parameter.
type askedParameter struct {
	in, name string
	values   []string
	pattern  string
	// mocks are the answers that ask for it.
	answers map[*answered]bool
}

// askedParameters are the parameters of an operation.
type askedParameters struct {
	w    *openAPIWriter
	list []*askedParameter
}

// find finds a parameter, or adds it.
func (l *askedParameters) find(in, name string) *askedParameter {
	for _, p := range l.list {
		if p.in == in && (p.name == name || in == "header" && strings.EqualFold(p.name, name)) {
			return p
		}
	}
	l.list = append(l.list, &askedParameter{in: in, name: name, answers: map[*answered]bool{}})
	return l.list[len(l.list)-1]
}

// parameters writes the parameters that the path has and that conditions look at.
func (w *openAPIWriter) parameters(op *exportedOperation, d *doc, names []string) {
	l := &askedParameters{w: w}
	for _, name := range names {
		l.find("path", name)
	}
	for _, a := range op.answers {
		l.answer(a)
	}
	known := map[string]bool{}
	nodes := []*mockbase.Node{}
	if old := d.get("parameters"); old != nil {
		nodes = slices.Clone(old.Items)
		for _, n := range old.Items {
			v := value{node: n}
			known[v.member("in").text()+" "+v.member("name").text()] = true
		}
	}
	for _, p := range l.list {
		if !known[p.in+" "+p.name] {
			nodes = append(nodes, p.node(len(op.answers)))
		}
	}
	d.list("parameters", nodes)
}

// answer notes the parameters that an answer looks at.
func (l *askedParameters) answer(a *answered) {
	for _, part := range parameters(a.mock.pattern) {
		if name := a.rename[part.Name]; name != "" && part.Pattern != "" {
			l.find("path", name).pattern = "^(?:" + part.Pattern + ")$"
		}
	}
	for _, b := range a.branches {
		for _, one := range b {
			l.condition(a, one)
		}
	}
	_, after, found := strings.Cut(a.mock.Request.RawTarget, "?")
	if !found {
		return
	}
	l.w.lost(a.mock.request.get("rawTarget"), "a document cannot say that a query is compared as it is sent: its parts are parameters")
	for pair := range strings.SplitSeq(after, "&") {
		if name, text, _ := strings.Cut(pair, "="); name != "" {
			p := l.find("query", name)
			p.values, p.answers[a] = append(p.values, text), true
		}
	}
}

// condition notes the parameter that a condition looks at.
func (l *askedParameters) condition(a *answered, one atom) {
	places := map[string]string{"query": "query", "headers": "header", "cookies": "cookie", "path": "path"}
	in, ok := places[one.place]
	switch {
	case !ok && (strings.HasPrefix(one.place, "body/") || one.place == "auth"):
		return
	case !ok || one.not:
		l.w.lost(one.at, "the condition is no part of a document: the answer is an example without it")
		return
	case in == "header" && slices.Contains([]string{"accept", "content-type", "authorization"}, strings.ToLower(one.name)):
		return // a document says these in other ways
	}
	name := one.name
	if in == "path" {
		name = a.rename[name]
	}
	if name == "" {
		return
	}
	p := l.find(in, name)
	if !one.at.has("exists") || one.at.member("exists").isTrue() {
		p.answers[a] = true
		p.take(one.at)
	}
}

// take notes the values that a condition takes.
func (p *askedParameter) take(v value) {
	if expression := v.member("matches"); expression.ok() && len(v.node.Members) == 1 {
		p.pattern = "^(?:" + expression.text() + ")$"
	}
	if list := v.member("in"); list.ok() {
		for _, item := range list.items() {
			p.values = append(p.values, item.text())
		}
		return
	}
	if text, found := sampleOf(v); found {
		p.values = append(p.values, text)
	}
}

// node writes a parameter. It is required if every answer asks for it.
func (p *askedParameter) node(answers int) *mockbase.Node {
	d := with("name", textNode(p.name))
	d.set("in", textNode(p.in))
	if p.in == "path" || len(p.answers) == answers {
		d.set("required", trueNode())
	}
	schema := with("type", textNode("string"))
	slices.Sort(p.values)
	values := slices.Compact(p.values)
	if p.pattern != "" {
		schema.set("pattern", textNode(p.pattern))
	}
	d.set("schema", schema.node())
	switch {
	case len(values) == 1:
		d.set("example", textNode(values[0]))
	case len(values) > 1:
		examples := &doc{}
		for i, text := range values {
			examples.set("example"+strconv.Itoa(i+1), with("value", textNode(text)).node())
		}
		d.set("examples", examples.node())
	}
	return d.node()
}
