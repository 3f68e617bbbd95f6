package body

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/jsonvalue"
	"github.com/mockbase/mockbase/engine/operator"
)

// Stated is a match on a body at its place in a document, a JSON Pointer.
type Stated struct {
	Match *mockbase.BodyMatch
	At    string
}

// Contradictions finds what of matches on one body never holds: operators that exclude each other, conditions that no body
// satisfies together, and alternatives and negations inside that make no difference. Each is a loss at the place that it
// names. The budget is how many more clauses are looked at. What does not compile is passed over.
func Contradictions(budget *int, stated ...Stated) []operator.Contradiction {
	x := &examiner{budget: budget}
	for _, s := range stated {
		x.take(s)
	}
	for _, look := range []func(){x.names, x.documents, x.graphs, x.natures, x.known, x.values} {
		if look(); x.never || *budget < 0 {
			break
		}
	}
	return x.found
}

// examiner looks for contradictions in matches on one body.
type examiner struct {
	budget *int
	stated []Stated
	parts  []part
	found  []operator.Contradiction
	// never tells that one concerns the whole.
	never bool
}

// part is one condition of a match, alone.
type part struct {
	key, at string
	match   mockbase.BodyMatch
	nature  nature
}

// nature is what a body must be to satisfy a condition.
type nature uint8

const (
	natureAny nature = iota
	natureJSON
	natureXML
	natureMultipart
)

func (n nature) String() string {
	return [...]string{"anything", "JSON", "XML", "multipart"}[n]
}

func (x *examiner) take(s Stated) {
	x.stated = append(x.stated, s)
	m := s.Match
	for _, p := range []struct {
		part
		isStated bool
	}{
		{part{key: "empty", match: mockbase.BodyMatch{Empty: m.Empty}}, m.Empty != nil},
		{part{key: "size", match: mockbase.BodyMatch{Size: m.Size}}, m.Size != nil},
		{part{key: "sha256", match: mockbase.BodyMatch{SHA256: m.SHA256}}, m.SHA256 != nil},
		{part{key: "base64", match: mockbase.BodyMatch{Base64: m.Base64, HasBase64: true}}, m.HasBase64},
		{part{key: "text", match: mockbase.BodyMatch{Text: m.Text}}, len(m.Text) > 0},
		{part{key: "json", match: mockbase.BodyMatch{JSON: m.JSON, JSONOptions: m.JSONOptions}, nature: natureJSON}, m.JSON != nil},
		{part{key: "jsonExact", match: mockbase.BodyMatch{JSONExact: m.JSONExact, JSONOptions: m.JSONOptions}, nature: natureJSON}, m.JSONExact != nil},
		{part{key: "schema", match: mockbase.BodyMatch{Schema: m.Schema}, nature: natureJSON}, m.Schema != nil},
		{part{key: "xml", match: mockbase.BodyMatch{XML: m.XML, XMLOptions: m.XMLOptions}, nature: natureXML}, m.XML != nil},
		{part{key: "form", match: mockbase.BodyMatch{Form: m.Form}}, len(m.Form) > 0},
		{part{key: "multipart", match: mockbase.BodyMatch{Multipart: m.Multipart}, nature: natureMultipart}, len(m.Multipart) > 0},
	} {
		if p.isStated {
			p.at = s.At + "/" + p.key
			x.parts = append(x.parts, p.part)
		}
	}
	for _, n := range m.JSONPath {
		x.parts = append(x.parts, part{
			key: "jsonPath " + cut(n.Name), at: s.At + "/jsonPath/" + mockbase.PointerToken(n.Name),
			match: mockbase.BodyMatch{JSONPath: []mockbase.NamedMatch{n}}, nature: natureJSON,
		})
	}
	for _, n := range m.XPath {
		x.parts = append(x.parts, part{
			key: "xpath " + cut(n.Name), at: s.At + "/xpath/" + mockbase.PointerToken(n.Name),
			match: mockbase.BodyMatch{XPath: []mockbase.NamedMatch{n}, Namespaces: m.Namespaces}, nature: natureXML,
		})
	}
}

// note adds what was found.
func (x *examiner) note(found ...operator.Contradiction) {
	x.found = append(x.found, found...)
	for i := range found {
		x.never = x.never || !found[i].Partial
	}
}

func (x *examiner) exclude(at, one, other, because string) {
	x.note(operator.Contradiction{At: at, Detail: one + " excludes " + other + because})
}

