package mockbase_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
)

// schemaSites says where each object of the schema stands in a document: % is the place for a key, and the places of
// several objects of the schema may be one in the format.
var schemaSites = []struct {
	document string
	schema   []string
}{
	{`{mocks: [], %}`, []string{""}},
	{`{mocks: [], defaults: {%}}`, []string{"/properties/defaults"}},
	{`{mocks: [], scenarios: {s: {%}}}`, []string{"/properties/scenarios/additionalProperties"}},
	{`{mocks: [], settings: {%}}`, []string{"/$defs/settings"}},
	{`{mocks: [], settings: {cors: {%}}}`, []string{"/$defs/settings/properties/cors/oneOf/1"}},
	{`{mocks: [], settings: {fallback: {%}}}`, []string{"/$defs/settings/properties/fallback"}},
	{`{mocks: [], settings: {noMatch: {%}}}`, []string{"/$defs/plainResponse"}},
	{`{mocks: [], rateLimits: {a: {%}}}`, []string{"/$defs/policy"}},
	{`{mocks: [], rateLimits: {a: {headers: {%}}}}`, []string{"/$defs/policy/properties/headers/oneOf/2"}},
	{`{mocks: [], rateLimits: {a: {onExceed: {%}}}}`, []string{"/$defs/policy/properties/onExceed"}},
	{`{mocks: [], rateLimits: {a: {ban: {%}}}}`, []string{"/$defs/policy/properties/ban"}},
	{`{mocks: [{rateLimit: {use: a, %}}]}`, []string{"/$defs/oneLimit/oneOf/1"}},
	{`{mocks: [{%}]}`, []string{"/$defs/mock"}},
	{`{mocks: [{expect: {%}}]}`, []string{"/$defs/mock/properties/expect"}},
	{`{mocks: [{expect: {calls: {%}}}]}`, []string{"/$defs/count/oneOf/1"}},
	{`{mocks: [{expect: {backoff: {%}}}]}`, []string{"/$defs/backoff"}},
	{`{mocks: [{request: {%}}]}`, []string{"/$defs/request/oneOf/1"}},
	{`{mocks: [{request: {query: {a: {%}}}}]}`, []string{"/$defs/operators"}},
	{`{mocks: [{request: {not: {%}}}]}`, []string{"/$defs/condition"}},
	{`{mocks: [{request: {auth: {%}}}]}`, []string{"/$defs/auth"}},
	{`{mocks: [{request: {auth: {basic: {%}}}}]}`, []string{"/$defs/auth/properties/basic"}},
	{`{mocks: [{request: {body: {%}}}]}`, []string{"/$defs/bodyMatch"}},
	{`{mocks: [{request: {body: {jsonOptions: {%}}}}]}`, []string{"/$defs/bodyMatch/properties/jsonOptions"}},
	{`{mocks: [{request: {body: {graphql: {%}}}}]}`, []string{"/$defs/graphqlMatch"}},
	{`{mocks: [{request: {body: {xmlOptions: {%}}}}]}`, []string{"/$defs/bodyMatch/properties/xmlOptions"}},
	{`{mocks: [{request: {body: {multipart: [{%}]}}}]}`, []string{"/$defs/bodyMatch/properties/multipart/items"}},
	{`{mocks: [{response: {%}}]}`, []string{"/$defs/response"}},
	{`{mocks: [{response: {when: {%}}}]}`, []string{"/$defs/when"}},
	{`{mocks: [{response: {delay: {%}}}]}`, []string{
		"/$defs/delay/oneOf/2", "/$defs/delay/oneOf/3", "/$defs/delay/oneOf/4", "/$defs/delay/oneOf/5",
	}},
	{`{mocks: [{response: {delay: {normal: {%}}}}]}`, []string{"/$defs/delay/oneOf/4/properties/normal"}},
	{`{mocks: [{response: {delay: {lognormal: {%}}}}]}`, []string{"/$defs/delay/oneOf/5/properties/lognormal"}},
	{`{mocks: [{response: {stream: {%}}}]}`, []string{"/$defs/stream/oneOf/1"}},
	{`{mocks: [{response: {fault: {%}}}]}`, []string{"/$defs/fault/oneOf/1"}},
	{`{mocks: [{response: {proxy: {%}}}]}`, []string{"/$defs/proxy"}},
	{`{mocks: [{response: {sse: {%}}}]}`, []string{"/$defs/sse"}},
	{`{mocks: [{response: {sse: {events: [{%}]}}}]}`, []string{"/$defs/sse/properties/events/items"}},
	{`{mocks: [{response: {webSocket: {%}}}]}`, []string{"/$defs/webSocket"}},
	{`{mocks: [{response: {webSocket: {onConnect: [{%}]}}}]}`, []string{
		"/$defs/message/oneOf/0", "/$defs/message/oneOf/1", "/$defs/message/oneOf/2",
	}},
	{`{mocks: [{response: {webSocket: {onMessage: [{%}]}}}]}`, []string{"/$defs/webSocket/properties/onMessage/items"}},
	{`{mocks: [{response: {webSocket: {onMessage: [{when: {%}}]}}}]}`, []string{"/$defs/webSocket/properties/onMessage/items/properties/when"}},
	{`{mocks: [{response: {webhooks: [{%}]}}]}`, []string{"/$defs/webhook"}},
	{`{mocks: [{response: {webhooks: [{retries: {%}}]}}]}`, []string{"/$defs/webhook/properties/retries/oneOf/1"}},
	{`{mocks: [{response: {webhooks: [{sign: {%}}]}}]}`, []string{"/$defs/webhook/properties/sign"}},
	{`{collections: {a: {%}}}`, []string{"/$defs/collection"}},
	{`{collections: {a: {relations: {m: {%}}}}}`, []string{"/$defs/collection/properties/relations/additionalProperties"}},
	{`{documents: [{%}]}`, []string{"/$defs/document"}},
	{`{documents: [{operations: {a: {%}}}]}`, []string{"/$defs/document/properties/operations/additionalProperties"}},
	{`{documents: [{credentials: [{%}]}]}`, []string{"/$defs/document/properties/credentials/items"}},
}

