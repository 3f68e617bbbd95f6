package management_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
)

// M-13: a cursor belongs to the list that gave it, every other one refuses it by its name.
func TestM13_a_cursor_of_another_list_is_refused_by_every_list(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := range 3 {
		w.addMock(fmt.Sprintf(`{"name":"m%d","request":"GET /m%d","response":{"text":"hi"}}`, n, n))
	}
	given := w.send(call{method: http.MethodGet, path: mocksPath + "?limit=1", as: owner}).want(http.StatusOK).json()["nextCursor"].(string)
	lists := 0
	for _, r := range management.Routes() {
		if !slices.Contains(r.Query, "cursor") || r.Operation == "listMocks" {
			continue
		}
		caller := owner
		if r.Access == "admin" {
			caller = admin
		}
		got := w.send(call{method: r.Method, path: at(r.Path, "shop", "m0") + "?cursor=" + given, as: caller})
		if got.status == http.StatusNotFound {
			continue // What the list is of is not there.
		}
		lists++
		if got.status != http.StatusBadRequest || !strings.Contains(string(got.body), `"code":"invalid-cursor"`) || !strings.Contains(string(got.body), `"#/query/cursor"`) {
			t.Errorf("%s %s: %d %s", r.Method, r.Path, got.status, got.body)
		}
	}
	if lists < 15 {
		t.Errorf("only %d lists were asked", lists)
	}
}

// M-13: a cursor belongs to the filters that it was given for, not to the size of the pages, and a project has two names.
func TestM13_a_cursor_of_other_filters_is_refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := range 4 {
		w.addMock(fmt.Sprintf(`{"name":"m%d","request":"GET /m%d","response":{"text":"hi"}}`, n, n))
		w.do("POST", "/projects/shop/mocks", editor, fmt.Sprintf(`{"name":"n%d","request":"GET /n%d","response":{}}`, n, n)).want(http.StatusCreated)
	}
	w.record()
	byID := "/projects/" + w.shop.ID
	for _, list := range []struct{ caller, path, filter string }{
		{owner, "/projects/shop/mocks", "q=m"},
		{owner, "/projects/shop/traffic", "method=GET"},
		{admin, "/admin/audit", "outcome=success"},
		{owner, "/projects/shop/audit", "outcome=success"},
		{admin, "/users", "q=e"},
	} {
		next, _ := w.do("GET", list.path+"?limit=1&"+list.filter, list.caller, "").want(http.StatusOK).json()["nextCursor"].(string)
		if next == "" {
			t.Errorf("%s?%s has one page", list.path, list.filter)
			continue
		}
		paths := []string{list.path}
		if rest, ok := strings.CutPrefix(list.path, "/projects/shop"); ok {
			paths = append(paths, byID+rest)
		}
		for _, path := range paths {
			w.do("GET", path+"?cursor="+next+"&"+list.filter, list.caller, "").want(http.StatusOK)
			w.do("GET", path+"?limit=2&"+list.filter+"&cursor="+next, list.caller, "").want(http.StatusOK)
			w.do("GET", path+"?cursor="+next, list.caller, "").want(http.StatusBadRequest, mockbase.CodeInvalidCursor)
			w.do("GET", path+"?"+list.filter+"x&cursor="+next, list.caller, "").want(http.StatusBadRequest)
		}
	}
}
