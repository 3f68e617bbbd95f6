package simlimit_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/simlimit"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
)

// noon is when tests begin, on the wall clock and on that of their session.
func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// bench is a session's place with its clock.
type bench struct {
	*simlimit.Space

	keeper *simlimit.Keeper
	now    time.Time
}

func newBench(tb testing.TB) *bench {
	tb.Helper()
	b := &bench{now: noon()}
	clock := func() time.Time { return b.now }
	var err error
	b.keeper, err = simlimit.New(simlimit.Options{
		Clock:  clock,
		Memory: func() (ratelimit.Store, error) { return memstore.New(memstore.Options{MaxKeys: 10_000, Clock: clock}) },
	})
	if err != nil {
		tb.Fatal(err)
	}
	if b.Space, err = b.keeper.Space("prj_1/ses_1", time.Hour); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(b.End)
	return b
}

func asks(key string, cost int64, limits ...*simlimit.Limit) []simlimit.Ask {
	list := make([]simlimit.Ask, len(limits))
	for i, l := range limits {
		list[i] = simlimit.Ask{By: l, Key: key, Label: key, Cost: cost}
	}
	return list
}

// ask puts a request for one unit to the limits as the engine does.
func (b *bench) ask(key string, limits ...*simlimit.Limit) *simlimit.Ruling {
	r := b.Ask(b.now, asks(key, 1, limits...))
	r.Settle()
	return r
}

// admits tells for several requests which of them pass.
func (b *bench) admits(n int, key string, limits ...*simlimit.Limit) string {
	var text strings.Builder
	for range n {
		if b.ask(key, limits...).Admitted {
			text.WriteByte('+')
		} else {
			text.WriteByte('-')
		}
	}
	return text.String()
}

// left is what the key k has left.
func (b *bench) left(tb testing.TB, l *simlimit.Limit) int64 {
	tb.Helper()
	view, err := b.Key(l, simlimit.KeyID("k"), b.now)
	if err != nil {
		tb.Fatal(err)
	}
	return view.Remaining
}

func TestX8_several_limits_are_charged_together_or_not_at_all(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	wide := compileAt(t, policy(nil), simlimit.OwnPlace("mck_1", "a", 0))
	narrow := compileAt(t, policy(func(p *mockbase.LimitPolicy) { p.Algorithm, p.Limit = "token_bucket", 2 }), simlimit.OwnPlace("mck_1", "a", 1))
	dry := compileAt(t, policy(func(p *mockbase.LimitPolicy) { p.Limit, p.Mode = 1, "dry_run" }), simlimit.OwnPlace("mck_1", "a", 2))
	if got := b.admits(4, "k", wide, narrow, dry); got != "++--" {
		t.Errorf("admitted %s", got)
	}
	if got := []int64{b.left(t, wide), b.left(t, narrow), b.left(t, dry)}; !cmp.Equal(got, []int64{3, 0, 0}) {
		t.Errorf("left are %v", got)
	}
	r := b.ask("k", wide, narrow, dry)
	if d := r.Decided(); d == nil || d.By != narrow || r.Told().By != narrow || !r.Outcomes[2].Skipped {
		t.Errorf("decided by %+v", d)
	}
	want := map[string]simlimit.Checks{"a": {Allowed: 5}, "a-2": {Allowed: 2, Denied: 3}, "a-3": {Allowed: 1, DryDenied: 1}}
	if diff := cmp.Diff(want, b.keeper.Figures().Checks); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
}

func TestX3_a_limit_of_0_asks_no_limiter(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	closed := compile(t, policy(func(p *mockbase.LimitPolicy) { p.Limit = 0 }))
	r := b.ask("k", closed)
	if d := r.Decided(); r.Admitted || d.RetryAfter != ratelimit.Never || b.keeper.Figures().Keys != 0 {
		t.Errorf("admitted %t, decided %+v", r.Admitted, d)
	}
	if err := b.SetUsed(closed, simlimit.KeyID("k"), 0, b.now); err != nil {
		t.Errorf("set nothing: %v", err)
	}
}

