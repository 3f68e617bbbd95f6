package interchange

import (
	"mime"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// maxSteps is the most answers of one mock (mock format, section 6).
const maxSteps = 50

// pair is a name with a value, as queries, forms and headers have them.
type pair struct{ name, text string }

// saved is one request with the answer that was kept of it, as collections and archives hold them.
type saved struct {
	from        value
	name        string
	description string
	folder      string
	method      string
	// path is a path pattern; literal tells that it is the path of a request, in which nothing is a pattern.
	path    string
	literal bool
	query   []pair
	// headers are conditions on headers.
	headers *doc
	body    savedBody
	// step names the answer.
	step   string
	answer *doc
}

// savedBody is the body of a saved request.
type savedBody struct {
	text string
	kind string
	// templated tells that variables in double braces may stand in the text.
	templated bool
	// condition is one that holds whether or not other requests have the same target, such as the query of GraphQL.
	condition *doc
}

// savedSet puts the answers to one and the same request together.
type savedSet struct {
	out    *output
	groups map[string][]*saved
	order  []string
}

func newSavedSet(out *output) *savedSet { return &savedSet{out: out, groups: map[string][]*saved{}} }

// add adds a request with its answer.
func (s *savedSet) add(x *saved) {
	parts := []string{x.method, x.path}
	for _, p := range x.query {
		parts = append(parts, p.name+"="+p.text)
	}
	for _, condition := range []*doc{x.headers, x.body.condition} {
		if !condition.empty() {
			parts = append(parts, string(condition.node().JSON()))
		}
	}
	key := strings.Join(parts, "\n")
	if s.groups[key] == nil {
		s.order = append(s.order, key)
	}
	s.groups[key] = append(s.groups[key], x)
}

// finish makes the mocks. Requests that differ in nothing but their bodies become one mock for each body; everywhere else
// the body is an example, and no condition.
func (s *savedSet) finish() {
	for _, key := range s.order {
		if s.out.ctx.Err() != nil {
			return
		}
		bodies, byBody := []string{}, map[string][]*saved{}
		for _, x := range s.groups[key] {
			if byBody[x.body.text] == nil {
				bodies = append(bodies, x.body.text)
			}
			byBody[x.body.text] = append(byBody[x.body.text], x)
		}
		for _, text := range bodies {
			s.mock(byBody[text], len(bodies))
		}
	}
}

// mock makes one mock of the answers to one request, of which there are as many as there are bodies with this target.
func (s *savedSet) mock(list []*saved, bodies int) {
	x := list[0]
	m := s.out.mock(x.from)
	m.named(x.name)
	m.text("description", x.description)
	m.text("folder", x.folder)
	m.request.set("method", textNode(x.method))
	if x.literal {
		m.literalPath(x.path)
	} else {
		m.place("path", x.path)
	}
	m.request.doc("query", s.query(x))
	m.request.doc("headers", x.headers)
	if x.body.condition != nil {
		m.body(x.body.condition)
	}
	if bodies > 1 {
		m.body(bodyCondition(x.body))
	}
	s.answers(m, list)
	s.out.add(m)
}

// query makes conditions of the parameters. Of one that is named like a secret, or whose value is not known, being there is
// enough.
func (s *savedSet) query(x *saved) *doc {
	values, order := map[string][]*mockbase.Node{}, []string{}
	open := map[string]bool{}
	for _, p := range x.query {
		if values[p.name] == nil {
			order = append(order, p.name)
		}
		values[p.name] = append(values[p.name], textNode(p.text))
		if strings.Contains(p.text, "{{") {
			open[p.name] = true
			s.out.lost(x.from, "the value %s of the parameter %s is not known: any value fits", quoted(p.text), quoted(p.name))
		}
	}
	d := &doc{}
	for _, name := range order {
		switch list := values[name]; {
		case mockbase.IsSecretName(name), open[name]:
			d.set(name, with("exists", trueNode()).node())
		case len(list) == 1:
			d.set(name, list[0])
		default:
			d.set(name, with("exactly", listNode(list...)).node())
		}
	}
	return d
}

// answers adds the answers: one, or a sequence of those that differ.
func (s *savedSet) answers(m *mock, list []*saved) {
	seen := map[string]bool{}
	var steps []*doc
	names := map[string]bool{}
	for _, x := range list {
		key := string(x.answer.ordered().node().JSON())
		if seen[key] {
			continue
		}
		seen[key] = true
		if len(steps) == maxSteps {
			s.out.lost(x.from, "a mock has at most %d answers: this one and those after it are left out", maxSteps)
			break
		}
		if strings.Contains(key, "{{") && x.answer.get("template") == nil {
			x.answer.set("template", falseNode())
		}
		if step := slugOr(x.step, ""); step != "" {
			step = mockbase.UniqueName(step, func(name string) bool { return names[name] })
			names[step] = true
			x.answer.set("name", textNode(step))
		}
		steps = append(steps, x.answer)
	}
	if len(steps) > 1 {
		m.set("select", textNode("sequence"))
	} else {
		steps[0].remove("name")
	}
	for _, step := range steps {
		m.respond(step)
	}
}

// sentText is the text of a body as it was sent, in the character set that the headers name.
func (o *output) sentText(at value, headers []pair, text string) []byte {
	for _, h := range headers {
		if !strings.EqualFold(h.name, "Content-Type") {
			continue
		}
		encoded, reason := encodedText(h.text, text)
		if reason != "" {
			o.lost(at, "%s: it is sent in UTF-8", reason)
		}
		return []byte(encoded)
	}
	return []byte(text)
}

// savedAnswer makes an answer of a status, headers and a body. Headers that the server sets by itself, or that belong to one
// connection or one client, are left to it.
func savedAnswer(status int64, headers []pair, body []byte) *doc {
	d := with("status", numberNode(status))
	kept := &doc{}
	kind := ""
	for _, h := range headers {
		if ownHeader(h.name) {
			continue
		}
		if strings.EqualFold(h.name, "Content-Type") {
			kind = h.text
		}
		kept.join(h.name, textNode(h.text))
	}
	d.doc("headers", kept)
	if len(body) == 0 || status == 204 || status == 205 || status == 304 {
		return d
	}
	media, _, err := mime.ParseMediaType(kind)
	if err == nil && (media == "application/json" || strings.HasSuffix(media, "+json")) {
		n, err := mockbase.ParseNode(body, mockbase.FormatJSON, mockbase.ParseLimits{Bytes: MaxBytes, Depth: maxDepth, Values: maxValues})
		if err == nil {
			d.set("json", n)
			return d
		}
	}
	d.bytesBody(body)
	return d
}

// join adds a value to those of a name, in whatever case the name is written.
func (d *doc) join(name string, n *mockbase.Node) {
	for i := range d.members {
		m := &d.members[i]
		if !strings.EqualFold(m.Key, name) {
			continue
		}
		if m.Value.Kind == mockbase.NodeList {
			m.Value = listNode(append(slices.Clip(m.Value.Items), n)...)
		} else {
			m.Value = listNode(m.Value, n)
		}
		return
	}
	d.set(name, n)
}

// ownHeader tells whether a header is the server's own affair, or belongs to one connection or one client.
func ownHeader(name string) bool {
	lower := strings.ToLower(name)
	if name == "" || strings.HasPrefix(lower, ":") || strings.HasPrefix(lower, "mockbase-") || strings.HasPrefix(lower, "access-control-") {
		return true
	}
	return framingHeader(name) || slices.Contains([]string{
		"date", "set-cookie", "authorization", "proxy-authenticate", "alt-svc", "strict-transport-security", "content-encoding",
	}, lower)
}
