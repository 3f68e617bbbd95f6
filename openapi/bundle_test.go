package openapi_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/openapi"
)

// severalFiles is a document of four files that name one another, with a name that must be escaped and a circle.
func severalFiles() openapi.Files {
	return openapi.Files{
		"api.yaml": []byte(head + `paths:
  /pets/{id}: { $ref: paths/pet.yaml }
  /owners:
    get:
      responses:
        '200': { description: d, content: { application/json: { schema: { $ref: 'models/a%20b.json#/Owner' } } } }
  /raw:
    get:
      responses:
        '200': { description: d, content: { application/json: { examples: { one: { externalValue: examples/one.json } } } } }
components: { schemas: { Id: { type: integer, minimum: 7 } } }
`),
		"paths/pet.yaml": []byte(`get:
  parameters: [ { name: id, in: path, required: true, schema: { $ref: '../api.yaml#/components/schemas/Id' } } ]
  responses:
    '200': { description: d, content: { application/json: { schema: { $ref: '../models/a%20b.json#/Pet' } } } }
`),
		"models/a b.json":   []byte(`{"Pet":{"type":"object","properties":{"name":{"type":"string","example":"Rex"},"owner":{"$ref":"#/Owner"}}},"Owner":{"type":"object","properties":{"id":{"$ref":"../api.yaml#/components/schemas/Id"}}}}`),
		"examples/one.json": []byte(`{"a": 1.50}`),
	}
}

func bundled(t *testing.T, files openapi.Files, root string) (*openapi.Document, *openapi.Source) {
	t.Helper()
	source, err := files.Bundle(root)
	if err != nil {
		t.Fatal(err)
	}
	return compile(t, string(source.JSON())), source
}

// Rules W22 and W38: references to other files are relative to the file that holds them, and may lead back.
func TestW22_a_document_of_several_files_answers_as_one(t *testing.T) {
	t.Parallel()
	d, source := bundled(t, severalFiles(), "")
	if diff := cmp.Diff([]string{"paths/pet.yaml", "models/a b.json", "examples/one.json"}, source.Files()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if list := source.Warnings(); len(list) > 0 {
		t.Errorf("warnings: %v", list)
	}
	run(t, d, []exchange{
		{"a path in another file", "GET /pets/7", `200 application/json {"name":"Rex","owner":{"id":7}}`},
		{"a parameter that leads back", "GET /pets/1", `422 validation-failed path.id minimum`},
		{"a name with a blank", "GET /owners", `200 application/json {"id":7}`},
		{"W38 an external value", "GET /raw", `200 application/json {"a":1.50}`},
	})
}

func TestW22_what_lies_outside_the_upload_is_not_read(t *testing.T) {
	t.Parallel()
	for name, ref := range map[string]string{
		"above the folder": "../../etc/passwd", "an absolute path": "/etc/passwd", "an address": "http://127.0.0.1/x.yaml",
		"a file address": "file:///etc/passwd", "no file": "missing.yaml", "a backslash": `..\secret.yaml`, "an authority": "//127.0.0.1/x.yaml",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := head + "paths:\n  /bad: { get: { responses: { '200': { description: d, content: { application/json: { schema: { $ref: '" + ref +
				"#/a' } } } } } } }\n  /good: { get: { responses: { '200': { description: d, content: { application/json: { example: 1 } } } } } }\n"
			source, err := openapi.Bundle("api.yaml", []byte(text), func(string) ([]byte, error) { return nil, errors.New("it is not there") })
			if err != nil {
				t.Fatal(err)
			}
			list := source.Warnings()
			if len(list) == 0 || !strings.HasPrefix(list[0].Pointer, "#/paths/~1bad/get/responses/200/content/application~1json/schema") {
				t.Errorf("warnings: %v", list)
			}
			if got := told(ask(t, compile(t, string(source.JSON())), "GET /good")); got != "200 application/json 1" {
				t.Errorf("the other operation answers %s", got)
			}
		})
	}
}

func TestW22_data_that_looks_like_a_reference_stays(t *testing.T) {
	t.Parallel()
	text := head + `paths: { /a: { get: { responses: { '200': { description: d, content: { application/json: { example: { $ref: 'x.yaml', b: 1 } } } } } } } }
components: { schemas: { T: { type: object, properties: { default: { $ref: 'x.yaml#/S' } } } } }
`
	source, err := openapi.Bundle("api.yaml", []byte(text), func(string) ([]byte, error) { return []byte("S: { type: string }"), nil })
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Paths      json.RawMessage
		Components json.RawMessage
	}
	if err := json.Unmarshal(source.JSON(), &got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(got.Paths, []byte(`"example":{"$ref":"x.yaml","b":1}`)) {
		t.Errorf("the example became %s", got.Paths)
	}
	if !bytes.Contains(got.Components, []byte(`"default":{"$ref":"#/x-files/x.yaml/S"}`)) {
		t.Errorf("the property became %s", got.Components)
	}
}

