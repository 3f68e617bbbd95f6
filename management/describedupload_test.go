package management_test

import (
	"archive/zip"
	"bytes"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"

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
		"no archive":         {call{kind: "application/zip", body: "PK\x03\x04 nothing"}, http.StatusBadRequest, mockbase.CodeMalformedBody},
		"an empty form":      {call{kind: noneKind, body: none}, http.StatusBadRequest, mockbase.CodeMalformedBody},
		"a broken form":      {call{kind: singleKind, body: single[:len(single)-20]}, http.StatusBadRequest, mockbase.CodeMalformedBody},
		"a file twice":       {call{kind: twiceKind, body: twice}, http.StatusUnprocessableEntity, mockbase.CodeValidationFailed},
		"no such first file": {call{path: "?root=x.yaml", kind: "application/zip", body: archiveOf(t, petFiles())}, http.StatusUnprocessableEntity, mockbase.CodeValidationFailed},
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
