package federation_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/mockbase/mockbase/management/federation"
)

func key() []byte { return []byte(strings.Repeat("k", 32)) }

func now() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func TestM43_an_issuer_must_be_safe_to_ask(t *testing.T) {
	t.Parallel()
	for issuer, good := range map[string]bool{
		"https://id.example.com": true, "https://id.example.com/realms/main": true, "http://127.0.0.1:8080": true, "http://localhost/x": true, "http://[::1]:1": true,
		"": false, "id.example.com": false, "http://id.example.com": false, "ftp://id.example.com": false, "https://u:p@id.example.com": false,
		"https://id.example.com?x=1": false, "https://id.example.com#x": false, "http://127.0.0.1.example.com": false, "http://localhost.example.com": false,
	} {
		_, err := federation.New(federation.Options{Issuer: issuer, ClientID: "c", Key: key(), Clock: now})
		if (err == nil) != good {
			t.Errorf("%q: %v", issuer, err)
		}
	}
	if _, err := federation.New(federation.Options{Issuer: "https://id.example.com"}); err == nil {
		t.Error("a provider without a client id")
	}
}

// A provider that answers without end, nonsense, or another issuer's document can't be asked, and costs a bounded amount.
func TestM43_a_strange_provider_is_one_that_cannot_be_asked(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"nonsense":       func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) },
		"an error":       func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"another issuer": func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{"issuer":"https://evil.example.com"}`)) },
		"no end": func(w http.ResponseWriter, _ *http.Request) {
			for range 64 {
				if _, err := w.Write([]byte(strings.Repeat(" ", 1<<20))); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(answer)
			t.Cleanup(server.Close)
			p, err := federation.New(federation.Options{Issuer: server.URL, ClientID: "c", Key: key(), Clock: now})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Begin(t.Context(), federation.Start{}); !errors.Is(err, federation.ErrUnreachable) {
				t.Errorf("begun with %v", err)
			}
		})
	}
}

// One attempt is made for all who wait for it, and another one a second later.
func TestM43_a_failure_is_not_repeated_by_everybody(t *testing.T) {
	t.Parallel()
	at, asked := now(), 0
	p, err := federation.New(federation.Options{
		Issuer: "https://id.example.com", ClientID: "c", Key: key(), Clock: func() time.Time { return at },
		Transport: roundTrip(func(*http.Request) (*http.Response, error) { asked++; return nil, iotest.ErrTimeout }),
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, err := p.Begin(t.Context(), federation.Start{}); !errors.Is(err, federation.ErrUnreachable) {
			t.Error(err)
		}
	}
	at = at.Add(time.Second)
	if _, err := p.Begin(t.Context(), federation.Start{}); err == nil || asked != 2 {
		t.Errorf("asked %d times, %v", asked, err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func FuzzFinish(f *testing.F) {
	f.Add("", "")
	f.Add("c2VhbGVk", "state=x&code=y")
	f.Add(strings.Repeat("A", 80), "error=access_denied")
	p, err := federation.New(federation.Options{
		Issuer: "https://id.example.com", ClientID: "c", Key: key(), Clock: now,
		Transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, iotest.ErrTimeout }),
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, sealed, query string) {
		values, _ := url.ParseQuery(query)
		if _, _, err := p.Finish(t.Context(), federation.Return{Sealed: sealed, Query: values}); !errors.Is(err, federation.ErrLost) {
			t.Errorf("nobody sealed %q: %v", sealed, err)
		}
	})
}
