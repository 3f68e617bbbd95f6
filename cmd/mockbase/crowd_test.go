package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// crowd creates a thousand mocks at the same time through the management API and ends the server in the middle.
type crowd struct {
	end func(server *instance, tb testing.TB)
}

const (
	crowdMocks   = 1000
	crowdCallers = 100
	// crowdBefore is how many creations are acknowledged before the end.
	crowdBefore = 200
)

func (c crowd) test(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	args := []string{"--data-dir=" + dir, "--management-limit=disabled", "--engine-limit=disabled"}
	server := start(t, args...)
	api := newClient(t, server.URL)
	api.setUp(t, setupCodeIn(t, dir))
	api.logIn(t)
	api.call(t, http.StatusCreated, http.MethodPost, "/api/v1/projects", `{"slug":"crowd","name":"Crowd"}`)
	acknowledged := c.create(t, server, api)
	t.Logf("%d of %d creations were acknowledged", len(acknowledged), crowdMocks)
	if len(acknowledged) == crowdMocks {
		t.Fatal("the server ended too late to prove anything")
	}

	server = start(t, args...)
	api = newClient(t, server.URL)
	api.logIn(t)
	stored := mocksOf(t, api)
	for name := range acknowledged {
		if _, ok := stored[name]; !ok {
			t.Errorf("%s was acknowledged and is gone", name)
		}
	}
	for name, document := range stored {
		if !strings.Contains(document, `"response":{"json":`+crowdBody(name)+`}`) {
			t.Errorf("%s is half there: %s", name, document)
		}
		if answer := api.call(t, http.StatusOK, http.MethodGet, "/m/crowd/"+name, ""); answer.body != crowdBody(name) {
			t.Errorf("%s answers %s", name, answer.body)
		}
	}
}

// crowdBody is what the mock of this name answers: long enough to take some room.
func crowdBody(name string) string {
	return fmt.Sprintf(`{"name":%q,"filler":%q}`, name, strings.Repeat(name, 100))
}

// create runs the callers, ends the server once enough creations are acknowledged, and returns the acknowledged names.
func (c crowd) create(t *testing.T, server *instance, api *visitor) map[string]bool {
	t.Helper()
	var next, done atomic.Int64
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	enough := make(chan struct{})
	var callers sync.WaitGroup
	for range crowdCallers {
		callers.Go(func() {
			for n := next.Add(1); n <= crowdMocks; n = next.Add(1) {
				name := fmt.Sprintf("m-%d", n)
				body := fmt.Sprintf(`{"name":%q,"request":"GET /%s","response":{"json":%s}}`, name, name, crowdBody(name))
				answer, err := api.try(context.WithoutCancel(t.Context()), http.MethodPost, "/api/v1/projects/crowd/mocks", body)
				if err != nil {
					return // the server is gone
				}
				if answer.StatusCode != http.StatusCreated {
					continue // refused while it was ending; then it must not matter whether it is there
				}
				mu.Lock()
				acknowledged[name] = true
				mu.Unlock()
				if done.Add(1) == crowdBefore {
					close(enough)
				}
			}
		})
	}
	<-enough
	c.end(server, t)
	callers.Wait()
	return acknowledged
}

// mocksOf lists the documents of all mocks by name.
func mocksOf(t *testing.T, api *visitor) map[string]string {
	t.Helper()
	var definition struct {
		Mocks []json.RawMessage `json:"mocks"`
	}
	answer := api.call(t, http.StatusOK, http.MethodGet, "/api/v1/projects/crowd/definition", "")
	if err := json.Unmarshal([]byte(answer.body), &definition); err != nil {
		t.Fatal(err)
	}
	stored := map[string]string{}
	for _, document := range definition.Mocks {
		var named struct {
			Name string `json:"name"`
		}
		if err := json.Unmarshal(document, &named); err != nil || stored[named.Name] != "" {
			t.Fatalf("mock %q: %v", named.Name, err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, document); err != nil {
			t.Fatal(err)
		}
		stored[named.Name] = compact.String()
	}
	return stored
}
