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
	// open tells that a condition takes more than the values.
	open bool
	// answers are those that ask for it, with how many of their alternatives do.
	answers map[*answered]int
	// last is the alternative that was counted last.
	last int
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
	l.list = append(l.list, &askedParameter{in: in, name: name, answers: map[*answered]int{}})
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
			nodes = append(nodes, p.node(op.answers))
		}
	}
	d.list("parameters", nodes)
}

// answer notes the parameters that an answer looks at.
func (l *askedParameters) answer(a *answered) {
	for _, part := range parameters(a.mock.pattern) {
		if name := a.rename[part.Name]; name != "" && part.Pattern != "" {
			expression, ok := scriptPattern(part.Pattern)
			if !ok {
				l.w.lost(a.mock.request.get("path"), "the expression %s has no equivalent in documents: it is left out", quoted(part.Pattern))
				continue
			}
			l.find("path", name).pattern = "^(?:" + expression + ")$"
		}
	}
	l.alternatives(a)
	_, after, found := strings.Cut(a.mock.Request.RawTarget, "?")
	if !found {
		return
	}
	l.w.lost(a.mock.request.get("rawTarget"), "a document cannot say that a query is compared as it is sent: its parts are parameters")
	for pair := range strings.SplitSeq(after, "&") {
		if name, text, _ := strings.Cut(pair, "="); name != "" {
			p := l.find("query", name)
			p.values, p.answers[a], p.open = append(p.values, text), max(1, len(a.branches)), true
		}
	}
}

// alternatives counts for each parameter how many of an answer's alternatives ask for it.
func (l *askedParameters) alternatives(a *answered) {
	for i, b := range a.branches {
		for _, one := range b {
			if p := l.condition(a, one); p != nil && (p.answers[a] == 0 || p.last != i) {
				p.answers[a]++
				p.last = i
			}
		}
	}
	if len(a.branches) > 1 {
		l.w.lost(a.mock.request.value, "a document cannot say that one of several conditions has to hold: what not all of them ask for is optional")
	}
}

// condition notes the parameter that a condition looks at; it returns the one that has to be there.
func (l *askedParameters) condition(a *answered, one atom) *askedParameter {
	places := map[string]string{"query": "query", "headers": "header", "cookies": "cookie", "path": "path"}
	in, ok := places[one.place]
	switch {
	case !one.not && !ok && (strings.HasPrefix(one.place, "body/") || one.place == "auth"):
		return nil // told where they are written
	case !ok || one.not:
		l.w.lost(one.at, "the condition is no part of a document: the answer is an example without it")
		return nil
	case in == "header" && slices.Contains([]string{"accept", "content-type", "authorization"}, strings.ToLower(one.name)):
		if !saidElsewhere(a, one) {
			l.w.lost(one.at, "a document knows no parameter of the name %s: the condition is left out", one.name)
		}
		return nil
	}
	name := one.name
	if in == "path" {
		name = a.rename[name]
	}
	if name == "" {
		return nil
	}
	return l.asked(in, name, one)
}

// saidElsewhere tells whether a document says a condition on Accept or Content-Type by the types of its bodies.
func saidElsewhere(a *answered, one atom) bool {
	text, known := sampleOf(one.at)
	text, _, _ = strings.Cut(text, ";")
	var kinds []string
	switch strings.ToLower(one.name) {
	case "accept":
		kinds = []string{a.contentType()}
	case "content-type":
		for _, b := range a.branches {
			kinds = append(kinds, samplesOf(b).bodyType)
		}
	}
	return known && slices.ContainsFunc(kinds, func(kind string) bool {
		kind, _, _ = strings.Cut(kind, ";")
		return strings.EqualFold(strings.TrimSpace(kind), strings.TrimSpace(text))
	})
}

// asked notes a parameter; nil where the condition is that it is not there.
func (l *askedParameters) asked(in, name string, one atom) *askedParameter {
	p := l.find(in, name)
	if absent(one.at) {
		l.w.lost(one.at, "a document cannot say that the parameter must not be there: it is written as an optional one")
		return nil
	}
	p.open = p.open || !closedCondition(one.at)
	switch {
	case !p.take(one.at):
		l.w.lost(one.at, "no example of what the condition takes is known: the parameter is described without it")
	case !plainCondition(one.at):
		l.w.lost(one.at, "the condition is no part of a document: an example of what it takes is")
	}
	return p
}

// plainCondition tells whether examples, a pattern or that a parameter is there say all that a condition asks for.
func plainCondition(v value) bool {
	list := v.entries()
	if len(list) == 1 && list[0].key == "matches" {
		_, ok := scriptPattern(list[0].text())
		return ok
	}
	return v.scalar() || len(list) == 1 && slices.Contains([]string{"equals", "in", "exists"}, list[0].key)
}

// closedCondition tells whether a condition takes the values that it names, and no others.
func closedCondition(v value) bool {
	list := v.entries()
	return v.scalar() || len(list) == 1 && (list[0].key == "equals" && list[0].scalar() || list[0].key == "in" && !slices.ContainsFunc(list[0].items(), func(item value) bool { return !item.scalar() }))
}

// take notes the values that a condition takes; it reports false where nothing of it can be said.
func (p *askedParameter) take(v value) bool {
	if expression := v.member("matches"); expression.ok() && len(v.node.Members) == 1 {
		if text, ok := scriptPattern(expression.text()); ok {
			p.pattern = "^(?:" + text + ")$"
		}
	}
	if list := v.member("in"); list.ok() {
		for _, item := range list.items() {
			p.values = append(p.values, item.text())
		}
		return true
	}
	text, found := sampleOf(v)
	if found {
		p.values = append(p.values, text)
	}
	return found || p.pattern != "" || v.has("exists")
}

// node writes a parameter. It is required if every answer asks for it.
func (p *askedParameter) node(answers []*answered) *mockbase.Node {
	d := with("name", textNode(p.name))
	d.set("in", textNode(p.in))
	asked := !slices.ContainsFunc(answers, func(a *answered) bool { return p.answers[a] < max(1, len(a.branches)) })
	if p.in == "path" || asked {
		d.set("required", trueNode())
	}
	schema := with("type", textNode("string"))
	slices.Sort(p.values)
	values := slices.Compact(p.values)
	if p.pattern != "" {
		schema.set("pattern", textNode(p.pattern))
	}
	if asked && !p.open && p.pattern == "" && len(values) > 0 {
		nodes := make([]*mockbase.Node, len(values))
		for i, text := range values {
			nodes[i] = textNode(text)
		}
		schema.list("enum", nodes)
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
