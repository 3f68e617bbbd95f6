package interchange

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// operation writes an operation of mocks into that of the document, if it has one.
func (w *openAPIWriter) operation(op *exportedOperation, d *doc, names []string) *mockbase.Node {
	first := op.answers[0].mock
	described := !d.empty()
	if !described {
		id := first.Name
		if len(first.methods()) > 1 || first.methods()[0] == mockbase.MethodAny {
			id = strings.ToLower(op.method) + "-" + id
		}
		d.set("operationId", textNode(mockbase.UniqueName(id, func(s string) bool { return w.taken[s] })))
		w.taken[d.get("operationId").Text] = true
		w.about(first, d)
	}
	w.parameters(op, d, names)
	w.requestBody(op, d)
	w.security(op, d)
	responses := membersOf(d.get("responses"))
	w.responses(op, responses)
	d.set("responses", responses.node())
	var mocks []*mockbase.Node
	for _, a := range op.answers {
		if n := textNode(a.mock.Name); !slices.ContainsFunc(mocks, func(m *mockbase.Node) bool { return m.Text == n.Text }) {
			mocks = append(mocks, n)
		}
	}
	d.list("x-mockbase-mocks", mocks)
	return d.node()
}

// about writes what a mock says of itself.
func (w *openAPIWriter) about(x *exportedMock, d *doc) {
	d.text("description", x.Description)
	var tags []*mockbase.Node
	for _, tag := range x.Tags {
		tags = append(tags, textNode(tag))
		w.tags = append(w.tags, tag)
	}
	d.list("tags", tags)
}

// security writes the credentials that every answer asks for.
func (w *openAPIWriter) security(op *exportedOperation, d *doc) {
	asked := map[string]int{}
	for _, a := range op.answers {
		w.credentials(a)
		if kind := a.credentials(); kind != "" {
			asked[kind]++
		}
	}
	for _, name := range []string{"basic", "bearer"} {
		if asked[name] == 0 {
			continue
		}
		scheme := with("type", textNode("http"))
		scheme.set("scheme", textNode(name))
		w.schemes.set(name, scheme.node())
		if asked[name] == len(op.answers) && d.get("security") == nil {
			d.append("security", with(name, listNode()).node())
		}
	}
}

// credentials tells of those that a document asks for without saying which.
func (w *openAPIWriter) credentials(a *answered) {
	for _, one := range slices.Concat(a.branches...) {
		for _, e := range one.at.entries() {
			if one.place == "auth" && (e.is(mockbase.NodeText) || e.is(mockbase.NodeObject) && (len(e.entries()) > 1 || !e.has("exists"))) {
				w.lost(e.value, "which credentials are asked for cannot be said: only that there are %s ones", e.key)
			}
		}
	}
}

// credentials is the scheme that all alternatives of an answer ask for, "" for none.
func (a *answered) credentials() string {
	kind := ""
	for i, b := range a.branches {
		own := ""
		for _, one := range b {
			switch {
			case one.place != "auth" || one.not:
			case one.at.has("basic"):
				own = "basic"
			default:
				own = "bearer"
			}
		}
		if i > 0 && own != kind {
			return ""
		}
		kind = own
	}
	return kind
}

// responses writes the answers of an operation: those of one status are its examples.
func (w *openAPIWriter) responses(op *exportedOperation, d *doc) {
	bodies := map[string]*mediaTypes{}
	for _, a := range op.answers {
		status, ok := w.statusOf(a)
		if !ok {
			continue
		}
		if first := op.answers[0].mock; first != a.mock {
			w.lost(value{nil, "#/request", a.mock.Name}, "a document cannot say when this mock answers and when %s: its answers are examples beside those", first.Name)
		}
		response := membersOf(d.get(status))
		if response.get("$ref") != nil {
			response = &doc{}
		}
		if response.get("description") == nil {
			response.set("description", textNode(described(status)))
		}
		if bodies[status] == nil {
			bodies[status] = newMediaTypes(response.get("content"))
		}
		w.answerHeaders(a, response)
		w.answerBody(a, bodies[status])
		if len(bodies[status].list) > 0 {
			response.set("content", bodies[status].node())
		}
		d.set(status, response.node())
	}
	w.limits(op, d, bodies)
	if len(d.members) == 0 {
		d.set("default", with("description", textNode("Nothing is known of the answer.")).node())
	}
}

