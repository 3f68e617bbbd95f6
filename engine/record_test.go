package engine_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
)

func TestAnExchangeHoldsTheRequestAndTheAnswer(t *testing.T) {
	t.Parallel()
	var recorded recorder
	now := time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC)
	var mu sync.Mutex
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		at := now
		now = now.Add(3 * time.Millisecond)
		return at
	}
	e := newEngine(t, engine.Options{Journal: &recorded, Clock: clock})
	publish(t, e, 1, []*mockbase.Mock{textMock("a", "/a/{id}", "hello")})
	now = time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC)
	r := httptest.NewRequest(http.MethodGet, "/m/shop/a/%37?x=1&y", strings.NewReader("body"))
	r.RemoteAddr = "192.0.2.7:4711"
	r.Header.Set("User-Agent", "test/1")
	e.ServeHTTP(httptest.NewRecorder(), r)
	x := recorded.last(t, 1)
	if !strings.HasPrefix(x.ID, mockbase.PrefixExchange) || len(x.ID) != 30 {
		t.Errorf("id %q", x.ID)
	}
	if !strings.HasPrefix(x.Session.ID, mockbase.PrefixSession) || x.Seed == "" {
		t.Errorf("session %+v with seed %q", x.Session, x.Seed)
	}
	arrived := time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC)
	want := &mockbase.Exchange{
		ID: x.ID, ProjectID: "prj_1", At: arrived, SessionAt: arrived, AnsweredBy: mockbase.AnsweredByMock,
		Session: mockbase.SessionRef{ID: x.Session.ID, Name: "default"}, Seed: x.Seed, Call: 1, Revision: 1,
		Request: mockbase.RecordedRequest{
			Method: http.MethodGet, Target: "/m/shop/a/%37?x=1&y", Path: "/a/7", RawQuery: "x=1&y", Proto: "HTTP/1.1", Host: "example.com",
			Header: http.Header{"User-Agent": {"test/1"}}, Body: []byte("body"), BodySize: 4,
		},
		Response: mockbase.RecordedResponse{
			Name: "r1", Status: http.StatusOK, Body: []byte("hello"), BodySize: 5,
			Header: http.Header{
				"Access-Control-Allow-Origin": {"*"}, "Access-Control-Expose-Headers": {"Date, Mockbase-Mock"}, "Content-Length": {"5"},
				"Content-Type": {"text/plain; charset=utf-8"}, "Date": {"Sun, 01 Mar 2026 12:00:00 GMT"}, "Mockbase-Mock": {"a"},
			},
		},
		Mock:     mockbase.MockRef{ID: "mck_a", Name: "a"},
		Client:   mockbase.Client{IP: netip.MustParseAddr("192.0.2.7"), UserAgent: "test/1"},
		Duration: 3 * time.Millisecond,
	}
	if diff := cmp.Diff(want, x, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("exchange (-want +got):\n%s", diff)
	}
}

func TestRecordedBodiesAreCut(t *testing.T) {
	t.Parallel()
	var recorded recorder
	e := newEngine(t, engine.Options{Journal: &recorded, RecordCap: 4})
	publish(t, e, 1, []*mockbase.Mock{textMock("a", "/a", "hello")})
	for name, body := range map[string]io.Reader{
		"of known length":   strings.NewReader("abcdef"),
		"of unknown length": io.MultiReader(strings.NewReader("abc"), strings.NewReader("def")),
	} {
		w := httptest.NewRecorder()
		e.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/m/shop/a", body))
		all := recorded.all()
		x := all[len(all)-1]
		if got := x.Request; string(got.Body) != "abcd" || got.BodySize != 6 || !got.Truncated {
			t.Errorf("%s: request %q of %d bytes, truncated %t", name, got.Body, got.BodySize, got.Truncated)
		}
		if got := x.Response; string(got.Body) != "hell" || got.BodySize != 5 || !got.Truncated {
			t.Errorf("%s: response %q of %d bytes, truncated %t", name, got.Body, got.BodySize, got.Truncated)
		}
		if w.Body.String() != "hello" {
			t.Errorf("%s: answered %q", name, w.Body)
		}
	}
}

