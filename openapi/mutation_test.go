package openapi_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/openapi"
)

// wrongKinds are values of which at most one kind fits a place of a description.
func wrongKinds() []*mockbase.Node {
	text := func(s string) *mockbase.Node { return &mockbase.Node{Kind: mockbase.NodeText, Text: s} }
	return []*mockbase.Node{
		{Kind: mockbase.NodeNumber, Text: "7"},
		text("wrong"),
		{Kind: mockbase.NodeBool, Text: "true"},
		{Kind: mockbase.NodeList, Items: []*mockbase.Node{{Kind: mockbase.NodeNumber, Text: "1"}}},
		{Kind: mockbase.NodeObject, Members: []mockbase.Member{{Key: "wrong", Value: text("wrong")}}},
	}
}

// mutant is one place of a document.
type mutant struct {
	pointer string
	path    []string
	node    *mockbase.Node
}

// mutants are the places of a document whose value is no matter of taste: neither texts for people nor values of examples.
func mutants(n *mockbase.Node, at mutant, list []mutant) []mutant {
	at.node = n
	if len(at.path) > 1 {
		list = append(list, at)
	}
	below := func(name string, child *mockbase.Node) {
		next := mutant{pointer: at.pointer + "/" + mockbase.PointerToken(name), path: append(slices.Clone(at.path), name)}
		prose := child.Kind == mockbase.NodeText && slices.Contains([]string{"description", "title", "summary", "$comment"}, name)
		if !prose && !freeForm(next.path) {
			list = mutants(child, next, list)
		}
	}
	for i, item := range n.Items {
		below(strconv.Itoa(i), item)
	}
	for _, m := range n.Members {
		below(m.Key, m.Value)
	}
	return list
}

// freeForm tells whether anything may stand at a place, or nothing in this package reads it: what a document says to people.
func freeForm(path []string) bool {
	name, parent := path[len(path)-1], ""
	if len(path) > 1 {
		parent = path[len(path)-2]
	}
	if strings.HasPrefix(name, "x-") {
		return true
	}
	// What is called headers among properties is a name itself.
	named := len(path) > 2 && slices.Contains([]string{"properties", "schemas", "definitions", "patternProperties"}, path[len(path)-3])
	if !named && slices.Contains([]string{
		"properties", "schemas", "definitions", "patternProperties", "parameters", "responses", "headers", "paths", "callbacks", "links",
		"securitySchemes", "securityDefinitions", "requestBodies", "mapping", "scopes", "variables",
	}, parent) {
		return false
	}
	switch name {
	case "description", "summary", "title", "example", "examples", "default", "enum", "const", "externalDocs", "xml", "contact", "license", "termsOfService",
		"info", "openapi", "swagger", "tags", "scopes", "flows", "authorizationUrl", "tokenUrl", "bearerFormat", "value", "links", "callbacks":
		return true
	default:
		return false
	}
}

// with is a document with another value at a place.
func with(n *mockbase.Node, path []string, value *mockbase.Node) *mockbase.Node {
	if len(path) == 0 {
		return value
	}
	own := *n
	own.Items, own.Members = slices.Clone(n.Items), slices.Clone(n.Members)
	for i := range own.Items {
		if strconv.Itoa(i) == path[0] {
			own.Items[i] = with(own.Items[i], path[1:], value)
		}
	}
	for i := range own.Members {
		if own.Members[i].Key == path[0] {
			own.Members[i].Value = with(own.Members[i].Value, path[1:], value)
		}
	}
	return &own
}

// described are the warnings of a document that is JSON.
func described(text []byte) ([]mockbase.FieldError, error) {
	d, err := openapi.Compile(&mockbase.Document{Name: "d", Inline: text, BasePath: "accept", Requests: "enforce", Responses: "warn"})
	if err != nil {
		return nil, err
	}
	return d.Warnings(), nil
}

// silences are the mutants of a document that nothing is said of, where the former warnings are all that there is.
func silences(t *testing.T, text []byte, most int) []string {
	t.Helper()
	root, err := openapi.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	tree, _, err := mockbase.ParseTolerant(root.JSON(), mockbase.FormatJSON, mockbase.ParseLimits{Depth: 400, Values: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	before, err := described(root.JSON())
	if err != nil {
		t.Fatal(err)
	}
	known, out := map[string]bool{}, []string{}
	for _, w := range before {
		known[w.Pointer+" "+w.Detail] = true
		if w.Code == mockbase.FieldType {
			out = append(out, w.Pointer+"/") // what lies in it is left out already
		}
	}
	random := rand.New(rand.NewPCG(7, 7))
	all := mutants(tree, mutant{pointer: "#"}, nil)
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var found []string
	for _, m := range all[:min(most, len(all))] {
		values := slices.DeleteFunc(wrongKinds(), func(v *mockbase.Node) bool { return v.Kind == m.node.Kind || !wrongFor(m, v) })
		if len(values) == 0 || slices.ContainsFunc(out, func(at string) bool { return strings.HasPrefix(m.pointer, at) }) {
			continue
		}
		value := values[random.IntN(len(values))]
		list, err := described(with(tree, m.path, value).JSON())
		if err == nil && !slices.ContainsFunc(list, func(w mockbase.FieldError) bool {
			near := strings.HasPrefix(m.pointer, w.Pointer) || strings.HasPrefix(w.Pointer, m.pointer)
			return near && !known[w.Pointer+" "+w.Detail]
		}) {
			found = append(found, m.pointer+" as "+string(value.JSON()))
		}
	}
	return found
}

// wrongFor tells whether a value is none that the place may have.
func wrongFor(m mutant, v *mockbase.Node) bool {
	name := m.path[len(m.path)-1]
	switch {
	case name == "type" || name == "additionalProperties" || name == "items" || name == "exclusiveMinimum" || name == "exclusiveMaximum":
		return v.Kind == mockbase.NodeText || v.Kind == mockbase.NodeNumber && name != "exclusiveMinimum" && name != "exclusiveMaximum"
	case m.node.Kind == mockbase.NodeText:
		return v.Kind != mockbase.NodeNumber // texts that are not in quotes
	case name == "deprecated" || name == "uniqueItems" || name == "required":
		return v.Kind != mockbase.NodeList && v.Kind != mockbase.NodeBool
	default:
		return v.Kind != mockbase.NodeBool
	}
}

// Rule W22: every fault that is tolerated is a warning at its place or around it, never silence. The documents are those of a folder
// that MOCKBASE_TEST_DOCUMENTS names, beside one of our own.
func TestW22_no_wrong_value_is_tolerated_in_silence(t *testing.T) {
	t.Parallel()
	for name, text := range mutated(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if list := silences(t, text, mutantsOf(text)); len(list) > 0 {
				t.Errorf("nothing is said of %d values:\n%s", len(list), strings.Join(list, "\n"))
			}
		})
	}
}

