package management_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
)

// M-13: pages of any size, one after the other, are the whole list in its order, with no item twice and none left out.
func TestM13_pages_make_the_whole_list_in_every_order(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 40 {
		w.addMock(fmt.Sprintf(`{"name":"m-%02d","priority":%d,"request":"GET /p/%d","response":{}}`, i*7%40, i%3, i%5))
	}
	for _, sort := range []string{"name", "-name", "path", "-path", "priority", "-priority", "updatedAt", "-calls"} {
		whole := w.send(call{method: http.MethodGet, path: mocksPath + "?limit=200&sort=" + sort, as: viewer}).want(http.StatusOK).names("name")
		if len(whole) != 40 {
			t.Fatalf("%s: %d mocks", sort, len(whole))
		}
		for _, limit := range []int{1, 7, 39, 40, 41} {
			var got []string
			for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
				page := w.send(call{method: http.MethodGet, as: viewer, path: fmt.Sprintf("%s?limit=%d&sort=%s&cursor=%s", mocksPath, limit, sort, url.QueryEscape(cursor))}).want(http.StatusOK)
				got = append(got, page.names("name")...)
				cursor, _ = page.json()["nextCursor"].(string)
			}
			if !slices.Equal(got, whole) {
				t.Errorf("sort %s, limit %d: %q, want %q", sort, limit, got, whole)
			}
		}
	}
}
