package httplimit_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
)

// A limiter before a handler: a store, a limiter, a policy, a guard, and the handler behind it.
func Example() {
	handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	clock := func() time.Time { return time.Date(2026, time.January, 1, 0, 0, 17, 0, time.UTC) } // For an output that stays.

	store, _ := memstore.New(memstore.Options{})
	limiter, _ := ratelimit.NewLimiter(ratelimit.Options{Store: store, Clock: clock})
	engine := ratelimit.Policy{Name: "engine", Limit: 120, Window: time.Minute}
	guard, _ := httplimit.New(httplimit.Options{Limiter: limiter, Policies: []ratelimit.Policy{engine}})
	limited := guard.Middleware(handler)

	for call := 1; call <= 121; call++ {
		w := httptest.NewRecorder()
		limited.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
		if w.Code != http.StatusOK {
			fmt.Fprintln(os.Stdout, "call", call, "is answered", w.Code, "with Retry-After", w.Header().Get("Retry-After"))
			fmt.Fprintln(os.Stdout, w.Body)
		}
	}
	// Output:
	// call 121 is answered 429 with Retry-After 43
	// {"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Request quota exceeded","status":429,"detail":"Policy \"engine\" allows 120 requests per 60 s. Try again in 43 s.","violated-policies":["engine"]}
}

// Callers with a token have a quota of their own each, wherever they come from; those without one share that of their
// address. No token is ever kept: a digest stands for it.
func ExampleIdentity() {
	clock := func() time.Time { return time.Date(2026, time.January, 1, 0, 0, 17, 0, time.UTC) } // For an output that stays.
	store, _ := memstore.New(memstore.Options{})
	limiter, _ := ratelimit.NewLimiter(ratelimit.Options{Store: store, Clock: clock})
	identity, _ := httplimit.NewIdentity(httplimit.IdentityOptions{Secret: []byte("shared by all replicas, 32 bytes")})
	guard, _ := httplimit.New(httplimit.Options{
		Limiter: limiter, Policies: []ratelimit.Policy{{Name: "api", Limit: 1, Window: time.Hour}}, Identity: identity, Key: httplimit.KeyToken,
	})
	limited := guard.Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))

	for _, token := range []string{"ada", "ada", "eve", ""} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		limited.ServeHTTP(w, r)
		fmt.Fprintf(os.Stdout, "%q: %d\n", token, w.Code)
	}
	// Output:
	// "ada": 200
	// "ada": 429
	// "eve": 200
	// "": 200
}