func TestTheClientAddressIsTheOperatorsMatter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		remote, want string
		address      func(*http.Request) netip.Addr
	}{
		"peer":          {remote: "192.0.2.1:1", want: "192.0.2.1"},
		"mapped peer":   {remote: "[::ffff:192.0.2.1]:1", want: "192.0.2.1"},
		"no address":    {remote: "@", want: "invalid IP"},
		"by the option": {remote: "192.0.2.1:1", want: "::1", address: func(*http.Request) netip.Addr { return netip.IPv6Loopback() }},
	} {
		var recorded recorder
		e := newEngine(t, engine.Options{Journal: &recorded, ClientAddress: c.address})
		publish(t, e, 1, []*mockbase.Mock{textMock("a", "/a", "hello")})
		r := httptest.NewRequest(http.MethodGet, "/m/shop/a", http.NoBody)
		r.RemoteAddr = c.remote
		e.ServeHTTP(httptest.NewRecorder(), r)
		if got := recorded.last(t, 1).Client.IP.String(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// The record is a copy where something is hidden: what the server holds is not touched.
func TestMaskingLeavesTheRequestAlone(t *testing.T) {
	t.Parallel()
	var recorded recorder
	e := newEngine(t, engine.Options{Journal: &recorded})
	publish(t, e, 1, []*mockbase.Mock{textMock("a", "/a", "hello")})
	r := httptest.NewRequest(http.MethodGet, "/m/shop/a", http.NoBody)
	r.Header.Set("Authorization", "Bearer s3cret")
	r.Header.Set("Cookie", "mb_rt=x; a=1")
	before := r.Header.Clone()
	e.ServeHTTP(httptest.NewRecorder(), r)
	if diff := cmp.Diff(before, r.Header); diff != "" {
		t.Errorf("the request's header changed:\n%s", diff)
	}
	if got := recorded.last(t, 1).Request.Header; got.Get("Authorization") != "Bearer ***" || got.Get("Cookie") != "***" {
		t.Errorf("recorded %v", got)
	}
}

// delayed publishes one mock that answers after a delay.
func delayed(t *testing.T, o engine.Options, delay time.Duration) *engine.Engine {
	t.Helper()
	e := newEngine(t, o)
	m := textMock("a", "/a", "late")
	m.Responses[0].Delay = &mockbase.Delay{Kind: mockbase.DelayFixed, Fixed: delay}
	publish(t, e, 1, []*mockbase.Mock{m})
	return e
}

// Rules Q1 and AA17: the answer comes when the delay is over, and the exchange shows what was planned and slept.
func TestQ1_a_fixed_delay_is_exact(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var recorded recorder
		e := delayed(t, engine.Options{Journal: &recorded}, 90*time.Second)
		began := time.Now()
		w := get(e, "/m/shop/a")
		if waited := time.Since(began); waited != 90*time.Second || w.Body.String() != "late" {
			t.Errorf("%q after %s", w.Body, waited)
		}
		x := recorded.last(t, 1)
		if x.DelayPlanned != 90*time.Second || x.DelaySlept != 90*time.Second || x.Duration != 90*time.Second {
			t.Errorf("planned %s, slept %s, took %s", x.DelayPlanned, x.DelaySlept, x.Duration)
		}
		// The answer is dated when it is sent.
		if want := time.Now().UTC().Format(http.TimeFormat); x.Response.Header.Get("Date") != want {
			t.Errorf("date %s, want %s", x.Response.Header.Get("Date"), want)
		}
	})
}

// Rule N13: closing the engine cuts delays short, and the answers in flight finish.
func TestN13_close_cuts_delays_short(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var recorded recorder
		e := delayed(t, engine.Options{Journal: &recorded}, time.Hour)
		time.AfterFunc(2*time.Second, func() {
			e.Close()
			e.Close()
		})
		if w := get(e, "/m/shop/a"); w.Body.String() != "late" {
			t.Errorf("answered %d %q", w.Code, w.Body)
		}
		if x := recorded.last(t, 1); x.DelayPlanned != time.Hour || x.DelaySlept != 2*time.Second || x.ClientAborted {
			t.Errorf("planned %s, slept %s, aborted %t", x.DelayPlanned, x.DelaySlept, x.ClientAborted)
		}
	})
}

func TestADelayEndsWhenTheClientGoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var recorded recorder
		e := delayed(t, engine.Options{Journal: &recorded}, time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		w := httptest.NewRecorder()
		func() {
			defer func() {
				if err := recover(); err != http.ErrAbortHandler { //nolint:errorlint // the very value that net/http looks for
					t.Errorf("recovered %v", err)
				}
			}()
			e.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/m/shop/a", http.NoBody))
		}()
		x := recorded.last(t, 1)
		if !x.ClientAborted || x.DelaySlept != 3*time.Second || x.Response.Status != 0 || x.AnsweredBy != mockbase.AnsweredByMock {
			t.Errorf("aborted %t, slept %s, status %d, by %s", x.ClientAborted, x.DelaySlept, x.Response.Status, x.AnsweredBy)
		}
		if w.Body.Len() > 0 {
			t.Errorf("wrote %q to a client that is gone", w.Body)
		}
	})
}

func TestAClientThatHangsUpInItsBodyIsNoted(t *testing.T) {
	t.Parallel()
	var recorded recorder
	e := newEngine(t, engine.Options{Journal: &recorded})
	publish(t, e, 1, []*mockbase.Mock{textMock("a", "/a", "hello")})
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", serveEngine(t, e))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "POST /m/shop/a HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc"); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if x := recorded.last(t, 1); x.AnsweredBy != mockbase.AnsweredByError || !x.ClientAborted || x.Request.BodySize != 3 {
		t.Errorf("by %s, aborted %t, %d bytes, %s", x.AnsweredBy, x.ClientAborted, x.Request.BodySize, x.Error)
	}
}
