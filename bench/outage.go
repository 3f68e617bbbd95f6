package bench

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/ratelimit"
)

// Outage is a way in which Redis goes away, and the way back.
type Outage struct {
	Name string
	// start starts a Redis and returns the address that the shield uses, and the functions that break it and mend it.
	start func(tb testing.TB) (r *testkit.Redis, addr string, broken, mended func())
}

// Outages are the ways in which a Redis is known to go away.
func Outages() []Outage {
	return []Outage{
		{"hangs", func(tb testing.TB) (*testkit.Redis, string, func(), func()) {
			tb.Helper()
			r := testkit.StartRedis(tb)
			proxy := testkit.StartFaultProxy(tb, r.Addr)
			return r, proxy.Addr, proxy.BlackHole, proxy.Pass
		}},
		{"refuses", func(tb testing.TB) (*testkit.Redis, string, func(), func()) {
			tb.Helper()
			r := testkit.StartRedis(tb)
			proxy := testkit.StartFaultProxy(tb, r.Addr)
			return r, proxy.Addr, proxy.Refuse, proxy.Pass
		}},
		{"is killed", func(tb testing.TB) (*testkit.Redis, string, func(), func()) {
			tb.Helper()
			r := testkit.StartRedis(tb)
			return r, r.Addr, r.Kill, r.Restart
		}},
		{"is stopped (SIGSTOP)", func(tb testing.TB) (*testkit.Redis, string, func(), func()) {
			tb.Helper()
			r := testkit.StartRedis(tb)
			return r, r.Addr, r.Pause, r.Resume
		}},
	}
}

// OutageReport is what requests felt of an outage.
type OutageReport struct {
	// Requests were sent, Refused of them not answered with 200; Counted is what Redis holds at the end, which is at most
	// Requests when none was counted twice. A Redis that was killed has lost what it held.
	Requests, Refused, Counted int64
	// Normal is the median time that the shield takes while Redis answers. Before is the longest within Settle after it
	// went away, when the breaker may be closed still, and Open the 99th percentile after that.
	Normal, Before, Open time.Duration
	// Heal is the time from Redis's return to the first decision that it made. Slow of the requests sent meanwhile took
	// longer than a millisecond.
	Heal time.Duration
}

// Settle is how long after Redis went away the breaker is given to open.
const Settle = 500 * time.Millisecond

// Run lets clients call a mock behind a shield in Redis while Redis goes away for the given time and comes back.
func (o Outage) Run(tb testing.TB, away time.Duration) OutageReport {
	tb.Helper()
	ctx := tb.Context()
	redis, addr, broken, mended := o.start(tb)
	guard, closeShield, err := newShield("redis://"+addr+"/0", 0)
	if err != nil {
		tb.Fatalf("make shield: %v", err)
	}
	tb.Cleanup(closeShield)
	watch := &stopwatch{shield: guard}
	e, err := newEngine(engine.Options{Shield: watch}, Spec{Mocks: 1}.mocks(), nil)
	if err != nil {
		tb.Fatalf("make engine: %v", err)
	}
	server, end, err := Listen(ctx, e)
	if err != nil {
		tb.Fatalf("serve: %v", err)
	}
	tb.Cleanup(end)

	loading, stop := context.WithCancel(ctx)
	load := Spec{Mocks: 1}.Load(server, 4)
	load.Pause, load.For = 2*time.Millisecond, away+30*time.Second
	var out Outcome
	done := make(chan error, 1)
	go func() {
		var err error
		out, err = load.Run(loading)
		done <- err
	}()

	pause(ctx, time.Second)
	began := time.Now()
	broken()
	pause(ctx, away)
	back := time.Now()
	mended()
	testkit.Eventually(tb, "a decision made by Redis again", func() bool { return !watch.healed(back).IsZero() })
	pause(ctx, Settle)
	stop()
	if err := <-done; err != nil {
		tb.Fatalf("call the mock: %v", err)
	}
	report := watch.report(began, back)
	report.Requests, report.Refused, report.Counted = out.Requests, out.Refused, counted(redis)
	return report
}

// counted sums up the shield's counters.
func counted(r *testkit.Redis) int64 {
	var sum int64
	for key := range strings.Lines(r.Do("KEYS", "ratelimit:*")) {
		if n, err := strconv.ParseInt(r.Do("GET", strings.TrimSpace(key)), 10, 64); err == nil {
			sum += n
		}
	}
	return sum
}

// stopwatch notes how long a shield takes for each request.
type stopwatch struct {
	shield engine.Shield

	mu    sync.Mutex
	marks []mark
}

type mark struct {
	at       time.Time
	took     time.Duration
	degraded bool
}

var _ engine.Shield = (*stopwatch)(nil)

// Admit asks the shield and notes the time that it takes.
func (s *stopwatch) Admit(w http.ResponseWriter, r *http.Request) (engine.Admission, bool) {
	began := time.Now()
	admission, ok := s.shield.Admit(w, r)
	m := mark{at: began, took: time.Since(began), degraded: admission.Decision.Degraded != ratelimit.None}
	s.mu.Lock()
	s.marks = append(s.marks, m)
	s.mu.Unlock()
	return admission, ok
}

// Done implements engine.Shield.
func (s *stopwatch) Done(a engine.Admission, status int) { s.shield.Done(a, status) }

// healed is when the first decision that Redis made after its return had been asked for; the zero time is never.
func (s *stopwatch) healed(back time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range slices.Backward(s.marks) {
		if m.at.Before(back) {
			break
		}
		if !m.degraded {
			return m.at.Add(m.took)
		}
	}
	return time.Time{}
}

func (s *stopwatch) report(began, back time.Time) OutageReport {
	s.mu.Lock()
	defer s.mu.Unlock()
	var normal, before, open []time.Duration
	var report OutageReport
	for _, m := range s.marks {
		switch {
		case m.at.Before(began):
			normal = append(normal, m.took)
		case m.at.Before(began.Add(Settle)):
			before = append(before, m.took)
		case m.at.Before(back):
			open = append(open, m.took)
		case !m.degraded && report.Heal == 0:
			report.Heal = m.at.Add(m.took).Sub(back)
		}
	}
	report.Normal, report.Before, report.Open = percentile(normal, 50), percentile(before, 100), percentile(open, 99)
	return report
}

// percentile returns the value that p per cent of the values do not exceed.
func percentile(values []time.Duration, p int) time.Duration {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[max(0, (len(values)*p+99)/100-1)]
}
