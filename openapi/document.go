package openapi

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mockbase/mockbase"
)

// The bounds of servers: how many prefixes one operation may have.
const maxPrefixes = 16

// Document is an OpenAPI document ready to answer. It is safe for concurrent use.
type Document struct {
	source  *source
	options *mockbase.Document
	index   index
	// operations are in the order of the document.
	operations []*operation
	schemas    *schemas
	examine    sync.Once
}

// entryMethod is the method of a path item, with the name that the document gives it.
type entryMethod struct{ key, method string }

func methodsOf() []entryMethod {
	return []entryMethod{
		{"get", http.MethodGet},
		{"put", http.MethodPut},
		{"post", http.MethodPost},
		{"delete", http.MethodDelete},
		{"options", http.MethodOptions},
		{"head", http.MethodHead},
		{"patch", http.MethodPatch},
		{"trace", http.MethodTrace},
		{"query", "QUERY"},
	}
}

// Compile makes a document of a project ready to answer. It fails where the text is no OpenAPI document, like [Parse].
func Compile(o *mockbase.Document) (*Document, error) {
	parsed, err := Parse(o.Inline)
	if err != nil {
		return nil, err
	}
	return parsed.compile(o), nil
}

// compile makes a document of what was parsed.
func (s *Source) compile(o *mockbase.Document) *Document {
	d := &Document{source: s.tree, options: o}
	d.schemas = newSchemas(d.source)
	for _, item := range d.source.top().find("paths").members() {
		d.addPath(item)
	}
	d.nameOperations()
	return d
}

// addPath adds the operations of one path.
func (d *Document) addPath(item member) {
	if strings.HasPrefix(item.name, "x-") || item.node.Kind == mockbase.NodeNull {
		return
	}
	at, ok := d.source.follow(item.place)
	if !ok {
		return
	}
	if !at.is(mockbase.NodeObject) {
		d.source.notes.add(at, mockbase.FieldType, "the path is "+at.node.Kind.String()+" and no object")
		return
	}
	if !strings.HasPrefix(item.name, "/") {
		d.source.notes.add(item.place, mockbase.FieldPattern, "the path "+quoted(item.name)+" does not begin with a slash; it is read as if it did")
	}
	d.source.unknownMembers(at)
	t := parseTemplate(item.name)
	d.source.checkTemplate(item, &t)
	var made []*operation
	for _, m := range methodsOf() {
		p := at.find(m.key)
		if p.node == nil {
			continue
		}
		if !p.is(mockbase.NodeObject) {
			d.source.notes.add(p, mockbase.FieldType, "the operation is "+p.node.Kind.String()+" and no object")
			continue
		}
		made = append(made, newOperation(d, m.method, &t, at, p))
	}
	if left := t.distinguish(item.name, made); left != "" {
		d.source.notes.add(item.place, mockbase.FieldPattern, "the fragment "+quoted("#"+left)+" of the path is left out: no query parameter of it has that name, and no request has a fragment")
	}
	d.operations = append(d.operations, made...)
	d.plant(item.place, &t, made)
}

// checkTemplate warns of braces that are literal, as they have no other.
func (s *source) checkTemplate(item member, t *template) {
	for i := range t.segments {
		for _, literal := range t.segments[i].literals {
			if strings.ContainsAny(literal, "{}") {
				s.notes.add(item.place, mockbase.FieldPattern, "the path "+quoted(item.name)+" has a brace without the other one, which is a literal: a parameter is {name}")
				return
			}
		}
	}
}

// unknownMembers warns of what a path has that is neither an operation nor anything else a path may have.
func (s *source) unknownMembers(at place) {
	for _, m := range at.members() {
		known := slices.Contains([]string{"$ref", "summary", "description", "servers", "parameters"}, m.name) || strings.HasPrefix(m.name, "x-")
		if !known && !slices.ContainsFunc(methodsOf(), func(own entryMethod) bool { return own.key == m.name }) {
			s.notes.add(m.place, mockbase.FieldUnknownKey, quoted(m.name)+" is no method and nothing else that a path has: it is left out")
		}
		if m.name == "query" && m.is(mockbase.NodeObject) && !strings.HasPrefix(s.version, "3.2") {
			s.notes.add(m.place, mockbase.FieldUnknownKey, "query is a method since OpenAPI 3.2, and the document is of version "+s.version+": QUERY is answered nevertheless")
		}
	}
}

