package verdict_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/verdict"
)

// traffic makes one exchange for each word: "-" is unmatched, others name the mock that answered.
func traffic(words string) []*mockbase.Exchange {
	var all []*mockbase.Exchange
	for i, word := range strings.Fields(words) {
		x := &mockbase.Exchange{ID: fmt.Sprintf("x%d", i), AnsweredBy: mockbase.AnsweredByMock, Mock: mockbase.MockRef{Name: word}}
		x.Request.Method, x.Request.Path = http.MethodGet, "/"+word
		if word == "-" {
			x.AnsweredBy, x.Mock = mockbase.AnsweredByUnmatched, mockbase.MockRef{}
		}
		all = append(all, x)
	}
	return all
}

// of expects calls of a mock; "?" is unclear for everybody.
func of(mock string, least, most int) verdict.Expectation {
	e := verdict.Expectation{Name: mock, Fits: func(x *mockbase.Exchange) verdict.Fit {
		switch x.Mock.Name {
		case mock:
			return verdict.FitYes
		case "?":
			return verdict.FitUnclear
		default:
			return verdict.FitNo
		}
	}}
	if least >= 0 {
		e.Times.Min = &least
	}
	if most >= 0 {
		e.Times.Max = &most
	}
	return e
}

func inOrder(list ...verdict.Expectation) []verdict.Expectation {
	for i := range list {
		list[i].InOrder = true
	}
	return list
}

func TestY8_counts_are_exact(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		traffic  string
		expected []verdict.Expectation
		want     verdict.Outcome
	}{
		"exactly":                      {"a b a", []verdict.Expectation{of("a", 2, 2)}, verdict.Pass},
		"exactly, one too few":         {"a b", []verdict.Expectation{of("a", 2, 2)}, verdict.Fail},
		"exactly, one too many":        {"a a a", []verdict.Expectation{of("a", 2, 2)}, verdict.Fail},
		"never":                        {"b", []verdict.Expectation{of("a", 0, 0)}, verdict.Pass},
		"at least":                     {"a a a", []verdict.Expectation{of("a", 2, -1)}, verdict.Pass},
		"at least, too few":            {"a", []verdict.Expectation{of("a", 2, -1)}, verdict.Fail},
		"at most":                      {"a", []verdict.Expectation{of("a", -1, 2)}, verdict.Pass},
		"at most, too many":            {"a a a", []verdict.Expectation{of("a", -1, 2)}, verdict.Fail},
		"nothing expected":             {"a", nil, verdict.Pass},
		"one of two fails":             {"a", []verdict.Expectation{of("a", 1, 1), of("b", 1, 1)}, verdict.Fail},
		"unclear may make it":          {"a ?", []verdict.Expectation{of("a", 2, 2)}, verdict.Inconclusive},
		"unclear may break it":         {"a a ?", []verdict.Expectation{of("a", 2, 2)}, verdict.Inconclusive},
		"unclear may pass through":     {"? ? ?", []verdict.Expectation{of("a", 2, 2)}, verdict.Inconclusive},
		"unclear does not matter":      {"a a ?", []verdict.Expectation{of("a", 2, -1)}, verdict.Pass},
		"unclear is not enough":        {"a ?", []verdict.Expectation{of("a", 4, -1)}, verdict.Fail},
		"in order":                     {"a b", inOrder(of("a", 1, 1), of("b", 1, 1)), verdict.Pass},
		"in the other order":           {"b a", inOrder(of("a", 1, 1), of("b", 1, 1)), verdict.Fail},
		"in order, the same twice":     {"a b a", inOrder(of("a", 1, -1), of("b", 1, 1), of("a", 1, -1)), verdict.Pass},
		"in order, only once":          {"a b", inOrder(of("a", 1, -1), of("b", 1, 1), of("a", 1, -1)), verdict.Fail},
		"order of those in order":      {"b c a", []verdict.Expectation{of("a", 1, 1), inOrder(of("b", 1, 1))[0], inOrder(of("c", 1, 1))[0]}, verdict.Pass},
		"in order, at most":            {"b a", inOrder(of("a", -1, 3), of("b", 1, 1)), verdict.Pass},
		"in order, all of the earlier": {"a b a", inOrder(of("a", 2, 2), of("b", 1, 1)), verdict.Fail},
	} {
		if got := verdict.Judge(&verdict.Question{Expectations: c.expected}, traffic(c.traffic), true); got.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %+v", name, got.Verdict, c.want, got.Checks)
		}
	}
}

