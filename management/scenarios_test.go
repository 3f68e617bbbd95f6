package management_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
)

// scenario is one request by one caller, the answer, and what is there afterwards.
type scenario struct {
	name   string
	call   call
	status int
	code   mockbase.Code
	// holds and lacks are parts of the body.
	holds, lacks []string
	// after are the names of the shop's mocks afterwards, "" for those of the beginning.
	after string
}

// as asks the same of several callers.
func as(s scenario, statuses map[string]int) []scenario {
	var all []scenario
	for caller, status := range statuses {
		one := s
		one.name, one.call.as, one.status = s.name+" as "+caller, caller, status
		if caller == guest {
			one.name = s.name + " as nobody"
		}
		switch status {
		case http.StatusUnauthorized:
			one.code, one.holds, one.after = mockbase.CodeUnauthenticated, nil, ""
		case http.StatusForbidden:
			one.code, one.holds, one.after = mockbase.CodeForbidden, nil, ""
		case http.StatusNotFound:
			one.code, one.holds, one.after = mockbase.CodeNotFound, nil, ""
		}
		all = append(all, one)
	}
	return all
}

// readers is what each caller gets where the role viewer is enough; editors and owners are the same for theirs.
func readers() map[string]int {
	return map[string]int{guest: 401, member: 404, stranger: 404, viewer: 200, editor: 200, owner: 200, admin: 200}
}

func editors(status int) map[string]int {
	return map[string]int{guest: 401, member: 404, stranger: 404, viewer: 403, editor: status, owner: status, admin: status}
}

func owners(status int) map[string]int {
	return map[string]int{guest: 401, member: 404, stranger: 404, viewer: 403, editor: 403, owner: status, admin: status}
}

// scene is a world in which the shop has the mocks one and two.
func scene(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.addMock(`{"name":"one","request":"GET /one","response":{"text":"first"}}`)
	w.addMock(`{"name":"two","request":"GET /two","response":{"text":"second"}}`)
	w.record()
	return w
}

// run runs each scenario in a world of its own; those that only read share one.
func run(t *testing.T, scenarios ...scenario) {
	t.Helper()
	shared := scene(t)
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			w := shared
			if s.call.method != http.MethodGet && s.status < http.StatusBadRequest {
				w = scene(t)
			}
			got := w.sendIn(t, s.call)
			if got.status != s.status || s.code != "" && got.problem().Code != s.code {
				t.Fatalf("status %d, want %d %s: %s", got.status, s.status, s.code, got.body)
			}
			for _, part := range s.holds {
				if !strings.Contains(string(got.body), part) {
					t.Errorf("the body lacks %s: %s", part, got.body)
				}
			}
			for _, part := range s.lacks {
				if strings.Contains(string(got.body), part) {
					t.Errorf("the body holds %s: %s", part, got.body)
				}
			}
			after := s.after
			if after == "" {
				after = "one two"
			}
			if names := w.shopMocks(); names != after {
				t.Errorf("afterwards the shop has %q, want %q", names, after)
			}
		})
	}
}

// shopMocks names the mocks of the shop, past the API; "gone" when the shop is.
func (w *world) shopMocks() string {
	found, ok := w.catalog.Project(w.shop.ID)
	if !ok {
		return "gone"
	}
	names := make([]string, len(found.Mocks))
	for i, m := range found.Mocks {
		names[i] = m.Name
	}
	return strings.Join(names, " ")
}

func TestM140_reading_mocks(t *testing.T) {
	t.Parallel()
	secret := []string{"first", "one"}
	run(t, as(scenario{name: "M-140 list", call: call{method: http.MethodGet, path: mocksPath}, holds: secret}, readers())...)
	run(t, as(scenario{name: "M-142 one", call: call{method: http.MethodGet, path: mocksPath + "/one"}, holds: secret}, readers())...)
	run(t, as(scenario{name: "M-142 none", call: call{method: http.MethodGet, path: mocksPath + "/three"}}, map[string]int{guest: 401, viewer: 404, admin: 404})...)
	run(t, as(scenario{name: "M-160 definition", call: call{method: http.MethodGet, path: definitionPath}, holds: secret}, readers())...)
}