// plant puts the operations of a path below the prefixes of their servers (rule W1).
func (d *Document) plant(at place, t *template, made []*operation) {
	byPrefix := map[string]*entry{}
	var order []string
	for _, op := range made {
		for _, prefix := range d.prefixes(op) {
			if byPrefix[prefix] == nil {
				byPrefix[prefix] = &entry{template: t.below(prefix), prefix: prefix}
				order = append(order, prefix)
			}
			byPrefix[prefix].operations = append(byPrefix[prefix].operations, op)
		}
	}
	told := false
	for _, prefix := range order {
		e := byPrefix[prefix]
		for _, other := range d.index.insert(e) {
			if !told && len(other.operations) > 0 && d.clash(at, t, other) {
				told = true
			}
		}
	}
}

// clash warns of paths that differ only in the names of parameters (rule W3). The first one answers where both have the
// method.
func (d *Document) clash(at place, t *template, other *entry) bool {
	first := other.operations[0].template
	if first.text == t.text || len(first.asks)+len(t.asks) > 0 || len(first.segments) != len(t.segments) {
		return false
	}
	for i := range t.segments {
		if first.segments[i].shape() != t.segments[i].shape() {
			return false
		}
	}
	d.source.notes.add(at, mockbase.FieldUnique, "the paths "+quoted(first.text)+" and "+quoted(t.text)+
		" differ only in the names of parameters; the first one answers")
	return true
}

// prefixes are what may stand before the path of an operation.
func (d *Document) prefixes(op *operation) []string {
	if d.options.BasePath == "ignore" {
		return []string{""}
	}
	list := d.serverPaths(op)
	if d.options.BasePath != "strict" && !slices.Contains(list, "") {
		list = append(list, "")
	}
	return list
}

// serverPaths are the paths of the servers of an operation, "" without any.
func (d *Document) serverPaths(op *operation) []string {
	if d.source.dialect == dialect20 {
		return []string{strings.TrimSuffix(rooted(d.source.top().text("basePath")), "/")}
	}
	servers := op.at.find("servers").items()
	if len(servers) == 0 {
		servers = op.path.find("servers").items()
	}
	if len(servers) == 0 {
		servers = d.source.top().find("servers").items()
	}
	var list []string
	for _, server := range servers {
		for _, address := range withVariables(server) {
			if prefix := serverPath(address); !slices.Contains(list, prefix) && len(list) < maxPrefixes {
				list = append(list, prefix)
			}
		}
	}
	if len(list) == 0 {
		return []string{""}
	}
	return list
}

// withVariables writes the values of a server's variables into its address: the default, and each that is listed.
func withVariables(server place) []string {
	list := []string{server.text("url")}
	for _, variable := range server.find("variables").members() {
		values := []string{variable.text("default")}
		for _, value := range variable.find("enum").items() {
			if value.is(mockbase.NodeText) && !slices.Contains(values, value.node.Text) {
				values = append(values, value.node.Text)
			}
		}
		list = replacedAll(list, "{"+variable.name+"}", values)
	}
	return list
}

// replacedAll writes each value in place of a name into each text, as far as there is room for the results.
func replacedAll(list []string, name string, values []string) []string {
	var next []string
	for _, text := range list {
		for _, value := range values {
			next = append(next, strings.ReplaceAll(text, name, value))
		}
	}
	return next[:min(len(next), maxPrefixes)]
}

// serverPath is the path of an address, without a slash at the end.
func serverPath(address string) string {
	_, rest, ok := strings.Cut(address, "://")
	if !ok {
		// An address may leave its scheme to the page that it stands on.
		rest, ok = strings.CutPrefix(address, "//")
	}
	if ok {
		slash := strings.IndexByte(rest, '/')
		if slash < 0 {
			return ""
		}
		address = rest[slash:]
	}
	if at := strings.IndexAny(address, "?#"); at >= 0 {
		address = address[:at]
	}
	if _, err := url.Parse(address); err != nil && !strings.Contains(address, "{") {
		return ""
	}
	return strings.TrimSuffix(rooted(address), "/")
}

