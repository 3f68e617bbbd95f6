package interchange

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// openAPIWriter writes a project as an OpenAPI document. docs/exporting.md has the table.
type openAPIWriter struct {
	*exporter

	read  []*exportedMock
	paths []*exportedPath
	// places finds a path by its shape, which is the path without the names of parameters.
	places map[string]int
	// taken are the operation ids, schemes the security schemes that operations name.
	taken   map[string]bool
	schemes doc
	tags    []string
}

// exportedPath is a path with its operations.
type exportedPath struct {
	// text is the path as the document has it, names are those of its parameters.
	text       string
	names      []string
	operations []*exportedOperation
}

// exportedOperation is a method of a path with the mocks that answer it.
type exportedOperation struct {
	method  string
	path    *exportedPath
	answers []*answered
}

// answered is an answer of an operation with what must be sent to get it.
type answered struct {
	*exportedResponse

	// branches are the alternatives of its conditions; rename maps the names of path parameters to those of the document.
	branches []branch
	rename   map[string]string
}

// openAPI writes the project as a document of the version 3.1, or as the document that the project has with its mocks in it.
func (e *exporter) openAPI() (*mockbase.Node, error) {
	w := &openAPIWriter{exporter: e, taken: map[string]bool{}, places: map[string]int{}}
	ordered := slices.Clone(e.mocks)
	slices.SortStableFunc(ordered, before)
	// What answers without conditions comes first: the first example of a status is the usual one.
	slices.SortStableFunc(ordered, func(a, b *mockbase.Mock) int { return cmp.Compare(unguarded(b), unguarded(a)) })
	for _, m := range ordered {
		if err := e.stopped(); err != nil {
			return nil, err
		}
		x, err := e.mock(m)
		if err != nil {
			return nil, err
		}
		if x == nil {
			continue
		}
		x.doc.skip("description", "folder", "tags", "priority", "headCounts", "readBody")
		x.slashLoss()
		if w.mock(x) {
			w.read = append(w.read, x)
		}
	}
	slices.SortStableFunc(w.paths, func(a, b *exportedPath) int { return strings.Compare(a.text, b.text) })
	for _, c := range e.config.Collections {
		if e.options.Mock == "" && e.options.Tag == "" {
			e.lostSection("collections/"+c.Name, "the collection is left out: its operations are no mocks")
		}
	}
	root := w.document()
	e.settings("strictMethods", "cors", "decisionHeader", "controlHeaders", "compress", "maxBody")
	for _, x := range w.read {
		x.done()
	}
	e.sortLosses()
	w.tell(root)
	return root.node(), nil
}

// tell writes what the document cannot say into it, so that it travels with the file.
func (w *openAPIWriter) tell(root *doc) {
	var list []*mockbase.Node
	for _, l := range w.losses() {
		list = append(list, textNode(strings.TrimSpace(l.Mock+" "+l.Pointer)+": "+l.Detail))
	}
	root.list("x-mockbase-warnings", list)
}

// mock adds the answers of a mock to its operations; it reports whether there is anything to add.
func (w *openAPIWriter) mock(x *exportedMock) bool {
	text, names, ok := w.path(x)
	if !ok {
		return false
	}
	if x.Request.Host != "" {
		w.lost(x.request.get("host"), "the host %s is no part of a path: the operation is said to answer at every host", quoted(x.Request.Host))
	}
	if x.Request.StrictQuery {
		w.lost(x.request.get("strictQuery"), "a query that may hold nothing else cannot be said")
	}
	if x.Select == mockbase.SelectSequence || x.Select == mockbase.SelectWeighted {
		w.lost(x.doc.get("select"), "which answer comes when cannot be said: all are examples")
	}
	x.doc.skip("select", "onEnd", "draw")
	at, rename := w.at(text, names)
	for _, method := range w.methodsOf(x) {
		op := at.operation(method)
		for _, r := range usualFirst(x.responses) {
			w.choice(x, r)
			if r.WebSocket != nil {
				w.lost(r.doc.get("webSocket"), "conversations over WebSocket cannot be said: the answer is left out")
				continue
			}
			op.answers = append(op.answers, &answered{r, x.branches(r), rename})
		}
	}
	at.operations = slices.DeleteFunc(at.operations, func(op *exportedOperation) bool { return len(op.answers) == 0 })
	return true
}

