package redisstore_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// logBook collects log lines of many goroutines.
type logBook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds a line.
func (l *logBook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBook) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Split(strings.TrimSuffix(l.text.String(), "\n"), "\n")
}

func (l *logBook) String() string { return strings.Join(l.lines(), "\n") }

// guarded is a limiter over a store over a proxy over a server.
type guarded struct {
	rig
	*ratelimit.Limiter
	log *logBook
}

func newGuarded(t *testing.T, mode ratelimit.Mode) *guarded {
	t.Helper()
	g := &guarded{rig: rig{server: testkit.StartRedis(t)}, log: &logBook{}}
	g.proxy = testkit.StartFaultProxy(t, g.server.Addr)
	logger := slog.New(slog.NewTextHandler(g.log, nil))
	g.store = open(t, redisstore.Options{Config: redisstore.Config{Addrs: []string{g.proxy.Addr}, Budget: answerBudget}, Logger: logger})
	fallback, err := memstore.New(memstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g.Limiter, err = ratelimit.NewLimiter(ratelimit.Options{
		Name: "engine", Store: g.store, OnFailure: mode, Fallback: fallback, Logger: logger,
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// checkAll makes every caller check n times and hands each decision to judge.
func (g *guarded) checkAll(t *testing.T, n int, judge func(d ratelimit.Decision)) {
	t.Helper()
	var mu sync.Mutex
	var group sync.WaitGroup
	p := minute()
	for range callers {
		group.Go(func() {
			for range n {
				d, err := g.Check(t.Context(), ratelimit.Request{Key: shared, Policy: p, Cost: 1, Now: sharedAt})
				if err != nil {
					t.Errorf("check: %v", err)
					return
				}
				mu.Lock()
				judge(d)
				mu.Unlock()
			}
		})
	}
	group.Wait()
}

func TestRL64_RL68_a_limiter_fails_open_and_says_so_once(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, ratelimit.FailOpen)
	for name, begin := range map[string]func(){"refused": g.proxy.Refuse, "hanging": g.proxy.BlackHole} {
		lines := len(g.log.lines())
		begin()
		open := 0
		g.checkAll(t, 20, func(d ratelimit.Decision) {
			if d.Degraded == ratelimit.None {
				return // Counted before the outage took hold of its connection.
			}
			open++
			if !d.Allowed || d.Remaining != 120 || d.Limit != 120 || d.RetryAfter != 0 || d.Degraded != ratelimit.Open {
				t.Errorf("%s: decision = %+v, want it open and full", name, d)
			}
		})
		if open == 0 {
			t.Fatalf("%s: no check was decided without Redis", name)
		}
		if h := g.Health(); !h.Degraded || h.Reason == "" {
			t.Errorf("%s: health = %+v", name, h)
		}
		g.proxy.Pass()
		testkit.Eventually(t, "the limiter to recover", func() bool { return !g.Health().Degraded })
		written := g.log.lines()[lines-1:]
		if lines > 1 {
			written = g.log.lines()[lines:]
		}
		if len(written) != 2 || !strings.Contains(written[0], "level=ERROR") || !strings.Contains(written[1], "level=INFO") {
			t.Errorf("%s: log has %d lines, want one ERROR at the start and one INFO at the end:\n%s", name, len(written), strings.Join(written, "\n"))
		}
	}
}

func TestRL65_RL66_the_other_failure_modes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode ratelimit.Mode
		want ratelimit.Degradation
		pass int
	}{
		{ratelimit.FailClosed, ratelimit.Closed, 0},
		{ratelimit.FailMemory, ratelimit.Memory, 120},
	} {
		t.Run(string(c.mode), func(t *testing.T) {
			t.Parallel()
			g := newGuarded(t, c.mode)
			g.proxy.Refuse()
			testkit.Eventually(t, "the breaker to open", func() bool {
				_ = g.take(t.Context())
				return g.store.Available() != nil
			})
			passed := 0
			g.checkAll(t, 5, func(d ratelimit.Decision) {
				if d.Degraded != c.want {
					t.Errorf("decision = %+v, want it %s", d, c.want)
				}
				if d.Allowed {
					passed++
				}
			})
			if passed != c.pass {
				t.Errorf("%d of %d checks passed, want %d", passed, 5*callers, c.pass)
			}
		})
	}
}

func TestRL66_Redis_may_be_absent_at_the_start(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	server.Kill()
	s := open(t, redisstore.Options{Config: redisstore.Config{Addrs: []string{server.Addr}, Budget: redisstore.Patient}})
	if err := s.Available(); err == nil {
		t.Error("the store thinks that Redis is there")
	}
	if err := s.Ping(t.Context()); !errors.Is(err, ratelimit.ErrUnavailable) || !strings.Contains(err.Error(), server.Addr) {
		t.Errorf("ping: %v, want ErrUnavailable with the address", err)
	}
	server.Restart()
	testkit.Eventually(t, "the breaker to close", func() bool { return s.Available() == nil })
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("ping: %v", err)
	}
	if _, err := s.Take(t.Context(), ratelimit.Request{Key: shared, Policy: minute(), Cost: 1}); err != nil {
		t.Errorf("take: %v", err)
	}
	everyKeyEnds(t, server)
}

