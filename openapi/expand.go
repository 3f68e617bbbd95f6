package openapi

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// Expansion are the mocks that stand for the operations of a document.
type Expansion struct {
	// Mocks are in the order of the operations.
	Mocks []ExpandedMock
	// Operations counts those of the document, also those that became no mock.
	Operations int
	// Warnings tell what was left out or cannot be said by a mock, with pointers into the document.
	Warnings []mockbase.FieldError
}

// ExpandedMock is the mock of an operation.
type ExpandedMock struct {
	// Document is the mock.
	Document *mockbase.Node
	// at is where the operation is in the document.
	at mockbase.FieldError
}

// Fault is one at the place of the operation.
func (m *ExpandedMock) Fault(code mockbase.Code, detail string) mockbase.FieldError {
	f := m.at
	f.Code, f.Detail = code, detail
	return f
}

// ExpandOptions say how operations become mocks.
type ExpandOptions struct {
	// Prefix stands before each path, in front of that of the first server.
	Prefix string
	// Limits makes a simulated limit of each declared 429.
	Limits bool
}

// mostResponses bounds the responses of one mock (mock format, section 6).
const mostResponses = 50

// Expand makes one mock of each operation, whose responses are named after the examples (rule M-78). The usual response
// answers; the others answer as for a document: to Prefer, and to the query parameters __code and __example.
func (s *Source) Expand(o ExpandOptions) *Expansion {
	d := s.compile(&mockbase.Document{BasePath: "accept"})
	e := &expander{options: o, document: d, places: map[string]string{}}
	made := &Expansion{Operations: d.Operations()}
	for _, op := range d.operations {
		op.ready()
	}
	e.levels = levelsOf(d.operations)
	for _, op := range d.operations {
		if !e.first(op) {
			continue
		}
		if mock := e.mock(op); mock != nil {
			e.unsaid(op)
			at := mockbase.FieldError{Pointer: op.at.at, Line: op.at.node.Line, Column: op.at.node.Column}
			made.Mocks = append(made.Mocks, ExpandedMock{mock, s.Placed([]mockbase.FieldError{at})[0]})
		}
	}
	e.tell()
	d.source.checkForms()
	made.Warnings = s.Placed(toldOnce(s.Warnings()))
	return made
}

type expander struct {
	options  ExpandOptions
	document *Document
	names    mockbase.Names
	// levels are the qualities of media types that the mocks tell apart.
	levels []level
	// places are the methods and paths, without the names of parameters, that operations have.
	places map[string]string
	// cut tells that it was said that the address of mocks is no part of paths.
	cut bool
	// losses are what mocks do not check, by kind.
	losses [lossKinds]loss
}

// first tells whether no other operation answers at the place of this one, as the document itself answers (rule W3).
func (e *expander) first(op *operation) bool {
	if len(op.template.asks) > 0 {
		return true
	}
	parts := []string{op.method, e.base(op)}
	for i := range op.template.segments {
		parts = append(parts, op.template.segments[i].shape())
	}
	key := strings.Join(parts, "\x01")
	before, met := e.places[key]
	if met {
		op.document.source.notes.add(op.at, mockbase.WarningNotTranslated, "the operation became no mock: "+quoted(before)+" answers at the same place, as it comes first")
		return false
	}
	e.places[key] = op.template.text
	return true
}

// mock makes the mock of an operation; nil where a mock cannot say it, which is noted.
func (e *expander) mock(op *operation) *mockbase.Node {
	name := e.names.Unique(e.name(op))
	path := e.path(op)
	m := &object{}
	m.text("name", name)
	m.text("description", mockbase.CleanProse(shortened(firstText(op.at.text("summary"), op.at.text("description")), longestDescription)))
	m.list("tags", e.tags(op))
	request := &object{}
	request.set("method", textNode(op.method))
	request.set("path", textNode(path))
	if query := queryOf(op.template.asks); len(query.Members) > 0 {
		request.set("query", query)
	}
	m.set("request", request.node())
	m.set("responses", &mockbase.Node{Kind: mockbase.NodeList, Items: e.responses(op)})
	if e.options.Limits {
		if limit := op.limit(); limit != nil {
			m.set("rateLimit", limit)
		}
	}
	if _, err := mockbase.DecodeMock(m.node().JSON(), mockbase.FormatJSON); err != nil {
		op.document.source.notes.add(op.at, mockbase.WarningNotTranslated, "the operation became no mock: "+explained(err))
		return nil
	}
	return m.node()
}

// longestDescription is that of a mock (mock format, section 6).
const longestDescription = 4000

func firstText(list ...string) string {
	for _, text := range list {
		if text != "" {
			return text
		}
	}
	return ""
}

func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len("…")], "") + "…"
}

