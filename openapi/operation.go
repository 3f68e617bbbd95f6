package openapi

import (
	"slices"
	"strings"
	"sync"

	"github.com/mockbase/mockbase"
)

// operation is one operation of a document. What it takes and gives is read when it is first called, once.
type operation struct {
	document *Document
	method   string
	template *template
	// path is the path item, at the operation itself.
	path, at place
	number   int
	name     string

	once       sync.Once
	parameters []*parameter
	body       *requestBody
	responses  []*response
	security   []requirement
	// callbacks follow the answer.
	callbacks []*callback
}

func newOperation(d *Document, method string, t *template, path, at place) *operation {
	return &operation{document: d, method: method, template: t, path: path, at: at}
}

// ready reads the operation.
func (op *operation) ready() *operation {
	op.once.Do(func() {
		op.readParameters()
		if op.document.source.dialect != dialect20 {
			op.readBody()
			op.readCallbacks()
		}
		op.readResponses()
		if op.document.source.dialect != dialect20 {
			op.checkLinks()
		}
		op.security = op.readSecurity()
	})
	return op
}

// readParameters joins the parameters of path and operation: the operation's replace those of the same name and place.
func (op *operation) readParameters() {
	var form []*parameter
	for _, p := range append(op.path.find("parameters").items(), op.at.find("parameters").items()...) {
		at, ok := op.document.source.object(p, "the parameter is left out: it is")
		if !ok {
			continue
		}
		own := op.readParameter(at)
		switch {
		case own == nil:
		case own.in == inPath && !op.holds(own.name):
			op.document.source.notes.add(p, mockbase.FieldReference, "the parameter is left out: the path "+quoted(op.template.text)+" has no {"+own.name+"}")
		case own.in == "body":
			op.body = op.bodyOf20(own)
		case own.in == inForm:
			form = append(form, own)
		default:
			op.parameters = replaced(op.parameters, own)
		}
	}
	if len(form) > 0 {
		op.body = op.formOf20(form)
	}
	for i := range op.template.segments {
		for _, name := range op.template.segments[i].names {
			op.declare(name)
		}
	}
}

// holds tells whether the path has a parameter, or that of a server.
func (op *operation) holds(name string) bool {
	for i := range op.template.segments {
		if slices.Contains(op.template.segments[i].names, name) {
			return true
		}
	}
	return slices.ContainsFunc(op.document.serverPaths(op), func(prefix string) bool { return strings.Contains(prefix, "{"+name+"}") })
}

// takes tells whether path or operation declare a parameter, before the operation is read.
func (op *operation) takes(in, name string) bool {
	for _, p := range append(op.path.find("parameters").items(), op.at.find("parameters").items()...) {
		if at, ok := op.document.source.follow(p); ok && at.text("in") == in && at.text("name") == name {
			return true
		}
	}
	return false
}

// declare warns of a path parameter that the document does not describe. It takes any text.
func (op *operation) declare(name string) {
	for _, p := range op.parameters {
		if p.in == inPath && p.name == name {
			return
		}
	}
	op.document.source.notes.add(op.at, mockbase.FieldReference, "the path parameter "+quoted(name)+" is not declared; it takes any text")
}

func replaced(list []*parameter, own *parameter) []*parameter {
	for i, p := range list {
		if p.in == own.in && p.name == own.name {
			list[i] = own
			return list
		}
	}
	return append(list, own)
}

// mediaType is one entry of a content map.
type mediaType struct {
	// key is the document's spelling, parsed what it means.
	key    string
	parsed media
	at     place
	// schema is nil without one. examples are at the media type's own level.
	schema   *schema
	examples []member
	// example is the single example; its node is nil without one.
	example place
	// encoding tells how the properties of a form are written.
	encoding place
	// partHeaders are those that parts of a multipart body may or must have, by property.
	partHeaders map[string][]*responseHeader
	cache       cache
}

// readContent reads a content map.
func (op *operation) readContent(p place) []*mediaType {
	var list []*mediaType
	for _, m := range p.members() {
		if strings.HasPrefix(m.name, "x-") {
			continue
		}
		parsed, ok := parseMedia(m.name)
		if !ok {
			op.document.source.notes.add(m.place, mockbase.FieldPattern, "the media type "+quoted(m.name)+" cannot be read")
			continue
		}
		own := &mediaType{key: m.name, parsed: parsed, at: m.place}
		if at, found := op.document.source.follow(m.place); found {
			own.schema = op.document.schemas.of(at.find("schema"))
			own.examples = at.find("examples").members()
			own.example = presentMember(at, "example")
			own.encoding = at.find("encoding")
			own.partHeaders = op.readPartHeaders(own)
		}
		list = append(list, own)
	}
	return list
}

// readPartHeaders reads the headers of the parts of a multipart body.
func (op *operation) readPartHeaders(t *mediaType) map[string][]*responseHeader {
	if !t.parsed.isMultipart() {
		return nil
	}
	all := map[string][]*responseHeader{}
	for _, m := range t.encoding.members() {
		if list := op.readHeaders(m.place); len(list) > 0 {
			all[m.name] = list
		}
	}
	return all
}

// presentMember is a member that may be null, as null is an example (rule W38).
func presentMember(p place, name string) place {
	if !p.is(mockbase.NodeObject) {
		return place{}
	}
	if n := p.node.Find(name); n != nil {
		return p.below(mockbase.PointerToken(name), n)
	}
	return place{}
}

// consumes are the media types of bodies, produces those of answers (OpenAPI 2.0).
func (op *operation) mediaTypes20(name string) []string {
	at := op.at.find(name)
	if at.node == nil {
		at = op.document.source.top().find(name)
	}
	var list []string
	for _, item := range at.items() {
		if item.is(mockbase.NodeText) {
			list = append(list, item.node.Text)
		}
	}
	return list
}
