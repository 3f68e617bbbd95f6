package management_test

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
)

// together sends requests at the same time and counts the statuses of the answers.
func (w *world) together(n int, ask func(i int) call) map[int]int {
	w.t.Helper()
	for _, name := range callers() {
		w.token(name)
	}
	statuses := make([]int, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { statuses[i] = w.send(ask(i)).status })
	}
	group.Wait()
	count := map[int]int{}
	for _, status := range statuses {
		count[status]++
	}
	return count
}

// TestM10_of_parallel_changes_of_one_version_one_wins: the version is compared again where the change is stored.
func TestM10_of_parallel_changes_of_one_version_one_wins(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(i int) call{
		"PUT a mock": func(i int) call {
			return call{method: http.MethodPut, path: mocksPath + "/one", as: editor, body: fmt.Sprintf(`{"request":"GET /one","response":{"text":"%d"}}`, i)}
		},
		"PATCH a mock":    func(i int) call { return patch(mocksPath+"/one", editor, fmt.Sprintf(`{"priority":%d}`, i+1)) },
		"PATCH a project": func(i int) call { return patch("/api/v1/projects/shop", owner, fmt.Sprintf(`{"name":"n%d"}`, i)) },
	} {
		w := scene(t)
		count := w.together(12, func(i int) call {
			c := ask(i)
			c.header = map[string]string{"If-Match": `"v1"`}
			return c
		})
		if count[http.StatusOK] != 1 || count[http.StatusPreconditionFailed] != 11 {
			t.Errorf("%s: statuses %v", name, count)
		}
	}
}

func TestM145_of_parallel_deletions_one_finds_the_mock(t *testing.T) {
	t.Parallel()
	w := scene(t)
	count := w.together(8, func(int) call { return call{method: http.MethodDelete, path: mocksPath + "/one", as: editor} })
	if count[http.StatusNoContent] != 1 || count[http.StatusNotFound] != 7 || w.shopMocks() != "two" {
		t.Errorf("statuses %v, the shop has %q", count, w.shopMocks())
	}
}

func TestY2_of_parallel_creations_of_one_name_one_wins(t *testing.T) {
	t.Parallel()
	w := scene(t)
	count := w.together(12, func(int) call { return post(`{"name":"three","request":"GET /three","response":{}}`) })
	if count[http.StatusCreated] != 1 || count[http.StatusConflict] != 11 {
		t.Errorf("statuses %v", count)
	}
	projects := w.together(12, func(int) call {
		return call{method: http.MethodPost, path: "/api/v1/projects", as: member, body: `{"slug":"mine","name":"Mine"}`}
	})
	if projects[http.StatusCreated] != 1 || projects[http.StatusConflict] != 11 {
		t.Errorf("statuses %v", projects)
	}
}

// TestY6_a_change_holds_for_the_next_request: what was answered is there for everybody at once.
func TestY6_a_change_holds_for_the_next_request(t *testing.T) {
	t.Parallel()
	w := scene(t)
	var group sync.WaitGroup
	w.token(editor)
	w.token(viewer)
	for i := range 8 {
		group.Go(func() {
			name := fmt.Sprintf("new%d", i)
			if got := w.send(post(`{"name":"` + name + `","request":"GET /` + name + `","response":{}}`)); got.status != http.StatusCreated {
				t.Errorf("create %s: %d", name, got.status)
			}
			if got := w.send(call{method: http.MethodGet, path: mocksPath + "/" + name, as: viewer}); got.status != http.StatusOK {
				t.Errorf("read %s: %d", name, got.status)
			}
			if got := w.send(call{method: http.MethodDelete, path: mocksPath + "/" + name, as: editor}); got.status != http.StatusNoContent {
				t.Errorf("delete %s: %d", name, got.status)
			}
			if got := w.send(call{method: http.MethodGet, path: mocksPath + "/" + name, as: viewer}); got.status != http.StatusNotFound {
				t.Errorf("read %s again: %d", name, got.status)
			}
		})
	}
	group.Wait()
	if w.shopMocks() != "one two" {
		t.Errorf("the shop has %q", w.shopMocks())
	}
}

// TestM76_parallel_first_applies_all_succeed: whoever comes second finds the project that the first one made.
func TestM76_parallel_first_applies_all_succeed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"mocks":[{"request":"GET /x","response":{}}]}`
	for round := range 5 {
		path := "/api/v1/projects/fresh-" + strconv.Itoa(round) + "/definition?createProject=true"
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				w.send(call{method: http.MethodPut, path: path, as: member, body: body}).want(http.StatusOK)
			})
		}
		group.Wait()
	}
}