// names examines what is said about the values of each name.
func (x *examiner) names() {
	single := operator.Subject{Single: true, Budget: x.budget}
	always := operator.Subject{Single: true, Always: true, Budget: x.budget}
	texts, sizes := x.collect("text", func(m *mockbase.BodyMatch) mockbase.Match { return m.Text }), []operator.Stated(nil)
	x.note(always.Texts(texts...)...)
	for _, s := range x.stated {
		if s.Match.Size != nil {
			sizes = append(sizes, operator.Stated{Match: mockbase.Match{*s.Match.Size}, At: s.At + "/size"})
		}
		for i := range s.Match.Multipart {
			x.multipart(&s.Match.Multipart[i], s.At+"/multipart/"+strconv.Itoa(i), single)
		}
	}
	x.note(always.Numbers(x.leastSize(), sizes...)...)
	many := operator.Subject{Budget: x.budget}
	for _, list := range x.named("form", func(m *mockbase.BodyMatch) []mockbase.NamedMatch { return m.Form }) {
		x.note(many.Texts(list...)...)
	}
	varies := operator.Subject{AbsenceVaries: true, Budget: x.budget}
	for _, list := range x.named("xpath", func(m *mockbase.BodyMatch) []mockbase.NamedMatch { return m.XPath }) {
		x.note(varies.Texts(list...)...)
	}
	for expression, list := range x.named("jsonPath", func(m *mockbase.BodyMatch) []mockbase.NamedMatch { return m.JSONPath }) {
		path, err := ParsePath(expression)
		x.note(operator.Subject{Single: err == nil && path.Singular(), Budget: x.budget}.Nodes(list...)...)
	}
}

// leastSize is how many bytes the body has at least.
func (x *examiner) leastSize() int64 {
	for _, s := range x.stated {
		if s.Match.Empty != nil && !*s.Match.Empty {
			return 1
		}
	}
	return 0
}

// collect returns the matches on one thing.
func (x *examiner) collect(key string, of func(*mockbase.BodyMatch) mockbase.Match) []operator.Stated {
	var list []operator.Stated
	for _, s := range x.stated {
		if m := of(s.Match); len(m) > 0 {
			list = append(list, operator.Stated{Match: m, At: s.At + "/" + key})
		}
	}
	return list
}

// named returns the matches on the values of each name.
func (x *examiner) named(key string, of func(*mockbase.BodyMatch) []mockbase.NamedMatch) map[string][]operator.Stated {
	lists := map[string][]operator.Stated{}
	for _, s := range x.stated {
		for _, n := range of(s.Match) {
			at := s.At + "/" + key + "/" + mockbase.PointerToken(n.Name)
			lists[n.Name] = append(lists[n.Name], operator.Stated{Match: n.Match, At: at})
		}
	}
	return lists
}

// multipart examines the conditions on one part.
func (x *examiner) multipart(p *mockbase.PartMatch, at string, single operator.Subject) {
	x.note(single.Texts(operator.Stated{Match: p.Name, At: at + "/name"})...)
	x.note(single.Texts(operator.Stated{Match: p.ContentType, At: at + "/contentType"})...)
	named := single
	named.Impossible = func(_, text string) string {
		if strings.ContainsAny(text, `/\`) {
			return "of a path, the last component alone is the name"
		}
		return ""
	}
	x.note(named.Texts(operator.Stated{Match: p.Filename, At: at + "/filename"})...)
	many := operator.Subject{Budget: x.budget}
	for _, n := range p.Headers {
		x.note(many.Texts(operator.Stated{Match: n.Match, At: at + "/headers/" + mockbase.PointerToken(n.Name)})...)
	}
	if p.Body != nil {
		x.note(Contradictions(x.budget, Stated{p.Body, at + "/body"})...)
	}
}

// documents examines the operators inside expected documents (rule G16).
func (x *examiner) documents() {
	for _, s := range x.stated {
		x.inside(s.Match.JSON, s.At+"/json")
		x.inside(s.Match.JSONExact, s.At+"/jsonExact")
		if g := s.Match.GraphQL; g != nil {
			x.inside(g.Variables, s.At+"/graphql/variables")
			x.inside(g.VariablesExact, s.At+"/graphql/variablesExact")
		}
	}
}

func (x *examiner) inside(document []byte, at string) {
	if document == nil {
		return
	}
	value, err := jsonvalue.Parse(document, jsonvalue.Limits{})
	if err != nil {
		return
	}
	single := operator.Subject{Single: true, Budget: x.budget}
	jsonvalue.Compile(value, jsonvalue.Options{}, func(operators *jsonvalue.Value, path []string) jsonvalue.Test {
		place := at + jsonvalue.Pointer(path...)
		decoded := mockbase.DecodeOperators(operators.Append(nil), place, &mockbase.Faults{})
		x.note(single.Nodes(operator.Stated{Match: mockbase.Match{decoded}, At: place})...)
		return nil
	})
}

// natures finds conditions that want bodies of different natures.
func (x *examiner) natures() {
	for i := range x.parts {
		for j := range min(i, maxCompared) {
			a, b := &x.parts[j], &x.parts[i]
			isApart := a.nature != natureAny && b.nature != natureAny && a.nature != b.nature
			// The text of an element may hold whatever a multipart body is.
			if isApart && (a.nature == natureJSON || b.nature == natureJSON) {
				x.exclude(b.at, b.key, a.key, ", as no body is both "+a.nature.String()+" and "+b.nature.String())
				return
			}
		}
	}
	for i := range x.stated {
		for j := range min(i, maxCompared) {
			a, b := newFacts(x.stated[j].Match), newFacts(x.stated[i].Match)
			if a.apart(&b) {
				x.exclude(x.stated[i].At, "this", "what stands at "+x.stated[j].At, ", as no body is as both want it")
				return
			}
		}
	}
}

// maxCompared is how many conditions are compared with each other.
const maxCompared = 50

// headerOfForm is that of a body which may be a form.
func headerOfForm() http.Header { return http.Header{"Content-Type": {typeForm}} }
