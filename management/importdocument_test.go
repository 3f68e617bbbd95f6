package management_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
)

// importablePets have three operations; that of owners is to vanish.
const importablePets = `openapi: 3.0.3
info: {title: Pet Store, version: "1"}
paths:
  /pets:
    get:
      operationId: listPets
      responses:
        "200": {description: all, content: {application/json: {examples: {all: {value: [{id: 1}]}, none: {value: []}}}}}
        "404": {description: none, content: {application/json: {examples: {nf: {value: {nf: true}}, gone: {value: {gone: true}}, none: {value: {}}}}}}
        "429": {description: slow, headers: {X-RateLimit-Limit: {example: 2}, Retry-After: {example: 60}}, content: {application/json: {example: {slow: true}}}}
    post:
      responses: {"201": {description: made}}
  /owners:
    get:
      responses: {"200": {description: d, content: {application/json: {example: {owner: 1}}}}}
`

type importView struct {
	Format           string
	Found            int
	Applied          bool
	Summary          struct{ Created, Updated, Unchanged, Orphaned, Conflicts int }
	Orphaned, Kept   []struct{ Kind, Name string }
	Updated          []struct{ Kind, Name string }
	Warnings         []struct{ Code, Detail, Pointer string }
	Created, Deleted []struct{ Kind, Name string }
}

// imports imports a text as it is said in the query.
func (w *world) imports(query, text string) (view importView) {
	w.t.Helper()
	w.send(call{method: http.MethodPost, path: importsPath + query, as: owner, kind: "application/yaml", body: text}).want(http.StatusOK).into(&view)
	return view
}

// Rules M-78 and M-162: operations become mocks, all of them at once, and are brought up to date without losing what a hand
// changed.
func TestM78_operations_become_mocks_and_are_brought_up_to_date(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if plan := w.imports("?expand=true&dryRun=true", importablePets); plan.Applied || plan.Summary.Created != 3 || plan.Found != 3 || plan.Format != "openapi" {
		t.Errorf("the plan is %+v", plan)
	}
	if status, _ := w.mocked(http.MethodGet, "/pets", ""); status != http.StatusNotFound {
		t.Errorf("a dry run made mocks: %d", status)
	}
	if plan := w.imports("?expand=true", importablePets); !plan.Applied || plan.Summary.Created != 3 {
		t.Errorf("the import is %+v", plan)
	}
	for target, want := range map[string]string{
		"/pets": `[{"id":1}]`, "/pets?__example=none": `[]`, "/pets?__code=429": `{"slow":true}`, "/owners": `{"owner":1}`,
		"/pets?__example=nf": `{"nf":true}`, "/pets?__example=gone": `{"gone":true}`, "/pets?__code=404": `{"nf":true}`,
		"/pets?__code=404&__example=gone": `{"gone":true}`, "/pets?__code=404&__example=none": `{}`, "/pets?__code=200&__example=gone": `[{"id":1}]`,
	} {
		if _, got := w.mocked(http.MethodGet, target, ""); got != want {
			t.Errorf("%s answers %q, want %q", target, got, want)
		}
	}
	if plan := w.imports("?expand=true", importablePets); plan.Summary.Unchanged != 3 || plan.Summary.Updated != 0 {
		t.Errorf("the same again is %+v", plan)
	}
	w.send(call{
		method: http.MethodPut, path: projectPath + "/mocks/list-pets?takeOver=true", as: owner, body: `{"request":"GET /pets","response":{"json":"by hand"}}`,
	}).want(http.StatusOK)
	changed := strings.ReplaceAll(strings.ReplaceAll(importablePets, "/owners:", "/keepers:"), "made", "made again")
	changed = strings.ReplaceAll(changed, `"201": {description: made again}`, `"202": {description: taken}`)
	plan := w.imports("?expand=true", changed)
	if plan.Summary.Created != 1 || plan.Summary.Orphaned != 1 || plan.Summary.Updated != 1 {
		t.Errorf("another text is %+v", plan)
	}
	if len(plan.Orphaned) != 1 || plan.Orphaned[0].Name != "get-owners" {
		t.Errorf("orphaned are %+v", plan.Orphaned)
	}
	if _, got := w.mocked(http.MethodGet, "/pets", ""); got != `"by hand"` {
		t.Errorf("what a hand changed became %q", got)
	}
	if status, _ := w.mocked(http.MethodPost, "/pets", ""); status != http.StatusAccepted {
		t.Errorf("what the document changed answers %d", status)
	}
	w.imports("?expand=true&onConflict=replace", changed)
	if _, got := w.mocked(http.MethodGet, "/pets", ""); got != `[{"id":1}]` {
		t.Errorf("replaced, it is %q", got)
	}
}

func TestM162_documents_of_several_files_are_imported(t *testing.T) {
	t.Parallel()
	form, kind := formOf(t, petFiles())
	for name, query := range map[string]string{"attached": "?format=openapi", "expanded": "?format=openapi&expand=true", "found out": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.send(call{method: http.MethodPost, path: importsPath + query, as: owner, kind: kind, body: form}).want(http.StatusOK)
			if _, got := w.mocked(http.MethodGet, "/pets", ""); got != `{"name":"Rex"}` {
				t.Errorf("answered %q", got)
			}
		})
	}
}

