package redisstore_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// scripted are the algorithms that scripts judge; the first stands for windows that the first request opens.
func scripted() []ratelimit.Algorithm {
	return []ratelimit.Algorithm{
		ratelimit.FixedWindow, ratelimit.SlidingWindow, ratelimit.SlidingLog, ratelimit.TokenBucket, ratelimit.GCRA, ratelimit.Concurrency,
	}
}

// fitted returns a policy with numbers as near to the given ones as the algorithm takes.
func fitted(algorithm ratelimit.Algorithm, limit, window, burst uint64) *ratelimit.Policy {
	const longest = uint64(ratelimit.MaxWindow / time.Millisecond)
	p := &ratelimit.Policy{
		Algorithm: algorithm,
		Limit:     int64(1 + limit%uint64(ratelimit.MaxLimit)),
		Window:    time.Duration(1+window%longest) * time.Millisecond,
	}
	switch algorithm {
	case ratelimit.FixedWindow:
		p.Align = ratelimit.AlignFirstRequest
	case ratelimit.SlidingLog, ratelimit.Concurrency:
		p.Limit = 1 + p.Limit%300
	case ratelimit.TokenBucket, ratelimit.LeakyBucket, ratelimit.GCRA:
		p.Burst = int64(burst % uint64(ratelimit.MaxLimit))
	default:
	}
	for p.Validate() != nil {
		p.Limit, p.Burst = max(1, p.Limit/3), p.Burst/3
		if p.Limit == 1 && p.Burst == 0 {
			p.Window = max(time.Millisecond, p.Window/3).Truncate(time.Millisecond)
		}
	}
	return p
}

// duel is one key in Redis and its state.
type duel struct {
	*testing.T

	store *redisstore.Store
	key   ratelimit.Key
	state ratelimit.State
	now   time.Time
}

// check judges one check on both sides.
func (d *duel) check(p *ratelimit.Policy, cost int64, lease string) {
	d.Helper()
	r := ratelimit.Request{Key: d.key, Policy: p, Cost: cost, Now: d.now, Lease: lease}
	before := d.state.Clone()
	var want ratelimit.Decision
	if p.Algorithm != ratelimit.Concurrency {
		d.state, want = ratelimit.Step(p, d.state, r.Now, r.Cost)
	} else {
		ratelimit.Judge(&r, &d.state, &want) // Its costs are always possible, and its limit is never 0.
	}
	got, err := d.store.Take(d.Context(), r)
	if err != nil || got != want {
		d.Fatalf("%d at %d under %+v in %+v:\n got %+v, %v\nwant %+v", cost, d.now.UnixMicro(), *p, before, got, err, want)
	}
}

// manage renews or releases a lease on both sides.
func (d *duel) manage(p *ratelimit.Policy, lease string, renew int) {
	d.Helper()
	if renew == 0 {
		d.state.Release(lease)
		if err := d.store.Release(d.Context(), d.key, p, lease); err != nil {
			d.Fatalf("release %s: %v", lease, err)
		}
		return
	}
	want := d.state.Renew(&ratelimit.Request{Policy: p, Lease: lease, Now: d.now})
	if got, err := d.store.RenewAt(d.Context(), d.key, p, lease, d.now); err != nil || got != want {
		d.Fatalf("renew %s at %d under %+v: %t, %v, want %t", lease, d.now.UnixMicro(), *p, got, err, want)
	}
}

// far are instants between which double arithmetic is exact.
var far = [2]time.Time{time.Unix(-4_000_000_000, 0), time.Unix(4_000_000_000, 0)}

