package management_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
)

const documentsPath = projectPath + "/documents"

// petstore has a fault: its second path leads nowhere.
const petstore = `# as sent
openapi: 3.0.3
info: {title: Pet Store, version: "1"}
paths:
  /pets:
    get:
      operationId: listPets
      responses:
        "200":
          description: all
          content: {application/json: {example: [{id: 1}]}}
  /broken:
    get:
      responses:
        "200": {$ref: "#/components/responses/Nowhere"}
`

type documentView struct {
	ID, Name, Title, OpenAPI string
	Operations, Version      int
	Source                   *string
	Options                  map[string]any
	Warnings                 []struct {
		Code, Detail, File, Pointer string
		Line, Column                int
	}
}

// attach attaches an OpenAPI document to the shop.
func (w *world) attach(name, text string) documentView {
	w.t.Helper()
	var view documentView
	w.send(call{method: http.MethodPost, path: documentsPath + "?name=" + name, as: editor, kind: "application/yaml", body: text}).want(http.StatusCreated).into(&view)
	return view
}

func TestM165_a_document_is_attached_and_answers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.send(call{method: http.MethodPost, path: documentsPath, as: editor, kind: "application/yaml", body: petstore}).want(http.StatusCreated)
	var view documentView
	made.into(&view)
	if view.Name != "pet-store" || view.Title != "Pet Store" || view.OpenAPI != "3.0.3" || view.Operations != 2 || view.Version != 1 || view.Source != nil ||
		!strings.HasPrefix(view.ID, "doc_") {
		t.Errorf("%+v", view)
	}
	if made.header.Get("Location") != documentsPath+"/pet-store" || made.header.Get("ETag") != `"v1"` {
		t.Errorf("made at %q, %s", made.header.Get("Location"), made.header.Get("ETag"))
	}
	if len(view.Warnings) == 0 || !strings.HasPrefix(view.Warnings[0].Pointer, "#/paths/~1broken") || view.Warnings[0].Line < 12 {
		t.Errorf("warnings %+v", view.Warnings)
	}
	if got := w.calls("/pets", 1); got != `[{"id":1}]` {
		t.Errorf("answered %q", got)
	}
	w.send(call{method: http.MethodPost, path: documentsPath, as: editor, kind: "application/yaml", body: petstore}).want(http.StatusConflict, mockbase.CodeNameTaken)
	w.send(call{method: http.MethodPost, path: documentsPath + "?name=No+Slug", as: editor, body: petstore, kind: "application/yaml"}).want(http.StatusBadRequest)
	w.attach("another", `{"openapi":"3.1.0","info":{"title":"Other"},"paths":{}}`)
	if got := w.send(call{method: http.MethodGet, path: documentsPath, as: viewer}).want(http.StatusOK).names("name"); !cmp.Equal(got, []string{"another", "pet-store"}) {
		t.Errorf("listed %q", got)
	}
	for _, text := range []string{`{"openapi":"3.0.0"`, "openapi: [", "\xff"} {
		w.send(call{method: http.MethodPost, path: documentsPath, as: editor, kind: "application/yaml", body: text}).want(http.StatusBadRequest, mockbase.CodeMalformedBody)
	}
	got := w.send(call{method: http.MethodPost, path: documentsPath, as: editor, body: `{"swagger":"1.2"}`})
	got.want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed)
}

func TestM166_M167_a_document_is_read_by_name_and_id_and_its_bytes_come_back(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	view := w.attach("pets", petstore)
	for _, name := range []string{"pets", view.ID} {
		var again documentView
		got := w.send(call{method: http.MethodGet, path: documentsPath + "/" + name, as: viewer}).want(http.StatusOK)
		if got.into(&again); !cmp.Equal(view, again) {
			t.Error(cmp.Diff(view, again))
		}
		text := w.send(call{method: http.MethodGet, path: documentsPath + "/" + name + "/content", as: viewer}).want(http.StatusOK)
		if string(text.body) != petstore || text.header.Get("Content-Type") != "application/yaml" || text.header.Get("ETag") != `"v1"` {
			t.Errorf("%s: %q", text.header.Get("Content-Type"), text.body)
		}
		for _, path := range []string{"", "/content"} {
			w.send(call{method: http.MethodGet, path: documentsPath + "/" + name + path, as: viewer, header: map[string]string{"If-None-Match": `"v1"`}}).want(http.StatusNotModified)
		}
	}
	w.send(call{method: http.MethodGet, path: documentsPath + "/none", as: viewer}).want(http.StatusNotFound, mockbase.CodeNotFound)
	w.send(call{method: http.MethodGet, path: documentsPath + "/none/content", as: viewer}).want(http.StatusNotFound, mockbase.CodeNotFound)
}

