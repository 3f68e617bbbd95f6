package openapi_test

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/openapi"
)

// given makes a document whose only operation answers by a schema, written as YAML, with others beside it.
func given(t *testing.T, begin, schema string, others ...string) *openapi.Document {
	t.Helper()
	return compile(t, begin+"paths: { /p: { get: { responses: { '200': { description: d, content: { application/json: { schema: "+schema+" } } } } } } }\n"+
		"components: { schemas: { "+strings.Join(others, ", ")+" } }\n")
}

// An example that its schema refuses is told, and the others are taken nevertheless.
func TestW40_W42_bad_examples_of_schemas_spoil_nothing_else(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ schema, others, want, warning string }{
		"of a bound": {
			"{ type: object, properties: { a: { type: integer, minimum: 5, example: 1 }, b: { type: string, example: B } } }", "",
			`{"a":5,"b":"B"}`, "conflict #/paths/~1p/get/responses/200/content/application~1json/schema/properties/a/example: the example does not fit its schema",
		},
		"of an object": {
			"{ type: object, properties: { o: { type: object, required: [x], properties: { x: { type: integer, example: 7 } }, example: { y: 1 } }, b: { type: string, example: B } } }", "",
			`{"o":{"x":7},"b":"B"}`, "conflict #/paths/~1p/get/responses/200/content/application~1json/schema/properties/o/example: the example does not fit its schema",
		},
		"of a schema that another extends": {
			"{ type: array, items: { $ref: '#/components/schemas/Cat' } }",
			"Pet: { type: object, required: [id], properties: { id: { type: integer, example: 3 } }, example: { id: 4 } }, " +
				"Cat: { allOf: [{ $ref: '#/components/schemas/Pet' }, { type: object, required: [lives], properties: { lives: { type: integer, example: 9 } } }] }",
			`[{"id":3,"lives":9}]`, "conflict #/components/schemas/Pet/example: the example does not fit its schema",
		},
		"of the whole body": {
			"{ type: object, required: [x], properties: { x: { type: integer } }, example: { y: 1 } }", "",
			`{"y":1}`, "conflict #/paths/~1p/get/responses/200/content/application~1json/schema/example: the example does not fit its schema (example.x: the member is required); it is sent as it is",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := given(t, head, c.schema, c.others)
			if got := string(ask(t, d, "GET /p").Body); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if got := warnings(d); !strings.Contains(got, c.warning) || strings.Count(got, "\n") != 1 {
				t.Errorf("warnings:\n%s", got)
			}
		})
	}
}

func TestW22_numbers_without_quotes_are_texts_where_texts_alone_are_allowed(t *testing.T) {
	t.Parallel()
	d := compile(t, head+`paths: { /p: { get: { parameters: [{ name: v, in: query, schema: { type: string, enum: [1, 2.0, true] } }],
  responses: { '200': { description: d, content: { application/json: { schema: { type: object, properties: { e: { type: string, enum: [1, 2] },
    x: { type: string, example: 5 }, d: { type: string, nullable: true, default: true }, both: { type: number, example: 5 } } } } } } } } } }
`)
	run(t, d, []exchange{
		{"values are texts", "GET /p", `200 application/json {"e":"1","x":"5","d":"true","both":5}`},
		{"parameters too", "GET /p?v=2.0", `200 application/json {"e":"1","x":"5","d":"true","both":5}`},
		{"others are none of them", "GET /p?v=3", "422 validation-failed query.v enum"},
	})
	if got := warnings(d); strings.Count(got, "is read as text, as its schema allows nothing else: put it in quotes") != 7 || strings.Count(got, "\n") != 7 {
		t.Errorf("warnings:\n%s", got)
	}
}

func TestW43_null_is_the_last_of_branches(t *testing.T) {
	t.Parallel()
	for _, keyword := range []string{"anyOf", "oneOf"} {
		d := given(t, head31, "{ "+keyword+": [{ type: 'null' }, { type: integer }] }")
		if got := string(ask(t, d, "GET /p").Body); got != "0" {
			t.Errorf("%s: got %s", keyword, got)
		}
		nulls := 0
		for i := range 300 {
			q := &mockbase.DocumentRequest{Method: "GET", Path: "/p", Preferred: mockbase.Preferred{Dynamic: "true", Seed: strconv.Itoa(i)}}
			q.Rand = func(string, string) *rand.Rand { return rand.New(rand.NewPCG(7, uint64(i))) }
			if string(d.Answer(0, q).Body) == "null" {
				nulls++
			}
		}
		if nulls < 10 || nulls > 60 {
			t.Errorf("%s: null %d times of 300, where one of ten is wanted", keyword, nulls)
		}
	}
}

