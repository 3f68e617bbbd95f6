package engine_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
)

// A limit is asked between two steps. What moves meanwhile counts, and what was charged stays charged.
func TestR2_matching_starts_again_after_a_limit_was_asked(t *testing.T) {
	t.Parallel()
	s := newStage(t, `
mocks:
  - { request: GET /a, name: second, times: 1, response: { text: second } }
  - { request: GET /a, name: first, scenario: s, state: Started, response: { text: first, setState: B } }
  - { request: GET /move, name: move, scenario: s, response: { text: moved, setState: B } }
`)
	var asked []string
	engine.Limit(s.Engine, "prj_shop", "first", func(http.ResponseWriter) bool {
		asked = append(asked, "first")
		return s.ask("/move") == "moved"
	})
	engine.Limit(s.Engine, "prj_shop", "second", func(http.ResponseWriter) bool {
		asked = append(asked, "second")
		return true
	})
	s.wants(t, "/a", "second", "404")
	if diff := cmp.Diff([]string{"first", "second"}, asked); diff != "" {
		t.Errorf("limits asked (-want +got):\n%s", diff)
	}
}

func TestX1_a_limited_request_moves_nothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, `
mocks:
  - { request: GET /a, name: a, select: sequence, responses: [{ text: "1" }, { text: "2" }] }
  - { request: GET /w, name: w, headCounts: false, select: weighted, responses: [{ text: w }] }
`)
	open := false
	refuse := func(w http.ResponseWriter) bool {
		if !open {
			w.WriteHeader(http.StatusTooManyRequests)
		}
		return open
	}
	engine.Limit(s.Engine, "prj_shop", "a", refuse)
	engine.Limit(s.Engine, "prj_shop", "w", refuse)
	s.wants(t, "/a", "429", "429")
	s.wants(t, "/w", "429")
	s.wants(t, "HEAD /w", "")
	open = true
	s.wants(t, "/a", "1", "2")
	s.wants(t, "/w", "w")
	if x := s.recorded.last(t, 7); x.Call != 1 || x.AnsweredBy != mockbase.AnsweredByMock {
		t.Errorf("call %d answered by %s", x.Call, x.AnsweredBy)
	}
	if own, err := s.Session("prj_shop", "default"); err != nil || own.Counts != (mockbase.SessionCounts{Calls: 7, Limited: 3}) {
		t.Errorf("counts %+v: %v", own.Counts, err)
	}
}

// Limits are asked outside of steps: two requests may wait for theirs at once, and times is exact nevertheless.
func TestR2_limits_are_waited_for_outside_of_the_step(t *testing.T) {
	t.Parallel()
	s := newStage(t, "mocks: [{ request: GET /a, name: a, times: 1, response: { text: a } }]\n")
	var both sync.WaitGroup
	both.Add(2)
	engine.Limit(s.Engine, "prj_shop", "a", func(http.ResponseWriter) bool {
		both.Done()
		both.Wait()
		return true
	})
	if diff := cmp.Diff(map[string]int{"a": 1, "404": 1}, s.crowd(2, "/a")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
