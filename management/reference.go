package management

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

//go:embed reference.html
var referenceSource string

//go:embed reference.css
var referenceStyle string

// reference is the page at /docs: the API document for people. It is made once, uses its own style and nothing else, and
// needs no script.
type reference struct {
	page   []byte
	policy string
}

// referenceView is what the template is given.
type referenceView struct {
	Style       template.CSS
	Title       string
	Description [][]word
	Groups      []*referenceGroup
	Schemas     []*schemaView
}

// referenceGroup is a tag with its operations.
type referenceGroup struct {
	Name, Description string
	Operations        []*operationView
}

type operationView struct {
	ID, Method, Path, Summary string
	Description               []word
	// Rights says who may call, in a sentence.
	Rights     string
	Parameters []*parameterView
	Bodies     []*mediaView
	// Answers are those to what went well, Problems the others.
	Answers  []*describedAnswer
	Problems []*describedProblem
}

type parameterView struct {
	Name, In, Description string
	Required              bool
	Schema                *schemaView
}

type mediaView struct {
	Type   string
	Schema *schemaView
	// Example is the text of one, "" where there is none.
	Example string
}

type describedAnswer struct {
	Status      string
	Description []word
	Fields      []*parameterView
	Bodies      []*mediaView
}

// schemaView is a schema for people: a name that leads elsewhere, or a sentence on its kind, with the members of an object.
type schemaView struct {
	// Name is the name of a schema, Link tells that it is explained under it.
	Name string
	Link bool
	// Prefix stands before the name or kind, as "list of".
	Prefix, Kind, Description string
	Members                   []*memberView
}

type memberView struct {
	Name     string
	Required bool
	Schema   *schemaView
}

// referencePage shows the API document to people (M-246).
func (s *Server) referencePage(c *call) error {
	made, err := s.documents.reference()
	if err != nil {
		return err
	}
	c.header().Set("Content-Security-Policy", made.policy)
	c.bytes(http.StatusOK, typeHTML+"; charset=utf-8", made.page)
	return nil
}

