package management_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
)

func keyed(key, body string) call {
	c := post(body)
	c.header = map[string]string{"Idempotency-Key": key}
	return c
}

func TestM12_a_repeated_create_gets_the_first_answer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"request":"GET /x","response":{}}`
	first := w.send(keyed("k1", body)).want(http.StatusCreated)
	again := w.send(keyed("k1", body)).want(http.StatusCreated)
	if string(first.body) != string(again.body) || again.header.Get("Idempotency-Replayed") != "true" || first.header.Get("Idempotency-Replayed") != "" {
		t.Errorf("first %s, again %s %v", first.body, again.body, again.header)
	}
	for _, name := range []string{"Location", "ETag", "Content-Type"} {
		if first.header.Get(name) != again.header.Get(name) {
			t.Errorf("%s: %q, then %q", name, first.header.Get(name), again.header.Get(name))
		}
	}
	w.send(keyed("k1", `{"request":"GET /y","response":{}}`)).want(http.StatusUnprocessableEntity, mockbase.CodeIdempotencyMismatch)
	w.send(keyed("k2", body)).want(http.StatusCreated)
	other := keyed("k1", body)
	other.as = owner
	if got := w.send(other).want(http.StatusCreated); got.header.Get("Idempotency-Replayed") != "" {
		t.Error("another caller got the answer of the first")
	}
	if n := len(w.send(call{method: http.MethodGet, path: mocksPath, as: viewer}).names("name")); n != 3 {
		t.Errorf("%d mocks, want 3", n)
	}
	// A refusal is an answer too, as long as it is none of the server's own failures.
	bad := w.send(keyed("k3", `{}`)).want(http.StatusUnprocessableEntity)
	r := w.request(t, keyed("k3", `{}`))
	got, err := w.server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	got.Body.Close()
	if got.StatusCode != bad.status || got.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("status %d, %v", got.StatusCode, got.Header)
	}
	// It is forgotten after a day.
	w.clock.Advance(24 * time.Hour)
	w.tokens = map[string]string{}
	if got := w.send(keyed("k1", body)).want(http.StatusCreated); got.header.Get("Idempotency-Replayed") != "" {
		t.Error("the answer is kept for more than a day")
	}
}

func TestM12_keys_and_rights_are_checked_first(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"request":"GET /x","response":{}}`
	for _, key := range []string{"", "a b", strings.Repeat("k", 256), "é"} {
		w.send(keyed(key, body)).want(http.StatusBadRequest, mockbase.CodeInvalidParameter)
	}
	refused := keyed("k", body)
	refused.as = viewer
	w.send(refused).want(http.StatusForbidden)
	w.send(keyed("k", strings.Repeat("x", 17<<20))).want(http.StatusRequestEntityTooLarge)
	w.send(keyed("k", body)).want(http.StatusCreated)
}

func TestM12_of_parallel_repetitions_one_creates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var mu sync.Mutex
	count := map[int]int{}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			got := w.send(keyed("same", `{"request":"GET /x","response":{}}`))
			mu.Lock()
			defer mu.Unlock()
			count[got.status]++
			if got.status == http.StatusConflict && got.header.Get("Retry-After") != "1" {
				t.Errorf("Retry-After is %q", got.header.Get("Retry-After"))
			}
		})
	}
	group.Wait()
	if count[http.StatusCreated]+count[http.StatusConflict] != 8 || count[http.StatusCreated] == 0 {
		t.Errorf("statuses %v", count)
	}
	if n := len(w.send(call{method: http.MethodGet, path: mocksPath, as: viewer}).names("name")); n != 1 {
		t.Errorf("%d mocks, want 1", n)
	}
}

// renewed deletes the project of the tests and makes one of the same name, with the same members.
func (w *world) renewed() {
	w.t.Helper()
	w.send(call{method: http.MethodDelete, path: "/api/v1/projects/shop?confirm=shop", as: owner}).want(http.StatusNoContent)
	w.send(call{method: http.MethodPost, path: "/api/v1/projects", as: owner, body: `{"slug":"shop","name":"Shop"}`}).want(http.StatusCreated)
	for role, who := range map[string]string{"editor": w.users[editor].ID, "viewer": w.users[viewer].ID} {
		w.send(call{method: http.MethodPut, path: "/api/v1/projects/shop/members/" + who, as: owner, body: `{"role":"` + role + `"}`}).want(http.StatusCreated)
	}
}

// M-12: a key is for the repetition of one request. What that made may be gone, or another one have its name: the answer is
// still that of the first.
func TestM12_a_repetition_tells_what_the_request_made_and_not_what_is_there(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	create := call{method: http.MethodPost, path: "/api/v1/projects", as: owner, body: `{"slug":"till","name":"Till"}`, header: map[string]string{"Idempotency-Key": "k1"}}
	first := w.send(create).want(http.StatusCreated)
	gone := call{method: http.MethodDelete, path: "/api/v1/projects/till?confirm=till", as: owner}
	w.send(gone).want(http.StatusNoContent)
	repeated := func() {
		t.Helper()
		again := w.send(create).want(http.StatusCreated)
		if string(again.body) != string(first.body) || again.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("first %s, again %s %v", first.body, again.body, again.header)
		}
	}
	repeated()
	w.send(call{method: http.MethodGet, path: "/api/v1/projects/till", as: owner}).want(http.StatusNotFound)
	create.header = map[string]string{"Idempotency-Key": "k2"}
	if anew := w.send(create).want(http.StatusCreated); string(anew.body) == string(first.body) || anew.header.Get("Idempotency-Replayed") != "" {
		t.Errorf("another key got %s %v", anew.body, anew.header)
	}
	create.header = map[string]string{"Idempotency-Key": "k1"}
	repeated()
}

// M-12: a request to a project is not the one that came to a project which had its name before. The same holds for a mock, and
// for a user who has the address of somebody who is gone.
func TestM12_what_has_the_name_of_something_gone_has_no_answers_of_it(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	create := keyed("k1", `{"name":"made","request":"GET /made","response":{}}`)
	duplicate := keyed("k1", `{"name":"twin"}`)
	duplicate.path = mocksPath + "/made/duplicate"
	made := func(asked call) {
		t.Helper()
		if got := w.send(asked).want(http.StatusCreated); got.header.Get("Idempotency-Replayed") != "" {
			t.Errorf("%s %s answers for what is gone: %s", asked.method, asked.path, got.body)
		}
	}
	made(create)
	made(duplicate)
	w.renewed()
	made(create)
	made(duplicate)
	for _, name := range []string{"made", "twin"} {
		w.send(call{method: http.MethodDelete, path: mocksPath + "/" + name, as: editor}).want(http.StatusNoContent)
	}
	create.header = map[string]string{"Idempotency-Key": "k2"}
	made(create)
	made(duplicate)

	hire := call{method: http.MethodPost, path: "/api/v1/users", as: admin, body: `{"email":"new@example.com","name":"New","role":"member","password":"` + password + `"}`}
	reset := call{method: http.MethodPost, path: "/api/v1/users/new@example.com/password-reset", as: admin, header: map[string]string{"Idempotency-Key": "k1"}}
	w.send(hire).want(http.StatusCreated)
	made(reset)
	w.send(call{method: http.MethodDelete, path: "/api/v1/users/new@example.com", as: admin}).want(http.StatusNoContent)
	w.send(hire).want(http.StatusCreated)
	made(reset)
	if got := w.send(reset).want(http.StatusCreated); got.header.Get("Idempotency-Replayed") != "true" {
		t.Error("a repetition makes another link")
	}
}
