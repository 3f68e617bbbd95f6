package simlimit_test

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/simlimit"
	"github.com/mockbase/mockbase/ratelimit"
)

// said is what a ruling says to a client.
type said struct {
	Admitted         bool
	Told, Decided    string
	Limit, Remaining int64
	Reset, Retry     time.Duration
	Skipped, Allowed []bool
}

func sayingOf(r *simlimit.Ruling) said {
	s := said{Admitted: r.Admitted}
	if o := r.Told(); o != nil {
		s.Told, s.Limit, s.Remaining, s.Reset = o.By.Bucket(), o.Limit, o.Remaining, o.Reset
	}
	if o := r.Decided(); o != nil {
		s.Decided, s.Retry = o.By.Bucket(), o.RetryAfter
	}
	for i := range r.Outcomes {
		s.Skipped = append(s.Skipped, r.Outcomes[i].Skipped)
		s.Allowed = append(s.Allowed, r.Outcomes[i].Allowed)
	}
	return s
}

// draft draws a policy of any algorithm.
func draft(random *rand.Rand) *mockbase.LimitPolicy {
	p := policy(func(p *mockbase.LimitPolicy) {
		p.Limit = random.Int64N(6)
		p.Window = time.Duration(1+random.Int64N(20)) * time.Second
		p.Algorithm = []string{"fixed_window", "sliding_window", "sliding_log", "token_bucket", "leaky_bucket", "gcra", "concurrency"}[random.IntN(7)]
	})
	if random.IntN(4) == 0 {
		p.Mode = "dry_run"
	}
	if p.Algorithm == "fixed_window" && random.IntN(2) == 0 {
		p.Align = "clock"
	}
	if p.Algorithm != "concurrency" && random.IntN(3) == 0 {
		p.InitialUsed = random.Int64N(p.Limit + 1)
	}
	if random.IntN(3) == 0 {
		p.Ban = &mockbase.LimitBan{After: 1 + random.IntN(3), Within: 10 * time.Second, For: time.Duration(1+random.IntN(30)) * time.Second}
	}
	return p
}

// AA29 and AA30: whatever limits and requests, what is foreseen is what is said then, and looking changes nothing.
func TestAA30_what_is_foreseen_is_what_happens(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		// Places in flight are renewed in real time, which would meddle with the clock of the test.
		synctest.Test(t, func(t *testing.T) { foresees(t, seed) })
	}
}

func foresees(t *testing.T, seed uint64) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 30))
	b := newBench(t)
	var limits []*simlimit.Limit
	for n := range 1 + random.IntN(3) {
		limits = append(limits, compileAt(t, draft(random), simlimit.OwnPlace("mck_1", "a", n)))
	}
	var held []*simlimit.Ruling
	for range 40 {
		b.now = b.now.Add(time.Duration(random.Int64N(int64(4 * time.Second))).Truncate(time.Millisecond))
		asked := asks([]string{"k", "l"}[random.IntN(2)], random.Int64N(4), limits...)
		first, alone := b.Foresee(b.now, asked)
		second, again := b.Foresee(b.now, asked)
		if diff := cmp.Diff(sayingOf(first), sayingOf(second)) + cmp.Diff(alone, again, cmp.AllowUnexported(ratelimit.Policy{})); diff != "" {
			t.Fatalf("seed %d: looking changes what is seen:\n%s", seed, diff)
		}
		r := b.Ask(b.now, asked)
		r.Settle()
		if diff := cmp.Diff(sayingOf(first), sayingOf(r), cmp.Transformer("rounded", rounded)); diff != "" {
			t.Fatalf("seed %d, %+v of %+v (-foreseen +said):\n%s", seed, asked, limits[0].Source, diff)
		}
		if held = append(held, r); random.IntN(2) == 0 {
			held[random.IntN(len(held))].Release()
		}
	}
}

// rounded leaves microseconds to the meters, whose levels are finer than times.
func rounded(d time.Duration) time.Duration {
	return (d + time.Microsecond).Truncate(time.Millisecond)
}

// What a limit says by itself is what is left before, and limits that would not be asked say it too.
func TestAA28_each_limit_is_looked_at_by_itself(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	spent := compileAt(t, policy(func(p *mockbase.LimitPolicy) { p.Limit = 0 }), simlimit.OwnPlace("mck_1", "a", 0))
	used := compileAt(t, policy(func(p *mockbase.LimitPolicy) { p.InitialUsed = 4 }), simlimit.OwnPlace("mck_1", "a", 1))
	full := compileAt(t, policy(func(p *mockbase.LimitPolicy) { p.Algorithm = "token_bucket" }), simlimit.OwnPlace("mck_1", "a", 2))
	r, alone := b.Foresee(b.now, asks("k", 2, spent, used, full))
	if r.Admitted || !r.Outcomes[1].Skipped || !r.Outcomes[2].Skipped {
		t.Errorf("admitted %t: %+v", r.Admitted, r.Outcomes)
	}
	for i, want := range []struct {
		allowed     bool
		left, limit int64
		wait        time.Duration
	}{{false, 0, 0, ratelimit.Never}, {false, 1, 5, time.Hour}, {true, 5, 5, 0}} {
		if d := alone[i]; d.Allowed != want.allowed || d.Remaining != want.left || d.Limit != want.limit || d.RetryAfter != want.wait {
			t.Errorf("limit %d says %+v", i, d)
		}
	}
	if n := b.keeper.Figures().Keys; n != 0 {
		t.Errorf("looking has made %d counters", n)
	}
}
