package engine_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
)

func TestO17_seeds_that_cannot_be_read_are_refused_with_their_place(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret.json")
	for name, text := range map[string]string{
		filepath.Join(root, "object.json"): `{}`, filepath.Join(root, "twice.json"): `[{"id":1},{"id":"1"}]`, filepath.Join(root, "broken.json"): `[{"id":1}`,
		filepath.Join(root, "dup.json"): `[{"id":1,"id":2}]`, outside: `[]`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(root, "link.json")); err != nil {
		t.Fatal(err)
	}
	with := newEngine(t, engine.Options{FilesRoot: root})
	for name, code := range map[string]mockbase.Code{
		"none.json": mockbase.FieldReference, "../secret.json": mockbase.FieldReference, outside: mockbase.FieldReference, "link.json": mockbase.FieldReference,
		".": mockbase.FieldReference, "object.json": mockbase.FieldType, "twice.json": mockbase.FieldUnique, "broken.json": mockbase.FieldSyntax, "dup.json": mockbase.FieldDuplicateKey,
	} {
		faults := faultsOf(t, with, "collections:\n  posts: { seedFile: '"+name+"' }\n")
		if len(faults) != 1 || faults[0].Pointer != "#/collections/posts/seedFile" || faults[0].Code != code {
			t.Errorf("%s: %+v, want %s", name, faults, code)
		}
	}
	faults := faultsOf(t, newEngine(t, engine.Options{}), "collections:\n  posts: { seedFile: posts.json }\n")
	if len(faults) != 1 || faults[0].Code != mockbase.FieldReference {
		t.Errorf("without a root: %+v", faults)
	}
}

func TestV2_every_fault_of_a_seed_file_is_told_with_its_place(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, text := range map[string]string{
		"posts.yaml": "- { id: 1 }\n- { id: '1' }\n- 7\n- { id: .. }\n", "many.json": "[" + strings.Repeat("7,", 60) + "7]",
		"keys.json": "[{\"id\":1,\"id\":2},\n {\"a\":1,\"a\":2}]",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := newEngine(t, engine.Options{FilesRoot: root})
	for name, want := range map[string][]string{
		"posts.yaml": {
			`unique the file "posts.yaml" cannot be used: line 2, column 9: /1/id: another item has the id "1"`,
			`type the file "posts.yaml" cannot be used: line 3, column 3: /2: must be an object, found 7`,
			`pattern the file "posts.yaml" cannot be used: line 4, column 9: /3/id: the id ".." cannot be reached: addresses leave out such segments`,
		},
		"keys.json": {
			`duplicate_key the file "keys.json" cannot be used: line 1, column 10: /0/id: the key "id" is given twice, first in line 1, column 3`,
			`duplicate_key the file "keys.json" cannot be used: line 2, column 9: /1/a: the key "a" is given twice, first in line 2, column 3`,
		},
	} {
		var got []string
		for _, f := range faultsOf(t, e, "collections:\n  posts: { seedFile: "+name+" }\n") {
			if f.Pointer != "#/collections/posts/seedFile" {
				t.Errorf("%s: pointer %s", name, f.Pointer)
			}
			got = append(got, string(f.Code)+" "+f.Detail)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	many := faultsOf(t, e, "collections:\n  posts: { seedFile: many.json }\n")
	if len(many) != 21 || !strings.HasSuffix(many[20].Detail, `"many.json" has 41 more faults`) {
		t.Errorf("%d faults, the last is %v", len(many), many[len(many)-1])
	}
}

// A file that is gone when the server starts again keeps nothing else from answering, and is read again with the next change.
func TestO17_sample_data_that_is_gone_fails_its_collection_alone(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	e := newEngine(t, engine.Options{FilesRoot: root})
	publish := func(revision int64, text string) {
		t.Helper()
		d, err := mockbase.DecodeDefinition([]byte("collections:\n  posts: { seedFile: posts.json }\nmocks:\n  - { request: GET /a, response: { text: "+text+" } }\n"), mockbase.FormatYAML)
		if err != nil {
			t.Fatal(err)
		}
		d.Mocks[0].ID, d.Mocks[0].Version = "mck_a", revision
		project := &mockbase.Project{ID: "prj_shop", Slug: "shop", Access: mockbase.AccessPublic, Config: d.Config, Revision: revision}
		if err := e.Publish(&mockbase.Snapshot{Project: project, Mocks: d.Mocks}); err != nil {
			t.Fatal(err)
		}
	}
	publish(1, "one")
	get := func(path string) (int, string) {
		answer := httptest.NewRecorder()
		e.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://mocks.test/m/shop"+path, nil))
		return answer.Code, answer.Body.String()
	}
	if status, text := get("/posts"); status != http.StatusInternalServerError || !strings.Contains(text, "posts.json") {
		t.Errorf("%d %s", status, text)
	}
	if status, text := get("/a"); status != http.StatusOK || text != "one" {
		t.Errorf("%d %s", status, text)
	}
	if err := os.WriteFile(filepath.Join(root, "posts.json"), []byte(`[{"id":1}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	publish(2, "two")
	if status, text := get("/posts"); status != http.StatusOK || text != `[{"id":1}]` {
		t.Errorf("%d %s", status, text)
	}
}
