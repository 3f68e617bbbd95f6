package management_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/catalog"
)

const definitionPath = "/api/v1/projects/shop/definition"

const twoMocks = `{"version":1,"project":"shop","settings":{"trailingSlash":"ignore"},"mocks":[
	{"name":"one","request":"GET /one","response":{"json":{"n":1.50}}},
	{"request":"GET /two/{id}","tags":["t"],"response":{"text":"two"}}]}`

func apply(query, as, body string) call {
	return call{method: http.MethodPut, path: definitionPath + query, as: as, body: body}
}

func (w *world) plan(c call) *catalog.Plan {
	w.t.Helper()
	var p catalog.Plan
	w.send(c).want(http.StatusOK).into(&p)
	return &p
}

func TestM161_a_definition_is_planned_applied_and_given_back(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dry := w.plan(apply("?dryRun=true", owner, twoMocks))
	if !dry.DryRun || dry.Applied || dry.Summary.Created != 3 || len(w.send(call{method: http.MethodGet, path: mocksPath, as: viewer}).names("name")) != 0 {
		t.Errorf("dry run %+v", dry.Summary)
	}
	match := apply("", owner, twoMocks)
	match.header = map[string]string{"If-Match": string(rune('0' + dry.Revision))}
	applied := w.send(match).want(http.StatusOK)
	var plan catalog.Plan
	applied.into(&plan)
	if plan.DryRun || !plan.Applied || plan.Source != "default" || plan.Summary.Created != 3 || applied.header.Get("ETag") != `"v2"` || plan.Revision != 2 {
		t.Errorf("plan %s, ETag %s", applied.body, applied.header.Get("ETag"))
	}
	w.send(match).want(http.StatusPreconditionFailed, mockbase.CodeVersionMismatch)
	if again := w.plan(apply("", owner, twoMocks)); again.Summary.Unchanged != 3 || again.Revision != 2 {
		t.Errorf("the same again: %+v at %d", again.Summary, again.Revision)
	}
	for _, kind := range []string{"application/json", "application/yaml"} {
		got := w.send(call{method: http.MethodGet, path: definitionPath, as: viewer, header: map[string]string{"Accept": kind}}).want(http.StatusOK)
		if got.header.Get("Content-Type") != kind || got.header.Get("ETag") != `"v2"` || !strings.Contains(string(got.body), "1.50") {
			t.Errorf("%s: %s", got.header.Get("Content-Type"), got.body)
		}
		back := apply("", owner, string(got.body))
		back.kind = kind
		if p := w.plan(back); p.Summary.Unchanged != 3 || p.Revision != 2 {
			t.Errorf("%s applied to itself: %+v", kind, p.Summary)
		}
	}
	w.send(call{method: http.MethodGet, path: definitionPath, as: viewer, header: map[string]string{"If-None-Match": `"v2"`}}).want(http.StatusNotModified)
}