// mutantsOf is how many mutants of a document are looked at: fewer of a large one, each of which takes longer.
func mutantsOf(text []byte) int {
	const most, least, usual = 400, 24, 60_000
	return max(least, most*usual/max(usual, len(text)))
}

func mutated(t *testing.T) map[string][]byte {
	t.Helper()
	texts := map[string][]byte{"own": []byte(everything)}
	folder := os.Getenv("MOCKBASE_TEST_DOCUMENTS") //nolint:forbidigo // documents that are not ours
	if folder == "" {
		return texts
	}
	for _, kind := range []string{"*.yaml", "*.yml", "*.json"} {
		files, err := filepath.Glob(filepath.Join(folder, kind))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if texts[filepath.Base(file)], err = os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	return texts
}

// everything is a document that has a bit of everything.
const everything = `openapi: 3.0.3
info: { title: t, version: '1' }
servers: [{ url: 'https://{host}/v1', variables: { host: { default: api.test, enum: [api.test, b.test] } } }]
security: [{ key: [] }]
paths:
  /pets/{id}:
    parameters: [{ name: id, in: path, required: true, style: simple, schema: { type: integer, minimum: 1 } }]
    get:
      tags: [pets]
      operationId: getPet
      parameters:
        - { name: f, in: query, style: deepObject, explode: true, allowReserved: true, schema: { type: object, properties: { a: { type: string } } } }
        - { name: j, in: query, content: { application/json: { schema: { type: object } } } }
        - { $ref: '#/components/parameters/Page' }
      responses:
        '200':
          description: d
          headers: { X-Rate: { schema: { type: integer, example: 5 } } }
          content: { application/json: { schema: { $ref: '#/components/schemas/Pet' } } }
        default: { $ref: '#/components/responses/Error' }
    put:
      security: [{}]
      deprecated: true
      requestBody:
        required: true
        content:
          application/x-www-form-urlencoded:
            schema: { type: object, required: [a], properties: { a: { type: array, minItems: 1, uniqueItems: true, items: { type: string, pattern: '^a', maxLength: 3 } } } }
            encoding: { a: { style: form, explode: false } }
      responses: { '204': { description: d } }
components:
  securitySchemes: { key: { type: apiKey, in: header, name: X-Key } }
  parameters: { Page: { name: page, in: query, required: false, allowEmptyValue: true, schema: { type: integer, format: int32, maximum: 9, multipleOf: 3 } } }
  responses: { Error: { description: d, content: { text/plain: { schema: { type: string, enum: [no] } } } } }
  schemas:
    Pet:
      required: [name]
      type: object
      additionalProperties: false
      discriminator: { propertyName: name, mapping: { a: '#/components/schemas/Pet' } }
      properties:
        name: { type: string, nullable: true, minLength: 1 }
        tag: { oneOf: [{ type: string }, { type: integer, exclusiveMinimum: true, minimum: 0 }] }
        all: { allOf: [{ type: object, minProperties: 0, maxProperties: 4 }], not: { required: [zzz] } }
        secret: { type: string, writeOnly: true, format: date }
        made: { type: string, readOnly: true }
`

// Rule W22: what of a path has no meaning is told.
func TestW22_odd_paths_are_told(t *testing.T) {
	t.Parallel()
	list := warnings(compile(t, head+`paths:
  '/broken/{a': { get: { responses: { '200': { description: d } } } }
  '/f#frag': { get: { responses: { '200': { description: d } } } }
  '/told#kind=a': { get: { parameters: [{ name: kind, in: query, schema: { type: string } }], responses: { '200': { description: d } } } }
  /q: { query: { responses: { '200': { description: d } } } }
`))
	for _, want := range []string{"#/paths/~1broken~1%7Ba: ", "#/paths/~1f%23frag: ", "#/paths/~1q/query: query is a method since"} {
		if !strings.Contains(list, want) {
			t.Errorf("nothing says %s:\n%s", want, list)
		}
	}
	if strings.Contains(list, "told") {
		t.Errorf("a condition is told:\n%s", list)
	}
}