func TestX11_a_ban_begins_with_enough_rejections_and_is_not_renewed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := compile(t, policy(func(p *mockbase.LimitPolicy) {
		p.Limit, p.Window = 1, 10*time.Second
		p.Ban = &mockbase.LimitBan{After: 2, Within: 30 * time.Second, For: time.Minute}
	}))
	if got := b.admits(2, "k", l); got != "+-" {
		t.Fatalf("admitted %s", got)
	}
	// The first rejection is too old to count with the second.
	b.now = b.now.Add(30 * time.Second)
	if got := b.admits(2, "k", l); got != "+-" {
		t.Fatalf("admitted %s", got)
	}
	r := b.ask("k", l)
	if d := r.Decided(); d == nil || d.Banned || d.RetryAfter != time.Minute {
		t.Fatalf("the ban begins with %+v", d)
	}
	for range 3 {
		b.now = b.now.Add(15 * time.Second)
		if d := b.ask("k", l).Decided(); d == nil || !d.Banned || d.RetryAfter != noon().Add(90*time.Second).Sub(b.now) {
			t.Errorf("banned: %+v", d)
		}
	}
	if got := b.admits(1, "free", l); got != "+" {
		t.Errorf("another key: %s", got)
	}
	b.now = b.now.Add(15 * time.Second)
	if got := b.admits(1, "k", l); got != "+" {
		t.Errorf("after the ban: %s", got)
	}
}

func TestX11_a_reset_lifts_bans(t *testing.T) {
	t.Parallel()
	l := compile(t, policy(func(p *mockbase.LimitPolicy) {
		p.Limit = 1
		p.Ban = &mockbase.LimitBan{After: 1, Within: time.Hour, For: 24 * time.Hour}
	}))
	for name, reset := range map[string]func(b *bench) error{
		"of the session": func(b *bench) error { b.Reset(); return nil },
		"of the bucket":  func(b *bench) error { _, err := b.ResetBucket(l); return err },
		"of the key":     func(b *bench) error { return b.ResetKey(l, simlimit.KeyID("k")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if got := b.admits(3, "k", l); got != "+--" {
				t.Errorf("admitted %s", got)
			}
			if err := reset(b); err != nil {
				t.Fatal(err)
			}
			if got := b.admits(2, "k", l); got != "+-" {
				t.Errorf("then %s", got)
			}
		})
	}
}

// AA16: a place is its request's, however far the session's clock is moved.
func TestAA16_an_advance_frees_no_place(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	wall := b.now
	l := compile(t, policy(func(p *mockbase.LimitPolicy) { p.Algorithm, p.Limit, p.Window = "concurrency", 1, time.Minute }))
	held := b.Ask(b.now, asks("k", 1, l))
	if !held.Admitted {
		t.Fatal("the first is refused")
	}
	for range 3 {
		b.now = wall
		if r := b.Ask(wall.Add(24*time.Hour), asks("k", 1, l)); r.Admitted || r.Decided().RetryAfter != time.Second {
			t.Errorf("admitted %t after an advance", r.Admitted)
		}
	}
	held.Release()
	held.Release()
	again := b.Ask(wall, asks("k", 1, l))
	if !again.Admitted {
		t.Error("the place was not given back")
	}
	again.Release()
}

