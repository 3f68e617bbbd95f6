package engine_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/engine/outbound"
	"github.com/mockbase/mockbase/engine/tape"
)

// studio is an engine that records what an upstream answers.
type studio struct {
	engine   *engine.Engine
	recorded recorder
	recorder *tape.Recorder
	address  string

	mu       sync.Mutex
	snapshot *mockbase.Snapshot
}

// Keep is that of a catalog.
func (s *studio) Keep(_ context.Context, _, name string, compose func(*mockbase.Mock) (*mockbase.Mock, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := slices.Clone(s.snapshot.Mocks)
	at := slices.IndexFunc(next, func(m *mockbase.Mock) bool { return m.Name == name })
	var current *mockbase.Mock
	if at >= 0 {
		current = next[at]
	}
	made, err := compose(current)
	if err != nil {
		return err
	}
	made.ID = "mck_" + name
	if at >= 0 {
		next[at] = made
	} else {
		next = append(next, made)
	}
	return s.publish(s.snapshot.Project.Config, next)
}

func (s *studio) publish(config mockbase.Config, mocks []*mockbase.Mock) error {
	project := *s.snapshot.Project
	project.Config = config
	project.Revision++
	s.snapshot = &mockbase.Snapshot{Project: &project, Mocks: mocks}
	return s.engine.Publish(s.snapshot)
}

// newStudio publishes a definition; {to} in it is the upstream.
func newStudio(t *testing.T, definition string, upstream http.HandlerFunc) *studio {
	t.Helper()
	target := httptest.NewServer(upstream)
	t.Cleanup(target.Close)
	s := &studio{}
	o := engine.Options{Journal: &s.recorded, Upstreams: outbound.Options{Loopback: true}}
	s.record(t, &o)
	s.engine = newEngine(t, o)
	s.define(t, strings.ReplaceAll(definition, "{to}", target.URL))
	s.address = serveEngine(t, s.engine)
	return s
}

// record makes mocks of what passes through proxies of the engine with these options.
func (s *studio) record(t *testing.T, o *engine.Options) {
	t.Helper()
	s.recorder = tape.NewRecorder(s, slog.New(slog.DiscardHandler))
	t.Cleanup(func() { s.recorder.Close(t.Context()) })
	o.Mocks = s.recorder
}

// define publishes a definition in place of the one before. Mocks are the same by their names.
func (s *studio) define(t *testing.T, definition string) {
	t.Helper()
	d, err := mockbase.DecodeDefinition([]byte(definition), mockbase.FormatYAML)
	if err != nil {
		t.Fatal(err)
	}
	if faults := checkDefinition(s.engine, d); len(faults) > 0 {
		t.Fatal(faults)
	}
	for _, m := range d.Mocks {
		m.ID, m.Version = "mck_"+m.Name, 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.snapshot == nil {
		s.snapshot = &mockbase.Snapshot{Project: &mockbase.Project{ID: "prj_shop", Slug: "shop", Access: mockbase.AccessPublic}}
	}
	if err := s.publish(d.Config, d.Mocks); err != nil {
		t.Fatal(err)
	}
}

// ask sends a request in the form "METHOD target body" and returns what was answered.
func (s *studio) ask(t *testing.T, request string) string {
	t.Helper()
	method, rest, _ := strings.Cut(request, " ")
	target, body, _ := strings.Cut(rest, " ")
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.address+"/m/shop"+target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer hidden")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %s %s", answer.StatusCode, answer.Header.Get("Content-Type"), text)
}

// mocks waits until n mocks were recorded and returns them by name.
func (s *studio) mocks(t *testing.T, n int) map[string]*mockbase.Mock {
	t.Helper()
	var found map[string]*mockbase.Mock
	await(t, fmt.Sprintf("%d mocks are recorded", n), func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		found = map[string]*mockbase.Mock{}
		for _, m := range s.snapshot.Mocks {
			if slices.Contains(m.Tags, tape.Tag) {
				found[m.Name] = m
			}
		}
		return len(found) >= n
	})
	return found
}

// replay takes the proxies away.
func (s *studio) replay(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	mocks := slices.DeleteFunc(slices.Clone(s.snapshot.Mocks), func(m *mockbase.Mock) bool { return !slices.Contains(m.Tags, tape.Tag) })
	if err := s.publish(mockbase.Config{}, mocks); err != nil {
		t.Fatal(err)
	}
}

