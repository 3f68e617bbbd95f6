package management_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
)

// Everything in which the answer of a mock differs from its operation is told when it is saved, not the first of it alone.
func TestM62_W30_a_saved_mock_tells_all_differences_from_its_operation(t *testing.T) {
	t.Parallel()
	var w *world
	w = newWorld(t, func(o *management.Options) {
		o.Warnings = func(s *mockbase.Snapshot, m *mockbase.Mock) []mockbase.FieldError { return w.engine.Warnings(s, m) }
	})
	w.attach("shop", `openapi: 3.0.3
info: {title: t, version: "1"}
paths:
  /pets:
    get:
      responses:
        "200":
          description: d
          headers: {X-Total: {required: true, schema: {type: integer}}}
          content: {application/json: {schema: {type: object, required: [id], properties: {id: {type: integer}, name: {type: string}}}}}
`)
	var view struct {
		Warnings []struct{ Code, Detail, Pointer string }
	}
	w.send(call{method: http.MethodPost, path: mocksPath, as: editor, body: `{"name":"pets","request":"GET /pets","response":{"json":{"name":1}}}`}).
		want(http.StatusCreated).into(&view)
	var told []string
	for _, own := range view.Warnings {
		told = append(told, own.Pointer+" "+own.Detail)
	}
	for _, want := range []string{"response.header.X-Total: the header is required", "response.body.id: the member is required", "response.body.name: "} {
		if !strings.Contains(strings.Join(told, "\n"), want) {
			t.Errorf("%q is not told:\n%s", want, strings.Join(told, "\n"))
		}
	}
	if len(told) != 3 {
		t.Errorf("%d warnings:\n%s", len(told), strings.Join(told, "\n"))
	}
}

// A document may come in the media types that are registered for it, and as bytes: what it is written in shows by itself.
func TestM165_documents_come_in_every_type_of_theirs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, kind := range []string{
		"application/openapi+json", "application/openapi+yaml", "application/vnd.oai.openapi", "application/vnd.oai.openapi+json;version=3.0",
		"application/vnd.oai.openapi+yaml", "application/octet-stream", "text/yaml",
	} {
		w.send(call{method: http.MethodPost, path: documentsPath + "?name=d", as: editor, kind: kind, body: petstore}).want(http.StatusCreated)
		w.send(call{method: http.MethodPut, path: documentsPath + "/d/content", as: editor, kind: kind, body: petstore}).want(http.StatusOK)
		w.send(call{method: http.MethodDelete, path: documentsPath + "/d", as: editor}).want(http.StatusNoContent)
	}
	w.send(call{method: http.MethodPost, path: documentsPath + "?name=d", as: editor, kind: "image/png", body: petstore}).
		want(http.StatusUnsupportedMediaType, mockbase.CodeUnsupportedMediaType)
}

// Importing a document again changes its text and not the options that it was given meanwhile (rule M-78).
func TestM162_M78_a_document_that_comes_again_keeps_its_options(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	type plan struct{ Updated, Conflicts []struct{ Kind, Name string } }
	imported := func(text, query string) (made plan) {
		t.Helper()
		w.send(call{method: http.MethodPost, path: importsPath + query, as: editor, kind: "application/yaml", body: text}).want(http.StatusOK).into(&made)
		return made
	}
	imported(petstore, "")
	w.send(call{
		method: http.MethodPatch, path: documentsPath + "/pet-store?takeOver=true", as: editor, kind: "application/merge-patch+json",
		body: `{"strict":true,"basePath":"strict","credentials":[{"scheme":"key","value":"k"}]}`,
	}).want(http.StatusOK)
	other := strings.Replace(petstore, "/broken", "/other", 1)
	if made := imported(other, ""); len(made.Conflicts) != 1 {
		t.Errorf("by default, conflicts %+v", made.Conflicts)
	}
	if made := imported(other, "?onConflict=replace"); len(made.Updated) != 1 {
		t.Errorf("with replace, updated %+v", made.Updated)
	}
	view := w.send(call{method: http.MethodGet, path: documentsPath + "/pet-store", as: viewer}).want(http.StatusOK)
	for _, want := range []string{`"strict":true`, `"basePath":"strict"`, `"credentials":[{"scheme":"key"`, `"#/paths/~1other`} {
		if !strings.Contains(string(view.body), want) {
			t.Errorf("%s is not there: %s", want, view.body)
		}
	}
}
