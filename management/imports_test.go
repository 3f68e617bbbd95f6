package management_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
)

const importsPath = "/api/v1/projects/shop/imports"

const stubs = `{
  "mappings": [
    {"name": "greet", "request": {"method": "GET", "urlPath": "/greet"}, "response": {"status": 200, "body": "hello"}},
    {"name": "odd", "request": {"method": "GET", "urlPathPattern": "/(?=x)odd"}, "response": {"status": 200, "body": "odd"}},
    {"name": "broken", "request": {"method": "GET", "urlPath": "/broken"}, "response": {"status": 4000}}
  ]
}`

// importResult is what the tests look at.
type importResult struct {
	Applied bool
	Source  string
	Format  string
	Found   int
	Summary struct{ Created, Updated, Unchanged, Orphaned, Conflicts int }

	Warnings []struct {
		Code, Detail, Pointer string
		Line                  int
	}
}

func (w *world) imported(query, body string) importResult {
	w.t.Helper()
	got := w.send(call{method: http.MethodPost, path: importsPath + query, as: owner, body: body})
	got.want(http.StatusOK)
	var r importResult
	if err := json.Unmarshal(got.body, &r); err != nil {
		w.t.Fatalf("read the plan: %v", err)
	}
	return r
}

func TestM162_a_file_of_another_tool_becomes_mocks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dry := w.imported("?dryRun", stubs)
	if dry.Applied || dry.Summary.Created != 2 || dry.Found != 3 || dry.Format != "wiremock" || dry.Source != "wiremock" {
		t.Errorf("dry run: %+v", dry)
	}
	if status, _ := w.mocked(http.MethodGet, "/greet", ""); status != http.StatusNotFound {
		t.Errorf("a dry run made a mock: %d", status)
	}
	made := w.imported("", stubs)
	if !made.Applied || made.Summary.Created != 2 {
		t.Errorf("import: %+v", made)
	}
	if status, text := w.mocked(http.MethodGet, "/greet", ""); status != http.StatusOK || text != "hello" {
		t.Errorf("greet: %d %s", status, text)
	}
	// M-78: what has no equivalent is told with its place, and matches nothing.
	told := map[string]int{}
	for _, warning := range made.Warnings {
		told[warning.Pointer] = warning.Line
	}
	if told["#/mappings/1/request/urlPathPattern"] != 4 || told["#/mappings/2"] != 5 {
		t.Errorf("warnings: %+v", made.Warnings)
	}
	if status, _ := w.mocked(http.MethodGet, "/odd", ""); status != http.StatusNotFound {
		t.Errorf("a mock whose condition has no equivalent answers: %d", status)
	}
	// The same again is no change.
	if again := w.imported("", stubs); again.Summary.Unchanged != 2 || again.Summary.Created+again.Summary.Updated != 0 {
		t.Errorf("again: %+v", again.Summary)
	}
}

func TestM78_an_import_keeps_what_was_edited_by_hand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addMock(`{"name":"greet","request":"GET /greet","response":{"text":"by hand"}}`)
	kept := w.imported("", stubs)
	if kept.Summary.Conflicts != 1 || kept.Summary.Created != 1 || !kept.Applied {
		t.Errorf("skip: %+v", kept)
	}
	if _, text := w.mocked(http.MethodGet, "/greet", ""); text != "by hand" {
		t.Errorf("skip: %s", text)
	}
	// M-5: the advice is in parameters of the operation that was called.
	refused := w.send(call{method: http.MethodPost, path: importsPath + "?onConflict=fail", as: owner, body: stubs}).want(http.StatusConflict, mockbase.CodeApplyConflict)
	if detail := refused.json()["detail"]; !strings.Contains(detail.(string), "send onConflict=replace") {
		t.Errorf("import: %v", detail)
	}
	applied := w.send(call{method: http.MethodPut, path: definitionPath + "?source=repo", as: owner, body: `{"mocks":[{"name":"greet","request":"GET /greet","response":{}}]}`}).want(http.StatusConflict)
	if detail := applied.json()["detail"]; !strings.Contains(detail.(string), "send adopt=true") {
		t.Errorf("apply: %v", detail)
	}
	if taken := w.imported("?onConflict=replace", stubs); taken.Summary.Updated != 1 {
		t.Errorf("replace: %+v", taken.Summary)
	}
	if _, text := w.mocked(http.MethodGet, "/greet", ""); text != "hello" {
		t.Errorf("replace: %s", text)
	}
	owned := w.send(call{method: http.MethodDelete, path: mocksPath + "/greet", as: owner}).want(http.StatusConflict, mockbase.CodeManagedBySource)
	if detail := owned.json()["detail"]; !strings.Contains(detail.(string), "or send takeOver=true") {
		t.Errorf("delete: %v", detail)
	}
	several := w.send(call{method: http.MethodPost, path: mocksPath + "/bulk", as: owner, body: `{"action":"delete","mocks":["greet"]}`}).want(http.StatusConflict, mockbase.CodeManagedBySource)
	if detail := several.json()["detail"]; strings.Contains(detail.(string), "takeOver") {
		t.Errorf("delete several: %v", detail)
	}
	// What the file no longer has is told and stays.
	less := w.imported("", `{"name": "greet", "request": {"method": "GET", "urlPath": "/greet"}, "response": {"status": 200, "body": "hello"}}`)
	if less.Summary.Orphaned != 1 || less.Summary.Unchanged != 1 {
		t.Errorf("less: %+v", less.Summary)
	}
}

