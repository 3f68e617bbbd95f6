package engine_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
)

// stage is an engine with the project shop, which is published again and again.
type stage struct {
	*engine.Engine
	recorded recorder
	revision int64
}

func newStage(t *testing.T, definition string) *stage {
	t.Helper()
	s := &stage{}
	s.Engine = newEngine(t, engine.Options{Journal: &s.recorded})
	s.publish(t, definition)
	return s
}

// publish publishes a definition as the next revision. Mocks have their names as ids, so that an edit keeps them.
func (s *stage) publish(t *testing.T, definition string) {
	t.Helper()
	d, err := mockbase.DecodeDefinition([]byte(definition), mockbase.FormatYAML)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range d.Mocks {
		m.ID = "mck_" + m.Name
	}
	s.revision++
	err = s.Publish(&mockbase.Snapshot{
		Project: &mockbase.Project{ID: "prj_shop", Slug: "shop", Config: d.Config, Revision: s.revision}, Mocks: d.Mocks,
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ask sends a request to a path and returns the status and the body in one text.
func (s *stage) ask(path string) string {
	method, target, found := strings.Cut(path, " ")
	if !found {
		method, target = http.MethodGet, path
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(method, "/m/shop"+target, http.NoBody))
	if w.Code == http.StatusOK {
		return w.Body.String()
	}
	return strconv.Itoa(w.Code)
}

func (s *stage) wants(t *testing.T, path string, answers ...string) {
	t.Helper()
	var got []string
	for range answers {
		got = append(got, s.ask(path))
	}
	if diff := cmp.Diff(answers, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// crowd asks n times at once and counts the answers.
func (s *stage) crowd(n int, path string) map[string]int {
	var all sync.WaitGroup
	answers := make([]string, n)
	for i := range n {
		all.Go(func() { answers[i] = s.ask(path) })
	}
	all.Wait()
	counts := make(map[string]int)
	for _, a := range answers {
		counts[a]++
	}
	return counts
}

func codeOf(err error) mockbase.Code {
	if failure, ok := errors.AsType[*mockbase.Error](err); ok {
		return failure.Code
	}
	return ""
}

func TestR2_a_sequence_hammered_by_many_callers_gives_each_answer_exactly_its_count(t *testing.T) {
	t.Parallel()
	s := newStage(t, `
mocks:
  - { request: GET /a, select: sequence, responses: [{ text: "1" }, { text: "2", times: 20 }, { text: "3" }] }
`)
	if diff := cmp.Diff(map[string]int{"1": 1, "2": 20, "3": 43}, s.crowd(64, "/a")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestR2_times_is_exact_under_load(t *testing.T) {
	t.Parallel()
	s := newStage(t, "mocks: [{ request: GET /a, times: 10, response: { text: a, delay: 5ms } }]\n")
	if diff := cmp.Diff(map[string]int{"a": 10, "404": 90}, s.crowd(100, "/a")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestR3_parallel_requests_on_a_loop_get_each_response_once(t *testing.T) {
	t.Parallel()
	s := newStage(t, `
mocks:
  - { request: GET /a, select: sequence, onEnd: loop, responses: [{ text: "1" }, { text: "2" }, { text: "3" }] }
  - { request: GET /w, select: weighted, draw: exact, responses: [{ text: "1", weight: 3 }, { text: "2", weight: 2 }] }
`)
	for range 10 {
		if diff := cmp.Diff(map[string]int{"1": 1, "2": 1, "3": 1}, s.crowd(3, "/a")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff(map[string]int{"1": 30, "2": 20}, s.crowd(50, "/w")); diff != "" {
		t.Errorf("R9, exact (-want +got):\n%s", diff)
	}
}

// One mock for each state, and a state that moves all the time.
func TestA14_no_request_falls_between_two_states(t *testing.T) {
	t.Parallel()
	s := newStage(t, `
scenarios: { flip: { initial: A } }
mocks:
  - { request: GET /a, name: in-a, scenario: flip, state: A, response: { text: a } }
  - { request: GET /a, name: in-b, scenario: flip, state: B, response: { text: b } }
  - { request: GET /flip, scenario: flip, responses: [{ when: { state: A }, text: "", setState: B }, { text: "", setState: A }] }
`)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				s.ask("/flip")
				if got := s.ask("/a"); got != "a" && got != "b" {
					t.Errorf("got %s", got)
				}
			}
		})
	}
	all.Wait()
}

func TestAA10_parallel_sessions_get_equal_results(t *testing.T) {
	t.Parallel()
	s := newStage(t, `
settings: { seed: 7 }
mocks:
  - { request: GET /seq, select: sequence, onEnd: loop, responses: [{ text: "1" }, { text: "2" }, { text: "3" }] }
  - { request: GET /once, times: 2, response: { text: once } }
  - { request: GET /state, scenario: s, responses: [{ when: { state: Started }, text: first, setState: B }, { text: second }] }
  - { request: GET /call, responses: [{ when: { call: 3 }, text: third }, { text: other }] }
`)
	const want = "1,2,3,1,once,once,404,first,second,second,other,other,third,other"
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			var got []string
			for _, step := range []struct {
				path string
				n    int
			}{{"/seq", 4}, {"/once", 3}, {"/state", 3}, {"/call", 4}} {
				for range step.n {
					got = append(got, s.ask(fmt.Sprintf("/~run-%d%s", i, step.path)))
				}
			}
			if all := strings.Join(got, ","); all != want {
				t.Errorf("session %d: %s", i, all)
			}
		})
	}
	all.Wait()
	sessions, err := s.Sessions("prj_shop")
	if err != nil || len(sessions) != 41 || sessions[0].Name != "default" || sessions[1].Counts != (mockbase.SessionCounts{Calls: 14, Unmatched: 1}) {
		t.Errorf("%d sessions, the second with %+v: %v", len(sessions), sessions[1].Counts, err)
	}
}

func TestAA19_the_calls_of_a_mock_decide_alike_whatever_else_happens(t *testing.T) {
	t.Parallel()
	definition := `
settings: { seed: x }
mocks:
  - { request: GET /a, name: a, select: weighted, responses: [{ text: "1" }, { text: "2" }] }
  - { request: GET /b, name: b, select: weighted, times: 100, responses: [{ text: "1" }, { text: "2" }] }
`
	one, other := newStage(t, definition), newStage(t, definition)
	var alone, mixed [2]string
	for _, path := range []string{"/b", "/a"} {
		for range 40 {
			alone[strings.Index("/a/b", path)/2] += one.ask(path)
		}
	}
	for range 40 {
		mixed[0] += other.ask("/a")
		other.ask("/~elsewhere/a")
		mixed[1] += other.ask("/b")
	}
	if alone != mixed || alone[0] == alone[1] {
		t.Errorf("alone %v, mixed %v", alone, mixed)
	}
	again := newStage(t, strings.Replace(definition, "seed: x", "seed: y", 1))
	var got strings.Builder
	for range 40 {
		got.WriteString(again.ask("/a"))
	}
	if got.String() == alone[0] {
		t.Error("another seed draws the same")
	}
}

func TestAA22_a_seeded_draw_follows_the_weights(t *testing.T) {
	t.Parallel()
	s := newStage(t, `
settings: { seed: 1 }
mocks:
  - { request: GET /a, select: weighted, responses: [{ text: "1" }, { text: "2" }] }
`)
	ones := 0
	for range 10_000 {
		if s.ask("/a") == "1" {
			ones++
		}
	}
	if ones < 4_800 || ones > 5_200 {
		t.Errorf("%d of 10,000, want 50 %% ± 2", ones)
	}
}

const flow = `
mocks:
  - { request: GET /seq, name: seq, select: sequence, responses: [{ text: "1" }, { text: "2" }, { text: "3" }] }
  - { request: GET /once, name: once, times: 3, response: { text: once } }
  - { request: GET /go, name: go, scenario: s, response: { text: go, setState: B } }
  - { request: GET /at, name: at, scenario: s, responses: [{ when: { state: B }, text: b }, { text: start }] }
`

func TestR5_state_survives_what_an_edit_does_not_touch(t *testing.T) {
	t.Parallel()
	s := newStage(t, flow)
	move := func() {
		s.wants(t, "/seq", "1", "2")
		s.wants(t, "/once", "once", "once")
		s.wants(t, "/go", "go")
	}
	move()
	// Mock format, section 4: another description, path or scenario setting changes nothing of what is remembered.
	edited := strings.NewReplacer("GET /seq", "GET /seq2", "name: once,", "name: once, description: x,").Replace(flow)
	s.publish(t, "scenarios: { s: { initial: Begin } }\n"+edited)
	s.wants(t, "/seq2", "3", "3")
	s.wants(t, "/once", "once", "404")
	s.wants(t, "/at", "b")
	// Other responses and times restart the place and the count.
	s.publish(t, strings.NewReplacer(`text: "1"`, `text: "one"`, "times: 3", "times: 1").Replace(flow))
	s.wants(t, "/seq", "one", "2")
	s.wants(t, "/once", "once", "404")
	s.wants(t, "/at", "b")
	// A scenario vanishes with its last mock, also where nobody asks in between.
	s.publish(t, flow[:strings.Index(flow, "  - { request: GET /go")])
	s.publish(t, flow)
	s.wants(t, "/at", "start")
}

func TestR7_levels_of_a_reset(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		session string
		levels  []mockbase.ResetLevel
		// The answers of the default session and of another one to /seq, /once and /at.
		own, other string
	}{
		"counters of one session": {"a", []mockbase.ResetLevel{mockbase.ResetCounters}, "2 404 b", "1 once b"},
		"scenarios of all":        {"", []mockbase.ResetLevel{mockbase.ResetScenarios}, "2 404 start", "2 404 start"},
		"all of the default one":  {"default", []mockbase.ResetLevel{mockbase.ResetAll}, "1 once start", "2 404 b"},
		"what is not a session's": {"", []mockbase.ResetLevel{mockbase.ResetJournal, mockbase.ResetMocks, mockbase.ResetData}, "2 404 b", "2 404 b"},
		"two levels":              {"a", []mockbase.ResetLevel{mockbase.ResetCounters, mockbase.ResetScenarios}, "2 404 b", "1 once start"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, strings.Replace(flow, "times: 3", "times: 1", 1))
			for _, path := range []string{"/seq", "/once", "/go"} {
				s.ask(path)
				s.ask("/~a" + path)
			}
			if err := s.Reset("prj_shop", c.session, c.levels); err != nil {
				t.Fatal(err)
			}
			own := strings.Join([]string{s.ask("/seq"), s.ask("/once"), s.ask("/at")}, " ")
			other := strings.Join([]string{s.ask("/~a/seq"), s.ask("/~a/once"), s.ask("/~a/at")}, " ")
			if own != c.own || other != c.other {
				t.Errorf("%q and %q, want %q and %q", own, other, c.own, c.other)
			}
		})
	}
}

func TestAA15_an_advance_ends_a_delay_that_is_under_way(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, "mocks: [{ request: GET /a, response: { text: a, delay: 10s } }]\n")
		answered := make(chan struct{})
		began := time.Now()
		go func() {
			defer close(answered)
			s.ask("/~ci/a")
		}()
		time.Sleep(time.Second) //nolint:forbidigo // the bubble's time
		advance := 10 * time.Second
		clock, err := s.ChangeClock("prj_shop", "ci", mockbase.ClockChange{Advance: &advance})
		if err != nil || clock.Offset != advance || !clock.Now.Equal(time.Now().Add(advance)) {
			t.Errorf("clock %+v: %v", clock, err)
		}
		<-answered
		x := s.recorded.last(t, 1)
		if time.Since(began) != time.Second || x.DelayPlanned != 10*time.Second || x.DelaySlept != time.Second {
			t.Errorf("AA17: answered after %v, planned %v, slept %v", time.Since(began), x.DelayPlanned, x.DelaySlept)
		}
		// AA16 and AA18: the wall clock did not move, and the session's time at arrival is not that of its answer.
		if !x.At.Equal(began) || !x.SessionAt.Equal(began) {
			t.Errorf("at %v and %v, want %v", x.At, x.SessionAt, began)
		}
		s.ask("/~ci/nowhere")
		if x := s.recorded.last(t, 2); x.SessionAt.Sub(x.At) != advance {
			t.Errorf("the session is ahead by %v", x.SessionAt.Sub(x.At))
		}
		if clock, err := s.SessionClock("prj_shop", "default"); err != nil || clock.Offset != 0 {
			t.Errorf("AA10: the default session is ahead by %v: %v", clock.Offset, err)
		}
	})
}