func TestM160_a_source_or_a_tag_leaves_out_the_others(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plan(apply("?source=repo", owner, twoMocks))
	w.addMock(`{"name":"by-hand","request":"GET /hand","tags":["t"],"response":{}}`)
	for query, want := range map[string][]string{
		"": {"one", "get-two-id", "by-hand"}, "?source=repo": {"one", "get-two-id"}, "?tag=t": {"get-two-id", "by-hand"},
		"?source=repo&tag=t": {"get-two-id"}, "?source=none": {},
	} {
		var d struct {
			Mocks []struct {
				Name string `json:"name"`
			} `json:"mocks"`
		}
		w.send(call{method: http.MethodGet, path: definitionPath + query, as: viewer}).want(http.StatusOK).into(&d)
		names := []string{}
		for _, m := range d.Mocks {
			names = append(names, m.Name)
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
}

// TestM76 is the life of a source.
func TestM76_orphans_conflicts_prune_and_adopt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plan(apply("?source=repo", owner, twoMocks))
	w.addMock(`{"name":"by-hand","request":"GET /hand","response":{}}`)
	less := `{"mocks":[{"name":"one","request":"GET /one","response":{"json":{"n":2}}}]}`
	plan := w.plan(apply("?source=repo", owner, less))
	if plan.Summary.Updated != 1 || plan.Summary.Deleted != 0 || len(plan.Orphaned) == 0 {
		t.Errorf("without prune: %+v", plan.Summary)
	}
	pruned := w.plan(apply("?source=repo&prune", owner, less))
	if pruned.Summary.Deleted == 0 {
		t.Errorf("with prune: %+v", pruned.Summary)
	}
	foreign := w.send(apply("?source=else", owner, `{"mocks":[{"name":"one","request":"GET /else","response":{}},{"name":"new","request":"GET /new","response":{}}]}`))
	foreign.want(http.StatusConflict, mockbase.CodeApplyConflict)
	var conflict catalog.Plan
	if err := json.Unmarshal(foreign.problem().Plan, &conflict); err != nil || len(conflict.Conflicts) != 1 || conflict.Conflicts[0].Owner != "repo" || conflict.Applied {
		t.Errorf("plan %s (%v)", foreign.problem().Plan, err)
	}
	if names := w.send(call{method: http.MethodGet, path: mocksPath, as: viewer}).names("name"); strings.Join(names, " ") != "by-hand one" {
		t.Errorf("after a conflict there are %v", names)
	}
	// A dry run always answers 200, and adopt takes over.
	if dry := w.plan(apply("?source=else&dryRun", owner, `{"mocks":[{"name":"one","request":"GET /else","response":{}}]}`)); len(dry.Conflicts) != 1 {
		t.Errorf("dry run %+v", dry.Summary)
	}
	if adopted := w.plan(apply("?source=else&adopt=true", owner, `{"mocks":[{"name":"one","request":"GET /else","response":{}}]}`)); adopted.Summary.Updated != 1 {
		t.Errorf("adopted %+v", adopted.Summary)
	}
}

func TestM161_all_or_nothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.send(apply("", owner, "{\"mocks\":[\n{\"request\":\"GET /a\",\"response\":{}},\n{\"request\":\"GET /b\",\"response\":{\"fault\":\"reset\"}},\n{\"request\":\"GET /c\",\"response\":{}}]}"))
	got.want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed)
	want := []mockbase.FieldError{{Pointer: "#/mocks/1/response/fault", Code: mockbase.FieldNotServed, Detail: "faults are not served yet", Line: 3, Column: 41}}
	if diff := cmp.Diff(want, got.problem().Errors); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	if n := len(w.send(call{method: http.MethodGet, path: mocksPath, as: viewer}).names("name")); n != 0 {
		t.Errorf("%d mocks are stored", n)
	}
	yaml := apply("", owner, "mocks:\n  - request: GET /a\n    respons: {}\n    response: {}\n")
	yaml.kind = "application/yaml"
	if e := w.send(yaml).want(http.StatusUnprocessableEntity).problem().Errors; len(e) != 1 || e[0].Line != 3 || e[0].Column != 5 || e[0].Suggestion != "response" {
		t.Errorf("errors %+v", e)
	}
	yaml.body = "mocks:\n\t- x\n"
	if e := w.send(yaml).want(http.StatusBadRequest, mockbase.CodeMalformedBody).problem().Errors; len(e) != 1 || e[0].Line != 2 {
		t.Errorf("errors %+v", e)
	}
}

func TestM161_settings_belong_to_owners(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(apply("", editor, twoMocks)).want(http.StatusForbidden, mockbase.CodeForbidden)
	w.send(apply("", viewer, twoMocks)).want(http.StatusForbidden, mockbase.CodeForbidden)
	w.send(apply("", owner, twoMocks)).want(http.StatusOK)
	w.send(apply("", editor, twoMocks)).want(http.StatusOK)
	w.send(apply("", editor, strings.Replace(twoMocks, "ignore", "strict", 1))).want(http.StatusForbidden, mockbase.CodeForbidden)
	w.send(apply("", editor, `{"mocks":[]}`)).want(http.StatusOK)
}