// name is the slug of the operation's id, or of method and path.
func (*expander) name(op *operation) string {
	if id := op.at.text("operationId"); id != "" {
		if name := slugOf(id); name != "" {
			return name
		}
	}
	return mockbase.DefaultMockName(op.method, slugPath(op.template.text))
}

// slugOf makes a slug of an identifier: listPets becomes list-pets. It is "" if nothing can stay.
func slugOf(text string) string {
	var b strings.Builder
	lower := false
	for _, r := range text {
		upper := r >= 'A' && r <= 'Z'
		if upper && lower {
			b.WriteByte('-')
		}
		lower = r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
		b.WriteRune(r)
	}
	const none = "mock"
	if name := mockbase.DefaultMockName("", b.String()); name != none || strings.EqualFold(text, none) {
		return name
	}
	return ""
}

// tags are those of the operation that may be tags of a mock.
func (*expander) tags(op *operation) []*mockbase.Node {
	const most = 20
	var list []*mockbase.Node
	var met []string
	for _, item := range op.at.find("tags").items() {
		if tag := slugOf(item.node.Text); tag != "" && !slices.Contains(met, tag) && len(list) < most {
			met = append(met, tag)
			list = append(list, textNode(tag))
		}
	}
	return list
}

// base is the path of the first server, "" where that is the address of a project's mocks, as in what was exported.
func (e *expander) base(op *operation) string {
	if list := op.document.serverPaths(op); len(list) > 0 && !strings.Contains(list[0], "{") {
		if mockbase.IsMockBase(list[0]) {
			e.cutBase(op, list[0])
			return ""
		}
		return list[0]
	}
	return ""
}

// cutBase says once that the address of a project's mocks is no part of paths.
func (e *expander) cutBase(op *operation, base string) {
	if e.cut {
		return
	}
	e.cut = true
	source := op.document.source
	source.notes.add(source.top().find("servers"), mockbase.WarningNotTranslated, "the server is the address of a project's mocks: "+base+" is left out of the paths")
}

// path is the path of the mock, below the first server.
func (e *expander) path(op *operation) string {
	var b strings.Builder
	b.WriteString(e.options.Prefix + e.base(op))
	met := map[string]bool{}
	for i := range op.template.segments {
		b.WriteByte('/')
		own := &op.template.segments[i]
		for j, literal := range own.literals {
			b.WriteString(literalPath(literal))
			if j < len(own.names) {
				b.WriteString("{" + parameterName(own.names[j], met) + "}")
			}
		}
	}
	return b.String()
}

// literalPath writes a literal so that nothing in it means something to a path of mocks.
func literalPath(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; strings.IndexByte("{}*?#%/;", c) >= 0 || c <= ' ' {
			b.WriteString("%" + strings.ToUpper(strconv.FormatUint(uint64(c)|0x100, 16)[1:]))
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// parameterName is a name that a parameter of a path may have, and that no other of the path has.
func parameterName(name string, met map[string]bool) string {
	const plain = "_-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(plain, r) {
			return r
		}
		return '_'
	}, strings.TrimSuffix(strings.TrimPrefix(name, "+"), "*"))
	if strings.TrimLeft(name[:min(1, len(name))], "-0123456789") == "" {
		name = "p" + name
	}
	for met[name] {
		name += "_"
	}
	met[name] = true
	return name
}

func queryOf(asks []pair) *mockbase.Node {
	query := &object{}
	for _, own := range asks {
		if value := decodedForm(own.value); value != "" && !strings.HasPrefix(value, "{") {
			query.set(own.name, textNode(value))
			continue
		}
		present := &object{}
		present.set("exists", boolNode(true))
		query.set(own.name, present.node())
	}
	return query.node()
}

// explained is an error with its first fault.
func explained(err error) string {
	text := err.Error()
	return shortened(text, longestDescription)
}

// object is an object in the making.
type object struct{ members []mockbase.Member }

func (o *object) set(name string, n *mockbase.Node) {
	for i := range o.members {
		if o.members[i].Key == name {
			o.members[i].Value = n
			return
		}
	}
	o.members = append(o.members, mockbase.Member{Key: name, Value: n})
}

// has tells whether one of the names is a member.
func (o *object) has(names ...string) bool {
	return slices.ContainsFunc(o.members, func(m mockbase.Member) bool { return slices.Contains(names, m.Key) })
}

// text adds a text that is not empty, list a list that is not.
func (o *object) text(name, text string) {
	if text != "" {
		o.set(name, textNode(text))
	}
}

func (o *object) list(name string, items []*mockbase.Node) {
	if len(items) > 0 {
		o.set(name, &mockbase.Node{Kind: mockbase.NodeList, Items: items})
	}
}

func (o *object) node() *mockbase.Node {
	return &mockbase.Node{Kind: mockbase.NodeObject, Members: o.members}
}