func TestAA14_changes_of_the_clock_that_are_refused(t *testing.T) {
	t.Parallel()
	s := newStage(t, flow)
	back, ahead, past := -time.Second, time.Hour, time.Now().Add(-time.Hour)
	for name, change := range map[string]mockbase.ClockChange{
		"nothing": {}, "two changes": {Advance: &ahead, Reset: true}, "backwards": {Advance: &back}, "into the past": {Set: &past},
	} {
		if _, err := s.ChangeClock("prj_shop", "default", change); codeOf(err) != mockbase.CodeValidationFailed {
			t.Errorf("%s: %v", name, err)
		}
	}
	future := time.Now().Add(time.Hour)
	clock, err := s.ChangeClock("prj_shop", "", mockbase.ClockChange{Set: &future})
	if err != nil || clock.Now.Before(future) {
		t.Errorf("set: %+v, %v", clock, err)
	}
	clock, err = s.ChangeClock("prj_shop", "default", mockbase.ClockChange{Reset: true})
	if err != nil || clock.Offset != 0 {
		t.Errorf("AA18, reset: %+v, %v", clock, err)
	}
}

func TestAA7_sessions_are_created_found_and_ended(t *testing.T) {
	t.Parallel()
	s := newStage(t, flow)
	made, err := s.CreateSession("prj_shop", &mockbase.SessionSpec{Name: "ci", Seed: "9", TTL: time.Minute, Labels: map[string]string{"job": "1"}})
	if err != nil || made.Seed != "9" || made.TTL != time.Minute || made.ExpiresAt.Sub(made.StartedAt).Round(time.Second) != time.Minute {
		t.Fatalf("made %+v: %v", made, err)
	}
	s.wants(t, "/~ci/seq", "1")
	if x := s.recorded.last(t, 1); x.Seed != "9" || x.Session != (mockbase.SessionRef{ID: made.ID, Name: "ci"}) {
		t.Errorf("AA21: recorded %+v with seed %q", x.Session, x.Seed)
	}
	if found, err := s.Session("prj_shop", made.ID); err != nil || found.Name != "ci" || found.Counts.Calls != 1 {
		t.Errorf("found %+v: %v", found, err)
	}
	if _, err := s.CreateSession("prj_shop", &mockbase.SessionSpec{Name: "ci"}); codeOf(err) != mockbase.CodeNameTaken {
		t.Errorf("a second one: %v", err)
	}
	if err := s.EndSession("prj_shop", "ci"); err != nil {
		t.Error(err)
	}
	if err := s.EndSession("prj_shop", "ci"); codeOf(err) != mockbase.CodeNotFound {
		t.Errorf("ended twice: %v", err)
	}
	if err := s.EndSession("prj_shop", "default"); codeOf(err) != mockbase.CodeForbidden {
		t.Errorf("the default session: %v", err)
	}
	s.wants(t, "/~ci/seq", "1")
	if x := s.recorded.last(t, 2); x.Session.ID == made.ID || x.Call != 1 {
		t.Errorf("AA11: the session %s goes on with call %d", x.Session.ID, x.Call)
	}
	if _, err := s.Sessions("prj_none"); codeOf(err) != mockbase.CodeNotFound {
		t.Errorf("no project: %v", err)
	}
	s.Withdraw("prj_shop")
	if _, err := s.Session("prj_shop", "ci"); codeOf(err) != mockbase.CodeNotFound {
		t.Errorf("a project that was withdrawn: %v", err)
	}
}