func TestM168_a_new_text_keeps_the_options_and_is_a_new_version(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.attach("pets", petstore)
	w.send(call{method: http.MethodPatch, path: documentsPath + "/pets", as: editor, kind: "application/merge-patch+json", body: `{"strict":true}`}).want(http.StatusOK)
	put := func(text, match string) *reply {
		header := map[string]string{}
		if match != "" {
			header["If-Match"] = match
		}
		return w.send(call{method: http.MethodPut, path: documentsPath + "/pets/content", as: editor, kind: "application/yaml", body: text, header: header})
	}
	next := strings.Replace(petstore, "id: 1", "id: 2", 1)
	put(next, `"v1"`).want(http.StatusPreconditionFailed, mockbase.CodeVersionMismatch)
	var view documentView
	if got := put(next, `"v2"`).want(http.StatusOK); got.header.Get("ETag") != `"v3"` {
		t.Errorf("ETag %s", got.header.Get("ETag"))
	} else {
		got.into(&view)
	}
	if view.ID != made.ID || view.Options["strict"] != true || w.calls("/pets", 1) != `[{"id":2}]` {
		t.Errorf("%+v", view)
	}
	// The same text again is no change; other bytes of the same meaning are one.
	if got := put(next, ""); got.header.Get("ETag") != `"v3"` {
		t.Errorf("the same text: ETag %s", got.header.Get("ETag"))
	}
	if got := put(next+"# and a comment\n", ""); got.header.Get("ETag") != `"v4"` {
		t.Errorf("a comment: ETag %s", got.header.Get("ETag"))
	}
	text := w.send(call{method: http.MethodGet, path: documentsPath + "/pets/content", as: viewer}).want(http.StatusOK)
	if string(text.body) != next+"# and a comment\n" {
		t.Errorf("%s", text.body)
	}
	put("openapi: [", "").want(http.StatusBadRequest, mockbase.CodeMalformedBody)
}

func TestM169_options_change_by_a_patch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.attach("pets", petstore)
	w.attach("taken", `{"openapi":"3.1.0","info":{"title":"Other"},"paths":{}}`)
	for _, c := range []struct {
		patch, etag, pointer string
		status               int
		code                 mockbase.Code
	}{
		{patch: `{"serve":false}`, etag: `"v2"`, status: 200},
		{patch: `{"serve":false,"title":"ignored","version":9}`, etag: `"v2"`, status: 200},
		{patch: `{"serve":null,"delay":"1ms"}`, etag: `"v3"`, status: 200},
		{patch: `{"srve":true}`, status: 422, code: mockbase.CodeValidationFailed, pointer: "#/srve"},
		{patch: `{"srve":null}`, status: 422, code: mockbase.CodeValidationFailed, pointer: "#/srve"},
		{patch: `{"basePath":"x"}`, status: 422, code: mockbase.CodeValidationFailed, pointer: "#/basePath"},
		{patch: `{"name":null}`, status: 422, code: mockbase.CodeValidationFailed, pointer: "#/name"},
		{patch: `{"inline":{}}`, status: 422, code: mockbase.CodePatchNotAllowed, pointer: "#/inline"},
		{patch: `{"name":"taken"}`, status: 409, code: mockbase.CodeNameTaken},
		{patch: `{"name":"animals"}`, etag: `"v4"`, status: 200},
	} {
		got := w.send(call{method: http.MethodPatch, path: documentsPath + "/" + made.ID, as: editor, kind: "application/merge-patch+json", body: c.patch})
		if got.status != c.status || got.status == 200 && got.header.Get("ETag") != c.etag {
			t.Errorf("%s: %d, ETag %s: %s", c.patch, got.status, got.header.Get("ETag"), got.body)
			continue
		}
		if c.status == 200 {
			continue
		}
		if p := got.problem(); p.Code != c.code || c.pointer != "" && (len(p.Errors) != 1 || p.Errors[0].Pointer != c.pointer) {
			t.Errorf("%s: %s", c.patch, got.body)
		}
	}
	// Under its new name it is the same document, with the text as it was sent.
	text := w.send(call{method: http.MethodGet, path: documentsPath + "/animals/content", as: viewer}).want(http.StatusOK)
	if string(text.body) != petstore {
		t.Errorf("%s", text.body)
	}
	w.send(call{method: http.MethodGet, path: documentsPath + "/pets", as: viewer}).want(http.StatusNotFound)
}

