package management_test

import (
	"bytes"
	"fmt"
	"mime"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mockbase/mockbase"
)

// answerSchemas are the schemas of JSON answers, compiled once: kin-openapi compiles them for each answer, which takes many
// times what the answer takes.
var answerSchemas struct {
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

const documentURL = "https://mockbase.test/openapi.json"

// compiledSchema is the schema at a pointer of the API document. Formats are asserted.
func compiledSchema(pointer string) (*jsonschema.Schema, error) {
	s := &answerSchemas
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.compiled[pointer]; known != nil {
		return known, nil
	}
	if s.compiler == nil {
		c, err := newAnswerCompiler()
		if err != nil {
			return nil, err
		}
		s.compiler, s.compiled = c, map[string]*jsonschema.Schema{}
	}
	made, err := s.compiler.Compile(documentURL + "#" + pointer)
	if err == nil {
		s.compiled[pointer] = made
	}
	return made, err
}

func newAnswerCompiler() (*jsonschema.Compiler, error) {
	text, err := os.ReadFile("openapi.yaml")
	if err != nil {
		return nil, err
	}
	tree, err := mockbase.ParseNode(text, mockbase.FormatYAML, mockbase.ParseLimits{})
	if err != nil {
		return nil, err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(tree.JSON()))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	return c, c.AddResource(documentURL, document)
}

// schema is that of the answer's body, nil where the body is no JSON or the document says nothing of it: there kin-openapi
// looks at it.
func (a *reply) schema(route *routers.Route) *jsonschema.Schema {
	a.t.Helper()
	kind, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	if kind != "application/json" && kind != "application/problem+json" {
		return nil
	}
	pointer, media := placeOfAnswer(route, a.status, kind)
	if media == nil || media.Schema == nil {
		return nil
	}
	schema, err := compiledSchema(pointer + "/schema")
	if err != nil {
		a.t.Fatal(err)
	}
	return schema
}

// placeOfAnswer finds what the document says of the answers with a status and a media type, and where.
func placeOfAnswer(route *routers.Route, status int, kind string) (pointer string, media *openapi3.MediaType) {
	escape := strings.NewReplacer("~", "~0", "/", "~1").Replace
	for _, key := range []string{strconv.Itoa(status), fmt.Sprintf("%dXX", status/100), "default"} {
		found := route.Operation.Responses.Value(key)
		if found == nil {
			continue
		}
		pointer = "/paths/" + escape(route.Path) + "/" + strings.ToLower(route.Method) + "/responses/" + key
		if found.Ref != "" {
			pointer = strings.TrimPrefix(found.Ref, "#")
		}
		return pointer + "/content/" + escape(kind), found.Value.Content[kind]
	}
	return "", nil
}

func matches(schema *jsonschema.Schema, body []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// The harness refuses what does not agree: every schema of a JSON answer compiles, and an answer that lacks all members, or has a
// member of another type, is told.
func TestM22_the_harness_tells_answers_that_do_not_agree(t *testing.T) {
	t.Parallel()
	doc := document(t)
	checked := 0
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			for key := range operation.Responses.Map() {
				status, err := strconv.Atoi(key)
				if err != nil {
					continue
				}
				route := &routers.Route{Path: path, Method: method, Operation: operation}
				for _, kind := range []string{"application/json", "application/problem+json"} {
					pointer, media := placeOfAnswer(route, status, kind)
					if media == nil || media.Schema == nil {
						continue
					}
					schema, err := compiledSchema(pointer + "/schema")
					if err != nil {
						t.Fatalf("%s %s %d: %v", method, path, status, err)
					}
					checked++
					if kind == "application/problem+json" && (matches(schema, []byte(`{}`)) == nil || matches(schema, []byte(`{"type":1}`)) == nil) {
						t.Errorf("%s %s %d: an empty problem agrees", method, path, status)
					}
				}
			}
		}
	}
	if checked < 500 {
		t.Errorf("%d schemas of answers", checked)
	}
	schema, err := compiledSchema("/components/schemas/User")
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{`{}`, `[]`, `{"id":1}`} {
		if matches(schema, []byte(wrong)) == nil {
			t.Errorf("%s agrees with a user", wrong)
		}
	}
}
