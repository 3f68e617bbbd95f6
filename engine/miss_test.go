package engine_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/internal/testkit"
)

// diagnosed is the part of a problem that explains.
type diagnosed struct {
	NearMisses []mockbase.NearMiss `json:"nearMisses"`
	Hints      []string            `json:"hints"`
}

func diagnosisOf(t *testing.T, e *engine.Engine, target string) diagnosed {
	t.Helper()
	w := get(e, target)
	var d diagnosed
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil {
		t.Fatalf("%v in %s", err, w.Body)
	}
	return d
}

// Rule M6: the diagnosis is bounded in the mocks it compares, in its size and so in time.
func TestM6_the_diagnosis_is_bounded(t *testing.T) {
	t.Parallel()
	mocks := manyMocks(10_000)
	for i := range 3 {
		// Conditions without end, on the nearest mocks.
		m := textMock(fmt.Sprintf("huge-%d", i), "/huge", "x")
		for j := range 600 {
			m.Request.Query = append(m.Request.Query, mockbase.NamedMatch{
				Name: fmt.Sprintf("q%d", j), Match: mockbase.Match{{Equals: json.RawMessage(`"` + strings.Repeat("v", 300) + `"`)}},
			})
		}
		mocks = append(mocks, m)
	}
	e := newEngine(t, engine.Options{})
	publish(t, e, 1, mocks)
	fastest := testkit.Fastest(5, func() {
		w := get(e, "/m/shop/api/v1/resource-7/1/nothing")
		if w.Code != http.StatusNotFound || w.Body.Len() > 4<<10 {
			t.Fatalf("status %d, %d bytes", w.Code, w.Body.Len())
		}
	})
	// 50 ms are meant; the race detector on a slow machine may take many times as long.
	if fastest > time.Second {
		t.Errorf("the diagnosis took %s", fastest)
	}
	if w := get(e, "/m/shop/huge"); w.Body.Len() > 200<<10 {
		t.Errorf("an answer of %d bytes for 64 KiB of values", w.Body.Len())
	}
}

// Rule M4: the same request gives the same list; a mock is found among ten thousand when it is the nearest.
func TestM4_the_nearest_mock_is_found_among_many(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	publish(t, e, 1, manyMocks(10_000))
	first := diagnosisOf(t, e, "/m/shop/api/v1/resource-4321/7/8")
	if len(first.NearMisses) != 3 {
		t.Fatalf("near misses: %+v", first.NearMisses)
	}
	if got := first.NearMisses[0].Mock; got != "mock-8643" {
		t.Errorf("nearest is %s", got)
	}
	for range 3 {
		if again := diagnosisOf(t, e, "/m/shop/api/v1/resource-4321/7/8"); !slices.EqualFunc(first.NearMisses, again.NearMisses,
			func(a, b mockbase.NearMiss) bool { return a.Mock == b.Mock && a.Distance == b.Distance }) {
			t.Errorf("another list: %+v", again.NearMisses)
		}
	}
	for _, miss := range first.NearMisses {
		if miss.Distance <= 0 || miss.Distance > 1 {
			t.Errorf("distance %f", miss.Distance)
		}
	}
}

// Rule M5: common slips are named.
func TestM5_hints_name_common_slips(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	off := textMock("off", "/off/{x}", "x")
	off.Disabled = true
	hosted := textMock("hosted", "/hosted", "x")
	hosted.Request.Host = "api.test"
	publish(t, e, 1, []*mockbase.Mock{
		textMock("users", "/users", "x"), textMock("slashed", "/slashed/", "x"), textMock("deep", "/a/{x}/c", "x"),
		textMock("spaced", "/with space", "x"), textMock("plus", "/with+plus", "x"), off, hosted,
	})
	for target, want := range map[string]string{
		"/users/":       "the path differs only by a trailing slash",
		"/slashed":      "the path lacks only the trailing slash",
		"/USERS":        "letter case",
		"/a//b/c":       "empty segment (//)",
		"/a%2Fb/c":      "an encoded slash (%2F)",
		"/with+space":   "a plus is a plus in a path",
		"/with%20plus":  "%20 is a space",
		"/hosted":       "other host",
		"/off/1":        "it is disabled",
		"/nothing#frag": "fragment",
	} {
		// A request of the process would lose its fragment, so the target is set by hand.
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.RequestURI = "/m/shop" + target
		w := httptest.NewRecorder()
		e.ServeHTTP(w, r)
		var d diagnosed
		if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		if len(d.Hints) == 0 || !strings.Contains(d.Hints[0], want) {
			t.Errorf("%s: hints %q, want %q first", target, d.Hints, want)
		}
	}
	if d := diagnosisOf(t, e, "/m/shop/nothing/like/it"); len(d.Hints) > 0 {
		t.Errorf("hints %q for no slip", d.Hints)
	}
}

// Values that a person cannot read are shown as far as they can be.
func TestB7_values_of_a_diagnosis_are_readable(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	m := textMock("a", "/a", "x")
	m.Request.Query = []mockbase.NamedMatch{{Name: "q", Match: mockbase.Match{{Equals: json.RawMessage(`"x"`)}}}}
	publish(t, e, 1, []*mockbase.Mock{m})
	d := diagnosisOf(t, e, "/m/shop/a?q=%FF%C3%A9"+strings.Repeat("%C3%A9", 200))
	actual := d.NearMisses[0].Failed[0].Actual
	if !strings.HasPrefix(actual, "%FFéé") || !strings.HasSuffix(actual, "é…") || len(actual) > 300 {
		t.Errorf("actual %q", actual)
	}
}
