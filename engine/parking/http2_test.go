package parking_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/engine/parking"
)

// answered is what came over HTTP/2.
type answered struct {
	version, status int
	own, body       string
}

// overHTTP2 sends a request in clear over HTTP/2.
func overHTTP2(t *testing.T, d *delaying, adapt func(r *http.Request)) answered {
	t.Helper()
	only2 := new(http.Protocols)
	only2.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: only2}
	t.Cleanup(transport.CloseIdleConnections)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+d.addr+"/next", strings.NewReader("abc"))
	if err != nil {
		t.Fatal(err)
	}
	adapt(r)
	answer, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answered{answer.ProtoMajor, answer.StatusCode, answer.Header.Get("X-Own"), string(body)}
}

// N4 and N7: in HTTP/2 net/http calls a handler for what it does not call one for in HTTP/1, and the other way round.
func TestN7_heads_of_HTTP2_are_answered_by_the_owner(t *testing.T) {
	t.Parallel()
	d := told(t)
	for name, c := range map[string]struct {
		adapt  func(r *http.Request)
		status int
		own    string
	}{
		"a head within its bound":      {func(r *http.Request) { r.Header.Set("X", strings.Repeat("a", 7<<10)) }, 200, ""},
		"a head beyond it":             {func(r *http.Request) { r.Header.Set("X", strings.Repeat("a", 9<<10)) }, 431, "HTTP/2"},
		"many fields beyond it":        {func(r *http.Request) { r.Header["X"] = strings.Split(strings.Repeat("a ", 300), " ") }, 431, "HTTP/2"},
		"a head far beyond it":         {func(r *http.Request) { r.Header.Set("X", strings.Repeat("a", 190<<10)) }, 431, "HTTP/2"},
		"a path beyond it":             {func(r *http.Request) { r.URL.RawQuery = strings.Repeat("a", 9<<10) }, 431, "in line HTTP/2"},
		"an expectation":               {func(r *http.Request) { r.Header.Set("Expect", "202-maybe") }, 417, "HTTP/2"},
		"an expectation that is met":   {func(r *http.Request) { r.Header.Set("Expect", "100-Continue") }, 200, ""},
		"an expectation without value": {func(r *http.Request) { r.Header.Set("Expect", "") }, 200, ""},
	} {
		if got := overHTTP2(t, d, c.adapt); got.version != 2 || got.status != c.status || got.own != c.own || c.own != "" && got.body != "own" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Without an owner's answer the bound and the words are net/http's.
func TestN7_without_an_owner_heads_of_HTTP2_are_left_to_the_server(t *testing.T) {
	t.Parallel()
	d := serveDelaying(t, parking.Options{MaxHead: 8 << 10}, func(s *http.Server) { s.MaxHeaderBytes = 4 << 10 })
	if got := overHTTP2(t, d, func(r *http.Request) { r.Header.Set("Expect", "202-maybe") }); got.status != http.StatusOK {
		t.Errorf("an expectation: %+v", got)
	}
}
