package httplimit_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
)

func benchmarkGuard(b *testing.B, when httplimit.When) *httplimit.Guard {
	b.Helper()
	return newGuard(b, "9007199254740991/60s", func(o *httplimit.Options) {
		o.Limiter, o.HeadersOn = newLimiter(b, func(o *ratelimit.Options) { o.Clock = nil }), when
	})
}

// BenchmarkAdmit is what the shield costs a request.
func BenchmarkAdmit(b *testing.B) {
	g := benchmarkGuard(b, httplimit.OnDenied)
	w, r := httptest.NewRecorder(), requestFrom("203.0.113.9:4711")
	b.ReportAllocs()
	for b.Loop() {
		g.Admit(w, r)
	}
}

// BenchmarkMiddlewareWithFields is the same with limit fields on every answer.
func BenchmarkMiddlewareWithFields(b *testing.B) {
	h := benchmarkGuard(b, httplimit.OnAlways).Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	r := requestFrom("203.0.113.9:4711")
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
}

// BenchmarkDenied is what a refusal costs.
func BenchmarkDenied(b *testing.B) {
	g := newGuard(b, "1/60s", nil)
	r := requestFrom("203.0.113.9:4711")
	b.ReportAllocs()
	for b.Loop() {
		g.Admit(httptest.NewRecorder(), r)
	}
}

// BenchmarkServer compares whole requests over a socket with and without the shield.
func BenchmarkServer(b *testing.B) {
	for name, h := range map[string]http.Handler{"bare": hello, "shield": benchmarkGuard(b, httplimit.OnDenied).Middleware(hello)} {
		b.Run(name, func(b *testing.B) {
			server := httptest.NewServer(h)
			b.Cleanup(server.Close)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					call(b, server)
				}
			})
		})
	}
}

func call(b *testing.B, server *httptest.Server) {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		b.Error(err)
		return
	}
	response, err := server.Client().Do(r)
	if err != nil {
		b.Error(err)
		return
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
		b.Errorf("%d: %v", response.StatusCode, err)
	}
}

func BenchmarkClientBehindProxies(b *testing.B) {
	a := httplimit.NewAddresses(httplimit.AddressOptions{TrustedProxies: networks(b, "10.0.0.0/8", "192.168.0.0/16")})
	r := requestFrom("10.0.0.1:80", [2]string{"X-Forwarded-For", "198.51.100.1, 203.0.113.9, 10.0.0.7"})
	b.ReportAllocs()
	for b.Loop() {
		a.Identifier(a.Client(r))
	}
}

// BenchmarkAdmitByKey is what a key costs a request beside that of the address.
func BenchmarkAdmitByKey(b *testing.B) {
	for _, key := range []string{"ip", "header:X-Tenant", "token", "ip+endpoint", "fingerprint", `{{ip}}:{{lower (header "X-Tenant")}}`} {
		b.Run(key, func(b *testing.B) {
			g := newGuard(b, "9007199254740991/60s", func(o *httplimit.Options) {
				o.Limiter, o.Key = newLimiter(b, func(o *ratelimit.Options) { o.Clock = nil }), key
			})
			w, r := httptest.NewRecorder(), known("/orders/7")
			b.ReportAllocs()
			for b.Loop() {
				g.Admit(w, r)
			}
		})
	}
}
