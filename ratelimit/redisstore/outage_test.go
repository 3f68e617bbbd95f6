package redisstore_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// callers is the number of concurrent callers of every outage (rule RL140).
const callers = 64

// rig is a store in front of a real server, with a proxy between them that can fail.
type rig struct {
	server *testkit.Redis
	proxy  *testkit.FaultProxy
	store  *redisstore.Store
	hole   *testkit.SYNBlackHole
}

// policy never denies: what the outages are about is who decides.
func policy() *ratelimit.Policy {
	return &ratelimit.Policy{Name: "engine", Limit: ratelimit.MaxLimit, Window: time.Hour}
}

// shared is the key that every check of an outage counts under, and its text in Redis.
var (
	shared     = ratelimit.Key{Namespace: "engine", Identifier: "203.0.113.9"}
	sharedAt   = time.Unix(1_700_000_040, 0)
	sharedText = "ratelimit:engine:203.0.113.9:1699999200"
)

func (r *rig) take(ctx context.Context) error {
	_, err := r.store.Take(ctx, ratelimit.Request{Key: shared, Policy: policy(), Cost: 1, Now: sharedAt})
	return err
}

// count is what Redis counted, as text is read.
func (r *rig) count(t *testing.T) int {
	t.Helper()
	text := r.server.Do("GET", sharedText)
	if text == "(nil)" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("counter: %v", err)
	}
	return n
}

// tally is what came of many checks.
type tally struct {
	passed, failed int
	classes        map[redisstore.Class]int
	waits          []time.Duration
}

// run makes every caller check until done says that it is enough.
func (r *rig) run(t *testing.T, done func(checks int) bool) tally {
	t.Helper()
	var mu sync.Mutex
	total := tally{classes: map[redisstore.Class]int{}}
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			own := tally{classes: map[redisstore.Class]int{}}
			for n := 0; !done(n); n++ {
				start := time.Now()
				err := r.take(t.Context())
				own.waits = append(own.waits, time.Since(start))
				if err == nil {
					own.passed++
					continue
				}
				own.failed++
				failed, ok := errors.AsType[*redisstore.Error](err)
				if !ok {
					t.Errorf("take: %v (%T), want a *redisstore.Error", err, err)
					return
				}
				own.classes[failed.Class()]++
			}
			mu.Lock()
			defer mu.Unlock()
			total.passed += own.passed
			total.failed += own.failed
			total.waits = append(total.waits, own.waits...)
			for class, n := range own.classes {
				total.classes[class] += n
			}
		})
	}
	group.Wait()
	slices.Sort(total.waits)
	return total
}

func TestRL51_probes_go_on_until_Redis_is_back(t *testing.T) {
	t.Parallel()
	for _, o := range outages() {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			r := &rig{server: testkit.StartRedis(t, o.args...)}
			r.proxy = testkit.StartFaultProxy(t, r.server.Addr)
			r.store = open(t, redisstore.Options{
				Config: redisstore.Config{Addrs: []string{r.proxy.Addr}, Budget: o.budget()}, ProbeInterval: 10 * time.Millisecond,
			})
			o.begin(t, r)
			testkit.Eventually(t, "the breaker to open", func() bool {
				_ = r.take(t.Context())
				return r.store.Available() != nil
			})
			for range 3 {
				before := r.store.Refusal()
				testkit.Eventually(t, "a probe that fails", func() bool { return r.store.Refusal() != before })
				if err := r.take(t.Context()); err == nil {
					t.Error("a check passed during the outage")
				}
			}
			testkit.Eventually(t, "health to be open as "+string(o.class), func() bool {
				h := r.store.Health()
				return h.Open && o.is(h.LastErrorClass)
			})
			o.end(t, r)
			testkit.Eventually(t, "a check that passes", func() bool { return r.take(t.Context()) == nil })
		})
	}
}

// works makes checks until a whole round of them passes: a machine that is busy with other tests may keep some waiting
// for longer than their budget.
func (r *rig) works(t *testing.T) tally {
	t.Helper()
	var all tally
	testkit.Eventually(t, "a round of checks that all pass", func() bool {
		if r.store.Available() != nil {
			return false
		}
		round := r.run(t, times(20))
		all.passed += round.passed
		all.failed += round.failed
		if round.failed > 0 {
			t.Logf("%d of %d checks failed: %v", round.failed, round.checks(), round.classes)
		}
		return round.failed == 0
	})
	return all
}