func zipped(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range files {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestM165_archives_are_read_within_bounds(t *testing.T) {
	t.Parallel()
	document := head + "paths: {}\n"
	for name, c := range map[string]struct {
		files map[string]string
		root  string
		want  string
	}{
		"a folder around everything":   {map[string]string{"x/api.yaml": document, "x/m/pet.yaml": "type: string"}, "", ""},
		"the one above the others":     {map[string]string{"api.yaml": document, "old/api.yaml": document}, "", ""},
		"several side by side":         {map[string]string{"a.yaml": document, "b.yaml": document}, "", "several of the files are OpenAPI documents: a.yaml, b.yaml"},
		"one of several, named":        {map[string]string{"a.yaml": document, "b.yaml": document}, "b.yaml", ""},
		"a name that is not there":     {map[string]string{"a.yaml": document, "b.yaml": document}, "c.yaml", `the upload has no file "c.yaml"`},
		"no document":                  {map[string]string{"a.yaml": "a: 1", "b.yaml": "openapi: 9"}, "", "none of the 2 files is an OpenAPI document"},
		"a file that leads out":        {map[string]string{"../a.yaml": document}, "", `the archive has a file outside its own folder: "../a.yaml"`},
		"more than there is room for":  {map[string]string{"a.yaml": document, "b": strings.Repeat("0", 33<<20)}, "", "the files of the archive are longer than 32 MiB together"},
		"what a Mac adds is left away": {map[string]string{"a.yaml": document, "__MACOSX/._a.yaml": document}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, err := openapi.Unzip(zipped(t, c.files))
			if err == nil {
				_, err = files.Bundle(c.root)
			}
			got := ""
			if failure, ok := errors.AsType[*mockbase.Error](err); ok {
				got = failure.Message
			}
			if got != c.want {
				t.Errorf("got %q, want %q (%v)", got, c.want, err)
			}
		})
	}
	if _, err := openapi.Unzip([]byte("PK no archive")); err == nil {
		t.Error("what is no archive is read")
	}
}

func TestW22_the_number_of_files_is_bounded(t *testing.T) {
	t.Parallel()
	count := 0
	open := func(string) ([]byte, error) {
		count++
		return fmt.Appendf(nil, "a: { $ref: 'f%d.yaml' }\nb: { $ref: 'g%d.yaml' }\n", count, count), nil
	}
	source, err := openapi.Bundle("api.yaml", []byte(head+"paths: { /a: { $ref: 'f0.yaml' } }\n"), open)
	if err != nil {
		t.Fatal(err)
	}
	if count > 1100 || len(source.Files()) > 1000 {
		t.Errorf("%d files were read", count)
	}
}

// Rule W22: names that a document gives itself are no keywords, be they default, example or value.
func TestW22_references_below_names_like_keywords_are_followed(t *testing.T) {
	t.Parallel()
	d, source := bundled(t, openapi.Files{
		"api.yaml": []byte(head + `paths:
  /a:
    parameters: [ { $ref: '#/components/parameters/example' } ]
    get:
      responses:
        default: { description: d, content: { application/json: { schema: { type: array, items: { $ref: 'm.yaml#/Id' } }, examples: { default: { value: { a: 1, $ref: left alone } } } } } }
        '400': { description: d, headers: { value: { schema: { $ref: 'm.yaml#/Id' }, example: 1 } }, content: { application/json: { schema: { type: array, items: { $ref: 'm.yaml#/Id' } } } } }
components: { parameters: { example: { name: n, in: query, schema: { type: array, items: { $ref: 'm.yaml#/Id' } } } } }
`),
		"m.yaml": []byte("Id: { type: integer, minimum: 7 }\n"),
	}, "")
	if list := source.Warnings(); len(list) > 0 {
		t.Errorf("warnings: %v", list)
	}
	run(t, d, []exchange{
		{"the default response", "GET /a?__code=599", `599 application/json {"a":1,"$ref":"left alone"}`},
		{"a declared one", "GET /a?__code=400", "400 application/json [7]"},
		{"a parameter", "GET /a?n=1", "400 application/json [7]"},
	})
}