func TestM212_use_is_set_as_if_nothing_had_happened_before(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := compile(t, policy(func(p *mockbase.LimitPolicy) { p.InitialUsed = 4 }))
	flight := compileAt(t, policy(func(p *mockbase.LimitPolicy) { p.Algorithm = "concurrency" }), simlimit.OwnPlace("mck_2", "b", 0))
	if got := b.admits(2, "k", l); got != "+-" {
		t.Fatalf("admitted %s", got)
	}
	id := simlimit.KeyID("k")
	for _, used := range []int64{3, 0, 5} {
		if err := b.SetUsed(l, id, used, b.now); err != nil {
			t.Fatal(err)
		}
		if left := b.left(t, l); left != 5-used {
			t.Errorf("used %d, left %d", used, left)
		}
	}
	b.ask("k", flight).Release()
	for name, err := range map[string]error{
		"too many":          b.SetUsed(l, id, 6, b.now),
		"below 0":           b.SetUsed(l, id, -1, b.now),
		"what is under way": b.SetUsed(flight, id, 1, b.now),
	} {
		if !errors.Is(err, ratelimit.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"set": b.SetUsed(l, "key_0", 1, b.now), "reset": b.ResetKey(l, "key_0"), "read": func() error { _, err := b.Key(l, "key_0", b.now); return err }(),
	} {
		if !errors.Is(err, simlimit.ErrNoKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestM213_a_reset_concerns_its_own_bucket_and_key(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := compile(t, policy(func(p *mockbase.LimitPolicy) { p.Limit = 1 }))
	// Its name begins with that of the other.
	second := compileAt(t, policy(func(p *mockbase.LimitPolicy) { p.Limit = 1 }), simlimit.OwnPlace("mck_1", "a", 1))
	for _, key := range []string{"k", "kk"} {
		b.ask(key, l, second)
	}
	if err := b.ResetKey(l, simlimit.KeyID("k")); err != nil {
		t.Fatal(err)
	}
	if got := b.admits(2, "k", l) + b.admits(1, "kk", l) + b.admits(1, "k", second); got != "+---" {
		t.Errorf("after the key: %s", got)
	}
	if n, err := b.ResetBucket(l); n != 2 || err != nil {
		t.Errorf("cleared %d: %v", n, err)
	}
	if got := b.admits(1, "k", l) + b.admits(1, "kk", l) + b.admits(1, "kk", second); got != "++-" {
		t.Errorf("after the bucket: %s", got)
	}
}

// M-210: the account of keys is bounded. The one used longest ago goes, rather one that is not banned, and its count stays.
func TestM210_keys_that_are_accounted_for_are_bounded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := compile(t, policy(func(p *mockbase.LimitPolicy) {
		p.Limit = 1
		p.Ban = &mockbase.LimitBan{After: 1, Within: time.Hour, For: time.Hour}
	}))
	b.admits(2, "banned", l)
	for i := range 1_200 {
		b.ask("k"+strconv.Itoa(i), l)
	}
	keys := b.Keys(l, b.now)
	if len(keys) != 1_000 || keys[0].Label != "k1199" {
		t.Fatalf("%d keys, the newest is %s", len(keys), keys[0].Label)
	}
	if banned, err := b.Key(l, simlimit.KeyID("banned"), b.now); err != nil || banned.BannedFor != time.Hour || banned.Limited != 1 {
		t.Errorf("the banned key is %+v: %v", banned, err)
	}
	if _, err := b.Key(l, simlimit.KeyID("k0"), b.now); !errors.Is(err, simlimit.ErrNoKey) {
		t.Errorf("the oldest key: %v", err)
	}
	if got := b.admits(1, "k0", l); got != "-" {
		t.Errorf("the oldest key passes: %s", got)
	}
}

// M-211: the last 50 decisions of a key, the newest first.
func TestM211_decisions_are_bounded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := compile(t, policy(func(p *mockbase.LimitPolicy) { p.Limit = 60 }))
	for range 63 {
		b.ask("k", l)
		b.now = b.now.Add(time.Second)
	}
	key, err := b.Key(l, simlimit.KeyID("k"), b.now)
	if err != nil || len(key.Decisions) != 50 || key.Requests != 63 || key.Limited != 3 {
		t.Fatalf("key %+v: %v", key, err)
	}
	for i, d := range key.Decisions {
		if want := noon().Add(time.Duration(62-i) * time.Second); !d.At.Equal(want) || d.Allowed != (i > 2) {
			t.Errorf("decision %d: %+v, want one of %s", i, d, want)
		}
	}
}

// M-209: each scale tells the same use in its own steps, and forgets what is older than its points.
func TestM209_use_over_time(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := compile(t, policy(func(p *mockbase.LimitPolicy) { p.Limit = 3 }))
	dry := compileAt(t, policy(func(p *mockbase.LimitPolicy) { p.Limit, p.Mode = 1, "dry_run" }), simlimit.OwnPlace("mck_2", "b", 0))
	b.admits(4, "k", l)
	b.admits(3, "k", dry)
	b.now = b.now.Add(2 * time.Minute)
	b.ask("k", l)
	for _, test := range []struct {
		span, step time.Duration
		points     int
	}{
		{time.Second, 5 * time.Second, 60},
		{5 * time.Minute, 5 * time.Second, 60},
		{6 * time.Minute, time.Minute, 60},
		{24 * time.Hour, 30 * time.Minute, 48},
		{7 * 24 * time.Hour, 3 * time.Hour, 56},
	} {
		line := b.Timeline(l, test.span)
		var sum mockbase.LimitPoint
		for _, p := range line.Points {
			sum.Allowed += p.Allowed
			sum.Limited += p.Limited
		}
		if line.Step != test.step || len(line.Points) != test.points || sum.Allowed != 3 || sum.Limited != 2 {
			t.Errorf("over %s: %d points of %s with %+v", test.span, len(line.Points), line.Step, sum)
		}
		if last := line.Points[test.points-1].At; last.After(b.now) || b.now.Sub(last) >= test.step {
			t.Errorf("over %s the last point is at %s", test.span, last)
		}
	}
	if use := b.Use(l); use.Allowed != 3 || use.Limited != 2 || use.PeakPercent != 100 || !use.LastHitAt.Equal(b.now) {
		t.Errorf("used %+v", use)
	}
	if use := b.Use(dry); use.Allowed != 1 || use.WouldLimit != 2 || use.Limited != 0 {
		t.Errorf("dry use %+v", use)
	}
	b.now = b.now.Add(25 * time.Hour)
	if use := b.Use(l); use.Allowed != 0 || use.Limited != 0 || use.PeakPercent != 0 {
		t.Errorf("a day later %+v", use)
	}
	if line := b.Timeline(compileAt(t, policy(nil), simlimit.OwnPlace("mck_9", "z", 0)), time.Minute); len(line.Points) != 60 {
		t.Errorf("a limit that was never asked has %d points", len(line.Points))
	}
}

// RL128: what labels the figures is bounded.
func TestRL128_buckets_with_figures_of_their_own_are_bounded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 300 {
		b.ask("k", compileAt(t, policy(nil), simlimit.OwnPlace(fmt.Sprintf("mck_%d", i), "m"+strconv.Itoa(i), 0)))
	}
	checks := b.keeper.Figures().Checks
	if len(checks) != 201 || checks[simlimit.OtherBuckets].Allowed != 100 {
		t.Errorf("%d names, the others have %+v", len(checks), checks[simlimit.OtherBuckets])
	}
}

// X7 and AA18: what a request holds when buckets are emptied it gives back to where it has it from.
func TestX7_a_place_outlives_a_reset_as_its_own(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := compile(t, policy(func(p *mockbase.LimitPolicy) { p.Algorithm, p.Limit = "concurrency", 1 }))
	before := b.Ask(b.now, asks("k", 1, l))
	b.Reset()
	after := b.Ask(b.now, asks("k", 1, l))
	before.Release()
	if !after.Admitted || b.Ask(b.now, asks("k", 1, l)).Admitted {
		t.Error("the reset did not empty the bucket, or what came before it frees a place of what came after")
	}
	after.Release()
}

func TestM214_a_trial_consumes_nothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := compile(t, policy(func(p *mockbase.LimitPolicy) { p.InitialUsed = 3 }))
	three, far := int64(3), []mockbase.LimitTrialRequest{{}, {Key: "other"}, {}, {}, {At: time.Hour}}
	far[4].Cost = &three
	var got []bool
	for _, d := range l.Simulate(far) {
		got = append(got, d.Allowed)
	}
	if diff := cmp.Diff([]bool{true, true, true, false, true}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	closed := compile(t, policy(func(p *mockbase.LimitPolicy) { p.Limit = 0 }))
	if d := closed.Simulate(far[:1]); d[0].Allowed || d[0].RetryAfter != ratelimit.Never {
		t.Errorf("always limited: %+v", d[0])
	}
	if got := b.admits(3, "k", l); got != "++-" || b.keeper.Figures().Keys != 1 {
		t.Errorf("afterwards %s", got)
	}
}

func TestX12_a_keeper_needs_memory_that_charges_together(t *testing.T) {
	t.Parallel()
	if _, err := simlimit.New(simlimit.Options{}); !errors.Is(err, ratelimit.ErrConfig) {
		t.Errorf("without memory: %v", err)
	}
	k, err := simlimit.New(simlimit.Options{Memory: func() (ratelimit.Store, error) { return singly{}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Space("p/s", 0); !errors.Is(err, ratelimit.ErrConfig) {
		t.Errorf("with memory that charges singly: %v", err)
	}
}

// singly is a store that charges one request at a time.
type singly struct{ ratelimit.Store }