// schemaObjects collects the keys of each closed object of the schema by its place.
func schemaObjects(n any, place string, into map[string][]string) {
	switch n := n.(type) {
	case map[string]any:
		if properties, ok := n["properties"].(map[string]any); ok && n["additionalProperties"] == false {
			for key := range properties {
				into[place] = append(into[place], key)
			}
		}
		for key, value := range n {
			schemaObjects(value, place+"/"+key, into)
		}
	case []any:
		for i, value := range n {
			schemaObjects(value, fmt.Sprintf("%s/%d", place, i), into)
		}
	}
}

// knownKeys asks the decoder which keys an object has, by giving it one that nothing resembles.
func knownKeys(t *testing.T, document string) []string {
	t.Helper()
	const stranger = "zzzzzzzzzzzz"
	src := strings.Replace(document, "%", stranger+": 1", 1)
	_, err := mockbase.DecodeDefinition([]byte(src), mockbase.FormatYAML)
	e, ok := errors.AsType[*mockbase.Error](err)
	if !ok {
		t.Fatalf("%s decodes", src)
	}
	for _, f := range e.Fields {
		if list, found := strings.CutPrefix(f.Detail, "unknown key: known here are "); found && strings.HasSuffix(f.Pointer, stranger) {
			return strings.Split(list, ", ")
		}
	}
	t.Fatalf("%s: no unknown key among\n%s", src, faultLines(e.Fields))
	return nil
}

