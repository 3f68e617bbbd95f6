package guard_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
)

// The readings of a process that is calm, busy between its marks, and overloaded.
var (
	calm       = guard.Readings{CPU: 0.10, Heap: 0.10, Latency: 0.001, InFlight: -1}
	busy       = guard.Readings{CPU: 0.75, Heap: 0.10, Latency: 0.001, InFlight: -1}
	overloaded = guard.Readings{CPU: 0.95, Heap: 0.10, Latency: 0.001, InFlight: -1}
)

func TestRL112_the_controller_is_a_function_of_factor_and_readings(t *testing.T) {
	t.Parallel()
	at := func(value float64, high int) guard.Factor { return guard.Factor{Value: value, High: high} }
	for _, c := range []struct {
		name     string
		rules    guard.Adaptive
		from     guard.Factor
		readings guard.Readings
		want     guard.Factor
	}{
		{"the zero factor is 1", guard.Adaptive{}, guard.Factor{}, calm, at(1, 0)},
		{"a factor that cannot be is 1", guard.Adaptive{}, at(math.NaN(), 0), busy, at(1, 0)},
		{"RL110 one high reading lowers nothing", guard.Adaptive{}, at(1, 0), overloaded, at(1, 1)},
		{"RL110 the second in a row does", guard.Adaptive{}, at(1, 1), overloaded, at(0.8, 2)},
		{"RL110 and each one after it", guard.Adaptive{}, at(0.8, 2), overloaded, at(0.64, 2)},
		{"RL110 a reading between the marks keeps the factor and ends the row", guard.Adaptive{}, at(0.8, 2), busy, at(0.8, 0)},
		{"RL110 a calm one raises it by 0.05", guard.Adaptive{}, at(0.8, 0), calm, at(0.85, 0)},
		{"RL110 up to 1", guard.Adaptive{}, at(0.97, 0), calm, at(1, 0)},
		{"RL109 never below the minimum", guard.Adaptive{}, at(0.11, 2), overloaded, at(0.1, 2)},
		{"RL109 which may be another", guard.Adaptive{Min: 0.5}, at(0.6, 2), overloaded, at(0.5, 2)},
		{"CPU at its high mark is not above it", guard.Adaptive{}, at(1, 1), guard.Readings{CPU: 0.85}, at(1, 0)},
		{"CPU at its low mark is not below it", guard.Adaptive{}, at(0.5, 0), guard.Readings{CPU: 0.70}, at(0.5, 0)},
		{"the heap above 90 %", guard.Adaptive{}, at(1, 1), guard.Readings{Heap: 0.91}, at(0.8, 2)},
		{"the heap above 80 %", guard.Adaptive{}, at(0.5, 0), guard.Readings{Heap: 0.81}, at(0.5, 0)},
		{"goroutines that wait for more than 20 ms", guard.Adaptive{}, at(1, 1), guard.Readings{Latency: 0.021}, at(0.8, 2)},
		{"goroutines that wait for more than 5 ms", guard.Adaptive{}, at(0.5, 0), guard.Readings{Latency: 0.006}, at(0.5, 0)},
		{"requests in flight mean nothing without marks", guard.Adaptive{}, at(0.5, 0), guard.Readings{InFlight: 1e9}, at(0.55, 0)},
		{"requests in flight above theirs", guard.Adaptive{InFlight: guard.Marks{Low: 10, High: 20}}, at(1, 1), guard.Readings{InFlight: 21}, at(0.8, 2)},
		{"another mark for the CPU", guard.Adaptive{CPU: guard.Marks{Low: 0.1, High: 0.2}}, at(1, 1), guard.Readings{CPU: 0.3}, at(0.8, 2)},
		{"what is unknown says nothing", guard.Adaptive{}, at(0.5, 0), guard.Readings{CPU: -1, Heap: math.NaN(), Latency: 0.001, InFlight: -1}, at(0.55, 0)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := c.rules.Next(c.from, c.readings); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// Property: whatever is read, the factor stays in its bounds, and calm brings it back to exactly 1.
func TestRL109_the_factor_stays_between_its_minimum_and_1(t *testing.T) {
	t.Parallel()
	rules := guard.Adaptive{}
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 109))
		f := guard.Factor{}
		for range 500 {
			f = rules.Next(f, []guard.Readings{calm, busy, overloaded, {CPU: math.Inf(1)}, {CPU: math.NaN()}}[random.IntN(5)])
			if f.Value < 0.1 || f.Value > 1 {
				t.Fatalf("factor %v", f.Value)
			}
		}
		for range 18 {
			f = rules.Next(f, calm)
		}
		if f.Value != 1 {
			t.Errorf("after 18 calm seconds: %v, want 1", f.Value)
		}
	}
}

func TestRL109_limit_and_burst_are_scaled_down_to_at_least_1(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limit, burst int64
		factor       float64
		want, bursts int64
	}{
		{120, 0, 1, 120, 0},
		{120, 0, 0.8, 96, 0},
		{120, 10, 0.1, 12, 1},
		{10, 0, 0.7, 7, 0}, // Decimal fractions must not end just below a whole number.
		{3, 3, 0.5, 1, 1},
		{1, 1, 0.1, 1, 1},
		{0, 0, 0.5, 0, 0},
		{ratelimit.MaxLimit, 0, 0.5, ratelimit.MaxLimit / 2, 0},
		{5, 0, 0, 5, 0},
	} {
		got := guard.Factor{Value: c.factor}.Scale(ratelimit.Policy{Name: "engine", Limit: c.limit, Burst: c.burst})
		if got.Limit != c.want || got.Burst != c.bursts || got.Name != "engine" {
			t.Errorf("%d, %d times %v: %+v, want %d and %d", c.limit, c.burst, c.factor, got, c.want, c.bursts)
		}
	}
}