func TestM161_createProject_makes_a_missing_project(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := "/api/v1/projects/fresh/definition"
	body := `{"mocks":[{"request":"GET /x","response":{}}]}`
	w.send(call{method: http.MethodPut, path: path, as: member, body: body}).want(http.StatusNotFound)
	w.send(call{method: http.MethodPut, path: path + "?createProject=true&dryRun=true", as: member, body: body}).want(http.StatusOK)
	w.send(call{method: http.MethodGet, path: "/api/v1/projects/fresh", as: admin}).want(http.StatusNotFound)
	bad := `{"mocks":[{"request":"GET /x","response":{"fault":"reset"}}]}`
	w.send(call{method: http.MethodPut, path: path + "?createProject=true", as: member, body: bad}).want(http.StatusUnprocessableEntity)
	w.send(call{method: http.MethodGet, path: "/api/v1/projects/fresh", as: admin}).want(http.StatusNotFound)
	w.send(call{method: http.MethodPut, path: path + "?createProject=true", as: member, body: body, header: map[string]string{"If-Match": `"v1"`}}).want(http.StatusPreconditionFailed)
	w.send(call{method: http.MethodPut, path: path + "?createProject=true", as: member, body: body}).want(http.StatusOK)
	if p := w.send(call{method: http.MethodGet, path: "/api/v1/projects/fresh", as: member}).want(http.StatusOK).json(); p["role"] != "owner" || p["name"] != "fresh" {
		t.Errorf("project %v", p)
	}
	w.send(call{method: http.MethodPut, path: "/api/v1/projects/Not%20Good/definition?createProject=true", as: member, body: body}).want(http.StatusUnprocessableEntity)
	// A project of somebody else is there for nobody (rule M-14).
	w.send(call{method: http.MethodPut, path: "/api/v1/projects/shop/definition?createProject=true", as: member, body: body}).want(http.StatusNotFound)
}

// The plan for a project that is not there yet has a revision like every other one.
func TestM76_the_revision_of_a_first_plan_can_be_applied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := "/api/v1/projects/fresh/definition?createProject=true"
	body := `{"mocks":[{"request":"GET /x","response":{}}]}`
	plan := w.send(call{method: http.MethodPut, path: path + "&dryRun=true", as: member, body: body}).want(http.StatusOK).json()
	if plan["revision"] != 0.0 {
		t.Errorf("revision %v, want 0", plan["revision"])
	}
	first := call{method: http.MethodPut, path: path, as: member, body: body, header: map[string]string{"If-Match": `"v0"`}}
	w.send(first).want(http.StatusOK)
	w.send(first).want(http.StatusPreconditionFailed, mockbase.CodeVersionMismatch)
}

func TestM161_parameters_are_checked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, query := range []string{"?dryrun=true", "?prune=yes", "?source=Not%20Good", "?source=", "?adopt=1", "?source=a&source=b"} {
		w.send(apply(query, owner, `{"mocks":[]}`)).want(http.StatusBadRequest, mockbase.CodeInvalidParameter)
	}
}

func TestM10_a_project_may_ask_for_If_Match(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addMock(`{"name":"hello","request":"GET /hello","response":{}}`)
	w.send(patch("/api/v1/projects/shop", owner, `{"settings":{"requireIfMatch":true}}`)).want(http.StatusOK)
	body := `{"mocks":[]}`
	for _, c := range []call{
		apply("", owner, body),
		{method: http.MethodPut, path: mocksPath + "/hello", as: editor, body: `{"request":"GET /hello","response":{}}`},
		patch(mocksPath+"/hello", editor, `{"priority":1}`),
		{method: http.MethodDelete, path: mocksPath + "/hello", as: editor},
		{method: http.MethodDelete, path: "/api/v1/projects/shop?confirm=shop", as: owner},
	} {
		w.send(c).want(http.StatusPreconditionRequired, mockbase.CodePreconditionRequired)
	}
	// The dry run tells the revision that the header then holds.
	dry := w.plan(apply("?dryRun=true", owner, body))
	match := apply("", owner, body)
	match.header = map[string]string{"If-Match": string(rune('0' + dry.Revision))}
	w.send(match).want(http.StatusOK)
	w.send(call{method: http.MethodPut, path: mocksPath + "/new", as: editor, body: `{"request":"GET /n","response":{}}`, header: map[string]string{"If-None-Match": "*"}}).want(http.StatusCreated)
}
