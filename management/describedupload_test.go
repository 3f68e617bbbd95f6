package management_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
)

// petFiles are a document and what it refers to, inside and outside its folder.
func petFiles() [][2]string {
	return [][2]string{
		{"api.yaml", `openapi: 3.0.3
info: {title: Pets, version: "1"}
paths:
  /pets:
    get:
      responses:
        "200": {description: d, content: {application/json: {schema: {$ref: "models/pet.yaml"}}}}
  /secret:
    get:
      responses:
        "200": {description: d, content: {application/json: {schema: {$ref: "../secret.yaml"}}}}
`},
		{"models/pet.yaml", "type: object\nproperties:\n  name: {type: string, example: Rex}\n"},
	}
}

func formOf(t *testing.T, files [][2]string) (body, kind string) {
	t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for _, file := range files {
		part, err := form.CreatePart(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="file"; filename="` + file[0] + `"`}})
		if err == nil {
			_, err = part.Write([]byte(file[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), form.FormDataContentType()
}

func archiveOf(t *testing.T, files [][2]string) string {
	t.Helper()
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	for _, file := range files {
		part, err := archive.Create(file[0])
		if err == nil {
			_, err = part.Write([]byte(file[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestM165_documents_of_several_files_are_attached_as_one(t *testing.T) {
	t.Parallel()
	form, kind := formOf(t, petFiles())
	packed := archiveOf(t, petFiles())
	inForm, inFormKind := formOf(t, [][2]string{{"pets.zip", packed}})
	for name, c := range map[string]call{
		"a form":               {kind: kind, body: form},
		"an archive":           {kind: "application/zip", body: packed},
		"an archive in a form": {kind: inFormKind, body: inForm},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c.method, c.path, c.as = http.MethodPost, documentsPath, editor
			var view documentView
			w.send(c).want(http.StatusCreated).into(&view)
			if view.Name != "pets" || view.Operations != 2 {
				t.Errorf("%+v", view)
			}
			told := false
			for _, one := range view.Warnings {
				told = told || strings.HasPrefix(one.Pointer, "#/paths/~1secret/get/responses/200/content/application~1json/schema")
			}
			if !told {
				t.Errorf("no warning of what lies outside: %+v", view.Warnings)
			}
			if got := w.calls("/pets", 1); got != `{"name":"Rex"}` {
				t.Errorf("answered %q", got)
			}
			got := w.send(call{method: http.MethodGet, path: documentsPath + "/pets/content", as: viewer}).want(http.StatusOK)
			if !strings.Contains(string(got.body), `"x-files":{"models/pet.yaml":`) {
				t.Errorf("content %s", got.body)
			}
			c.method, c.path = http.MethodPut, documentsPath+"/pets/content"
			w.send(c).want(http.StatusOK)
		})
	}
}

// faultyFiles have a fault in each file.
func faultyFiles() [][2]string {
	return [][2]string{
		{"spec/api.yaml", `openapi: 3.0.3
info: {title: Faulty, version: "1"}
paths:
  /pets:
    get:
      responses:
        "200": {description: d, content: {application/json: {schema: {$ref: "../models/pet.yaml"}}}}
  /none:
    get:
      responses:
        "200": {description: d, content: {application/json: {schema: {$ref: "none.yaml"}}}}
  /example:
    get:
      responses:
        "200": {description: d, content: {application/json: {examples: {one: {externalValue: one.json}}}}}
`},
		{"models/pet.yaml", "type: object\nproperties:\n  name: {type: string, minLength: x}\n  name: {type: string}\n"},
		{"README.md", "no document"},
	}
}

// faultsOfFiles are the warnings about faultyFiles: file, line, column and pointer.
func faultsOfFiles() []string {
	return []string{
		"models/pet.yaml:3:35 #/properties/name/minLength type", "models/pet.yaml:4:3 #/properties/name duplicate_key",
		"spec/api.yaml:11:70 #/paths/~1none/get/responses/200/content/application~1json/schema reference",
		"spec/api.yaml:15:94 #/paths/~1example/get/responses/200/content/application~1json/examples/one/externalValue reference",
	}
}

// Rules M-165, M-166 and M-78: warnings about a document of several files have their places in them, whatever is made of it.
func TestM165_warnings_of_several_files_have_file_line_and_column(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	packed := archiveOf(t, faultyFiles())
	var made, read documentView
	w.send(call{method: http.MethodPost, path: documentsPath, as: editor, kind: "application/zip", body: packed}).want(http.StatusCreated).into(&made)
	w.send(call{method: http.MethodGet, path: documentsPath + "/faulty", as: viewer}).want(http.StatusOK).into(&read)
	for name, view := range map[string]documentView{"made": made, "read": read} {
		var got []string
		for _, one := range view.Warnings {
			got = append(got, fmt.Sprintf("%s:%d:%d %s %s", one.File, one.Line, one.Column, one.Pointer, one.Code))
		}
		slices.Sort(got)
		if diff := cmp.Diff(faultsOfFiles(), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, query := range []string{"", "&expand=true"} {
		var plan struct {
			Warnings []struct {
				Code, Detail, File, Pointer string
				Line, Column                int
			}
		}
		newWorld(t).send(call{method: http.MethodPost, path: projectPath + "/imports?dryRun=true" + query, as: editor, kind: "application/zip", body: packed}).want(http.StatusOK).into(&plan)
		met := map[string]bool{}
		for _, one := range plan.Warnings {
			if !strings.HasPrefix(one.Pointer, one.File+"#") {
				t.Errorf("%q: the pointer %s does not begin with the file %s", query, one.Pointer, one.File)
			}
			met[fmt.Sprintf("%s:%d:%d %s %s", one.File, one.Line, one.Column, strings.TrimPrefix(one.Pointer, one.File), one.Code)] = true
		}
		for _, want := range faultsOfFiles() {
			if !met[want] {
				t.Errorf("%q: nothing tells %s: %+v", query, want, plan.Warnings)
			}
		}
	}
}

func TestM165_uploads_that_hold_no_document_are_refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	none, noneKind := formOf(t, nil)
	twice, twiceKind := formOf(t, [][2]string{{"a.yaml", "a: 1"}, {"a.yaml", "b: 1"}})
	single, singleKind := formOf(t, [][2]string{{"api.yaml", petstore}})
	for name, c := range map[string]struct {
		call   call
		status int
		code   mockbase.Code
	}{
		"no archive":           {call{kind: "application/zip", body: "PK\x03\x04 nothing"}, http.StatusBadRequest, mockbase.CodeMalformedBody},
		"an empty form":        {call{kind: noneKind, body: none}, http.StatusBadRequest, mockbase.CodeMalformedBody},
		"a broken form":        {call{kind: singleKind, body: single[:len(single)-20]}, http.StatusBadRequest, mockbase.CodeMalformedBody},
		"a file twice":         {call{kind: twiceKind, body: twice}, http.StatusUnprocessableEntity, mockbase.CodeValidationFailed},
		"no such file, of one": {call{path: "?root=x.yaml", kind: "application/zip", body: archiveOf(t, [][2]string{{"a.yaml", "openapi: 3.0.3\npaths: {}\n"}})}, http.StatusUnprocessableEntity, mockbase.CodeValidationFailed},
		"no such first file":   {call{path: "?root=x.yaml", kind: "application/zip", body: archiveOf(t, petFiles())}, http.StatusUnprocessableEntity, mockbase.CodeValidationFailed},
	} {
		c.call.method, c.call.path, c.call.as = http.MethodPost, documentsPath+c.call.path, editor
		t.Log(name)
		w.send(c.call).want(c.status, c.code)
	}
	var view documentView
	w.send(call{method: http.MethodPost, path: documentsPath, as: editor, kind: singleKind, body: single}).want(http.StatusCreated).into(&view)
	got := w.send(call{method: http.MethodGet, path: documentsPath + "/pet-store/content", as: viewer}).want(http.StatusOK)
	if string(got.body) != petstore {
		t.Errorf("a single file is not kept as it was sent: %s", got.body)
	}
}

// Rules M-165 and W38: YAML may begin with a brace, in the document and in what it names; what externalValue names is an example.
func TestM165_yaml_in_braces_and_values_elsewhere_are_read_from_uploads(t *testing.T) {
	t.Parallel()
	files := [][2]string{
		{"api.yaml", `{ openapi: 3.0.3, info: { title: Braces, version: '1' }, # no JSON
  paths: { /pets: { get: { responses: { '200': { description: d, content: { application/json: { schema: { $ref: 'pet.yaml' } } } } } } },
    /raw: { get: { responses: { '200': { description: d, content: { application/json: { examples: { one: { externalValue: raw.yaml } } } } } } } },
    /words: { get: { responses: { '200': { description: d, content: { text/plain: { examples: { one: { externalValue: words.txt } } } } } } } } } }
`},
		{"pet.yaml", "{ type: object, properties: { name: { type: string, example: Rex } } } # no JSON\n"},
		{"raw.yaml", "{ a: [one, two] }\n"},
		{"words.txt", "plain words"},
	}
	form, kind := formOf(t, files)
	one := strings.NewReplacer("$ref: 'pet.yaml'", "type: integer, minimum: 7", "raw.yaml", "https://e.test/raw.yaml").Replace(files[0][1])
	for name, c := range map[string]call{
		"an archive": {kind: "application/zip", body: archiveOf(t, files)},
		"a form":     {kind: kind, body: form},
		"a text":     {kind: "application/yaml", body: one},
	} {
		for _, path := range []string{documentsPath, projectPath + "/imports", projectPath + "/imports?expand=true"} {
			t.Run(name+" to "+path, func(t *testing.T) {
				t.Parallel()
				w, sent := newWorld(t), c
				sent.method, sent.path, sent.as = http.MethodPost, path, editor
				answer := w.send(sent)
				if answer.status != http.StatusCreated && answer.status != http.StatusOK {
					t.Fatalf("%d %s", answer.status, answer.body)
				}
				warned := strings.Contains(string(answer.body), `https://e.test/raw.yaml`)
				if name == "a text" {
					if got := w.calls("/pets", 1); got != "7" || !warned {
						t.Errorf("answered %q, warned %t: %s", got, warned, answer.body)
					}
					return
				}
				if got := w.calls("/pets", 1) + w.calls("/raw", 1) + w.calls("/words", 1); got != `{"name":"Rex"}{"a":["one","two"]}plain words` || warned {
					t.Errorf("answered %q: %s", got, answer.body)
				}
			})
		}
	}
}
