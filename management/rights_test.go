package management_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/catalog"
)

// TestM161_settings: whatever way an apply would change the settings of a project, only an owner may. What counts is what
// would happen and not what the document says, and a dry run judges alike.
func TestM161_no_apply_of_an_editor_changes_settings(t *testing.T) {
	t.Parallel()
	const (
		mock     = `"mocks":[{"name":"one","request":"GET /one","response":{"text":"1"}}]`
		changed  = `"mocks":[{"name":"one","request":"GET /one","response":{"text":"2"}}]`
		settings = `"settings":{"trailingSlash":"ignore"},`
	)
	for name, c := range map[string]struct {
		query, body string
		// hand sets the settings by hand before, instead of by the source repo.
		hand bool
		want int
	}{
		"the same":                           {query: "?source=repo", body: settings + changed, want: 200},
		"the same, pruned":                   {query: "?source=repo&prune=true", body: settings + changed, want: 200},
		"left out":                           {query: "?source=repo", body: changed, want: 200},
		"left out, pruned":                   {query: "?source=repo&prune=true", body: changed, want: 403},
		"left out, pruned and adopted":       {query: "?source=repo&prune=true&adopt=true", body: changed, want: 403},
		"left out, pruned by another source": {query: "?source=else&prune=true&adopt=true", body: changed, want: 200},
		"changed":                            {query: "?source=repo", body: `"settings":{"trailingSlash":"strict"},` + mock, want: 403},
		"emptied":                            {query: "?source=repo", body: `"settings":{},` + mock, want: 403},
		"extended":                           {query: "?source=repo", body: `"settings":{"pathCase":"ignore","trailingSlash":"ignore"},` + mock, want: 403},
		"adopted by another source":          {query: "?source=else&adopt=true", body: settings + mock, want: 403},
		"made by hand, the same":             {query: "?source=repo", body: settings + changed, hand: true, want: 200},
		"made by hand, changed":              {query: "?source=repo", body: `"settings":{"trailingSlash":"strict"},` + mock, hand: true, want: 403},
		"made by hand, changed and adopted":  {query: "?source=repo&adopt=true", body: `"settings":{"trailingSlash":"strict"},` + mock, hand: true, want: 403},
		"made by hand, pruned":               {query: "?source=repo&prune=true", body: changed, hand: true, want: 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if c.hand {
				w.plan(apply("?source=repo", owner, "{"+mock+"}"))
				w.send(patch("/api/v1/projects/shop", owner, `{"settings":{"trailingSlash":"ignore"}}`)).want(http.StatusOK)
			} else {
				w.plan(apply("?source=repo", owner, "{"+settings+mock+"}"))
			}
			before := w.send(call{method: http.MethodGet, path: definitionPath, as: owner})
			for _, dry := range []string{"&dryRun=true", ""} {
				got := w.send(apply(c.query+dry, editor, "{"+c.body+"}"))
				if got.status != c.want {
					t.Fatalf("%s: status %d, want %d: %s", dry, got.status, c.want, got.body)
				}
				if c.want != http.StatusForbidden {
					continue
				}
				if p := got.problem(); p.Code != mockbase.CodeForbidden || !strings.Contains(p.Detail, "settings") || !strings.Contains(p.Detail, "owner") {
					t.Errorf("problem %s", got.body)
				}
				after := w.send(call{method: http.MethodGet, path: definitionPath, as: owner})
				if string(after.body) != string(before.body) || after.header.Get("ETag") != before.header.Get("ETag") {
					t.Errorf("a refused apply made %s of %s", after.body, before.body)
				}
			}
			if got := w.send(call{method: http.MethodGet, path: "/api/v1/projects/shop", as: owner}); !strings.Contains(string(got.body), `"trailingSlash":"ignore"`) {
				t.Errorf("the settings are gone: %s", got.body)
			}
		})
	}
}

