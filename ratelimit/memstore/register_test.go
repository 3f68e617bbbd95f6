package memstore_test

import (
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
	"github.com/mockbase/mockbase/ratelimit/storetest"
)

func newBans(tb testing.TB, o memstore.BanOptions) *memstore.Bans {
	tb.Helper()
	b, err := memstore.NewBans(o)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func TestTheRegisterOfBansKeepsTheContract(t *testing.T) {
	t.Parallel()
	storetest.RunBans(t, func(t *testing.T) ratelimit.Bans { t.Helper(); return newBans(t, memstore.BanOptions{}) })
}

func TestTheRegisterOfCircuitsKeepsTheContract(t *testing.T) {
	t.Parallel()
	storetest.RunCircuits(t, func(*testing.T) ratelimit.Circuits { return memstore.NewCircuits() })
}

var banTime = time.Unix(1_767_225_600, 0)

func strike(tb testing.TB, b *memstore.Bans, r *ratelimit.BanRule, key string, after time.Duration) ratelimit.Standing {
	tb.Helper()
	s, err := b.Strike(tb.Context(), r, key, banTime.Add(after))
	if err != nil {
		tb.Fatalf("strike %q: %v", key, err)
	}
	return s
}

func TestRL94_offenders_are_bounded_and_bans_go_last(t *testing.T) {
	t.Parallel()
	b := newBans(t, memstore.BanOptions{MaxOffenders: 10})
	once := &ratelimit.BanRule{Name: "once", MaxRetry: 1, FindTime: time.Minute, BanTime: time.Hour}
	thrice := &ratelimit.BanRule{Name: "thrice", MaxRetry: 3, FindTime: time.Minute, BanTime: time.Hour}
	strike(t, b, once, "banned", 0)
	if err := b.Put(t.Context(), ratelimit.Ban{Rule: "manual", Identifier: "put", From: banTime}); err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		strike(t, b, thrice, fmt.Sprintf("key-%d", i), time.Second)
	}
	if b.Len() != 10 {
		t.Errorf("%d offenders, want at most 10", b.Len())
	}
	if s, err := b.Standing(t.Context(), once, "banned", banTime.Add(time.Second)); err != nil || !s.Banned {
		t.Errorf("the ban gave way to a flood of offences: %+v, %v", s, err)
	}
	for i := range 1000 {
		strike(t, b, once, fmt.Sprintf("key-%d", i), time.Second)
	}
	page, err := b.Page(t.Context(), ratelimit.BanQuery{Rule: "manual", Now: banTime})
	if err != nil || len(page.Bans) != 1 || b.Len() != 10 {
		t.Errorf("a ban that was put in gave way to a flood of bans: %+v, %v", page, err)
	}
}

func TestRL101_a_register_full_of_bans_says_so(t *testing.T) {
	t.Parallel()
	b := newBans(t, memstore.BanOptions{MaxOffenders: 2})
	rule := &ratelimit.BanRule{Name: "once", MaxRetry: 1, FindTime: time.Minute, BanTime: time.Hour}
	for i := range 3 {
		ban := ratelimit.Ban{Rule: "manual", Identifier: fmt.Sprintf("key-%d", i), From: banTime, Until: banTime.Add(time.Hour)}
		if err := b.Put(t.Context(), ban); (i == 2) != errors.Is(err, ratelimit.ErrStoreFull) {
			t.Errorf("ban %d: %v", i, err)
		}
	}
	if _, err := b.Strike(t.Context(), rule, "a", banTime); !errors.Is(err, ratelimit.ErrStoreFull) {
		t.Errorf("an offence: %v, want ErrStoreFull", err)
	}
	strike(t, b, rule, "a", 2*time.Hour) // They have ended, and make room.
}

func TestRL95_logs_are_bounded_together_and_each_is_complete(t *testing.T) {
	t.Parallel()
	b := newBans(t, memstore.BanOptions{MaxOffences: 20})
	rule := &ratelimit.BanRule{Name: "many", MaxRetry: 16, FindTime: time.Minute, BanTime: time.Hour}
	for i := range 15 {
		for _, key := range []string{"a", "b", "c"} {
			strike(t, b, rule, key, time.Duration(i)*time.Millisecond)
		}
		if b.Offences() > 20 {
			t.Fatalf("%d offences are remembered, want at most 20", b.Offences())
		}
	}
	for i := range 15 {
		if s := strike(t, b, rule, "d", time.Second); s.Failures != int64(i)+1 {
			t.Fatalf("offence %d: %+v", i, s)
		}
	}
	if s := strike(t, b, rule, "d", time.Second); !s.Struck {
		t.Errorf("the sixteenth: %+v, want a ban", s)
	}
}

func TestRL95_offenders_that_lapsed_are_freed_a_few_at_a_time(t *testing.T) {
	t.Parallel()
	b := newBans(t, memstore.BanOptions{})
	rule := &ratelimit.BanRule{Name: "thrice", MaxRetry: 3, FindTime: time.Minute, BanTime: time.Hour}
	for i := range 100 {
		strike(t, b, rule, fmt.Sprintf("key-%d", i), 0)
	}
	for range 40 {
		strike(t, b, rule, "a", 2*time.Minute)
	}
	if b.Len() != 1 {
		t.Errorf("%d offenders, want the one that is active", b.Len())
	}
}

func TestRegistersRefuseWhatCannotBe(t *testing.T) {
	t.Parallel()
	for _, o := range []memstore.BanOptions{{MaxOffenders: -1}, {MaxOffences: -1}} {
		if _, err := memstore.NewBans(o); !errors.Is(err, ratelimit.ErrConfig) {
			t.Errorf("%+v: %v, want ErrConfig", o, err)
		}
	}
	circuits := memstore.NewCircuits()
	var full error
	for i := range 2000 {
		if _, err := circuits.Offer(t.Context(), strconv.Itoa(i), time.Minute, ratelimit.CircuitCounts{}, banTime); err != nil {
			full = err
		}
	}
	if !errors.Is(full, ratelimit.ErrStoreFull) {
		t.Errorf("2000 circuits: %v, want ErrStoreFull", full)
	}
}

func TestRL102_counts_of_a_circuit_stop_and_never_overflow(t *testing.T) {
	t.Parallel()
	circuits := memstore.NewCircuits()
	const most = 1<<63 - 1
	for i := range 20 {
		n := ratelimit.CircuitCounts{Offered: most, Admitted: most}
		got, err := circuits.Offer(t.Context(), "server", time.Hour, n, banTime.Add(time.Duration(i)*20*time.Minute))
		if err != nil || got.Window.Offered <= 0 || got.Window.Admitted <= 0 || got.Offered <= 0 {
			t.Fatalf("offer %d: %+v, %v", i, got, err)
		}
	}
}
