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
