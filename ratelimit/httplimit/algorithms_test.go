package httplimit_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
)

func TestRL35_a_guard_serves_every_algorithm_that_counts(t *testing.T) {
	t.Parallel()
	names := []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Used"}
	for _, c := range []struct{ rules, wait string }{
		{"2/60s", "43"},
		{"2/60s algorithm=sliding_window", "73"}, // Half of the window after this one.
		{"2/60s algorithm=sliding_log", "61"},    // RL32: one tick more than a window.
		{"1/10s algorithm=token_bucket burst=2", "10"},
		{"1/10s algorithm=leaky_bucket burst=2", "10"},
		{"1/10s algorithm=gcra burst=2", "10"},
	} {
		g := newGuard(t, c.rules, func(o *httplimit.Options) {
			o.Headers, o.HeadersOn = []httplimit.Dialect{httplimit.DialectXGitHub}, httplimit.OnAlways
		})
		for i, want := range []string{"[1] [1]", "[0] [2]", "[0] [2]"} {
			w := httptest.NewRecorder()
			_, ok := g.Admit(w, requestFrom("192.0.2.1:9"))
			h := w.Header()
			got := fmt.Sprint(h[names[0]], h[names[1]], h[names[2]])
			if ok != (i < 2) || got != "[2] "+want {
				t.Errorf("%s, call %d: admitted %t, limit, remaining and used are %s", c.rules, i+1, ok, got)
			}
			if wait := h.Get("Retry-After"); i == 2 && wait != c.wait {
				t.Errorf("%s: Retry-After %s, want %s", c.rules, wait, c.wait)
			}
		}
	}
}

// windows is a store of fixed windows alone.
type windows struct{ ratelimit.Store }

func (windows) Serves(p *ratelimit.Policy) error {
	if p.Algorithm == "" {
		return nil
	}
	return ratelimit.ErrConfig
}

func TestRL4_a_policy_that_the_store_refuses_stops_the_start(t *testing.T) {
	t.Parallel()
	limiter := newLimiter(t, func(o *ratelimit.Options) { o.Store = windows{o.Store} })
	for rules, want := range map[string]bool{"1/s": true, "1/s algorithm=gcra": false} {
		g, err := httplimit.New(httplimit.Options{Limiter: limiter, Policies: policies(t, rules, "engine")})
		if (err == nil) != want || err != nil && !errors.Is(err, ratelimit.ErrConfig) {
			t.Errorf("%s: %v, want it served: %t", rules, err, want)
		}
		if g != nil {
			t.Cleanup(func() { _ = g.Close() })
		}
	}
}