// An operation that cannot be a mock is a warning at its place, and the others are imported.
func TestM78_operations_that_cannot_be_mocks_are_told(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plan := w.imports("?expand=true", importablePets+"  /a/{x}{y}: {get: {responses: {\"200\": {description: d}}}}\n")
	if plan.Summary.Created != 3 || plan.Found != 4 {
		t.Errorf("%+v", plan.Summary)
	}
	if !slices.ContainsFunc(plan.Warnings, func(w struct{ Code, Detail, Pointer string }) bool {
		return w.Code == "not_translated" && w.Pointer == "#/paths/~1a~1%7Bx%7D%7By%7D/get"
	}) {
		t.Errorf("warnings %+v", plan.Warnings)
	}
	w.send(call{method: http.MethodPost, path: importsPath + "?prefix=/x", as: owner, kind: "application/yaml", body: importablePets}).
		want(http.StatusBadRequest, mockbase.CodeInvalidParameter)
}

// Group X: a declared 429 and its headers become a simulated limit in one step.
func TestX10_declared_limits_become_simulated_ones(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(w *world){
		"as mocks": func(w *world) { w.imports("?expand=true&limits=true", importablePets) },
		"imported": func(w *world) { w.imports("?limits=true", importablePets) },
		"attached": func(w *world) {
			w.send(call{method: http.MethodPost, path: documentsPath + "?limits=true", as: editor, kind: "application/yaml", body: importablePets}).want(http.StatusCreated)
		},
		"later": func(w *world) {
			w.attach("pets", importablePets)
			w.send(call{
				method: http.MethodPatch, path: documentsPath + "/pets?limits=true", as: editor, kind: "application/merge-patch+json", body: "{}",
			}).want(http.StatusOK)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			prepare(w)
			var got []int
			for range 3 {
				status, _ := w.mocked(http.MethodGet, "/pets", "")
				got = append(got, status)
			}
			if diff := cmp.Diff([]int{200, 200, 429}, got); diff != "" {
				t.Error(diff)
			}
			if _, body := w.mocked(http.MethodGet, "/pets", ""); body != `{"slow":true}` {
				t.Errorf("limited, it says %q", body)
			}
		})
	}
	w := newWorld(t)
	w.attach("none", petstore)
	w.send(call{
		method: http.MethodPatch, path: documentsPath + "/none?limits=true", as: editor, kind: "application/merge-patch+json", body: "{}",
	}).want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed)
}

// severalLimits declares a different 429 for each of its operations, and none for the last.
const severalLimits = `openapi: 3.0.3
info: {title: Several, version: "1"}
paths:
  /one:
    get: {operationId: one, responses: {"200": {description: d}, "429": {description: 1 per minute, headers: {X-RateLimit-Limit: {schema: {type: integer}}}}}}
  /two:
    get: {responses: {"200": {description: d}, "429": {description: 2 per minute, headers: {RateLimit-Limit: {schema: {type: integer}}}, content: {application/json: {example: {slow: 2}}}}}}
  /free:
    get: {responses: {"200": {description: d}}}
`

// Group X: each operation has the limit that it declares, in its own headers and words, and one that declares none has none.
func TestX10_each_operation_has_the_limit_that_it_declares(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(w *world){
		"imported": func(w *world) { w.imports("?limits=true", severalLimits) },
		"attached": func(w *world) {
			w.send(call{method: http.MethodPost, path: documentsPath + "?limits=true", as: editor, kind: "application/yaml", body: severalLimits}).want(http.StatusCreated)
		},
		"later, in place of another": func(w *world) {
			w.attach("several", severalLimits)
			w.send(call{method: http.MethodPatch, path: documentsPath + "/several", as: editor, kind: "application/merge-patch+json", body: `{"rateLimit":"9/m"}`}).want(http.StatusOK)
			w.send(call{method: http.MethodPatch, path: documentsPath + "/several?limits=true", as: editor, kind: "application/merge-patch+json", body: "{}"}).want(http.StatusOK)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			prepare(w)
			for path, want := range map[string][]int{"/one": {200, 429, 429}, "/two": {200, 200, 429}, "/free": {200, 200, 200}} {
				var got []int
				for range want {
					status, _ := w.mocked(http.MethodGet, path, "")
					got = append(got, status)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: %s", path, diff)
				}
			}
			if _, body := w.mocked(http.MethodGet, "/two", ""); body != `{"slow":2}` {
				t.Errorf("limited, it says %q", body)
			}
		})
	}
}

// Rules M-76 and M-78: two people who import at once follow one another: what is served is one text as a whole, never a mixture,
// and a text of which a part is unreadable changes nothing but what its plan says.
func TestM76_imports_at_once_are_applied_one_after_the_other(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const operations = 12
	document := func(mark string) string {
		var b strings.Builder
		b.WriteString("openapi: 3.0.3\ninfo: {title: Marks, version: '1'}\npaths:\n  /broken: 7\n")
		for i := range operations {
			fmt.Fprintf(&b, "  /m%d: {get: {responses: {'200': {description: d, content: {text/plain: {example: %s}}}}}}\n", i, mark)
		}
		return b.String()
	}
	for round := range 4 {
		var group sync.WaitGroup
		for _, mark := range []string{"a", "b"} {
			group.Go(func() {
				w.imports("?expand=true", document(fmt.Sprintf("%s%d", mark, round)))
			})
		}
		group.Wait()
		met := map[string]bool{}
		for i := range operations {
			_, text := w.mocked(http.MethodGet, fmt.Sprintf("/m%d", i), "")
			met[text] = true
		}
		if len(met) != 1 {
			t.Errorf("round %d is a mixture: %v", round, met)
		}
	}
	if status, _ := w.mocked(http.MethodGet, "/broken", ""); status != http.StatusNotFound {
		t.Errorf("what cannot be read answers %d", status)
	}
	w.send(call{
		method: http.MethodPost, path: importsPath + "?expand=true", as: owner, kind: "application/yaml", body: document("c") + "  : [",
	}).want(http.StatusBadRequest)
	if _, text := w.mocked(http.MethodGet, "/m0", ""); text == "c" {
		t.Error("a text that cannot be read was applied")
	}
}
