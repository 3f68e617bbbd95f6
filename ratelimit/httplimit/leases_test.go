package httplimit_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
)

// atOnce is a policy of one request in flight.
func atOnce(life time.Duration) ratelimit.Policy {
	return ratelimit.Policy{Name: "flights", Algorithm: ratelimit.Concurrency, Limit: 1, Window: life}
}

const busy429 = "HTTP/1.1 429 Too Many Requests\r\n" +
	"Cache-Control: no-store\r\n" +
	"Content-Length: 226\r\n" +
	"Content-Type: application/problem+json\r\n" +
	"Mockbase-Limited-By: shield; policy=\"flights\"\r\n" +
	"RateLimit: \"flights\";r=0;t=1\r\n" +
	"RateLimit-Policy: \"flights\";q=1;qu=\"concurrent-requests\"\r\n" +
	"Retry-After: 1\r\n" +
	"Connection: close\r\n\r\n" +
	`{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Request quota exceeded","status":429,` +
	`"detail":"Policy \"flights\" allows 1 at the same time. Try again in 1 s.","violated-policies":["flights"]}`

// doors are how a guard stands before a handler.
var doors = map[string]func(*httplimit.Guard, http.Handler) http.Handler{
	"middleware": (*httplimit.Guard).Middleware,
	"admit": func(g *httplimit.Guard, next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, ok := g.Admit(w, r); ok {
				next.ServeHTTP(w, r)
			}
		})
	},
}

func TestRL41_RL117_places_in_use_on_the_wire(t *testing.T) {
	t.Parallel()
	for name, door := range doors {
		g := newGuard(t, "1/60s", func(o *httplimit.Options) {
			o.Policies = []ratelimit.Policy{atOnce(time.Minute)}
			o.HeadersOn = httplimit.OnAlways
		})
		entered, leave := make(chan struct{}), make(chan struct{})
		address := serve(t, door(g, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			entered <- struct{}{}
			<-leave
		})))
		first := make(chan string)
		go func() { first <- exchange(t, address, "GET") }()
		<-entered
		if diff := cmp.Diff(busy429, exchange(t, address, "GET")); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
		leave <- struct{}{}
		answer := <-first
		if !strings.HasPrefix(answer, "HTTP/1.1 200") || !strings.Contains(answer, "RateLimit: \"flights\";r=0\r\n") {
			t.Errorf("%s:\n%s", name, answer)
		}
		go func() { first <- eventually(t, address) }()
		<-entered
		leave <- struct{}{}
		<-first
	}
}

// eventually asks until the place is free: a server that has answered may take a moment to end the request.
func eventually(t *testing.T, address string) string {
	t.Helper()
	for {
		answer := exchange(t, address, "GET")
		if !strings.HasPrefix(answer, "HTTP/1.1 429") || t.Context().Err() != nil {
			return answer
		}
	}
}

func TestRL41_a_place_is_given_back_after_a_panic_and_a_broken_connection(t *testing.T) {
	t.Parallel()
	for name, door := range doors {
		g := newGuard(t, "1/60s", func(o *httplimit.Options) { o.Policies = []ratelimit.Policy{atOnce(time.Hour)} })
		var calls atomic.Int64
		address := serve(t, door(g, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if calls.Add(1) <= 3 {
				panic(http.ErrAbortHandler)
			}
			w.WriteHeader(http.StatusAccepted)
		})))
		for range 3 {
			if answer := eventually(t, address); answer != "" {
				t.Errorf("%s: a broken connection answers\n%s", name, answer)
			}
		}
		if answer := eventually(t, address); !strings.HasPrefix(answer, "HTTP/1.1 202") {
			t.Errorf("%s: the place is lost:\n%s", name, answer)
		}
	}
}

func TestRL40_a_long_answer_keeps_its_place(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, "1/60s", func(o *httplimit.Options) {
			o.Limiter = newLimiter(t, func(o *ratelimit.Options) { o.Clock = time.Now })
			o.Policies = []ratelimit.Policy{atOnce(30 * time.Second)}
		})
		hour := g.Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-time.After(time.Hour) }))
		ask := func() int {
			w := httptest.NewRecorder()
			g.Middleware(hello).ServeHTTP(w, requestFrom("192.0.2.1:9"))
			return w.Code
		}
		go hour.ServeHTTP(httptest.NewRecorder(), requestFrom("192.0.2.1:9"))
		synctest.Wait()
		for range 118 {
			<-time.After(30 * time.Second)
			if got := ask(); got != http.StatusTooManyRequests {
				t.Fatalf("%d: the lease lapsed while the handler worked", got)
			}
		}
		<-time.After(time.Hour)
		if got := ask(); got != http.StatusOK {
			t.Errorf("%d after the end", got)
		}
	})
}

func TestRL41_a_later_denial_gives_the_place_back(t *testing.T) {
	t.Parallel()
	g := newGuard(t, "1/60s", func(o *httplimit.Options) {
		o.Policies = []ratelimit.Policy{atOnce(time.Hour), {Name: "engine", Limit: 1, Window: time.Minute}}
	})
	for call, want := range []string{"", `shield; policy="engine"`, `shield; policy="engine"`} {
		w := httptest.NewRecorder()
		g.Middleware(hello).ServeHTTP(w, requestFrom("192.0.2.1:9"))
		if got := w.Header().Get(httplimit.LimitedBy); got != want {
			t.Errorf("call %d is limited by %q, want %q", call+1, got, want)
		}
	}
}

func TestRL41_a_place_of_the_fallback_is_given_back_to_it(t *testing.T) {
	t.Parallel()
	g := newGuard(t, "1/60s", func(o *httplimit.Options) {
		o.Limiter = newLimiter(t, func(o *ratelimit.Options) {
			o.Fallback, o.Store, o.OnFailure = o.Store, failing{o.Store}, ratelimit.FailMemory
		})
		o.Policies = []ratelimit.Policy{atOnce(time.Hour)}
	})
	h := g.Middleware(hello)
	for range 3 {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, requestFrom("192.0.2.1:9"))
		if w.Code != http.StatusOK {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}

// forgetful is a store whose renewals go as told.
type forgetful struct {
	ratelimit.Store

	renewed func() (bool, error)
}

func (f forgetful) Renew(context.Context, ratelimit.Key, *ratelimit.Policy, string) (bool, error) {
	return f.renewed()
}

func TestRL40_a_failed_renewal_is_tried_again_and_a_lapsed_lease_is_not(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lives bool
		err   error
		want  int
	}{
		"every renewal works":    {true, nil, 5},
		"the store fails":        {false, errDown, 5},
		"the lease lapsed early": {false, nil, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			renewals := 0
			g := newGuard(t, "1/60s", func(o *httplimit.Options) {
				o.Limiter = newLimiter(t, func(o *ratelimit.Options) {
					o.Clock = time.Now
					o.Store = forgetful{o.Store, func() (bool, error) { renewals++; return c.lives, c.err }}
				})
				o.Policies = []ratelimit.Policy{atOnce(30 * time.Second)}
			})
			h := g.Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-time.After(59 * time.Second) }))
			h.ServeHTTP(httptest.NewRecorder(), requestFrom("192.0.2.1:9"))
			<-time.After(time.Hour)
			if renewals != c.want {
				t.Errorf("%s: %d renewals in 59 s at a third of 30 s, want %d", name, renewals, c.want)
			}
		})
	}
}
