package httplimit_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/dialect"
	"github.com/mockbase/mockbase/ratelimit/memstore"
)

// mock is a handler that simulates a limit of its own, as an engine does.
type mock struct {
	limiter *ratelimit.Limiter
	fields  *dialect.Writer
	policy  *ratelimit.Policy
	clock   func() time.Time
}

func (m *mock) left(t *testing.T) int64 {
	t.Helper()
	return m.check(t, 0).Remaining
}

func (m *mock) check(t *testing.T, cost int64) ratelimit.Decision {
	t.Helper()
	d, err := m.limiter.Check(t.Context(), ratelimit.Request{
		Key: ratelimit.Key{Namespace: m.policy.Name, Identifier: "global"}, Policy: m.policy, Cost: cost, Now: m.clock(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (m *mock) handler(t *testing.T) http.Handler {
	t.Helper()
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		a := dialect.Answer{Decision: m.check(t, 1), Now: m.clock()}
		m.fields.Limit(w.Header(), &a)
		if a.Allowed {
			return
		}
		m.fields.RetryAfter(w.Header(), a.RetryAfter, a.Now)
		w.Header()[dialect.LimitedBy] = []string{`simulated; policy="` + m.policy.Name + `"`}
		w.WriteHeader(http.StatusTooManyRequests)
	})
}

func TestRL123_where_both_would_answer_the_shield_does_and_the_simulated_limit_stays(t *testing.T) {
	t.Parallel()
	store, err := memstore.New(memstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	limiter, err := ratelimit.NewLimiter(ratelimit.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	fields, err := dialect.New(dialect.Options{Dialects: []dialect.Dialect{dialect.X}})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	m := &mock{
		limiter: limiter, fields: fields, clock: func() time.Time { return start },
		policy: &ratelimit.Policy{Name: "orders", Limit: 2, Window: time.Minute, Align: ratelimit.AlignFirstRequest},
	}
	shielded := newGuard(t, "3/60s", nil).Middleware(m.handler(t))
	for i, want := range []struct {
		status    int
		limitedBy string
		left      int64
	}{
		{200, "", 1}, {200, "", 0}, {429, `simulated; policy="orders"`, 0}, {429, `shield; policy="engine"`, 0},
	} {
		w := httptest.NewRecorder()
		shielded.ServeHTTP(w, requestFrom("192.0.2.1:9"))
		if w.Code != want.status || w.Header().Get("Mockbase-Limited-By") != want.limitedBy || m.left(t) != want.left {
			t.Errorf("call %d: %d by %q with %d left, want %+v", i+1, w.Code, w.Header().Get("Mockbase-Limited-By"), m.left(t), want)
		}
	}
	start = start.Add(time.Minute) // The session's clock: the simulated window is over, the shield's is not.
	before := m.left(t)
	w := httptest.NewRecorder()
	shielded.ServeHTTP(w, requestFrom("192.0.2.1:9"))
	if w.Code != 429 || w.Header().Get("X-RateLimit-Limit") != "" || before != 2 || m.left(t) != 2 {
		t.Errorf("%d with %v; %d were left before and %d are after it", w.Code, w.Header(), before, m.left(t))
	}
}