// choice tells of what decides when an answer comes, where a document holds several beside one another.
func (w *openAPIWriter) choice(x *exportedMock, r *exportedResponse) {
	r.doc.skip("weight")
	if when := r.doc.get("when"); when.ok() && len(x.responses) > 1 {
		w.lost(when, "a document cannot say when this answer comes: it is one of the examples")
	}
	if times := r.doc.get("times"); times.ok() {
		w.lost(times, "how often the answer comes cannot be said")
	}
}

// usualFirst puts answers without conditions before the others: the first example of a status is the usual one.
func usualFirst(list []*exportedResponse) []*exportedResponse {
	ordered := slices.Clone(list)
	slices.SortStableFunc(ordered, func(a, b *exportedResponse) int {
		return cmp.Compare(asked(a), asked(b))
	})
	return ordered
}

// asked is 1 for an answer that asks for something.
func asked(r *exportedResponse) int {
	if r.doc.has("when") {
		return 1
	}
	return 0
}

// methodsOf are the methods that a document knows.
func (w *openAPIWriter) methodsOf(x *exportedMock) []string {
	known := []string{http.MethodGet, http.MethodPut, http.MethodPost, http.MethodDelete, http.MethodOptions, http.MethodHead, http.MethodPatch, http.MethodTrace}
	var list []string
	for _, method := range x.methods() {
		switch {
		case method == mockbase.MethodAny:
			list = append(list, http.MethodGet, http.MethodPut, http.MethodPost, http.MethodDelete, http.MethodPatch)
			w.lost(x.doc.get("request"), "a mock for every method is written as GET, PUT, POST, DELETE and PATCH")
		case slices.Contains(known, method):
			list = append(list, method)
		default:
			w.lost(x.request.get("method"), "the method %s is none that a document knows: it is left out", quoted(method))
		}
	}
	return list
}

// path is the path of a mock as a document has it, with the names of its parameters in their order.
func (w *openAPIWriter) path(x *exportedMock) (text string, names []string, ok bool) {
	switch {
	case x.Request.RawTarget != "":
		text, _, _ = strings.Cut(x.Request.RawTarget, "?")
		return text, nil, true
	case !x.ok:
		w.lost(x.request.get("pathMatches"), "a path that is an expression cannot be said: the mock is left out")
		return "", nil, false
	}
	var b strings.Builder
	parameter := func(name string) {
		for n := 2; slices.Contains(names, name); n++ {
			name = strings.TrimRight(name, "0123456789") + strconv.Itoa(n)
		}
		names = append(names, name)
		b.WriteString("{" + name + "}")
	}
	for _, s := range x.pattern.Segments {
		b.WriteByte('/')
		switch s.Kind {
		case mockbase.SegmentAny:
			w.lost(x.doc.get("request"), "any segment is written as a parameter")
			parameter("segment")
			continue
		case mockbase.SegmentRest:
			w.lost(x.doc.get("request"), "a parameter takes one segment, and the mock any number of them")
			parameter(cmp.Or(s.Parts[0].Name, "rest"))
			continue
		case mockbase.SegmentLiteral, mockbase.SegmentMixed, mockbase.SegmentConstrained, mockbase.SegmentParameter:
		}
		for _, part := range s.Parts {
			if part.Name != "" {
				parameter(part.Name)
				continue
			}
			b.WriteString(escapedSegment(part.Literal))
		}
	}
	return b.String(), names, true
}

// at finds the path of the same shape, or makes it. Parameters are called as the first mock calls them.
func (w *openAPIWriter) at(text string, names []string) (path *exportedPath, rename map[string]string) {
	shape := shapeOf(text)
	i, known := w.places[shape]
	if !known {
		i = len(w.paths)
		w.paths = append(w.paths, &exportedPath{text: text, names: names})
		w.places[shape] = i
	}
	rename = map[string]string{}
	for j, name := range names {
		rename[name] = w.paths[i].names[j]
	}
	return w.paths[i], rename
}

// shapeOf is a path without the names of its parameters: a document has one path of a shape.
func shapeOf(text string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("{}")
		_, text, _ = strings.Cut(after, "}")
	}
}