// story answers by what is asked, and counts.
func story(counted *atomic.Int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		n := counted.Add(1)
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Set-Cookie", "sid=hidden")
		switch {
		case r.URL.Path == "/count":
			fmt.Fprintf(w, "%d", min(n, 2))
		case strings.HasPrefix(r.URL.Path, "/teapot"):
			w.WriteHeader(http.StatusTeapot)
			_, _ = io.WriteString(w, "{{ tea }}")
		default:
			fmt.Fprintf(w, "%s %s?%s %s", r.Method, r.URL.EscapedPath(), r.URL.RawQuery, body)
		}
	}
}

func TestT20_recorded_requests_give_the_recorded_answers(t *testing.T) {
	t.Parallel()
	for name, definition := range map[string]string{
		"a fallback": "settings: { fallback: { proxy: { to: '{to}', record: new } } }\nmocks: []\n",
		"a mock":     "mocks: [{ request: 'ANY /**', response: { proxy: { to: '{to}', record: new } } }]\n",
		"everything": "mocks: [{ request: 'ANY /**', response: { proxy: { to: '{to}', record: all } } }]\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requests := []string{
				"GET /a?x=1", "GET /a?x=2&y", "GET /a", "POST /a {\"n\":1}", "POST /a {\"n\":2}", "DELETE /a%2Fb", "GET /teapot/%7Bx%7D", "PUT /x text",
			}
			var first []string
			var names []string
			for range 2 {
				var calls atomic.Int64
				s := newStudio(t, definition, story(&calls))
				var live, again []string
				for i, request := range requests {
					live = append(live, s.ask(t, request))
					s.mocks(t, i+1)
				}
				found := s.mocks(t, len(requests))
				s.replay(t)
				for _, request := range requests {
					again = append(again, s.ask(t, request))
				}
				if diff := cmp.Diff(live, again); diff != "" {
					t.Errorf("live and replayed (-live +replayed):\n%s", diff)
				}
				if n := calls.Load(); n != int64(len(requests)) {
					t.Errorf("the upstream was called %d times", n)
				}
				list := []string{}
				for name, m := range found {
					list = append(list, name)
					if strings.Contains(string(m.Document), "hidden") {
						t.Errorf("T19: a secret was recorded: %s", m.Document)
					}
				}
				slices.Sort(list)
				if names != nil && !slices.Equal(names, list) {
					t.Errorf("the names are %q, and were %q", list, names)
				}
				names, first = list, live
			}
			if first[2] != "200 text/plain GET /a? " {
				t.Errorf("answered %q", first[0])
			}
		})
	}
}

func TestT17_everything_that_is_recorded_becomes_a_sequence(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	s := newStudio(t, "settings: { fallback: { proxy: { to: '{to}', record: all } } }\nmocks: []\n", story(&calls))
	for range 3 {
		s.ask(t, "GET /count")
	}
	await(t, "three steps are recorded", func() bool {
		m := s.mocks(t, 1)["rec-get-count"]
		return len(m.Responses) == 2 && m.Responses[1].Times == 2
	})
	s.replay(t)
	for _, want := range []string{"1", "2", "2", "2"} {
		if got := s.ask(t, "GET /count"); got != "200 text/plain "+want {
			t.Errorf("replayed %q, want %s", got, want)
		}
	}
}

func TestT18_five_requests_at_once_are_five_steps(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	all := make(chan struct{})
	s := newStudio(t, "settings: { fallback: { proxy: { to: '{to}', record: new } } }\nmocks: []\n", func(http.ResponseWriter, *http.Request) {
		if calls.Add(1) == 5 {
			close(all)
		}
		<-all
	})
	var asked sync.WaitGroup
	for range 5 {
		asked.Go(func() { s.ask(t, "GET /x") })
	}
	asked.Wait()
	await(t, "five steps are recorded", func() bool { return s.mocks(t, 1)["rec-get-x"].Responses[0].Times == 5 })
}

func TestT15_what_cannot_be_recorded_is_noted(t *testing.T) {
	t.Parallel()
	s := newStudio(t, "settings: { fallback: { proxy: { to: '{to}', record: new } } }\nmocks: []\n", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/long" {
			piece := make([]byte, 1<<20)
			for range 11 {
				_, _ = w.Write(piece)
			}
		}
	})
	s.recorder.Close(t.Context())
	s.ask(t, "GET /long")
	s.ask(t, "GET /late")
	for i, why := range []string{"the answer is too long", "the server stops"} {
		await(t, why, func() bool {
			all := s.recorded.all()
			return len(all) > i && strings.Contains(strings.Join(all[i].Warnings, " "), "not recorded as a mock: "+why)
		})
	}
	if x := s.recorded.all()[0]; x.Response.BodySize != 11<<20 || len(x.Response.Body) > 64<<10 || !x.Response.Truncated {
		t.Errorf("the exchange holds %d of %d bytes", len(x.Response.Body), x.Response.BodySize)
	}
}