// FuzzRL139_every_script_equals_Step sends a sequence of checks through a script and through the pure step. Four bytes
// are one check: how far the clock moves in sixteenths of the window, back for a negative number, and in single ticks;
// the cost; and what changes in the policy, or what is done with a lease.
func FuzzRL139_every_script_equals_Step(f *testing.F) {
	server := testkit.StartRedis(f)
	s := open(f, redisstore.Options{
		Config: redisstore.Config{Addrs: []string{server.Addr}, Budget: redisstore.Patient}, WithoutLocalDenials: true,
	})
	moves := []byte{0, 1, 255, 0, 1, 7, 9, 0, 130, 1, 3, 0, 16, 1, 200, 17, 250, 9, 1, 0, 127, 8, 0, 2, 1, 0, 200, 3, 224, 0, 255, 4, 16, 1, 90, 5}
	for kind := range uint8(6) {
		f.Add(moves, kind, uint64(6), uint64(9_999), uint64(0))
		f.Add(moves, kind, uint64(6), uint64(59_999), uint64(11))
		f.Add(moves, kind, uint64(ratelimit.MaxLimit-1), uint64(0), uint64(1))
		f.Add(moves, kind, uint64(ratelimit.MaxLimit/7), uint64(315_619_200_000-1), uint64(ratelimit.MaxLimit-1))
		f.Add(moves, kind, uint64(7_199), uint64(86_399_999), uint64(1_000_003))
	}
	run := time.Now().UnixNano()
	f.Fuzz(func(t *testing.T, moves []byte, kind uint8, limit, window, burst uint64) {
		run++
		algorithm := scripted()[int(kind)%len(scripted())]
		d := &duel{T: t, store: s, key: ratelimit.Key{Namespace: "duel", Identifier: strconv.FormatInt(run, 10)}, now: time.Unix(1_700_000_000, 0)}
		for ; len(moves) >= 4; moves = moves[4:] {
			p := fitted(algorithm, limit, window, burst)
			next := d.now.Add(time.Duration(int8(moves[0])) * (p.Window / 16)).Add(time.Duration(moves[1]) * time.Microsecond)
			if next.After(far[0]) && next.Before(far[1]) {
				d.now = next.Truncate(time.Microsecond)
			}
			capacity := p.Capacity()
			cost := min(int64(moves[2])*max(1, capacity/200), capacity)
			lease := strconv.Itoa(int(moves[2]) % 8)
			switch change := moves[3] % 16; {
			case algorithm == ratelimit.Concurrency && change < 6:
				d.manage(p, lease, int(change%2))
			case change == 1:
				limit = limit*3/2 + uint64(moves[1])
			case change == 2:
				window = window*2/3 + uint64(moves[1])
			case change == 3:
				burst = burst/2 + uint64(moves[1])
			case change == 4:
				limit /= 2
			default:
			}
			d.check(p, cost, lease)
			d.check(p, 0, lease)
		}
	})
}

// TestRL143_requests_judged_together_equal_those_in_memory holds the scripts that judge several checks to the memory
// store.
func TestRL143_requests_judged_together_equal_those_in_memory(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	inMemory, err := memstore.New(memstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 143))
		base := everyKind(7)
		for i := range base {
			base[i].Key.Identifier = "together-" + strconv.FormatUint(seed, 10)
		}
		base[5].Policy.Limit = 3
		now := sharedAt
		for range 80 {
			now = now.Add(time.Duration(random.Int64N(int64(9 * time.Second))).Truncate(time.Microsecond))
			asked := slices.Clone(base)
			random.Shuffle(len(asked), func(i, j int) { asked[i], asked[j] = asked[j], asked[i] })
			asked = asked[:1+random.IntN(len(asked))]
			for i := range asked {
				asked[i].Now, asked[i].Lease = now, strconv.Itoa(random.IntN(5))
				if asked[i].Policy != base[5].Policy {
					asked[i].Cost = random.Int64N(random.Int64N(9) + 1)
				}
			}
			compareTogether(t, d.Store, inMemory, asked, random.IntN(2))
		}
	}
	everyKeyEnds(t, d.server)
}

// compareTogether judges the requests in order, or all or none, as the coin falls, in two stores.
func compareTogether(t *testing.T, store *redisstore.Store, other *memstore.Store, asked []ratelimit.Request, coin int) {
	t.Helper()
	got, want := make([]ratelimit.Decision, len(asked)), make([]ratelimit.Decision, len(asked))
	judged, wanted := len(asked), len(asked)
	var err, wrong error
	if coin == 0 {
		judged, err = store.TakeInOrder(t.Context(), asked, got)
		wanted, wrong = other.TakeInOrder(t.Context(), asked, want)
	} else {
		err, wrong = store.TakeAll(t.Context(), asked, got), other.TakeAll(t.Context(), asked, want)
	}
	if err != nil || wrong != nil || judged != wanted || !slices.Equal(got[:judged], want[:judged]) {
		t.Fatalf("coin %d: %+v\n got %d: %+v, %v\nwant %d: %+v, %v", coin, asked, judged, got, err, wanted, want, wrong)
	}
}
