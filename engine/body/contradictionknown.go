package body

import (
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/jsonvalue"
	"github.com/mockbase/mockbase/engine/operator"
)

// sample is a body that a condition wants, as far as other conditions look at it.
type sample struct {
	says    string
	message *Message
	// concerns tells which conditions see the same of every body that the condition wants.
	concerns func(*part) bool
}

// known tests the other conditions with bodies that are known by one.
func (x *examiner) known() {
	for i := range x.parts {
		s := sampleOf(&x.parts[i])
		if s == nil {
			continue
		}
		for j := range x.parts {
			if other := &x.parts[j]; i != j && s.concerns(other) && !x.mayHold(other, s.message) {
				x.exclude(other.at, other.key, s.says, "")
				return
			}
		}
	}
}

// mayHold tests a condition with a body. One that does not compile, or that is one too many, may.
func (x *examiner) mayHold(p *part, m *Message) bool {
	if *x.budget--; *x.budget < 0 {
		return true
	}
	var faults mockbase.Faults
	compiled := Compile(&p.match, p.at, &faults)
	return faults.Len() > 0 || compiled.Holds(m)
}

// maxSample is how many bytes of a body are tested.
const maxSample = 64 << 10

// sampleOf makes the body that a condition wants, nil if there are several.
func sampleOf(p *part) *sample {
	isNature := func(o *part) bool { return o.nature == natureJSON || o.nature == natureXML }
	switch p.key {
	case "empty":
		if *p.match.Empty {
			return &sample{"empty: true", New(nil, headerOfForm()), func(*part) bool { return true }}
		}
	case "base64":
		// What the coded bytes are in the end, the codings of a request decide.
		return sized("base64", p.match.Base64, func(o *part) bool { return o.key == "size" || o.key == "sha256" || o.key == "empty" })
	case "text":
		// In another charset than ASCII, a text may be other bytes.
		if text, isKnown := equalled(p.match.Text); isKnown && isASCII(text) {
			return sized("text "+cutShort(text), []byte(text), isNature)
		}
	case "jsonExact":
		if isPlain(&p.match) {
			return sized("jsonExact", p.match.JSONExact, isNature)
		}
	}
	return nil
}

// sized is a sample of bytes, nil where those are too many.
func sized(says string, raw []byte, concerns func(*part) bool) *sample {
	if len(raw) > maxSample {
		return nil
	}
	return &sample{says, New(raw, nil), concerns}
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > '~' })
}

// isPlain tells whether an exact document stands for itself alone.
func isPlain(m *mockbase.BodyMatch) bool {
	value, err := jsonvalue.Parse(m.JSONExact, jsonvalue.Limits{})
	return err == nil && m.JSONOptions == (mockbase.JSONOptions{}) && !holdsOperators(value)
}

func cutShort(text string) string {
	const most = 60
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

// holdsOperators tells whether operators or a literal stand anywhere in a document (rule G16).
func holdsOperators(v *jsonvalue.Value) bool {
	if standsForMore(v) {
		return true
	}
	for _, item := range v.Items() {
		if holdsOperators(item) {
			return true
		}
	}
	for _, member := range v.Members() {
		if holdsOperators(member) {
			return true
		}
	}
	return false
}

// values tests definite paths with the scalars that an expected document has there.
func (x *examiner) values() {
	for i := range x.parts {
		expected := &x.parts[i]
		if expected.key != "json" || expected.match.JSONOptions != (mockbase.JSONOptions{}) {
			continue
		}
		value, err := jsonvalue.Parse(expected.match.JSON, jsonvalue.Limits{})
		if err != nil {
			continue
		}
		for j := range x.parts {
			if other := &x.parts[j]; len(other.match.JSONPath) > 0 && !allows(value, &other.match.JSONPath[0]) {
				x.exclude(other.at, other.key, "json", ", which has another value there")
				return
			}
		}
	}
}

// allows tells whether a match on a path may hold for documents that hold what is expected.
func allows(expected *jsonvalue.Value, n *mockbase.NamedMatch) bool {
	path, err := ParsePath(n.Name)
	if err != nil || !path.Singular() || strings.Contains(n.Name, "$match") || strings.Contains(n.Name, "$literal") {
		return true
	}
	nodes, err := path.SelectValue(expected)
	if err != nil || len(nodes) != 1 || nodes[0].Kind() == jsonvalue.Object || nodes[0].Kind() == jsonvalue.Array {
		return true
	}
	var faults mockbase.Faults
	match := operator.Nodes(n.Match, "", &faults)
	return faults.Len() > 0 || match.Holds(&operator.Values[*jsonvalue.Value]{List: nodes})
}

// graphs examines what is said of GraphQL requests.
func (x *examiner) graphs() {
	for _, s := range x.stated {
		if s.Match.GraphQL != nil {
			x.graph(s.Match.GraphQL, s.At+"/graphql")
		}
	}
}

func (x *examiner) graph(g *mockbase.GraphQLMatch, at string) {
	x.note(operator.Subject{Single: true, Budget: x.budget}.Texts(operator.Stated{Match: g.OperationName, At: at + "/operationName"})...)
	x.note(operator.Subject{Budget: x.budget}.Texts(operator.Stated{Match: g.Fields, At: at + "/fields"})...)
	if g.Query == nil {
		return
	}
	document, err := parseGraphQL(*g.Query)
	if err != nil || len(document.operations) != 1 {
		return
	}
	o := &operation{definition: document.operations[0], fragments: document.fragments}
	executed := &graphQL{name: o.definition.Name, named: o.definition.Name != "", operation: o}
	kind := string(o.definition.Operation)
	if g.Operation != "" && g.Operation != kind {
		x.exclude(at+"/operation", "operation "+g.Operation, "query, which is a "+kind, "")
	}
	name := "query, whose operation has no name"
	if executed.named {
		name = "query, whose operation is called " + cut(executed.name)
	}
	x.unlessHolds(g.OperationName, executed.nameTexts(), at+"/operationName", "operationName", name)
	x.unlessHolds(g.Fields, executed.fieldTexts(), at+"/fields", "fields", "query, whose fields are "+cut(strings.Join(o.fields(), ", ")))
}

// unlessHolds notes a match that does not hold for texts that are known.
func (x *examiner) unlessHolds(list mockbase.Match, known *texts, at, key, other string) {
	var faults mockbase.Faults
	match := operator.Texts(list, at, &faults)
	if faults.Len() > 0 || match.Holds(known) {
		return
	}
	name, operand := match.Failing(known).Failing(known)
	x.exclude(at, key+" "+name+" "+cut(operand), other, "")
}

// Executes returns the kind of the operation that matches on GraphQL want, "" where any will do: query, mutation or
// subscription.
func Executes(m *mockbase.BodyMatch) string {
	if m.GraphQL == nil {
		return ""
	}
	wanted := wantedOperation(m.GraphQL)
	return wanted.kind
}

// NeedsForm returns the condition of a match, which may be nil, that no body of a media type satisfies: form or multipart
// (rules I2 and I5). It returns "" if there is none.
func NeedsForm(m *mockbase.BodyMatch, contentType string) string {
	mediaType := mediaTypeOf(contentType)
	switch {
	case m == nil:
		return ""
	case len(m.Form) > 0 && mediaType != typeForm && mediaType != typeMultipart:
		return "form"
	case len(m.Multipart) > 0 && !strings.HasPrefix(mediaType, "multipart/"):
		return "multipart"
	default:
		return ""
	}
}