func TestM141_writing_mocks(t *testing.T) {
	t.Parallel()
	three := `{"name":"three","request":"GET /three","response":{}}`
	run(t, as(scenario{name: "M-141 create", call: call{method: http.MethodPost, path: mocksPath, body: three}, holds: []string{`"name":"three"`}, after: "one two three"}, editors(201))...)
	run(t, as(scenario{name: "M-143 replace", call: call{method: http.MethodPut, path: mocksPath + "/one", body: `{"request":"GET /one","response":{"text":"changed"}}`}, holds: []string{"changed"}, lacks: []string{"first"}}, editors(200))...)
	run(t, as(scenario{name: "M-143 create", call: call{method: http.MethodPut, path: mocksPath + "/three", body: three, header: map[string]string{"If-None-Match": "*"}}, after: "one two three"}, editors(201))...)
	run(t, as(scenario{name: "M-144 rename", call: patch(mocksPath+"/one", guest, `{"name":"uno"}`), holds: []string{`"name":"uno"`}, after: "uno two"}, editors(200))...)
	run(t, as(scenario{name: "M-145 delete", call: call{method: http.MethodDelete, path: mocksPath + "/one"}, after: "two"}, editors(204))...)
	run(t, as(scenario{name: "M-161 apply", call: call{method: http.MethodPut, path: definitionPath, body: `{"mocks":[` + three + `]}`}, holds: []string{`"created":1`}, after: "one two three"}, editors(200))...)
	run(t, as(scenario{name: "M-161 plan", call: call{method: http.MethodPut, path: definitionPath + "?dryRun", body: `{"mocks":[` + three + `]}`}, holds: []string{`"created":1`}}, editors(200))...)
	run(t, as(scenario{name: "M-161 settings", call: call{method: http.MethodPut, path: definitionPath, body: `{"settings":{"pathCase":"ignore"},"mocks":[` + three + `]}`}, after: "one two three"}, owners(200))...)
}

func TestM132_projects_by_caller(t *testing.T) {
	t.Parallel()
	run(t, as(scenario{name: "M-132 read", call: call{method: http.MethodGet, path: "/api/v1/projects/shop"}, holds: []string{`"slug":"shop"`}}, readers())...)
	run(t, as(scenario{name: "M-133 change", call: patch("/api/v1/projects/shop", guest, `{"name":"Changed"}`), holds: []string{"Changed"}}, owners(200))...)
	run(t, as(scenario{name: "M-134 delete", call: call{method: http.MethodDelete, path: "/api/v1/projects/shop?confirm=shop"}, after: "gone"}, owners(204))...)
	run(t, as(scenario{name: "M-131 create", call: call{method: http.MethodPost, path: "/api/v1/projects", body: `{"slug":"mine","name":"Mine"}`}, holds: []string{`"role":"owner"`}},
		map[string]int{guest: 401, member: 201, stranger: 201, viewer: 201, editor: 201, owner: 201, admin: 201})...)
	for caller, lacks := range map[string]string{member: `"slug"`, stranger: "shop", viewer: `"slug":"other"`, owner: `"slug":"other"`} {
		run(t, scenario{name: "M-130 list as " + caller, call: call{method: http.MethodGet, path: "/api/v1/projects", as: caller}, status: 200, lacks: []string{lacks}})
	}
}

func TestM175_traffic_by_caller(t *testing.T) {
	t.Parallel()
	run(t, as(scenario{name: "M-175 list", call: call{method: http.MethodGet, path: trafficPath}, holds: []string{"/m/shop/hello"}}, readers())...)
	run(t, as(scenario{name: "M-176 one", call: call{method: http.MethodGet, path: trafficPath + "/latest"}, holds: []string{"client went away"}}, readers())...)
	run(t, as(scenario{name: "M-179 clear", call: call{method: http.MethodDelete, path: trafficPath}, holds: []string{`"deleted":3`}}, editors(200))...)
}

// TestM14_another_projects_mock is reached by no spelling of its address.
func TestM14_another_projects_mock_is_nowhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.addMock(`{"name":"one","request":"GET /one","response":{"text":"first"}}`)
	for _, project := range []string{"shop", w.shop.ID, "other", w.other.ID, "nope", "SHOP", "shop%20"} {
		for _, mock := range []string{"one", m.ID} {
			for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodPatch, http.MethodDelete} {
				got := w.send(call{method: method, path: fmt.Sprintf("/api/v1/projects/%s/mocks/%s", project, mock), as: stranger, body: `{"request":"GET /one","response":{}}`})
				if got.status != http.StatusNotFound {
					t.Errorf("%s %s/%s: %d %s", method, project, mock, got.status, got.body)
				}
			}
		}
	}
	if w.shopMocks() != "one" {
		t.Errorf("the shop has %q", w.shopMocks())
	}
}