func TestRL52_a_refused_sign_in_is_logged_without_the_password(t *testing.T) {
	t.Parallel()
	const refuses = `level=ERROR msg="redis refuses the limiter"`
	for _, c := range []struct {
		name   string
		rules  []string
		config redisstore.Config
		want   []string
	}{
		{"RL52 wrong password", []string{"on", ">right", "~*", "+@all"}, redisstore.Config{Username: "app", Password: secret}, []string{"WRONGPASS"}},
		{"RL52 no such user", []string{"on", ">right", "~*", "+@all"}, redisstore.Config{Username: "nobody", Password: secret}, []string{"WRONGPASS"}},
		{"RL52 a command is forbidden", []string{"on", ">" + secret, "~*", "+@all", "-incr"}, redisstore.Config{Username: "app", Password: secret}, []string{"NOPERM", "'incr'"}},
		{"RL52 the keys are forbidden", []string{"on", ">" + secret, "~other:*", "+@all"}, redisstore.Config{Username: "app", Password: secret}, []string{"NOPERM"}},
		{"RL52 no such database", []string{"on", ">" + secret, "~*", "+@all"}, redisstore.Config{Username: "app", Password: secret, DB: 99}, []string{"DB index is out of range"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := testkit.StartRedis(t)
			server.Do(append([]string{"ACL", "SETUSER", "app"}, c.rules...)...)
			log := &logBook{}
			c.config.Addrs, c.config.Budget = []string{"redis://" + server.Addr}, redisstore.Patient
			s := open(t, redisstore.Options{Config: c.config, Logger: slog.New(slog.NewTextHandler(log, nil))})
			for range 2 * callers {
				_, err := s.Take(t.Context(), ratelimit.Request{Key: shared, Policy: minute(), Cost: 1})
				if err == nil || strings.Contains(err.Error(), secret) {
					t.Fatalf("take: %v", err)
				}
			}
			if h := s.Health(); !h.Open || h.LastErrorClass != redisstore.ClassConfig || strings.Contains(h.LastError, secret) {
				t.Errorf("health = %+v", h)
			}
			lines := log.lines()
			if len(lines) != 1 || !strings.Contains(lines[0], refuses) || strings.Contains(lines[0], secret) {
				t.Fatalf("log = %s, want one line %s", log, refuses)
			}
			for _, text := range c.want {
				if !strings.Contains(lines[0], text) {
					t.Errorf("log = %s, want %s in it", log, text)
				}
			}
		})
	}
}

func TestRL52_a_replica_behind_the_address_is_left_without_opening_the_breaker(t *testing.T) {
	t.Parallel()
	old, master := testkit.StartRedis(t), testkit.StartRedis(t)
	proxy := testkit.StartFaultProxy(t, old.Addr)
	r := &rig{server: master, proxy: proxy}
	r.store = open(t, redisstore.Options{Config: redisstore.Config{Addrs: []string{proxy.Addr}, Budget: redisstore.Patient}})
	if err := r.take(t.Context()); err != nil {
		t.Fatal(err)
	}
	// A failover as a stable address shows it: the old connections stay, and lead to what is a replica now.
	old.Do("REPLICAOF", "127.0.0.1", "1")
	proxy.Forward(master.Addr)
	client := r.store.Client()
	if err := r.take(t.Context()); err == nil || !strings.Contains(err.Error(), "READONLY") {
		t.Fatalf("take at a replica: %v, want READONLY", err)
	}
	testkit.Eventually(t, "a new client", func() bool { return r.store.Client() != client })
	for range 3 {
		if err := r.take(t.Context()); err != nil {
			t.Errorf("take at the new master: %v", err)
		}
	}
	if got := r.count(t); got != 3 {
		t.Errorf("the new master counted %d, want 3", got)
	}
	if h := r.store.Health(); h.Open || h.LastError != "" {
		t.Errorf("health = %+v: the breaker has been open", h)
	}
}

func TestStore_closed_answers_at_once(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	s := open(t, redisstore.Options{Config: redisstore.Config{Addrs: []string{server.Addr}}})
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	_, err := s.Take(t.Context(), ratelimit.Request{Key: shared, Policy: minute(), Cost: 1})
	failed, ok := errors.AsType[*redisstore.Error](err)
	if !ok || failed.Class() != redisstore.ClassClosed || !errors.Is(err, ratelimit.ErrUnavailable) {
		t.Errorf("take after closing: %v", err)
	}
	if err := s.Reset(t.Context(), shared, minute()); err == nil {
		t.Error("reset after closing passed")
	}
	server.ResetCommandCalls()
	calls := server.CommandCalls()
	delete(calls, "info")
	delete(calls, "config|resetstat")
	if len(calls) > 0 {
		t.Errorf("commands after closing: %v", calls)
	}
}

// The next test counts goroutines and runs alone.

func TestStore_leaves_nothing_behind(t *testing.T) {
	testkit.LeavesNoGoroutine(t)
	server := testkit.StartRedis(t)
	for _, addr := range []string{server.Addr, testkit.OpenSYNBlackHole(t, "").Addr} {
		s, err := redisstore.New(redisstore.Options{Config: redisstore.Config{Addrs: []string{addr}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil { // Before it has met anybody.
			t.Error(err)
		}
	}
}

func TestRedirectClientLog_hands_on_what_the_library_says(t *testing.T) {
	log := &logBook{}
	redisstore.RedirectClientLog(slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	t.Cleanup(func() { redisstore.RedirectClientLog(nil) })
	server := testkit.StartRedis(t)
	server.Kill()
	open(t, redisstore.Options{Config: redisstore.Config{Addrs: []string{"redis://app:" + secret + "@" + server.Addr}}})
	if text := log.String(); !strings.Contains(text, `level=DEBUG msg="redis client" text=`) || strings.Contains(text, secret) {
		t.Errorf("log = %s", text)
	}
}
