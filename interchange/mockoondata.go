package interchange

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/template"
)

// collection translates a route of the type CRUD over a bucket of data.
func (e *mockoonEnvironment) collection(v value) {
	endpoint := strings.Trim(v.member("endpoint").text(), "/")
	responses := v.member("responses").items()
	if strings.ContainsAny(endpoint, ":*(?+") || len(responses) == 0 {
		e.out.lost(v, "a CRUD route with patterns in its path, or without answers, has no equivalent: it is left out")
		return
	}
	main := responses[0]
	for _, r := range responses {
		if r.member("default").isTrue() {
			main = r
		}
	}
	c := with("path", textNode(e.out.prefix+e.prefix+"/"+endpoint))
	if id := main.member("crudKey").text(); id != "" && id != "id" {
		c.set("id", textNode(id))
	}
	c.set("delay", e.delay(main))
	e.untold(v, main)
	if !e.seed(c, main, endpoint) {
		return
	}
	name := slugOr(endpoint, "collection")
	if sections := e.out.sections["collections"]; sections != nil {
		name = mockbase.UniqueName(name, func(s string) bool { return sections.get(s) != nil })
	}
	made := c.node()
	e.out.section("collections", v, name, made)
	e.out.precedentCollection(made, c.get("path").Text, v)
	e.besides(v, main, endpoint)
}

// untold tells of what answers of a collection cannot have: headers of their own, and calls that follow.
func (e *mockoonEnvironment) untold(v, main value) {
	for _, h := range slices.Concat(keyed(main.member("headers")), e.headers) {
		if !strings.EqualFold(h.key, "Content-Type") {
			e.out.lost(v, "the answers of a collection have no headers of their own: %s is left out", quoted(h.key))
		}
	}
	if callbacks := main.member("callbacks"); !callbacks.silent() {
		e.out.lost(callbacks, "a collection makes no calls after its answers: they are left out")
	}
}

// besides makes a mock of the other answers of a CRUD route, which rules choose before the data is asked.
func (e *mockoonEnvironment) besides(v, main value, endpoint string) {
	if mode := v.member("responseMode"); mode.text() == "SEQUENTIAL" || mode.text() == "RANDOM" {
		e.out.lost(mode, "a collection answers by itself: answers in turn or at random are left out")
		return
	}
	m := e.out.mock(v)
	m.request.set("method", textNode("ANY"))
	m.place("path", e.prefix+"/"+endpoint+"/{id...}")
	r := &mockoonRoute{environment: e, mock: m, names: map[string]bool{}}
	for _, x := range v.member("responses").items() {
		if x.node != main.node && r.made < maxSteps {
			r.response(x, v.member("responseMode").text())
		}
	}
	if r.made > 0 {
		e.out.add(m)
	}
}

// seed fills a collection with the data of a bucket. It reports false where the data is neither list nor object, so that it
// became a mock instead.
func (e *mockoonEnvironment) seed(c *doc, main value, endpoint string) bool {
	content := e.buckets[main.member("databucketID").text()].member("value")
	text := content.text()
	if !content.ok() {
		content = main
	}
	if strings.Contains(text, "{{") {
		made, ok := e.rendered(content, text)
		if !ok {
			e.out.lost(content, "the data of %s is made of the request, or of what has no equivalent: the collection begins empty", quoted(endpoint))
			return true
		}
		e.out.lost(content, "the data of %s is made once, at the import: each time the same, and as of %s", quoted(endpoint), dataTime().Format(time.DateOnly))
		text = made
	}
	n, err := mockbase.ParseNode([]byte(text), mockbase.FormatJSON, mockbase.ParseLimits{Bytes: MaxBytes, Depth: maxDepth, Values: maxValues})
	switch {
	case err != nil:
		e.out.lost(content, "the data of %s is no JSON as it stands: the collection begins empty", quoted(endpoint))
	case n.Kind == mockbase.NodeObject:
		c.set("singular", trueNode())
		c.set("seed", n)
	case n.Kind == mockbase.NodeList:
		c.set("seed", n)
	default:
		e.out.lost(content, "the data of %s is neither list nor object: it is sent to all who read, and what clients write is sent back and not kept", quoted(endpoint))
		e.constant(main, endpoint, n)
		return false
	}
	return true
}

// constant makes the mocks of a CRUD route over a value that holds nothing to choose from: reads get it, and writes what was
// sent.
func (e *mockoonEnvironment) constant(main value, endpoint string, n *mockbase.Node) {
	const made, found = 201, 200
	for _, write := range []struct {
		methods []string
		status  int64
		body    *mockbase.Node
	}{
		{[]string{"GET"}, found, n},
		{[]string{"POST"}, made, nil},
		{[]string{"PUT", "PATCH"}, found, nil},
		{[]string{"DELETE"}, found, (&doc{}).node()},
	} {
		m := e.out.mock(main)
		var methods []*mockbase.Node
		for _, method := range write.methods {
			methods = append(methods, textNode(method))
		}
		m.request.list("method", methods)
		m.place("path", e.prefix+"/"+endpoint+"/**")
		answer := with("status", numberNode(write.status))
		if answer.set("json", write.body); write.body == nil {
			answer.set("template", trueNode())
			answer.set("headers", with("Content-Type", textNode("application/json")).node())
			answer.set("text", textNode("{{ bodyText }}"))
		}
		answer.set("delay", e.delay(main))
		m.respond(answer)
		e.out.add(m)
	}
}

// dataTime is the instant that data is made at: one and the same, so that the same environment gives the same data again.
func dataTime() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }

// rendered makes the data of a bucket that is a template, as Mockoon does when it starts. It reports false for one that asks
// for the request or holds what has no equivalent.
func (e *mockoonEnvironment) rendered(content value, text string) (string, bool) {
	const depth = 5
	t := &mockoonText{environment: e, answer: &doc{}}
	dialect := &mockoonDialect{}
	made := translateHandlebars(t.withData(text, depth), dialect)
	if len(made.lost) > 0 || len(dialect.variables) > 0 || dialect.asks {
		return "", false
	}
	compiled, err := template.Compile(made.text)
	if err != nil {
		return "", false
	}
	const seed, stream = 1, 2
	out, err := compiled.Execute(context.WithoutCancel(e.out.ctx), &template.Scope{
		Now: dataTime(), Rand: func() *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }, //nolint:gosec // data of mocks is no secret
	})
	if err != nil {
		e.out.lost(content, "the data cannot be made: %v", err)
		return "", false
	}
	return string(out), true
}

// partOf returns a part of a bucket of data that is JSON and no template.
func partOf(content, path string) (string, bool) {
	n, err := mockbase.ParseNode([]byte(content), mockbase.FormatJSON, mockbase.ParseLimits{Depth: maxDepth})
	if err != nil || strings.Contains(content, "{{") {
		return "", false
	}
	found := value{node: n}
	steps := strings.NewReplacer("[", ".", "]", "", `"`, "", "'", "").Replace(strings.TrimPrefix(path, "$"))
	for part := range strings.SplitSeq(strings.TrimPrefix(steps, "."), ".") {
		found = found.step(part)
	}
	switch {
	case !found.ok():
		return "", false
	case found.scalar():
		return found.text(), true
	}
	return string(found.node.JSON()), true
}
