package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// keyedCreate is a POST with an Idempotency-Key that is repeated until it is answered.
type keyedCreate struct {
	path, key, body string
	// status and text are the first answer that arrived; status is 0 while none has.
	status int
	text   string
}

// send asks once. No answer is no failure: the server may have been killed.
func (k *keyedCreate) send(ctx context.Context, c *visitor) (status int, text string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/api/v1"+k.path, strings.NewReader(k.body))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("Idempotency-Key", k.key)
	answer, err := c.http.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return answer.StatusCode, withoutURL(body), err
}

// withoutURL is an answer without the link that is shown once.
func withoutURL(body []byte) string {
	var members map[string]any
	if json.Unmarshal(body, &members) != nil {
		return string(body)
	}
	delete(members, "url")
	return fmt.Sprint(members)
}

// settle asks until it is answered, and compares the answer with the one that came before.
func (k *keyedCreate) settle(tb testing.TB, c *visitor) {
	tb.Helper()
	status, text, err := k.send(tb.Context(), c)
	if err != nil || status != http.StatusCreated {
		tb.Errorf("%s %s: repeated, it is answered with %d: %v: %s", k.path, k.key, status, err, text)
		return
	}
	if k.status == 0 {
		k.status, k.text = status, text
	}
	if text != k.text {
		tb.Errorf("%s %s: answered with\n%s\nthen with\n%s", k.path, k.key, k.text, text)
	}
}

// createUntilDead has several clients create things until the server is gone, and returns all that they asked for.
func createUntilDead(ctx context.Context, c *visitor, round int) []*keyedCreate {
	const clients = 6
	asked := make([][]*keyedCreate, clients)
	var group sync.WaitGroup
	for i := range clients {
		group.Go(func() {
			for n := range 500 {
				name := fmt.Sprintf("r%d-c%d-n%d", round, i, n)
				k := &keyedCreate{path: "/projects/shop/mocks", key: name, body: `{"request":"GET /` + name + `","response":{}}`}
				switch n % 8 {
				case 3:
					k.path, k.body = "/invitations", `{"email":"somebody@example.com","role":"member"}`
				case 6:
					k.path, k.body = "/projects", `{"slug":"`+name+`","name":"One"}`
				}
				asked[i] = append(asked[i], k)
				var err error
				if k.status, k.text, err = k.send(ctx, c); err != nil {
					k.status = 0
					return
				}
			}
		})
	}
	group.Wait()
	var all []*keyedCreate
	for _, own := range asked {
		all = append(all, own...)
	}
	return all
}

func TestM12_no_kill_9_lets_a_repeated_request_make_a_thing_twice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	password := filepath.Join(dir, "password")
	if err := os.WriteFile(password, []byte(testPassword), 0o600); err != nil {
		t.Fatal(err)
	}
	serve := func() *instance {
		return start(t, "--data-dir="+filepath.Join(dir, "data"), "--admin-email="+testEmail, "--admin-password-file="+password,
			"--management-limit=disabled", "--log-level=error")
	}
	const rounds = 10
	server := serve()
	c := newClient(t, server.URL)
	c.logIn(t)
	c.call(t, http.StatusCreated, http.MethodPost, "/api/v1/projects", `{"slug":"shop","name":"Shop"}`)
	made := map[string]int{}
	for _, path := range []string{"/projects/shop/mocks", "/invitations", "/projects"} {
		made[path] = c.total(t, path)
	}
	for round := range rounds {
		done := make(chan []*keyedCreate, 1)
		go func() { done <- createUntilDead(context.WithoutCancel(t.Context()), c, round) }()
		<-time.After(time.Duration(20+rand.IntN(60)) * time.Millisecond)
		server.kill(t)
		asked := <-done
		server = serve()
		token := c.token
		c = newClient(t, server.URL)
		c.token = token
		for range 2 {
			for _, k := range asked {
				k.settle(t, c)
			}
		}
		for _, k := range asked {
			made[k.path]++
		}
	}
	for path, want := range made {
		if have := c.total(t, path); have != want {
			t.Errorf("%s has %d things, and %d were asked for", path, have, want)
		}
	}
}

// total counts the items of a list.
func (c *visitor) total(tb testing.TB, path string) int {
	tb.Helper()
	answer := c.call(tb, http.StatusOK, http.MethodGet, "/api/v1"+path+"?limit=1&count=true", "")
	var list struct {
		Total int `json:"total"`
	}
	if err := json.Unmarshal([]byte(answer.body), &list); err != nil {
		tb.Fatal(err)
	}
	return list.Total
}