// failedAs says whether checks failed as this class, and otherwise only for want of time, which a busy machine adds.
func (n tally) failedAs(class redisstore.Class) bool {
	for other := range n.classes {
		if other != class && other != redisstore.ClassTransport && other != redisstore.ClassBreaker {
			return false
		}
	}
	return n.classes[class] > 0
}

func (n tally) checks() int { return n.passed + n.failed }

func (n tally) quantile(q float64) time.Duration {
	return n.waits[int(q*float64(len(n.waits)-1))]
}

func times(n int) func(int) bool { return func(checks int) bool { return checks >= n } }

// The budgets of checks in outages, which a machine that is busy with other tests as well must not use up by itself: while
// nobody answers each check waits for all of it, and where Redis says what is wrong nothing waits but for the machine.
const (
	silenceBudget = 4 * redisstore.DefaultBudget
	answerBudget  = 20 * redisstore.DefaultBudget
)

// poolSize is how many connections the store of an outage may have.
const poolSize = 20

// budget is how long checks of the outage may take.
func (o *outage) budget() time.Duration {
	if o.class == redisstore.ClassTransport {
		return silenceBudget
	}
	return answerBudget
}

// footprint is what the process holds. A connection through the proxy is a link with three goroutines and three
// descriptors: the store's, and the proxy's two.
type footprint struct{ goroutines, files, links int }

func (r *rig) footprint(t *testing.T) footprint {
	t.Helper()
	return footprint{runtime.NumGoroutine(), descriptors(t), r.proxy.Open()}
}

// within says that nothing has grown but the pool of connections, which may be used more than before and has an end: what
// an outage leaks it leaks for each of thousands of checks.
func (f footprint) within(before footprint) bool {
	const spare, perLink = 2, 3
	room := spare + perLink*max(0, f.links-before.links)
	return f.goroutines <= before.goroutines+room && f.files <= before.files+room && f.links <= spare+poolSize
}

// outage is one way to lose Redis, and the way back.
type outage struct {
	name       string
	begin, end func(t *testing.T, r *rig)
	// class is what the checks fail as before the breaker opens.
	class redisstore.Class
	// or is what they may fail as instead; "" is nothing else.
	or redisstore.Class
	// probed says that the probes of an open breaker fail as class alone.
	probed bool
	// forgets says that the server comes back empty.
	forgets bool
	// args are what the server is started with.
	args []string
}

func (o *outage) is(class redisstore.Class) bool {
	return class == o.class || class == o.or && class != ""
}

func outages() []outage {
	const transport = redisstore.ClassTransport
	pass := func(_ *testing.T, r *rig) { r.proxy.Pass() }
	return []outage{
		loading(), crowded(),
		{name: "refused", begin: func(_ *testing.T, r *rig) { r.proxy.Refuse() }, end: pass, class: transport},
		{name: "reset", begin: func(_ *testing.T, r *rig) { r.proxy.Reset() }, end: pass, class: transport},
		{name: "accepts and never replies", begin: func(_ *testing.T, r *rig) { r.proxy.BlackHole() }, end: pass, class: transport},
		{name: "replies slower than the budget", begin: func(_ *testing.T, r *rig) { r.proxy.Delay(4 * silenceBudget) }, end: pass, class: transport},
		{
			name: "SYN black hole",
			begin: func(t *testing.T, r *rig) {
				t.Helper()
				r.proxy.Refuse()
				r.hole = testkit.OpenSYNBlackHole(t, r.proxy.Addr)
			},
			end: func(_ *testing.T, r *rig) {
				r.hole.Close()
				r.proxy.Pass()
			},
			class: transport,
		},
		{
			name:  "SIGSTOP with warm connections",
			begin: func(_ *testing.T, r *rig) { r.server.Pause() },
			end:   func(_ *testing.T, r *rig) { r.server.Resume() },
			class: transport,
		},
		{
			name:  "kill -9 and restart",
			begin: func(_ *testing.T, r *rig) { r.server.Kill() },
			end:   func(_ *testing.T, r *rig) { r.server.Restart() },
			class: transport, forgets: true,
		},
		{
			name:  "read-only replica of a dead master",
			begin: func(_ *testing.T, r *rig) { r.server.Do("REPLICAOF", "127.0.0.1", "1") },
			end:   func(_ *testing.T, r *rig) { r.server.Do("REPLICAOF", "NO", "ONE") },
			class: redisstore.ClassUnavailable,
		},
		{
			name:  "out of memory",
			begin: func(_ *testing.T, r *rig) { r.server.Do("CONFIG", "SET", "maxmemory", "1") },
			end:   func(_ *testing.T, r *rig) { r.server.Do("CONFIG", "SET", "maxmemory", "0") },
			class: redisstore.ClassFull,
		},
		{
			name: "password required all of a sudden",
			begin: func(_ *testing.T, r *rig) {
				r.server.Do("CONFIG", "SET", "requirepass", "changed")
				r.server.Password = "changed"
				r.server.Do("CLIENT", "KILL", "TYPE", "normal") // Who has signed in may stay.
			},
			end: func(_ *testing.T, r *rig) {
				r.server.Do("CONFIG", "SET", "requirepass", "")
				r.server.Password = ""
			},
			class: redisstore.ClassConfig,
			// As many checks as open the breaker may find a connection that was killed.
			or: transport, probed: true,
		},
		{
			name: "a permission taken away",
			begin: func(_ *testing.T, r *rig) {
				r.server.Do("ACL", "SETUSER", "default", "-incr")
			},
			end:   func(_ *testing.T, r *rig) { r.server.Do("ACL", "SETUSER", "default", "+incr") },
			class: redisstore.ClassConfig,
		},
	}
}

