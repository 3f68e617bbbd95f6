package management_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
)

func TestM61_S6_what_a_project_may_call_is_narrowed_through_its_settings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addMock(`{"name":"passed","request":"GET /passed","response":{"proxy":{"to":"http://8.8.8.8:1"}}}`)
	const own = `"upstreamAllow":["10.0.0.0/8","api.example.com","loopback"]`
	got := w.send(patch(shopPath, owner, `{"settings":{`+own+`}}`)).want(http.StatusOK)
	if !strings.Contains(string(got.body), own) {
		t.Errorf("answered %s", got.body)
	}
	if got := w.get(shopPath); !strings.Contains(string(got.body), own) {
		t.Errorf("the project is %s", got.body)
	}
	called := httptest.NewRecorder()
	w.engine.ServeHTTP(called, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/m/shop/passed", http.NoBody))
	if called.Code != http.StatusBadGateway || !strings.Contains(called.Body.String(), "8.8.8.8 is not in the project's list") {
		t.Errorf("the mock answered %d %s", called.Code, called.Body)
	}
	w.send(patch(shopPath, editor, `{"settings":{"upstreamAllow":null}}`)).want(http.StatusForbidden)
	got = w.send(patch(shopPath, owner, `{"settings":{"upstreamAllow":null}}`)).want(http.StatusOK)
	if strings.Contains(string(got.body), "upstreamAllow") {
		t.Errorf("without a list: %s", got.body)
	}
}

func TestM61_what_a_project_may_call_is_no_part_of_a_definition(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(patch(shopPath, owner, `{"settings":{"upstreamAllow":["loopback"],"seed":7}}`)).want(http.StatusOK)
	if got := w.get(shopPath + "/definition"); strings.Contains(string(got.body), "upstreamAllow") || !strings.Contains(string(got.body), `"seed": 7`) {
		t.Errorf("the definition is %s", got.body)
	}
	refused := w.send(call{method: http.MethodPut, path: shopPath + "/definition", as: owner, body: `{"settings":{"upstreamAllow":["loopback"]},"mocks":[]}`})
	if faults := refused.want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed).problem().Errors; len(faults) != 1 || faults[0].Code != "unknown_key" {
		t.Errorf("answered %s", refused.body)
	}
	w.send(call{method: http.MethodPut, path: shopPath + "/definition", as: owner, body: `{"mocks":[]}`}).want(http.StatusOK)
	if got := w.get(shopPath); !strings.Contains(string(got.body), `"upstreamAllow":["loopback"]`) {
		t.Errorf("a definition took the list away: %s", got.body)
	}
}