func newReference() (*reference, error) {
	tree, err := mockbase.ParseNode(openAPI, mockbase.FormatYAML, mockbase.ParseLimits{})
	if err != nil {
		return nil, defect("read API document", err)
	}
	source, err := template.New("reference").Parse(referenceSource)
	if err != nil {
		return nil, defect("parse reference page", err)
	}
	var page bytes.Buffer
	if err := source.Execute(&page, (&referenceReader{tree}).view()); err != nil {
		return nil, defect("render reference page", err)
	}
	digest := sha256.Sum256([]byte(referenceStyle))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(digest[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return &reference{page.Bytes(), policy}, nil
}

// referenceReader reads the parts of an API document.
type referenceReader struct{ document *mockbase.Node }

func (r *referenceReader) view() *referenceView {
	info := r.document.Find("info")
	v := &referenceView{
		Style: template.CSS(referenceStyle), Title: textOf(info, "title"), Description: paragraphs(textOf(info, "description")), //nolint:gosec // the style is ours
		Groups: r.groups(),
	}
	for _, m := range membersOf(r.document.Find("components"), "schemas") {
		one := r.schema(m.Value, 0)
		one.Name = m.Key
		v.Schemas = append(v.Schemas, one)
	}
	slices.SortFunc(v.Schemas, func(a, b *schemaView) int { return strings.Compare(a.Name, b.Name) })
	return v
}

func (r *referenceReader) groups() []*referenceGroup {
	var groups []*referenceGroup
	byName := map[string]*referenceGroup{}
	for _, tag := range r.document.Find("tags").Items {
		g := &referenceGroup{Name: textOf(tag, "name"), Description: textOf(tag, "description")}
		groups, byName[g.Name] = append(groups, g), g
	}
	for _, path := range membersOf(r.document, "paths") {
		for _, m := range path.Value.Members {
			if tags := m.Value.Find("tags"); tags != nil && len(tags.Items) > 0 {
				if g := byName[tags.Items[0].Text]; g != nil {
					g.Operations = append(g.Operations, r.operation(path, m))
				}
			}
		}
	}
	return slices.DeleteFunc(groups, func(g *referenceGroup) bool { return len(g.Operations) == 0 })
}

func (r *referenceReader) operation(path, method mockbase.Member) *operationView {
	o := method.Value
	v := &operationView{
		ID: textOf(o, "operationId"), Method: strings.ToUpper(method.Key), Path: path.Key, Summary: textOf(o, "summary"),
		Description: proseOf(textOf(o, "description")), Rights: rightsOf(o),
	}
	for _, holder := range []*mockbase.Node{path.Value, o} {
		if list := holder.Find("parameters"); list != nil {
			for _, p := range list.Items {
				v.Parameters = append(v.Parameters, r.parameter(r.resolve(p)))
			}
		}
	}
	if body := o.Find("requestBody"); body != nil {
		v.Bodies = r.bodies(r.resolve(body))
	}
	for _, m := range membersOf(o, "responses") {
		answer := r.resolve(m.Value)
		if m.Key >= "400" {
			v.Problems = append(v.Problems, problemOf(o, m.Key, answer))
			continue
		}
		told := &describedAnswer{Status: m.Key, Description: proseOf(textOf(answer, "description")), Bodies: r.bodies(answer)}
		for _, field := range membersOf(answer, "headers") {
			if one := r.resolve(field.Value); !everywhere(field.Key) {
				told.Fields = append(told.Fields, &parameterView{Name: field.Key, Description: textOf(one, "description"), Required: textOf(one, "required") == "true"})
			}
		}
		v.Answers = append(v.Answers, told)
	}
	return v
}

func (r *referenceReader) parameter(p *mockbase.Node) *parameterView {
	v := &parameterView{Name: textOf(p, "name"), In: textOf(p, "in"), Description: textOf(p, "description"), Required: textOf(p, "required") == "true"}
	if schema := p.Find("schema"); schema != nil {
		v.Schema = r.schema(schema, 0)
	}
	return v
}

func (r *referenceReader) bodies(holder *mockbase.Node) []*mediaView {
	var all []*mediaView
	for _, m := range membersOf(holder, "content") {
		v := &mediaView{Type: m.Key}
		if schema := m.Value.Find("schema"); schema != nil {
			v.Schema = r.schema(schema, 0)
		}
		if example := m.Value.Find("example"); example != nil {
			v.Example = exampleText(m.Key, example)
		}
		all = append(all, v)
	}
	return all
}

// resolve follows a reference into the document.
func (r *referenceReader) resolve(n *mockbase.Node) *mockbase.Node {
	at := textOf(n, "$ref")
	path, isLocal := strings.CutPrefix(at, "#/")
	if !isLocal {
		return n
	}
	found := r.document
	for name := range strings.SplitSeq(path, "/") {
		if found = found.Find(name); found == nil {
			return n
		}
	}
	return found
}

// deepestSchema bounds how far the members of members are listed in place.
const deepestSchema = 4

func (r *referenceReader) schema(n *mockbase.Node, depth int) *schemaView {
	if name, isSchema := strings.CutPrefix(textOf(n, "$ref"), "#/components/schemas/"); isSchema {
		return &schemaView{Name: name, Link: true}
	}
	if items := n.Find("items"); items != nil && depth < deepestSchema {
		v := r.schema(items, depth+1)
		v.Prefix = strings.TrimSpace("list of " + v.Prefix)
		v.Description = cmp.Or(textOf(n, "description"), v.Description)
		return v
	}
	v := &schemaView{Kind: kindOf(n), Description: textOf(n, "description")}
	required := n.Find("required")
	for _, m := range membersOf(n, "properties") {
		if depth >= deepestSchema {
			break
		}
		must := required != nil && slices.ContainsFunc(required.Items, func(one *mockbase.Node) bool { return one.Text == m.Key })
		v.Members = append(v.Members, &memberView{Name: m.Key, Required: must, Schema: r.schema(m.Value, depth+1)})
	}
	return v
}

// kindOf says in a few words what a value is.
func kindOf(n *mockbase.Node) string {
	if value := textOf(n, "const"); value != "" {
		return value
	}
	if choices := n.Find("enum"); choices != nil {
		return withDetails(n, joinTexts(choices.Items), "default")
	}
	kind := textOf(n, "type")
	if several := n.Find("type"); several != nil && len(several.Items) > 0 {
		kind = joinTexts(several.Items)
	}
	return withDetails(n, cmp.Or(kind, "any"), "format", "pattern", "minimum", "maximum", "minLength", "maxLength", "default")
}

// withDetails adds what bounds a value, and whether it is only read.
func withDetails(n *mockbase.Node, kind string, details ...string) string {
	words := []string{kind}
	for _, detail := range details {
		if value := textOf(n, detail); value != "" {
			words = append(words, detail+" "+value)
		}
	}
	if textOf(n, "readOnly") == "true" {
		words = append(words, "read only")
	}
	return strings.Join(words, ", ")
}

func joinTexts(items []*mockbase.Node) string {
	texts := make([]string, 0, len(items))
	for _, item := range items {
		texts = append(texts, item.Text)
	}
	return strings.Join(texts, " | ")
}

// textOf is the text of a member, "" if there is none.
func textOf(n *mockbase.Node, name string) string {
	if n == nil || n.Kind != mockbase.NodeObject {
		return ""
	}
	if found := n.Find(name); found != nil && found.Kind != mockbase.NodeObject && found.Kind != mockbase.NodeList {
		return strings.TrimSpace(found.Text)
	}
	return ""
}

// membersOf are the members of a member.
func membersOf(n *mockbase.Node, name string) []mockbase.Member {
	if n == nil {
		return nil
	}
	if found := n.Find(name); found != nil {
		return found.Members
	}
	return nil
}
