package openapi_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/openapi"
)

// YAML that begins with a brace is no JSON, in whatever file it stands; broken JSON is told of as such.
func TestW1_yaml_may_begin_with_a_brace(t *testing.T) {
	t.Parallel()
	files := openapi.Files{
		"api.yaml": []byte(`{ # flow
 openapi: 3.0.3, info: {title: Flow, version: "1"},
 paths: {/a: {get: {responses: {"200": {description: ok, content: {application/json: {schema: {$ref: m.yaml}}}}}}}}}
`),
		"m.yaml": []byte(`{type: integer, example: 7}`),
	}
	d, source := bundled(t, files, "")
	if list := source.Warnings(); len(list) > 0 {
		t.Errorf("warnings %v", list)
	}
	run(t, d, []exchange{{"flow", "GET /a", "200 application/json 7"}})
	_, err := openapi.Parse([]byte(`{"openapi": "3.0.3", "info": `))
	if mockbase.ErrorCode(err) != mockbase.CodeMalformedBody || strings.Contains(err.Error(), "flow") {
		t.Errorf("broken JSON: %v", err)
	}
}

// form is the request of a form of one field, in pairs and in parts.
func form(path, name, value string) (pairs, parts sent) {
	return sent("POST " + path + "\nContent-Type: application/x-www-form-urlencoded\n\n" + name + "=" + strings.NewReplacer(" ", "%20", "\t", "%09").Replace(value)),
		sent("POST " + path + "\nContent-Type: multipart/form-data; boundary=B\n\n--B\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n--B--\r\n")
}

func TestW8_W16_lists_in_forms_of_version_20_are_divided_in_parts_as_in_pairs(t *testing.T) {
	t.Parallel()
	d := compile(t, `swagger: "2.0"
info: { title: t, version: "1" }
paths:
  /p:
    post:
      parameters:
        - { name: csv, in: formData, type: array, items: { type: integer } }
        - { name: pipes, in: formData, type: array, items: { type: integer }, collectionFormat: pipes }
        - { name: ssv, in: formData, type: array, items: { type: integer }, collectionFormat: ssv }
        - { name: tsv, in: formData, type: array, items: { type: integer }, collectionFormat: tsv }
        - { name: multi, in: formData, type: array, items: { type: string, maxLength: 3 }, collectionFormat: multi }
        - { name: text, in: formData, type: string, minLength: 3 }
      responses: { "204": { description: d } }
`)
	var cases []exchange
	for _, c := range [][3]string{
		{"csv", "1,2", "204"},
		{"csv", "1,x", "422 validation-failed body.csv.1 coercion"},
		{"pipes", "1|2", "204"},
		{"ssv", "1 2", "204"},
		{"tsv", "1\t2", "204"},
		{"multi", "a,b", "204"},
		{"text", "a,b", "204"},
	} {
		pairs, parts := form("/p", c[0], c[1])
		cases = append(cases, exchange{"W8 pairs " + c[0] + c[1], pairs, c[2]}, exchange{"W8 parts " + c[0] + c[1], parts, c[2]})
	}
	run(t, d, cases)
}

func TestW11_strict_documents_refuse_fields_that_they_do_not_declare(t *testing.T) {
	t.Parallel()
	const both = `requestBody: { content: { application/x-www-form-urlencoded: { schema: SCHEMA }, multipart/form-data: { schema: SCHEMA } } }, responses: { "204": { description: d } }`
	operation := func(schema string) string {
		return "{ post: { " + strings.ReplaceAll(both, "SCHEMA", schema) + " } }\n"
	}
	text := head + `paths:
  /a: ` + operation(`{ type: object, properties: { a: { type: string }, l: { type: array, items: { type: string } }, o: { type: object } } }`) +
		`  /free: ` + operation(`{ type: object }`) +
		`  /more: ` + operation(`{ type: object, properties: { a: { type: string } }, additionalProperties: { type: string } }`) +
		`  /all: ` + operation(`{ allOf: [{ properties: { a: { type: string } } }, { properties: { b: { type: string } } }] }`)
	old := `swagger: "2.0"
info: { title: t, version: "1" }
paths: { /old: { post: { parameters: [{ name: a, in: formData, type: string }, { name: l, in: formData, type: array, items: { type: string }, collectionFormat: multi }], responses: { "204": { description: d } } } } }
`
	const refused = "422 validation-failed body.z unknown"
	for _, c := range []struct{ document, path, name, want string }{
		{text, "/a", "a", "204"},
		{text, "/a", "l", "204"},
		{text, "/a", "z", refused},
		{text, "/free", "z", "204"},
		{text, "/more", "z", "204"},
		{text, "/all", "b", "204"},
		{text, "/all", "z", refused},
		{old, "/old", "a", "204"},
		{old, "/old", "l", "204"},
		{old, "/old", "z", refused},
	} {
		pairs, parts := form(c.path, c.name, "x")
		run(t, compile(t, c.document, strict), []exchange{{"W11 pairs " + c.path + c.name, pairs, c.want}, {"W11 parts " + c.path + c.name, parts, c.want}})
		run(t, compile(t, c.document), []exchange{{"W11 lax pairs " + c.path + c.name, pairs, "204"}, {"W11 lax parts " + c.path + c.name, parts, "204"}})
	}
	pairs, _ := form("/a", "l[]", "x")
	members, _ := form("/a", "o[x]", "x")
	run(t, compile(t, text, strict), []exchange{{"W11 brackets", pairs, "204"}, {"W11 members", members, "204"}})
}

func TestW38_examples_that_are_elsewhere_are_told(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"https://example.com/one.json", "missing.json"} {
		d := compile(t, head+`paths:
  /p:
    get:
      responses:
        '200':
          description: d
          content: { application/json: { examples: { one: { externalValue: '`+address+`' }, two: { value: 1, externalValue: x.json } } } }
`)
		list := d.Warnings()
		if len(list) != 1 || list[0].Code != mockbase.FieldReference || !strings.Contains(list[0].Detail, address) ||
			list[0].Pointer != "#/paths/~1p/get/responses/200/content/application~1json/examples/one/externalValue" {
			t.Errorf("%s: %+v", address, list)
		}
	}
}
