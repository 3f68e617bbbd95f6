package openapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// checkLinks warns of links that lead nowhere, name parameters that their operation does not have, or read what is not there
// (OpenAPI 3.1, section 4.8.20). Links change no answer: they stay in the document as they are.
func (op *operation) checkLinks() {
	for _, r := range op.responses {
		for _, m := range r.at.find("links").members() {
			at, ok := op.document.source.follow(m.place)
			if !ok || strings.HasPrefix(m.name, "x-") {
				continue
			}
			if !at.is(mockbase.NodeObject) {
				op.document.source.notes.add(m.place, mockbase.FieldType, "the link is "+at.node.Kind.String()+" and no object")
				continue
			}
			l := &link{operation: op, response: r, name: m.name, at: at}
			l.check()
		}
	}
}

// link is a link of a response.
type link struct {
	operation *operation
	response  *response
	name      string
	at        place
}

func (l *link) note(p place, code mockbase.Code, detail string) {
	l.operation.document.source.notes.add(p, code, "the link "+quoted(l.name)+" "+detail)
}

func (l *link) check() {
	target := l.target()
	for _, m := range l.at.find("parameters").members() {
		if target != nil && !target.takesLinked(m.name) {
			l.note(m.place, mockbase.FieldReference, "gives the parameter "+quoted(m.name)+", which its operation does not declare")
		}
		l.expression(m.place)
	}
	if body := l.at.find("requestBody"); body.node != nil {
		l.expression(body)
	}
}

// target is the operation that a link leads to, nil where it cannot be told.
func (l *link) target() *operation {
	id, ref := l.at.text("operationId"), l.at.text("operationRef")
	d := l.operation.document
	switch {
	case id == "" && ref == "":
		l.note(l.at, mockbase.FieldRequired, "names no operation: it needs operationId or operationRef")
		return nil
	case id != "" && ref != "":
		l.note(l.at, mockbase.FieldConflict, "has an operationId and an operationRef: the first counts")
	}
	if id != "" {
		at := slices.IndexFunc(d.operations, func(op *operation) bool { return op.at.text("operationId") == id })
		if at < 0 {
			l.note(l.at.find("operationId"), mockbase.FieldReference, "leads to the operation "+quoted(id)+", which the document does not have")
			return nil
		}
		return d.operations[at]
	}
	found := d.source.resolve(place{}, ref)
	at := slices.IndexFunc(d.operations, func(op *operation) bool { return op.at.node == found.node })
	switch {
	case at >= 0:
		return d.operations[at]
	case strings.HasPrefix(ref, "#"):
		l.note(l.at.find("operationRef"), mockbase.FieldReference, "leads to "+quoted(ref)+", where the document has no operation")
	default:
		l.note(l.at.find("operationRef"), mockbase.FieldReference, "leads to "+quoted(ref)+", outside the document: it was not looked at")
	}
	return nil
}

// takesLinked tells whether an operation has the parameter that a link names, with or without its place.
func (op *operation) takesLinked(name string) bool {
	places := []string{inPath, inQuery, inHeader, inCookie}
	if in, rest, ok := strings.Cut(name, "."); ok && slices.Contains(places, in) && op.takes(in, rest) {
		return true
	}
	return slices.ContainsFunc(places, func(in string) bool { return op.takes(in, name) })
}

// expression checks a value of a link: a constant, an expression, or a text with expressions in braces.
func (l *link) expression(p place) {
	if !p.is(mockbase.NodeText) {
		return
	}
	for _, f := range fragmentsOf(p.node.Text) {
		switch {
		case !f.expression || !strings.HasPrefix(f.text, "$"):
			// Braces may stand in a constant.
		case !knownExpression(f.text):
			l.note(p, mockbase.FieldSyntax, "has an expression that is none: "+quoted(f.text))
		default:
			if missing := l.missing(f.text); missing != "" {
				l.note(p, mockbase.FieldReference, "reads "+f.text+": "+missing)
			}
		}
	}
}

// missing tells what an expression reads that operation and response do not declare, "" for nothing.
func (l *link) missing(expression string) string {
	if rest, ok := strings.CutPrefix(expression, "$request."); ok {
		return l.missingRequest(rest)
	}
	rest, _ := strings.CutPrefix(expression, "$response.")
	switch name, header := strings.CutPrefix(rest, "header."); {
	case header && !l.answers(name):
		return "the response declares no such header"
	case ofBody(rest) && len(l.response.content) == 0:
		return "the response has no body"
	default:
		return ""
	}
}

func (l *link) missingRequest(rest string) string {
	in, name, _ := strings.Cut(rest, ".")
	switch {
	case ofBody(rest) && l.operation.body == nil:
		return "the operation takes no body"
	case !ofBody(rest) && !l.declares(in, name):
		return "the operation has no such parameter"
	default:
		return ""
	}
}

// ofBody tells whether the rest of an expression reads a body.
func ofBody(rest string) bool { return rest == "body" || strings.HasPrefix(rest, "body#") }

// declares tells whether the operation has a parameter; headers that are described elsewhere count.
func (l *link) declares(in, name string) bool {
	if in == inPath && slices.ContainsFunc(l.operation.template.segments, func(s segment) bool { return slices.Contains(s.names, name) }) {
		return true
	}
	return in == inHeader && (ignoredHeader(name) || l.headerTaken(name)) || in != inHeader && l.operation.takes(in, name)
}

func (l *link) headerTaken(name string) bool {
	return slices.ContainsFunc(l.operation.parameters, func(p *parameter) bool {
		return p.in == inHeader && http.CanonicalHeaderKey(p.name) == http.CanonicalHeaderKey(name)
	})
}

// answers tells whether the response declares a header.
func (l *link) answers(name string) bool {
	return strings.EqualFold(name, "Content-Type") || slices.ContainsFunc(l.response.at.find("headers").members(), func(m member) bool { return strings.EqualFold(m.name, name) })
}