// rooted adds the slash at the beginning.
func rooted(location string) string {
	location = strings.TrimPrefix(location, ".")
	if location == "" || location[0] == '/' {
		return location
	}
	return "/" + location
}

// nameOperations gives each operation a name of its own: the document's, or method and path.
func (d *Document) nameOperations() {
	var names mockbase.Names
	for i, op := range d.operations {
		op.number = i
		id := op.at.text("operationId")
		if id == "" {
			id = mockbase.DefaultMockName(op.method, slugPath(op.template.text))
		} else if names.Taken(id) {
			d.source.notes.add(op.at, mockbase.FieldUnique, "the operation id "+quoted(id)+" is used twice")
		}
		op.name = names.Unique(id)
	}
}

// slugPath leaves of a path what may stand in the name of a mock.
func slugPath(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("?#=&", r) {
			return '/'
		}
		return r
	}, text)
}

// Operations is the number of operations.
func (d *Document) Operations() int { return len(d.operations) }

// Name is the name of an operation: its id in the document, or one of method and path.
func (d *Document) Name(op int) string { return d.operations[op].name }

// Endpoint is the method and the path template of an operation, without the prefix of a server.
func (d *Document) Endpoint(op int) (method, path string) {
	return d.operations[op].method, d.operations[op].template.text
}

// Declares tells whether an operation names exactly this status among its responses.
func (d *Document) Declares(op, status int) bool {
	return d.operations[op].at.find("responses").find(statusText(status)).node != nil
}

// Find finds the operation for a method and a raw target below the project's base path (rules W1 to W4). Without one it
// returns -1 and the methods that the path has; there are none if the document does not know the path.
func (d *Document) Find(method, path, rawQuery string) (op int, methods []string) {
	for _, e := range d.index.find(path) {
		if len(e.template.asks) > 0 && !asks(e.template.asks, parsePairs(rawQuery)) {
			continue
		}
		for _, own := range e.operations {
			if own.method == method {
				return own.number, nil
			}
			if !slices.Contains(methods, own.method) {
				methods = append(methods, own.method)
			}
		}
	}
	return -1, methods
}

// asks tells whether a query holds what a path names. A value that the path leaves open may be anything.
func asks(wanted, sent []pair) bool {
	for _, w := range wanted {
		if !slices.ContainsFunc(sent, func(s pair) bool {
			return s.name == w.name && (w.value == "" || strings.HasPrefix(w.value, "{") || decodedForm(s.value) == decodedForm(w.value))
		}) {
			return false
		}
	}
	return true
}

// bindPath returns the raw values of the path parameters.
func (d *Document) bindPath(op *operation, path string) []pair {
	for _, e := range d.index.find(path) {
		if slices.Contains(e.operations, op) {
			return e.bind(path)
		}
	}
	return nil
}

// Elsewhere are the other paths at which an operation answers that Find found at a path: with and without the prefix of a server
// (rule W1).
func (d *Document) Elsewhere(op int, path string) []string {
	own := d.operations[op]
	for _, e := range d.index.find(path) {
		if !slices.Contains(e.operations, own) {
			continue
		}
		rest, ok := strings.CutPrefix(path, e.prefix)
		if !ok {
			return nil // the prefix has a variable
		}
		var list []string
		for _, prefix := range d.prefixes(own) {
			if prefix != e.prefix {
				list = append(list, prefix+rest)
			}
		}
		return list
	}
	return nil
}

// PathParameters are the names and decoded values of the parameters in a path that Find found.
func (d *Document) PathParameters(op int, path string) [][2]string {
	var list [][2]string
	for _, p := range d.bindPath(d.operations[op], path) {
		list = append(list, [2]string{p.name, decoded(p.value)})
	}
	return list
}

// statusText writes a status.
func statusText(status int) string { return strconv.Itoa(status) }