func TestRL110_marks_that_make_no_sense_are_refused(t *testing.T) {
	t.Parallel()
	for _, a := range []guard.Adaptive{
		{Min: -0.1}, {Min: 1.1}, {Min: math.NaN()}, {CPU: guard.Marks{Low: 2, High: 1}}, {Heap: guard.Marks{Low: -1}}, {InFlight: guard.Marks{High: math.NaN()}},
	} {
		if err := a.Validate(); !errors.Is(err, ratelimit.ErrConfig) {
			t.Errorf("%+v: %v, want ErrConfig", a, err)
		}
	}
}

// meter reads what the test wants.
type meter struct{ readings chan guard.Readings }

func (m *meter) Read() guard.Readings {
	select {
	case r := <-m.readings:
		return r
	default:
		return busy
	}
}

func TestRL111_adaptive_tiers_follow_the_factor_and_counts_stay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &meter{readings: make(chan guard.Readings, 100)}
		rules := guard.Rules{
			Tiers:    []guard.Tier{{Policy: perMinute("client", 10), Adaptive: true}, {Policy: perMinute("fixed", 100)}},
			Adaptive: &guard.Adaptive{},
		}
		s := newSubject(t, rules, func(o *guard.Options) { o.Meter, o.Clock = m, time.Now })
		for range 6 {
			s.want(s.judge(attempt("203.0.113.9")), "allowed")
		}
		m.readings <- overloaded
		m.readings <- overloaded
		m.readings <- overloaded
		wait(3500 * time.Millisecond)
		if s.Factor() != 0.64 {
			t.Errorf("factor %v after three high readings, want 0.64", s.Factor())
		}
		v := s.judge(attempt("203.0.113.9"))
		s.want(v, "refused by tiers/client") // The limit is 6 now, and 6 are counted.
		if v.Decision.Limit != 6 {
			t.Errorf("limit %d, want 6", v.Decision.Limit)
		}
		if err := s.Update(rules); err != nil { // New rules keep the factor.
			t.Fatal(err)
		}
		s.want(s.judge(attempt("203.0.113.9")), "refused by tiers/client")
		for range 9 {
			m.readings <- calm
		}
		wait(10 * time.Second)
		if s.Factor() != 1 {
			t.Errorf("factor %v after nine calm readings, want 1", s.Factor())
		}
		s.want(s.judge(attempt("203.0.113.9")), "allowed")
		if len(s.recorded) != 2 || s.recorded[0].Factor != 0.8 || s.recorded[1].Factor != 1 {
			t.Errorf("changes %+v, want one on leaving 1 and one on entering it", s.recorded)
		}
	})
}

func TestRL109_limits_stay_as_they_are_unless_somebody_asks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &meter{readings: make(chan guard.Readings, 100)}
		rules := guard.Rules{Tiers: []guard.Tier{{Policy: perMinute("client", 10), Adaptive: true}}}
		s := newSubject(t, rules, func(o *guard.Options) { o.Meter, o.Clock = m, time.Now })
		for range 10 {
			m.readings <- overloaded
		}
		wait(11 * time.Second)
		if v := s.judge(attempt("203.0.113.9")); v.Decision.Limit != 10 || s.Factor() != 1 {
			t.Errorf("limit %d, factor %v, want 10 and 1", v.Decision.Limit, s.Factor())
		}
	})
}

func TestRL110_the_runtime_is_read(t *testing.T) {
	before := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(before)
	m := &guard.RuntimeMeter{}
	first := m.Read()
	if first.CPU >= 0 || first.Heap >= 0 || first.InFlight >= 0 || first.Latency >= 0 {
		t.Errorf("the first reading without a memory limit: %+v, want nothing known", first)
	}
	debug.SetMemoryLimit(1 << 40)
	m.InFlight = func() int64 { return 7 }
	done := make(chan float64)
	for range 100 {
		go func() { done <- math.Sqrt(2) }()
	}
	for range 100 {
		<-done
	}
	second := m.Read()
	if second.CPU < 0 || second.Heap <= 0 || second.Heap > 1 || second.InFlight != 7 || second.Latency < 0 {
		t.Errorf("the second reading: %+v, want all of it known", second)
	}
}

func TestRL110_the_tail_of_the_latencies_is_found(t *testing.T) {
	t.Parallel()
	buckets := []float64{math.Inf(-1), 0.001, 0.005, 0.020, math.Inf(1)}
	for _, c := range []struct {
		name   string
		counts []uint64
		want   float64
	}{
		{"nobody waited", []uint64{0, 0, 0, 0}, -1},
		{"all for less than a millisecond", []uint64{100, 0, 0, 0}, 0.001},
		{"one of a hundred for longer", []uint64{99, 0, 1, 0}, 0.001},
		{"two of a hundred", []uint64{98, 0, 2, 0}, 0.020},
		{"beyond all bounds", []uint64{0, 0, 0, 5}, 0.020},
		{"one alone", []uint64{0, 1, 0, 0}, 0.005},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := guard.Percentile(c.counts, buckets); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}
