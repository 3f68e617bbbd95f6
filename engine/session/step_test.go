package session_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/engine/session"
)

// layout has two mocks without a scenario, and two that share one whose key has at most two values.
func layout(revision int64, serials ...session.Serial) *session.Layout {
	l := &session.Layout{
		Revision: revision, Scenarios: []session.ScenarioShape{{Serial: 100, Name: "flow", Initial: "Started", MaxInstances: 2}},
	}
	for i, serial := range serials {
		scenario := session.NoScenario
		if i >= 2 {
			scenario = 0
		}
		l.Mocks = append(l.Mocks, session.MockShape{Serial: serial, Scenario: scenario})
	}
	return l
}

// within does something in a step of its own.
func within(s *session.Session, l *session.Layout, f func(p session.Step)) {
	p := s.Step(l)
	defer p.End()
	f(p)
}

func TestR2_calls_are_counted_once_each_with_and_without_a_step(t *testing.T) {
	t.Parallel()
	s, l := newSession(t), layout(1, 1, 2, 3)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 50 {
				s.Count(l, 0)
				within(s, l, func(p session.Step) { p.Use(1) })
			}
		})
	}
	all.Wait()
	within(s, l, func(p session.Step) {
		if p.Calls(0) != 800 || p.Calls(1) != 800 || p.Uses(1) != 800 || p.Uses(0) != 0 {
			t.Errorf("calls %d and %d, uses %d", p.Calls(0), p.Calls(1), p.Uses(1))
		}
	})
	if got := s.Count(l, 0); got != 801 {
		t.Errorf("the next call is %d", got)
	}
}

func TestR5_memory_survives_a_new_layout_by_its_serial(t *testing.T) {
	t.Parallel()
	s, old := newSession(t), layout(1, 1, 2, 3, 4)
	within(s, old, func(p session.Step) {
		p.Use(0)
		p.Use(1)
		p.TakePlace(0, "")
		p.TakePlace(2, "k")
		p.TakePlace(3, "k")
		p.Move(0, "k", "B", "mock-3")
	})
	// The first mock was edited, the second is where it was, the third is new, the fourth kept.
	next := layout(2, 11, 2, 33, 4)
	within(s, next, func(p session.Step) {
		got := []int64{p.Calls(0), p.Calls(1), p.Place(0, ""), p.Place(2, "k"), p.Place(3, "k")}
		if diff := cmp.Diff([]int64{0, 1, 0, 0, 1}, got); diff != "" {
			t.Errorf("calls and places (-want +got):\n%s", diff)
		}
		if got := p.State(0, "k"); got != "B" {
			t.Errorf("the state is %q after an edit, want B", got)
		}
	})
	// A request that began before the edit still sees what was not edited, and undoes nothing.
	within(s, old, func(p session.Step) {
		if p.Calls(1) != 1 || p.State(0, "k") != "B" {
			t.Error("a request in flight has lost its view")
		}
	})
	if got := s.Count(next, 1); got != 2 {
		t.Errorf("the next call is %d, want 2", got)
	}
	gone := layout(3, 2)
	gone.Scenarios = nil
	within(s, gone, func(session.Step) {})
	within(s, layout(4, 11, 2, 33, 4), func(p session.Step) {
		if got := p.State(0, "k"); got != "Started" {
			t.Errorf("a scenario that vanished came back in %q", got)
		}
	})
}

func TestR6_the_least_recently_used_value_of_a_key_is_dropped(t *testing.T) {
	t.Parallel()
	s, l := newSession(t), layout(1, 1, 2, 3)
	within(s, l, func(p session.Step) {
		p.Move(0, "a", "A", "m")
		p.Move(0, "b", "B", "m")
		p.Keep(0, "a")
		p.Keep(0, "never seen")
		p.Move(0, "c", "C", "m")
		states := []string{p.State(0, "a"), p.State(0, "b"), p.State(0, "c")}
		if diff := cmp.Diff([]string{"A", "Started", "C"}, states); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
		keys := []string{}
		for _, i := range p.Instances(0) {
			keys = append(keys, i.Key)
		}
		if diff := cmp.Diff([]string{"c", "a"}, keys); diff != "" {
			t.Errorf("instances (-want +got):\n%s", diff)
		}
		if i := p.Instance(0, "c"); i.ChangedBy != "m" || i.ChangedAt.IsZero() || i.State != "C" {
			t.Errorf("instance %+v", i)
		}
	})
}

func TestR7_each_level_takes_back_what_is_its_own(t *testing.T) {
	t.Parallel()
	fill := func(p session.Step) {
		p.Use(0)
		p.TakePlace(0, "")
		p.TakePlace(2, "k")
		p.Move(0, "k", "B", "m")
	}
	type memory struct {
		Calls, Uses, Place, Divided int64
		State                       string
	}
	for name, c := range map[string]struct {
		what session.Levels
		want memory
	}{
		"counters":  {session.Counters, memory{State: "B"}},
		"scenarios": {session.Scenarios, memory{1, 1, 1, 1, "Started"}},
		"limits":    {session.Limits, memory{1, 1, 1, 1, "B"}},
		"all":       {session.All, memory{State: "Started"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, l := newSession(t), layout(1, 1, 2, 3)
			s.Reset(c.what)
			within(s, l, fill)
			s.Reset(c.what)
			within(s, l, func(p session.Step) {
				got := memory{p.Calls(0), p.Uses(0), p.Place(0, ""), p.Place(2, "k"), p.State(0, "k")}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestR7_scenarios_can_be_reset_by_name(t *testing.T) {
	t.Parallel()
	s, l := newSession(t), layout(1, 1, 2, 3)
	within(s, l, func(p session.Step) {
		p.Move(0, "", "B", "m")
		p.ResetScenarios("another")
		if p.State(0, "") != "B" {
			t.Error("another scenario's reset moved this one")
		}
		p.ResetScenarios("flow")
		if p.State(0, "") != "Started" || len(p.Instances(0)) != 0 {
			t.Error("the scenario was not reset")
		}
	})
}

func TestR9_any_run_of_as_many_exact_draws_as_the_sum_of_weights_has_each_by_its_weight(t *testing.T) {
	t.Parallel()
	for _, weights := range [][]int64{{1}, {9, 1}, {1, 2, 1}, {5, 1, 1}, {3, 3, 2, 7}, {1, 100}} {
		s, l := newSession(t), layout(1, 1, 2, 3)
		sum := int64(0)
		for _, w := range weights {
			sum += w
		}
		var drawn []int
		within(s, l, func(p session.Step) {
			for range 4 * sum {
				drawn = append(drawn, p.Draw(2, "k", weights))
				p.TakeDraw(2, "k", weights)
			}
			if p.Place(2, "k") != 4*sum || p.Place(2, "other") != 0 {
				t.Error("AA22: draws are not counted for each key")
			}
		})
		for from := range len(drawn) - int(sum) {
			counts := make([]int64, len(weights))
			for _, i := range drawn[from : from+int(sum)] {
				counts[i]++
			}
			if !slices.Equal(counts, weights) {
				t.Fatalf("weights %v: draws %d to %d have %v", weights, from, from+int(sum), counts)
			}
		}
	}
}