// M-76: the same settings of another source are a conflict like any other, which changes nothing.
func TestM161_settings_that_would_stay_are_no_matter_of_rights(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plan(apply("?source=repo", owner, twoMocks))
	if dry := w.plan(apply("?source=else&dryRun=true", editor, twoMocks)); len(dry.Conflicts) != 2 { // the mock without a name goes round it
		t.Errorf("conflicts %+v", dry.Conflicts)
	}
	w.send(apply("?source=else", editor, twoMocks)).want(http.StatusConflict, mockbase.CodeApplyConflict)
	changed := strings.Replace(twoMocks, "ignore", "strict", 1)
	w.send(apply("?source=else&dryRun=true", editor, changed)).want(http.StatusForbidden, mockbase.CodeForbidden)
	w.send(apply("?source=else", editor, changed)).want(http.StatusForbidden, mockbase.CodeForbidden)
}

func TestM161_an_owner_prunes_settings(t *testing.T) {
	t.Parallel()
	for _, who := range []string{owner, admin} {
		w := newWorld(t)
		w.plan(apply("", who, twoMocks))
		plan := w.plan(apply("?prune=true", who, `{"mocks":[]}`))
		if plan.Summary.Deleted != 3 || plan.Deleted[0].Kind != catalog.KindSettings {
			t.Errorf("%s: deleted %+v", who, plan.Deleted)
		}
	}
}

// M-7: rights come before what is wrong with the content, and a document that cannot be read before rights that depend on it.
func TestM7_settings_without_the_right_are_refused_before_their_faults(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(apply("", editor, `{"settings":{"compress":true},"mocks":[]}`)).want(http.StatusForbidden, mockbase.CodeForbidden)
	w.send(apply("", owner, `{"settings":{"compress":true},"mocks":[]}`)).want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed)
	w.send(apply("", editor, `{"settings":1,"mocks":[]}`)).want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed)
}

// M-161: the path names the project, and a document that names another one was meant for that.
func TestM161_a_document_of_another_project_is_refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := func(project string) string { return "/api/v1/projects/" + project + "/definition" }
	body := func(project string) string {
		return "{\"mocks\":[{\"request\":\"GET /x\",\"response\":{}}],\n\"project\":\"" + project + "\"}"
	}
	for name, c := range map[string]call{
		"by slug":         {path: at("shop"), body: body("other")},
		"by id":           {path: at(w.shop.ID), body: body("other")},
		"no such project": {path: at("shop"), body: body("nowhere")},
		"dry run":         {path: at("shop") + "?dryRun=true", body: body("other")},
		"as YAML":         {path: at("shop"), body: "mocks: []\nproject: other\n", kind: "application/yaml"},
		"created":         {path: at("fresh") + "?createProject=true", body: body("other")},
	} {
		c.method, c.as = http.MethodPut, owner
		got := w.send(c).want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed)
		e := got.problem().Errors
		if len(e) != 1 || e[0].Pointer != "#/project" || e[0].Code != mockbase.FieldConflict || e[0].Line != 2 {
			t.Fatalf("%s: %s", name, got.body)
		}
		named := "other"
		if name == "no such project" {
			named = "nowhere"
		}
		if !strings.Contains(e[0].Detail, "/api/v1/projects/"+named+"/definition") || !strings.Contains(e[0].Detail, "leave out") {
			t.Errorf("%s: the detail names no fix: %s", name, e[0].Detail)
		}
	}
	w.send(call{method: http.MethodGet, path: "/api/v1/projects/fresh", as: admin}).want(http.StatusNotFound)
	if n := len(w.send(call{method: http.MethodGet, path: mocksPath, as: viewer}).names("name")); n != 0 {
		t.Errorf("%d mocks came into the wrong project", n)
	}
	for _, c := range []call{
		{path: at("shop"), body: body("shop")},
		{path: at(w.shop.ID), body: body("shop")},
		{path: at("shop"), body: `{"mocks":[]}`},
		{path: at("fresh") + "?createProject=true", body: body("fresh")},
	} {
		c.method, c.as = http.MethodPut, owner
		w.send(c).want(http.StatusOK)
	}
}