func TestM162_other_ways_to_send_a_file(t *testing.T) {
	t.Parallel()
	var archive bytes.Buffer
	packed := zip.NewWriter(&archive)
	for name, text := range map[string]string{
		"wm/mappings/a.json":   `{"request":{"urlPath":"/a"},"response":{"bodyFileName":"sub/a.txt"}}`,
		"wm/__files/sub/a.txt": "from a file",
		"wm/mappings/bad.json": `{`,
	} {
		f, err := packed.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	form := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"stub.json\"\r\n\r\n" + stubs + "\r\n--b--\r\n"
	for name, sent := range map[string]call{
		"archive":    {body: archive.String(), kind: "application/zip"},
		"form":       {body: form, kind: "multipart/form-data; boundary=b"},
		"definition": {body: `{"mocks":[{"request":"GET /a","response":{"text":"from a file"}}]}`},
		"database":   {body: `{"posts":[{"id":1}],"profile":{"name":"Ada"}}`},
		"openapi":    {body: petstore},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			sent.method, sent.path, sent.as = http.MethodPost, importsPath, owner
			got := w.send(sent)
			got.want(http.StatusOK)
			if name != "archive" {
				return
			}
			if _, text := w.mocked(http.MethodGet, "/a", ""); text != "from a file" || !strings.Contains(string(got.body), "wm/mappings/bad.json#") {
				t.Errorf("%q, %s", text, got.body)
			}
		})
	}
}

func TestM162_the_API_document_knows_every_type_that_is_imported(t *testing.T) {
	t.Parallel()
	got := newWorld(t).send(call{method: http.MethodPost, path: importsPath, as: owner, kind: "image/png", body: "x"}).want(http.StatusUnsupportedMediaType, mockbase.CodeUnsupportedMediaType)
	taken := strings.Split(got.header.Get("Accept"), ", ")
	told := document(t).Paths.Value("/api/v1/projects/{project}/imports").Post.RequestBody.Value.Content
	if diff := cmp.Diff(slices.Sorted(slices.Values(taken)), slices.Sorted(maps.Keys(told))); diff != "" {
		t.Error(diff)
	}
}

func TestM162_what_is_no_document_changes_nothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for body, code := range map[string]mockbase.Code{
		`{"a":1}`:           mockbase.CodeFormatNotRecognised,
		`just words`:        mockbase.CodeFormatNotRecognised,
		`{"mappings": [`:    mockbase.CodeMalformedBody,
		"PK\x03\x04garbage": mockbase.CodeMalformedBody,
	} {
		got := w.send(call{method: http.MethodPost, path: importsPath, as: owner, body: body})
		if got.problem().Code != code {
			t.Errorf("%q: %s, want %s", body, got.body, code)
		}
	}
	for query, code := range map[string]mockbase.Code{
		"?format=wiremok":          mockbase.CodeInvalidParameter,
		"?onConflict=maybe":        mockbase.CodeInvalidParameter,
		"?prefix=v1":               mockbase.CodeInvalidParameter,
		"?format=wiremock&expandd": mockbase.CodeInvalidParameter,
		// What says nothing of the format is refused, and never passed over.
		"?expand=true": mockbase.CodeInvalidParameter,
		"?limits=true": mockbase.CodeInvalidParameter,
		"?root=a.yaml": mockbase.CodeInvalidParameter,
	} {
		w.send(call{method: http.MethodPost, path: importsPath + query, as: owner, body: stubs}).want(http.StatusBadRequest, code)
	}
}

// M-162: a parameter that has nothing to do is told by its name, and what came to nothing is a warning.
func TestM162_what_comes_to_nothing_is_said(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for query, body := range map[string]string{
		"?root=api.yaml": petstore,
		"?prefix=/v1":    `{"mocks":[]}`,
		"?limits=true":   `{"mocks":[]}`,
	} {
		got := w.send(call{method: http.MethodPost, path: importsPath + query, as: owner, body: body}).want(http.StatusBadRequest, mockbase.CodeInvalidParameter)
		if name, _, _ := strings.Cut(query[1:], "="); !strings.Contains(string(got.body), "#/query/"+name) || !strings.Contains(string(got.body), "leave it out") {
			t.Errorf("%s: %s", query, got.body)
		}
	}
	got := w.send(call{method: http.MethodPost, path: importsPath + "?format=nope", as: owner, body: stubs}).want(http.StatusBadRequest, mockbase.CodeInvalidParameter)
	if !strings.Contains(string(got.body), "write one of auto, openapi") {
		t.Errorf("%s", got.body)
	}
	for query, body := range map[string]string{
		"":                         `{"log":{"version":"1.2","creator":{"name":"x","version":"1"},"entries":[]}}`,
		"?limits=true":             petstore,
		"?limits=true&expand=true": petstore,
	} {
		var told []string
		for _, warning := range w.imported(query, body).Warnings {
			told = append(told, warning.Code+" "+warning.Detail)
		}
		said := strings.Join(told, "\n")
		if !strings.Contains(said, "unused no operation declares a 429") && !strings.Contains(said, "unused the source has no entries") {
			t.Errorf("%s: %s", query, said)
		}
	}
}