// Branches that a discriminator alone tells apart are all valid: an answer must be valid for one of them.
func TestW42_W44_answers_are_valid_for_one_branch_of_oneOf(t *testing.T) {
	t.Parallel()
	const (
		pets = "{ oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }], discriminator: { propertyName: kind } }"
		cat  = "Cat: { type: object, required: [kind], properties: { kind: { type: string }, purrs: { type: boolean } } }"
		dog  = "Dog: { type: object, required: [kind], properties: { kind: { type: string }, age: { type: integer } } }"
	)
	d := given(t, head, pets, cat, dog)
	a := ask(t, d, "GET /p")
	if got := string(a.Body); got != `{"kind":"Cat","purrs":true,"age":"string"}` {
		t.Errorf("got %d %s", a.Status, got)
	}
	if list := d.CheckAnswer(0, a.Status, map[string][]string{"Content-Type": {"application/json"}}, a.Body); len(list) > 0 {
		t.Errorf("the answer is not valid: %v", list)
	}
	if got := warnings(d); strings.Count(got, "\n") != 1 || !strings.Contains(got, "more than one branch of this oneOf") {
		t.Errorf("warnings:\n%s", got)
	}
	list := d.CheckAnswer(0, a.Status, map[string][]string{"Content-Type": {"application/json"}}, []byte(`{"kind":"Cat"}`))
	if len(list) != 1 || list[0].Message != `the value is valid against more than one branch, "Cat" and "Dog": exactly one must fit` {
		t.Errorf("violations %v", list)
	}
	same := given(t, head, pets, cat, strings.Replace(cat, "Cat", "Dog", 1))
	if a := ask(t, same, "GET /p"); a.Status != 500 {
		t.Errorf("schemas that are the same: %d %s", a.Status, a.Body)
	}
}

func TestW41_files_of_OpenAPI_2_are_files(t *testing.T) {
	t.Parallel()
	d := compile(t, `{"swagger":"2.0","info":{"title":"t","version":"1"},"paths":{"/p":{"get":{"produces":["application/pdf"],"responses":{"200":{"description":"d","schema":{"type":"file"}}}}}}}`)
	if got := ask(t, d, "GET /p"); !strings.HasPrefix(string(got.Body), "%PDF-") || got.MediaType != "application/pdf" {
		t.Errorf("got %s %q", got.MediaType, got.Body)
	}
}

// Names of types from programming languages are read as what they mean, and told.
func TestW22_names_of_types_that_are_none_of_JSON(t *testing.T) {
	t.Parallel()
	d := given(t, head, "{ type: object, properties: { a: { type: Int }, b: { type: String }, c: { type: double }, d: { type: bool }, e: { type: list, items: { type: long } }, f: { type: any } } }")
	run(t, d, []exchange{{"values have the types that are meant", "GET /p", `200 application/json {"a":0,"b":"string","c":0,"d":true,"e":[0],"f":"string"}`}})
	got := warnings(d)
	for _, want := range []string{
		`properties/a/type: the type "Int" is none of JSON; it is read as integer`, `properties/e/items/type: the type "long" is none of JSON; it is read as integer`,
		`properties/f/type: the type "any" is none of JSON, which has string, number, integer, boolean, array, object and null; it is left out`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not told:\n%s", want, got)
		}
	}
	if strings.Count(got, "\n") != 7 {
		t.Errorf("warnings:\n%s", got)
	}
}

func TestW41_vector_images_are_images(t *testing.T) {
	t.Parallel()
	d := compile(t, head+"paths: { /p: { get: { responses: { '200': { description: d, content: { image/svg+xml: { schema: { type: string } } } } } } },"+
		" /q: { get: { responses: { '200': { description: d, content: { image/svg+xml: { example: '<svg/>' } } } } } } }\n")
	run(t, d, []exchange{
		{"made", "GET /p", `200 image/svg+xml <svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>`},
		{"of an example", "GET /q", "200 image/svg+xml <svg/>"},
	})
}

func TestW22_required_of_a_property_itself_is_told(t *testing.T) {
	t.Parallel()
	if got := warnings(given(t, head, "{ type: object, properties: { a: { type: string, required: true } } }")); !strings.Contains(got, "properties/a/required: required is a boolean and no list; it is left out") {
		t.Errorf("warnings:\n%s", got)
	}
	two := compile(t, `{"swagger":"2.0","info":{"title":"t","version":"1"},"paths":{"/p":{"get":{"parameters":[{"name":"q","in":"query","type":"string","required":true}],"responses":{"204":{"description":"d"}}}}}}`)
	if got := warnings(two); got != "" {
		t.Errorf("a parameter of OpenAPI 2.0:\n%s", got)
	}
}

// Patterns of everything but some characters, and of all letters, are met by texts that people can read.
func TestW45_dynamic_texts_of_patterns_can_be_read(t *testing.T) {
	t.Parallel()
	plain := regexp.MustCompile("^[0-9A-Za-z@.]+$")
	for _, pattern := range []string{`^\S+@\S+\.\S+$`, `^[^<>]{3,}$`, `^\p{L}{2,}$`} {
		d := given(t, head, "{ type: string, pattern: '"+pattern+"' }")
		for i := range 20 {
			q := &mockbase.DocumentRequest{Method: "GET", Path: "/p", Preferred: mockbase.Preferred{Dynamic: "true"}}
			q.Rand = func(string, string) *rand.Rand { return rand.New(rand.NewPCG(3, uint64(i))) }
			text := strings.Trim(string(d.Answer(0, q).Body), `"`)
			if !plain.MatchString(text) || !regexp.MustCompile(pattern).MatchString(text) {
				t.Errorf("%s: %q", pattern, text)
			}
		}
	}
}