func (p *exportedPath) operation(method string) *exportedOperation {
	i := slices.IndexFunc(p.operations, func(op *exportedOperation) bool { return op.method == method })
	if i < 0 {
		p.operations = append(p.operations, &exportedOperation{method: method, path: p})
		i = len(p.operations) - 1
	}
	return p.operations[i]
}

// document puts the document together: a new one, or that of the project with the mocks in it.
func (w *openAPIWriter) document() *doc {
	root := &doc{}
	root.set("openapi", textNode("3.1.0"))
	info := with("title", textNode(cmp.Or(w.project.Name, w.project.Slug, "MockBase")))
	info.text("description", w.project.Description)
	info.set("version", textNode("1.0.0"))
	root.set("info", info.node())
	if base := w.attached(); base != nil {
		root = base
	} else if w.options.BaseURL != "" {
		root.set("servers", listNode(with("url", textNode(w.options.BaseURL)).node()))
	}
	paths := newPathList(root.get("paths"))
	prefix := serverPath(root)
	for _, p := range w.paths {
		w.merge(paths, p, prefix)
	}
	root.set("paths", paths.node())
	components := membersOf(root.get("components"))
	if !w.schemes.empty() {
		schemes := membersOf(components.get("securitySchemes"))
		for _, m := range w.schemes.members {
			schemes.set(m.Key, m.Value)
		}
		components.set("securitySchemes", schemes.node())
	}
	root.doc("components", components)
	w.declareTags(root)
	return root
}

// declareTags lists the tags that operations of mocks have.
func (w *openAPIWriter) declareTags(root *doc) {
	var known []string
	if list := root.get("tags"); list != nil {
		for _, item := range list.Items {
			if name := item.Find("name"); name != nil {
				known = append(known, name.Text)
			}
		}
	}
	for _, tag := range w.tags {
		if !slices.Contains(known, tag) {
			known = append(known, tag)
			root.append("tags", with("name", textNode(tag)).node())
		}
	}
}

// membersOf is an object that can be changed without changing the one that it came from.
func membersOf(n *mockbase.Node) *doc {
	if n == nil || n.Kind != mockbase.NodeObject {
		return &doc{}
	}
	return &doc{members: slices.Clone(n.Members)}
}

// attached is the document of the project that the mocks are written into: the first one of the version 3.
func (w *openAPIWriter) attached() *doc {
	if w.options.Mock != "" || w.options.Tag != "" {
		return nil
	}
	var base *doc
	for i := range w.config.Documents {
		d := &w.config.Documents[i]
		at := "documents/" + strconv.Itoa(i)
		parsed := membersOf(parsedOr(d.Inline))
		version := parsed.get("openapi")
		switch {
		case version == nil || !strings.HasPrefix(version.Text, "3."):
			w.lostSection(at, "the document %s is none of the version 3, whose text is at hand: it is left out", quoted(d.Name))
		case base != nil:
			w.lostSection(at, "the document %s is left out: mocks are written into the first one", quoted(d.Name))
		default:
			base = parsed
		}
	}
	return base
}

// serverPath is the path of the first server of a document, "" for none.
func serverPath(root *doc) string {
	servers := root.get("servers")
	if servers == nil || len(servers.Items) == 0 {
		return ""
	}
	address := servers.Items[0].Find("url")
	if address == nil || strings.Contains(address.Text, "{") {
		return ""
	}
	text := address.Text
	if _, after, found := strings.Cut(text, "://"); found {
		_, path, _ := strings.Cut(after, "/")
		text = "/" + path
	}
	return strings.TrimSuffix(text, "/")
}

// merge writes a path into the paths of a document.
func (w *openAPIWriter) merge(paths *pathList, p *exportedPath, prefix string) {
	text, foreign := w.below(p.text, prefix)
	i := paths.find(text)
	if key := paths.members[i].Key; key != text {
		p.rename(parameterNames(key))
		text = key
	}
	item := membersOf(paths.members[i].Value)
	if foreign && item.empty() {
		item.set("servers", listNode(with("url", textNode("/")).node()))
	}
	for _, op := range p.operations {
		key := strings.ToLower(op.method)
		item.set(key, w.operation(op, membersOf(item.get(key)), parameterNames(text)))
	}
	paths.members[i].Value = item.node()
}