func TestM162_an_address_is_fetched_within_the_bounds_of_the_server(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *management.Options) {
		o.Fetch = func(_ context.Context, address string, _ []string) ([]byte, error) {
			if address != "https://example.com/stubs.json" {
				return nil, errors.New("the address is private")
			}
			return []byte(stubs), nil
		}
	})
	if r := w.imported("?url=https://example.com/stubs.json", ""); r.Summary.Created != 2 {
		t.Errorf("%+v", r)
	}
	w.send(call{method: http.MethodPost, path: importsPath + "?url=http://10.0.0.1/", as: owner}).want(http.StatusUnprocessableEntity, mockbase.CodeUpstreamRefused)
	w.send(call{method: http.MethodPost, path: importsPath + "?url=https://example.com/stubs.json", as: owner, body: stubs}).want(http.StatusBadRequest, mockbase.CodeInvalidParameter)
}

// described is an OpenAPI document of one operation.
const describedStubs = "openapi: 3.0.0\ninfo: { title: Far, version: '1' }\npaths: { /far: { $ref: 'paths.yaml#/far' } }\n"

// fetching is a world in which two files can be fetched by projects of the list that is wanted.
func fetching(t *testing.T) *world {
	t.Helper()
	return newWorld(t, func(o *management.Options) {
		o.Fetch = func(_ context.Context, address string, allow []string) ([]byte, error) {
			switch {
			case len(allow) > 0:
				return nil, errors.New("blocked: it is not in the project's list")
			case address == "https://example.com/api/far.yaml":
				return []byte(describedStubs), nil
			case address == "https://example.com/api/paths.yaml":
				return []byte("far: { get: { responses: { 200: { description: d } } } }"), nil
			}
			return nil, errors.New("there is no such file")
		}
	})
}

func TestM162_an_OpenAPI_document_is_imported_from_an_address(t *testing.T) {
	t.Parallel()
	w := fetching(t)
	if r := w.imported("?url=https://example.com/api/far.yaml&dryRun=true&source=far", ""); r.Format != "openapi" || r.Summary.Created != 1 {
		t.Errorf("%+v", r)
	}
	// W22: so are the files that it refers to.
	for _, query := range []string{"", "&expand=true&prefix=/made", "&format=openapi&source=far"} {
		if r := w.imported("?url=https://example.com/api/far.yaml"+query, ""); r.Found != 1 || len(r.Warnings) != 0 {
			t.Errorf("%s: %+v", query, r)
		}
	}
	for _, path := range []string{"/far", "/made/far"} {
		if status, body := w.mocked(http.MethodGet, path, ""); status != http.StatusOK {
			t.Errorf("%s answers %d %s", path, status, body)
		}
	}
}

// W22 and M-161: a definition's document is fetched when it is applied, with the files that it names, and never again.
func TestM161_documents_by_address_are_fetched_when_they_are_applied(t *testing.T) {
	t.Parallel()
	w := fetching(t)
	const path = "/api/v1/projects/shop/definition"
	put := func(text string) *reply {
		return w.send(call{method: http.MethodPut, path: path, as: owner, body: text, header: map[string]string{"Content-Type": "application/yaml"}})
	}
	put("documents: [{ name: far, url: 'https://example.com/api/far.yaml', strict: true }]").want(http.StatusOK)
	got := w.send(call{path: "/api/v1/projects/shop/documents/far", as: owner})
	if !strings.Contains(string(got.body), `"operations":1`) || !strings.Contains(string(got.body), `"strict":true`) || !strings.Contains(string(got.body), `"warnings":[]`) {
		t.Errorf("%s", got.body)
	}
	if again := put("documents: [{ name: far, url: 'https://example.com/api/far.yaml', strict: true }]"); !strings.Contains(string(again.body), `"unchanged":1`) {
		t.Errorf("%s", again.body)
	}
	bad := put("documents: [{ name: far, url: 'https://example.com/none' }]")
	bad.want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed)
	if !strings.Contains(string(bad.body), "#/documents/0/url") || !strings.Contains(string(bad.body), "there is no such file") {
		t.Errorf("%s", bad.body)
	}
	w.send(call{method: http.MethodPatch, path: "/api/v1/projects/shop", as: owner, body: `{"settings":{"upstreamAllow":["10.0.0.0/8"]}}`, header: map[string]string{"Content-Type": "application/merge-patch+json"}}).want(http.StatusOK)
	if bad := put("documents: [{ name: far, url: 'https://example.com/api/far.yaml' }]"); !strings.Contains(string(bad.body), "not in the project's list") {
		t.Errorf("%s", bad.body)
	}
}