// The tests of outages count goroutines and descriptors, so that none runs in parallel with another.

func TestRL140_outages(t *testing.T) {
	for _, o := range outages() {
		t.Run(o.name, func(t *testing.T) { survive(t, o) })
	}
}

func survive(t *testing.T, o outage) {
	t.Helper()
	testkit.LeavesNoGoroutine(t)
	r := &rig{server: testkit.StartRedis(t, o.args...)}
	r.proxy = testkit.StartFaultProxy(t, r.server.Addr)
	r.store = open(t, redisstore.Options{Config: redisstore.Config{Addrs: []string{r.proxy.Addr}, Budget: o.budget(), PoolSize: poolSize}})

	warm := r.works(t)
	held := r.footprint(t)

	o.begin(t, r)
	before := r.run(t, func(int) bool { return r.store.Available() != nil })
	if !before.failedAs(o.class) && !before.failedAs(o.or) {
		t.Errorf("checks failed as %v, want %s", before.classes, o.class)
	}
	t.Logf("until the breaker opened: %d checks, %d failed %v, longest wait %v", before.checks(), before.failed, before.classes, before.quantile(1))
	// The measured figure is above; this bound only tells a budget from none, on a machine under any load.
	if longest := before.quantile(1); longest > 400*redisstore.DefaultBudget {
		t.Errorf("a check waited for %v, with a budget of %v", longest, o.budget())
	}

	open := r.run(t, times(200))
	if open.passed > 0 || open.classes[redisstore.ClassBreaker] != open.failed {
		t.Errorf("with an open breaker %d checks reached Redis: %v", open.checks()-open.classes[redisstore.ClassBreaker], open.classes)
	}
	t.Logf("with the breaker open: %d checks, p50 %v, p99 %v, longest %v", open.checks(), open.quantile(.5), open.quantile(.99), open.quantile(1))
	testkit.Eventually(t, "health to name the failure", func() bool {
		h := r.store.Health()
		named := o.is(h.LastErrorClass) && (!o.probed || h.LastErrorClass == o.class)
		return h.Open && named && !h.Since.IsZero()
	})

	start := time.Now()
	o.end(t, r)
	ended := time.Since(start)
	testkit.Eventually(t, "the breaker to close", func() bool { return r.store.Available() == nil })
	t.Logf("healed %v after the end of the outage (which took %v)", time.Since(start)-ended, ended)

	after := r.works(t)
	if h := r.store.Health(); h.Open || h.LastError == "" {
		t.Errorf("health after the recovery = %+v, want the newest failure to stay", h)
	}

	// RL50: what was answered is counted, and nothing is counted twice.
	least, most := warm.passed+before.passed+after.passed, warm.checks()+before.checks()+after.checks()
	if o.forgets {
		least, most = after.passed, after.checks()
	}
	if got := r.count(t); got < least || got > most {
		t.Errorf("Redis counted %d, want %d answered checks to %d made ones", got, least, most)
	}
	now := r.footprint(t)
	defer func() {
		if t.Failed() {
			t.Logf("before the outage: %+v, now %+v", held, now)
		}
	}()
	testkit.Eventually(t, "goroutines and descriptors to be as many as before", func() bool {
		now = r.footprint(t)
		return now.within(held)
	})
}