func TestM170_a_detached_document_answers_no_more(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.attach("pets", petstore)
	remove := call{method: http.MethodDelete, path: documentsPath + "/pets", as: editor, header: map[string]string{"If-Match": `"v9"`}}
	w.send(remove).want(http.StatusPreconditionFailed, mockbase.CodeVersionMismatch)
	remove.header = nil
	w.send(remove).want(http.StatusNoContent)
	w.send(remove).want(http.StatusNotFound, mockbase.CodeNotFound)
	if got := w.calls("/pets", 1); got == `[{"id":1}]` {
		t.Errorf("answered %q", got)
	}
}

// A document that a definition brought belongs to its source, and a text that was sent is forgotten when a definition
// brings another (M-77).
func TestM77_documents_of_a_source_are_taken_over_or_left_alone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(`{"documents":[{"name":"pets","inline":{"openapi":"3.0.0","info":{"title":"Pets"},"paths":{}}}]}`)
	patch := call{method: http.MethodPatch, path: documentsPath + "/pets", as: editor, kind: "application/merge-patch+json", body: `{"strict":true}`}
	for _, c := range []call{
		patch,
		{method: http.MethodPut, path: documentsPath + "/pets/content", as: editor, kind: "application/yaml", body: petstore},
		{method: http.MethodDelete, path: documentsPath + "/pets", as: editor},
	} {
		w.send(c).want(http.StatusConflict, mockbase.CodeManagedBySource)
	}
	patch.path += "?takeOver=true"
	var view documentView
	if w.send(patch).want(http.StatusOK).into(&view); view.Source != nil || view.Version != 2 {
		t.Errorf("%+v", view)
	}
	w.send(call{method: http.MethodPut, path: documentsPath + "/pets/content", as: editor, kind: "application/yaml", body: petstore}).want(http.StatusOK)
	w.send(call{
		method: http.MethodPut, path: definitionPath + "?adopt=true", as: owner,
		body: `{"documents":[{"name":"pets","inline":{"openapi":"3.0.0","info":{"title":"Again"},"paths":{}}}]}`,
	}).want(http.StatusOK)
	got := w.send(call{method: http.MethodGet, path: documentsPath + "/pets/content", as: viewer}).want(http.StatusOK)
	if string(got.body) != `{"openapi":"3.0.0","info":{"title":"Again"},"paths":{}}` || got.header.Get("ETag") != `"v4"` || got.header.Get("Content-Type") != "application/json" {
		t.Errorf("%s %s", got.header.Get("ETag"), got.body)
	}
}

// M-166: a document tells how the mocks of its project differ from it, beside what is odd about its text.
func TestM166_a_document_tells_how_mocks_differ(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *management.Options) {
		o.Drift = func(s *mockbase.Snapshot, document string) []mockbase.FieldError {
			return []mockbase.FieldError{{Code: mockbase.FieldReference, Detail: s.Project.Slug + " differs from " + document}}
		}
	})
	const path = "/api/v1/projects/shop/documents"
	const text = `{"openapi":"3.0.0","info":{"title":"t","version":"1"},"paths":{}}`
	w.send(call{method: http.MethodPost, path: path + "?name=d", as: owner, body: text}).want(http.StatusCreated)
	got := w.send(call{path: path + "/d", as: owner, method: http.MethodGet}).want(http.StatusOK)
	if !strings.Contains(string(got.body), `"detail":"shop differs from d"`) {
		t.Errorf("%s", got.body)
	}
}
