package engine_test

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
)

const ms = time.Millisecond

// drawMany draws in order of size.
func drawMany(d *mockbase.Delay) []time.Duration {
	random := rand.New(rand.NewPCG(1, 2))
	drawn := make([]time.Duration, 10_000)
	for i := range drawn {
		drawn[i] = engine.Draw(d, random)
	}
	slices.Sort(drawn)
	return drawn
}

func TestQ1_delays_are_spread_as_asked_for(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		delay                mockbase.Delay
		least, median, most  time.Duration
		tolerance            float64
		reachesLeast, onMost bool
	}{
		"jitter":    {mockbase.Delay{Kind: mockbase.DelayFixed, Fixed: 200 * ms, Jitter: 50 * ms}, 150 * ms, 200 * ms, 250 * ms, 0.02, true, true},
		"uniform":   {mockbase.Delay{Kind: mockbase.DelayUniform, Min: 100 * ms, Max: 300 * ms, HasMax: true}, 100 * ms, 200 * ms, 300 * ms, 0.03, true, true},
		"normal":    {mockbase.Delay{Kind: mockbase.DelayNormal, Mean: 100 * ms, StdDev: 20 * ms}, 0, 100 * ms, 200 * ms, 0.02, false, false},
		"lognormal": {mockbase.Delay{Kind: mockbase.DelayLognormal, Median: 100 * ms, Sigma: 0.5}, 0, 100 * ms, 2 * time.Second, 0.03, false, false},
		"not below 0": {
			mockbase.Delay{Kind: mockbase.DelayNormal, Mean: 10 * ms, StdDev: 100 * ms}, 0, 10 * ms, time.Second, 0.5, true, false,
		},
		"not above max": {
			mockbase.Delay{Kind: mockbase.DelayLognormal, Median: 100 * ms, Sigma: 2, Max: 120 * ms, HasMax: true}, 0, 30 * ms, 120 * ms, 0.2, false, true,
		},
		"jitter around 0": {mockbase.Delay{Kind: mockbase.DelayFixed, Jitter: 50 * ms}, 0, 0, 50 * ms, 0.2, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			drawn := drawMany(&c.delay)
			first, last, middle := drawn[0], drawn[len(drawn)-1], drawn[len(drawn)/2]
			if first < c.least || last > c.most {
				t.Errorf("from %s to %s, want %s to %s", first, last, c.least, c.most)
			}
			if math.Abs(float64(middle-c.median)) > c.tolerance*float64(max(c.median, 10*ms)) {
				t.Errorf("median %s, want about %s", middle, c.median)
			}
			if c.reachesLeast && first > c.least+2*ms || c.onMost && last < c.most-2*ms {
				t.Errorf("from %s to %s, want all of %s to %s", first, last, c.least, c.most)
			}
		})
	}
}

// A largest value that is hardly ever drawn is taken after 100 attempts.
func TestQ1_redrawing_ends(t *testing.T) {
	t.Parallel()
	d := mockbase.Delay{Kind: mockbase.DelayNormal, Mean: time.Minute, StdDev: 1, Max: 50 * time.Second, HasMax: true}
	if got := drawMany(&d); got[0] != 50*time.Second || got[len(got)-1] != 50*time.Second {
		t.Errorf("from %s to %s", got[0], got[len(got)-1])
	}
}

func TestQ1_a_rendered_delay_is_a_duration_or_milliseconds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"250ms": 250 * ms, " 1m30s ": 90 * time.Second, "1.5": 1500 * time.Microsecond, "": 0, "0": 0} {
		if got, err := engine.ParseDelay(text); err != nil || got != want {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"soon", "6m", "300001", "-1", "NaN", "1e99"} {
		if got, err := engine.ParseDelay(text); err == nil {
			t.Errorf("%q is %s", text, got)
		}
	}
}

// Rules AA19 and Q11: what is drawn follows from the seed and the number of the call.
func TestQ11_a_seed_repeats_faults_and_delays(t *testing.T) {
	t.Parallel()
	pattern := func(seed string) []string {
		var recorded recorder
		e := newEngine(t, engine.Options{Journal: &recorded})
		publishDefinition(t, e, "settings: { seed: "+seed+" }\nmocks:\n"+
			"  - { request: \"GET /m/{n}\", response: { text: a, delay: { min: 0, max: 1ms }, fault: { kind: empty, probability: 0.5 } } }\n")
		var seen []string
		for i := range 20 {
			_ = serveBroken(e, fmt.Sprintf("/m/shop/m/%d", i))
			x := recorded.last(t, i+1)
			seen = append(seen, fmt.Sprintf("%s %d", x.Fault, x.DelayPlanned))
		}
		return seen
	}
	first := pattern("1")
	if second := pattern("1"); !slices.Equal(first, second) {
		t.Errorf("seed 1 gives %s and %s", first, second)
	}
	if other := pattern("text"); slices.Equal(first, other) {
		t.Errorf("another seed gives the same: %s", other)
	}
}