// announced returns the server as a cluster of one that says it can be reached at the address of the proxy.
func announced(t *testing.T, proxied func(upstream string) *testkit.FaultProxy) (*testkit.Redis, *testkit.FaultProxy) {
	t.Helper()
	node := testkit.StartRedisCluster(t, 1)[0]
	proxy := proxied(node.Addr)
	_, port, _ := strings.Cut(proxy.Addr, ":")
	node.Do("CONFIG", "SET", "cluster-announce-port", port)
	testkit.Eventually(t, "the node to announce the proxy", func() bool {
		return strings.Contains(node.Do("CLUSTER", "SLOTS"), port)
	})
	return node, proxy
}

func TestRL50_a_check_whose_answer_is_lost_was_counted_once(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"single", "cluster"} {
		for _, align := range []ratelimit.Align{ratelimit.AlignClock, ratelimit.AlignFirstRequest} {
			t.Run(kind+" "+string(align), func(t *testing.T) {
				t.Parallel()
				r := &rig{}
				proxied := func(upstream string) *testkit.FaultProxy { return testkit.StartFaultProxy(t, upstream) }
				if kind == "single" {
					r.server = testkit.StartRedis(t)
					r.proxy = proxied(r.server.Addr)
				} else {
					r.server, r.proxy = announced(t, proxied)
				}
				r.store = open(t, redisstore.Options{Config: redisstore.Config{
					Addrs: []string{r.proxy.Addr}, Cluster: kind == "cluster", Budget: redisstore.Patient,
				}})
				loseAnswer(t, r, align)
			})
		}
	}
}

// loseAnswer cuts the connection of a check after Redis has counted it and before the answer is through.
func loseAnswer(t *testing.T, r *rig, align ratelimit.Align) {
	t.Helper()
	p := policy()
	p.Align = align
	request := ratelimit.Request{Key: shared, Policy: p, Cost: 1, Now: sharedAt}
	if _, err := r.store.Take(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	counted := func() int64 {
		calls := r.server.CommandCalls()
		return calls["incr"] + calls["evalsha"] + calls["eval"]
	}
	r.server.ResetCommandCalls()
	r.proxy.Delay(time.Minute)
	taken := make(chan error, 1)
	go func() {
		_, err := r.store.Take(t.Context(), request)
		taken <- err
	}()
	testkit.Eventually(t, "Redis to count", func() bool { return counted() == 1 })
	r.proxy.Pass() // A second try would be answered.
	r.proxy.Cut()
	if err := <-taken; !errors.Is(err, ratelimit.ErrUnavailable) {
		t.Errorf("take: %v, want ErrUnavailable", err)
	}
	if got := counted(); got != 1 {
		t.Errorf("Redis counted the check %d times", got)
	}
	request.Cost = 0
	d, err := r.store.Take(t.Context(), request)
	if err != nil || d.Remaining != p.Limit-2 {
		t.Errorf("afterwards: %+v, %v, want two counted", d, err)
	}
}

func TestRL48_connections_are_signed_in_before_a_check_needs_them(t *testing.T) {
	t.Parallel()
	r := &rig{server: testkit.StartRedis(t)}
	r.proxy = testkit.StartFaultProxy(t, r.server.Addr)
	r.proxy.Delay(100 * time.Millisecond)
	r.store = open(t, redisstore.Options{Config: redisstore.Config{Addrs: []string{r.proxy.Addr}, Budget: redisstore.Patient}})
	r.server.ResetCommandCalls()
	for range 3 {
		if err := r.take(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if calls := r.server.CommandCalls(); calls["incr"] != 3 || calls["hello"] != 0 {
		t.Errorf("commands = %v, want three checks and no HELLO among them", calls)
	}
}

// descriptors returns the number of open descriptors, where the system tells.
func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}