// statusOf is the status of an answer as a document has it. What comes from elsewhere or breaks has none of its own.
func (w *openAPIWriter) statusOf(a *answered) (string, bool) {
	const most = 600
	switch status := a.status(); {
	case a.Proxy != nil, a.Fault != nil && a.Body.Kind == mockbase.BodyNone:
		return "default", true
	case status >= most:
		w.lost(a.doc.get("status"), "%d is no status that a document knows: the answer is left out", status)
		return "", false
	default:
		return strconv.Itoa(status), true
	}
}

// described is what a status says of itself.
func described(status string) string {
	if n, err := strconv.Atoi(status); err == nil {
		return statusText(n)
	}
	return "Another answer"
}

// answerHeaders writes the headers of an answer, each with one value: that of the first answer of the status.
func (w *openAPIWriter) answerHeaders(a *answered, response *doc) {
	headers := membersOf(response.get("headers"))
	for _, h := range a.headers() {
		if strings.EqualFold(h.Name, "Content-Type") || len(h.Values) == 0 {
			continue
		}
		at := a.doc.get("headers").member(h.Name)
		if len(h.Values) > 1 {
			w.lost(at, "a document shows one value of a header: that it comes several times cannot be said")
		}
		if a.rendered && slices.ContainsFunc(h.Values, func(text string) bool { return strings.Contains(text, "{{") }) {
			w.lost(at, "the header is a template: the example shows it as it is written")
		}
		if known := headers.get(h.Name); known != nil {
			if example := known.Find("example"); example != nil && example.Text != h.Values[0] {
				w.lost(at, "a document shows one value of a header: that of another answer of the status stays")
			}
			continue
		}
		header := with("schema", with("type", textNode("string")).node())
		header.set("example", textNode(h.Values[0]))
		headers.set(h.Name, header.node())
	}
	response.doc("headers", headers)
}

// answerBody adds the body of an answer to the examples of its media type.
func (w *openAPIWriter) answerBody(a *answered, content *mediaTypes) {
	if a.dynamic() {
		w.lost(a.doc.value, "the body is a template: the example shows it as it is written")
	}
	kind := a.contentType()
	if a.SSE != nil {
		w.lost(a.doc.get("sse"), "a stream of events is written as one text")
		content.find(kind).example(a.title(), textNode(eventsText(a.SSE)))
		return
	}
	n := a.bodyNode()
	if n == nil {
		return
	}
	if kind == "" {
		kind = "application/octet-stream"
	}
	switch {
	case a.textual():
		n = textNode(string(a.Body.Bytes))
	case a.Body.Kind == mockbase.BodyBase64:
		w.lost(a.doc.get("base64"), "bytes are written as base64 in an example")
		n = textNode(base64.StdEncoding.EncodeToString(a.Body.Bytes))
	}
	if (a.Body.Kind == mockbase.BodyText || a.textual()) && isJSONType(kind) {
		n = parsedOr(a.Body.Bytes)
	}
	if n.Kind == mockbase.NodeNull {
		w.lost(a.doc.value, "a document cannot hold null as an example: it is left out")
		content.find(kind)
		return
	}
	content.find(kind).example(a.title(), n)
}

// hasTuple tells whether a schema lists the items of an array one by one as older versions do.
func hasTuple(n *mockbase.Node) bool {
	for _, m := range n.Members {
		if m.Key == "items" && m.Value.Kind == mockbase.NodeList || hasTuple(m.Value) {
			return true
		}
	}
	return slices.ContainsFunc(n.Items, hasTuple)
}

func isJSONType(kind string) bool {
	kind, _, _ = strings.Cut(kind, ";")
	kind = strings.TrimSpace(strings.ToLower(kind))
	return kind == "application/json" || strings.HasSuffix(kind, "+json")
}