// serveBroken serves a request whose answer may be broken, and tells whether it was.
func serveBroken(e *engine.Engine, target string) (broken bool) {
	defer func() { broken = recover() != nil }()
	e.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, target, http.NoBody))
	return false
}

func TestQ4_a_delay_holds_no_lock_and_no_worker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := delayed(t, engine.Options{}, time.Second)
		began := time.Now()
		var all sync.WaitGroup
		for range 1_000 {
			all.Go(func() { get(e, "/m/shop/a") })
		}
		all.Wait()
		if took := time.Since(began); took != time.Second {
			t.Errorf("1,000 requests took %s", took)
		}
	})
}

// Rule Q5: over a real connection, whose end is noticed at once.
func TestQ5_a_client_that_leaves_ends_the_delay(t *testing.T) {
	t.Parallel()
	var recorded recorder
	e := newEngine(t, engine.Options{Journal: &recorded})
	publishDefinition(t, e, "mocks: [{ request: GET /a, response: { text: a, delay: 1m } }]\n")
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", serveEngine(t, e))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "GET /m/shop/a HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	x := recorded.last(t, 1)
	if !x.ClientAborted || x.Response.Status != 0 || x.DelayPlanned != time.Minute || x.DelaySlept > 10*time.Second {
		t.Errorf("aborted %t, status %d, planned %s, slept %s", x.ClientAborted, x.Response.Status, x.DelayPlanned, x.DelaySlept)
	}
}

// Rule Q13: the exchange shows the fault as well.
func TestQ5_a_client_that_leaves_a_hanging_request_is_recorded_as_gone(t *testing.T) {
	t.Parallel()
	for name, hang := range map[string]string{"without end": "hang", "for a time": "{ kind: hang, for: 1m }"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var recorded recorder
			e := newEngine(t, engine.Options{Journal: &recorded})
			publishDefinition(t, e, "mocks: [{ request: GET /a, response: { fault: "+hang+" } }]\n")
			var d net.Dialer
			conn, err := d.DialContext(t.Context(), "tcp", serveEngine(t, e))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(conn, "GET /m/shop/a HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			conn.Close()
			if x := recorded.last(t, 1); !x.ClientAborted || x.Fault != "hang" || x.Response.Status != 0 {
				t.Errorf("aborted %t, fault %q, status %d", x.ClientAborted, x.Fault, x.Response.Status)
			}
		})
	}
}

func TestQ8_hang_ends_when_the_engine_closes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var recorded recorder
		e := newEngine(t, engine.Options{Journal: &recorded})
		publishDefinition(t, e, "mocks: [{ request: GET /a, response: { fault: hang } }]\n")
		time.AfterFunc(time.Hour, func() { e.Close() })
		if began := time.Now(); !serveBroken(e, "/m/shop/a") || time.Since(began) != time.Hour {
			t.Errorf("it ended after %s", time.Since(began))
		}
		if x := recorded.last(t, 1); x.Fault != "hang" || x.ClientAborted {
			t.Errorf("fault %q, aborted %t", x.Fault, x.ClientAborted)
		}
	})
}

func TestQ6_pieces_are_nearly_equal_and_end_in_time(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pace    mockbase.Stream
		size    int
		lengths []int
		last    time.Duration
	}{
		{mockbase.Stream{Chunks: 5, Over: time.Second}, 12, []int{3, 3, 2, 2, 2}, time.Second},
		{mockbase.Stream{Chunks: 4, Over: time.Second}, 3, []int{1, 1, 1}, time.Second},
		{mockbase.Stream{Chunks: 1, Over: time.Second}, 3, []int{3}, 0},
		{mockbase.Stream{Chunks: 3, Over: time.Second}, 9, []int{3, 3, 3}, time.Second},
		{mockbase.Stream{Chunks: 3}, 0, nil, 0},
		{mockbase.Stream{BytesPerSecond: 40}, 5, []int{2, 2, 1}, 125 * ms},
		{mockbase.Stream{BytesPerSecond: 1}, 2, []int{1, 1}, 2 * time.Second},
		{mockbase.Stream{}, 7, []int{7}, 0},
	} {
		lengths, due := engine.Pieces(&c.pace, c.size)
		if !slices.Equal(lengths, c.lengths) || len(due) > 0 && due[len(due)-1] != c.last {
			t.Errorf("%+v of %d bytes: %v at %v", c.pace, c.size, lengths, due)
		}
		if c.pace.Chunks > 0 && len(due) > 0 && due[0] != 0 {
			t.Errorf("%+v: the first piece waits for %s", c.pace, due[0])
		}
	}
}

// Rule N13: a slow body is finished at once when the engine closes.
func TestN13_close_ends_the_pace_of_a_body(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, engine.Options{})
		publishDefinition(t, e, "mocks: [{ request: GET /a, response: { text: abcdef, stream: { chunks: 3, over: 1h } } }]\n")
		time.AfterFunc(time.Second, func() { e.Close() })
		began := time.Now()
		if w := get(e, "/m/shop/a"); w.Body.String() != "abcdef" || time.Since(began) != time.Second {
			t.Errorf("%q after %s", w.Body, time.Since(began))
		}
	})
}
