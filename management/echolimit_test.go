package management_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
)

// An Echo is a handler, and its middleware wraps that of net/http: neither needs a limiter of its own.
func TestRL77_RL113_a_guard_stands_before_an_Echo_and_before_some_of_its_routes(t *testing.T) {
	t.Parallel()
	store, err := memstore.New(memstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	limiter, err := ratelimit.NewLimiter(ratelimit.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	guard := func(name string, limit int64) *httplimit.Guard {
		g, err := httplimit.New(httplimit.Options{
			Limiter: limiter, Policies: []ratelimit.Policy{{Name: name, Limit: limit, Window: time.Hour}}, HeadersOn: httplimit.OnAlways,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = g.Close() })
		return g
	}
	e := echo.New()
	e.IPExtractor = httplimit.NewAddresses(httplimit.AddressOptions{}).IPExtractor()
	who := func(c echo.Context) error { return c.String(http.StatusOK, c.RealIP()) }
	e.GET("/open", who)
	e.Group("/search", echo.WrapMiddleware(guard("search", 1).Middleware)).GET("", who)
	server := guard("server", 4).Middleware(e)

	for i, want := range []struct {
		target, body string
		status       int
		limitedBy    string
	}{
		{"/open", "192.0.2.1", 200, ""},
		{"/search", "192.0.2.1", 200, ""},
		{"/search", "", 429, `shield; policy="search"`},
		{"/open", "192.0.2.1", 200, ""},
		{"/open", "", 429, `shield; policy="server"`},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, want.target, http.NoBody)
		r.RemoteAddr = "192.0.2.1:9"
		r.Header.Set("X-Forwarded-For", "198.51.100.7") // Nobody trusts the peer.
		server.ServeHTTP(w, r)
		if w.Code != want.status || w.Header().Get("Mockbase-Limited-By") != want.limitedBy || want.body != "" && w.Body.String() != want.body {
			t.Errorf("call %d: %d by %q: %s", i+1, w.Code, w.Header().Get("Mockbase-Limited-By"), w.Body)
		}
	}
}