func TestR4_scenarios_are_listed_set_and_reset(t *testing.T) {
	t.Parallel()
	s := newStage(t, `
scenarios: { keyed: { key: "query:u", initial: none }, unused: {} }
mocks:
  - { request: GET /go, name: go, scenario: plain, response: { text: go, setState: B } }
  - { request: { path: /at, not: { state: C } }, name: at, scenario: plain, responses: [{ when: { anyOf: [{ state: D }] }, text: d }, { text: "no" }] }
  - { request: GET /k, name: k, scenario: keyed, responses: [{ when: { state: in }, text: in }, { text: out }] }
`)
	list, err := s.Scenarios("prj_shop", "")
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v: %v", list, err)
	}
	want := mockbase.ScenarioState{Name: "plain", State: "Started", States: []string{"Started", "B", "C", "D"}, Mocks: []string{"go", "at"}}
	if diff := cmp.Diff(want, list[1]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.wants(t, "/go", "go")
	if list, _ = s.Scenarios("prj_shop", "default"); list[1].State != "B" || list[1].ChangedBy != "go" || list[1].ChangedAt.IsZero() {
		t.Errorf("moved: %+v", list[1])
	}
	set, err := s.SetScenario("prj_shop", "default", "plain", &mockbase.ScenarioMove{State: "D", By: "usr_1"})
	if err != nil || set.State != "D" || set.ChangedBy != "usr_1" {
		t.Errorf("set: %+v, %v", set, err)
	}
	s.wants(t, "/at", "d")
	set, err = s.SetScenario("prj_shop", "default", "keyed", &mockbase.ScenarioMove{State: "in", Key: "ada"})
	if err != nil || set.State != "none" || len(set.Instances) != 1 || set.Instances[0].Key != "ada" || !slices.Equal(set.Keys, []string{"query:u"}) {
		t.Errorf("R6, set by key: %+v, %v", set, err)
	}
	s.wants(t, "/k?u=ada", "in")
	s.wants(t, "/k", "out")
	if _, err := s.SetScenario("prj_shop", "default", "keyed", &mockbase.ScenarioMove{State: "in"}); err != nil {
		t.Error(err)
	}
	s.wants(t, "/k", "in")
	for name, c := range map[string]struct {
		scenario string
		move     mockbase.ScenarioMove
		want     mockbase.Code
	}{
		"unknown scenario":       {"nope", mockbase.ScenarioMove{State: "B"}, mockbase.CodeNotFound},
		"scenario of no mock":    {"unused", mockbase.ScenarioMove{State: "Started"}, mockbase.CodeNotFound},
		"state in another case":  {"plain", mockbase.ScenarioMove{State: "b"}, mockbase.CodeValidationFailed},
		"key where there is one": {"plain", mockbase.ScenarioMove{State: "B", Key: "x"}, mockbase.CodeValidationFailed},
	} {
		if _, err := s.SetScenario("prj_shop", "", c.scenario, &c.move); codeOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.ResetScenarios("prj_shop", "", []string{"plain", "nope"}); codeOf(err) != mockbase.CodeNotFound {
		t.Errorf("reset of an unknown one: %v", err)
	}
	if list, err = s.ResetScenarios("prj_shop", "", []string{"plain"}); err != nil || list[1].State != "Started" || len(list[0].Instances) != 2 {
		t.Errorf("reset: %+v, %v", list, err)
	}
}