func TestM66_what_is_missing_makes_no_verdict(t *testing.T) {
	t.Parallel()
	for _, least := range []int{0, 1, 2} {
		q := &verdict.Question{Expectations: []verdict.Expectation{of("a", least, -1)}}
		if got := verdict.Judge(q, traffic("a"), false); got.Verdict != verdict.Inconclusive || got.Complete {
			t.Errorf("at least %d: %s", least, got.Verdict)
		}
	}
}

func TestM72_unmatched_and_unused_weigh_what_is_asked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		traffic           string
		unmatched, unused verdict.Level
		want              verdict.Outcome
		checks, samples   int
	}{
		"nothing unmatched":    {"a b", verdict.LevelFail, verdict.LevelIgnore, verdict.Pass, 1, 0},
		"unmatched fails":      {"a -", verdict.LevelFail, verdict.LevelIgnore, verdict.Fail, 1, 1},
		"unmatched warns":      {"a - -", verdict.LevelWarn, verdict.LevelIgnore, verdict.Pass, 0, 2},
		"unmatched is ignored": {"a -", verdict.LevelIgnore, verdict.LevelIgnore, verdict.Pass, 0, 0},
		"all used":             {"a b", verdict.LevelWarn, verdict.LevelFail, verdict.Pass, 1, 0},
		"unused fails":         {"a", verdict.LevelWarn, verdict.LevelFail, verdict.Fail, 1, 0},
		"unused warns":         {"a", verdict.LevelWarn, verdict.LevelWarn, verdict.Pass, 1, 0},
	} {
		q := &verdict.Question{Unmatched: c.unmatched, Unused: c.unused, Mocks: []string{"a", "b"}}
		got := verdict.Judge(q, traffic(c.traffic), true)
		if got.Verdict != c.want || len(got.Checks) != c.checks || len(got.Unmatched.Samples) != c.samples {
			t.Errorf("%s: %+v", name, got)
		}
		if n := strings.Count(c.traffic, "-"); got.Unmatched.Count != n {
			t.Errorf("%s: %d unmatched, want %d", name, got.Unmatched.Count, n)
		}
	}
}

func TestY8_a_failing_count_lists_the_three_nearest(t *testing.T) {
	t.Parallel()
	e := of("a", 3, 3)
	e.Likens = func(x *mockbase.Exchange) verdict.Likeness {
		score := map[string]int{"b": 3, "c": 1, "d": 2}[x.Mock.Name]
		return verdict.Likeness{Score: score, Of: 4, Failed: mockbase.Check{Part: "path", Actual: x.Request.Path}}
	}
	got := verdict.Judge(&verdict.Question{Expectations: []verdict.Expectation{e}}, traffic("a b c d b"), true).Checks[0]
	pass := false
	near := func(id, mock string, score int) verdict.NearMiss {
		return verdict.NearMiss{
			Exchange: id, Method: http.MethodGet, Path: "/" + mock, Score: score, Of: 4, Failed: mockbase.Check{Part: "path", Actual: "/" + mock},
		}
	}
	want := verdict.Check{
		Name: "a", Expected: "3 calls", Actual: "1 call", Pass: &pass, Exchanges: []string{"x0"},
		NearMisses: []verdict.NearMiss{near("x4", "b", 3), near("x1", "b", 3), near("x3", "d", 2)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("check (-want +got):\n%s", diff)
	}
}

func TestBoundsAreSaidInWords(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]verdict.Expectation{
		"1 call": of("", 1, 1), "0 calls": of("", 0, 0), "2 to 3 calls": of("", 2, 3), "at least 2 calls": of("", 2, -1),
		"at most 1 call": of("", -1, 1), "any calls": of("", -1, -1),
	} {
		if got := verdict.Bounds(e.Times); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