func TestTheSchemaAndTheDecoderKnowTheSameKeys(t *testing.T) {
	t.Parallel()
	var schema any
	if err := json.Unmarshal(mockbase.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	objects := map[string][]string{}
	schemaObjects(schema, "", objects)
	if len(objects) < 50 {
		t.Fatalf("the schema has %d objects", len(objects))
	}
	for _, site := range schemaSites {
		var want []string
		for _, place := range site.schema {
			if len(objects[place]) == 0 {
				t.Errorf("the schema has no object at %s", place)
			}
			want = append(want, objects[place]...)
			delete(objects, place)
		}
		slices.Sort(want)
		got := knownKeys(t, site.document)
		slices.Sort(got)
		if strings.Contains(site.document, "rateLimits: {a: {%}}") {
			got = slices.DeleteFunc(got, func(key string) bool { return key == "use" })
		}
		if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
			t.Errorf("%s (-schema +decoder):\n%s", site.document, diff)
		}
	}
	for place := range objects {
		t.Errorf("the object of the schema at %s is not compared", place)
	}
}

func TestTheSchemaIsWhatEditorsExpect(t *testing.T) {
	t.Parallel()
	var head struct {
		Schema string `json:"$schema"`
		ID     string `json:"$id"`
		Title  string `json:"title"`
	}
	schema := mockbase.Schema()
	if err := json.Unmarshal(schema, &head); err != nil {
		t.Fatal(err)
	}
	if head.Schema != "https://json-schema.org/draft/2020-12/schema" || head.ID != "urn:mockbase:schema:mock:1" || head.Title == "" {
		t.Errorf("the head is %+v", head)
	}
	schema[0] = 'x'
	if mockbase.Schema()[0] == 'x' {
		t.Error("a caller can change the schema")
	}
}

// freeForm matches the pointers of objects whose keys are the author's own.
const freeForm = `^#/x-|/(json|jsonExact|equals|schema|inline|seed|in|graphql/variables|variablesExact)(/|$)|` +
	`/(variables|rateLimits|scenarios|collections|relations|query|headers|cookies|matrix|path|jsonPath|xpath|namespaces|form|` +
	`trailers|earlyHints|setHeaders)$`

func TestAStrangeKeyIsFoundBesideEveryOther(t *testing.T) {
	t.Parallel()
	free := regexp.MustCompile(freeForm)
	for _, file := range definitionFiles(t, "valid") {
		root, err := mockbase.ParseNode(readFile(t, file), formatOf(file), mockbase.ParseLimits{})
		if err != nil {
			t.Fatal(err)
		}
		checked := 0
		eachObject(root, "#", func(n *mockbase.Node, pointer string) {
			if free.MatchString(pointer) {
				return
			}
			checked++
			n.Members = append(n.Members, mockbase.Member{Key: "zzzzzzzzzzzz", Value: &mockbase.Node{Kind: mockbase.NodeNumber, Text: "1"}})
			_, err := mockbase.DecodeDefinition(root.JSON(), mockbase.FormatJSON)
			e, ok := errors.AsType[*mockbase.Error](err)
			if !ok || !slices.ContainsFunc(e.Fields, func(f mockbase.FieldError) bool {
				return f.Code == mockbase.FieldUnknownKey && strings.HasSuffix(f.Pointer, "/zzzzzzzzzzzz")
			}) {
				t.Errorf("%s: a strange key at %s: %v", file, pointer, err)
			}
			n.Members = n.Members[:len(n.Members)-1]
		})
		if checked == 0 {
			t.Errorf("%s has no objects", file)
		}
	}
}

func eachObject(n *mockbase.Node, pointer string, visit func(*mockbase.Node, string)) {
	if n.Kind == mockbase.NodeObject {
		visit(n, pointer)
	}
	for i := range n.Members {
		eachObject(n.Members[i].Value, pointer+"/"+n.Members[i].Key, visit)
	}
	for i, item := range n.Items {
		eachObject(item, fmt.Sprintf("%s/%d", pointer, i), visit)
	}
}
