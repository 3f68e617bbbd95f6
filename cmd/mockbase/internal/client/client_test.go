package client_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
)

// asked is what a server was asked.
type asked struct {
	mu   sync.Mutex
	list []*http.Request
}

func (a *asked) note(r *http.Request) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, r)
	return len(a.list)
}

func (a *asked) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.list)
}

// serve starts a server that answers the nth request, counted from 1, and a client of it.
func serve(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, n int)) (*client.Client, *asked) {
	t.Helper()
	a := &asked{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r, a.note(r)) }))
	t.Cleanup(s.Close)
	return open(t, client.Options{Server: s.URL, Token: "mb_pat_secret", Agent: "mockbase/test", Timeout: time.Minute}), a
}

func open(t *testing.T, o client.Options) *client.Client {
	t.Helper()
	c, err := client.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func problem(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func TestACallCarriesWhatItIsGiven(t *testing.T) {
	t.Parallel()
	c, a := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("ETag", `"v2"`)
		_ = json.NewEncoder(w).Encode(map[string]any{"path": r.URL.EscapedPath(), "body": string(body), "n": 1})
	})
	answer, err := c.Do(t.Context(), client.Request{
		Method: http.MethodPut, Path: client.Path("projects", "shop", "mocks", "a/b"), Body: []byte("name: x"), Type: "application/yaml", IfMatch: `"v1"`,
	})
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Path, Body string }
	if err := answer.JSON(&got); err != nil {
		t.Fatal(err)
	}
	if got.Path != "/api/v1/projects/shop/mocks/a%2Fb" || got.Body != "name: x" || answer.Header.Get("ETag") != `"v2"` {
		t.Errorf("got %+v, ETag %q", got, answer.Header.Get("ETag"))
	}
	want := map[string]string{
		"Authorization": "Bearer mb_pat_secret", "User-Agent": "mockbase/test", "Accept": "application/json", "Content-Type": "application/yaml", "If-Match": `"v1"`,
	}
	for name, value := range want {
		if got := a.list[0].Header.Get(name); got != value {
			t.Errorf("%s: got %q, want %q", name, got, value)
		}
	}
	if key := a.list[0].Header.Get("Idempotency-Key"); key != "" {
		t.Errorf("a PUT carries the key %q", key)
	}
}

func TestARefusalIsTheServersProblem(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		problem(w, http.StatusConflict, `{"title":"Apply conflict","detail":"one item conflicts","code":"apply-conflict","requestId":"r-1",
			"errors":[{"pointer":"#/mocks/0","code":"unique","detail":"taken","line":3,"column":5}],"plan":{"summary":{"conflicts":1}}}`)
	})
	err := c.Get(t.Context(), "/projects/shop/definition", nil, nil)
	refused, ok := errors.AsType[*client.RefusedError](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	want := &mockbase.Error{
		Code: mockbase.CodeApplyConflict, Message: "one item conflicts",
		Fields: []mockbase.FieldError{{Pointer: "#/mocks/0", Code: mockbase.FieldUnique, Detail: "taken", Line: 3, Column: 5}},
	}
	if diff := cmp.Diff(want, refused.Problem); diff != "" {
		t.Error(diff)
	}
	if refused.RequestID != "r-1" || !strings.Contains(string(refused.Plan), "conflicts") || mockbase.ErrorCode(err) != mockbase.CodeApplyConflict {
		t.Errorf("got %+v", refused)
	}
}

func TestAnAnswerThatIsNoProblemOfTheAPIIsToldAsSuch(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(http.ResponseWriter){
		"a proxy's page": func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway); _, _ = io.WriteString(w, "<html>") },
		"a redirect": func(w http.ResponseWriter) {
			w.Header().Set("Location", "https://elsewhere.example/")
			w.WriteHeader(http.StatusFound)
		},
		"a page": func(w http.ResponseWriter) { _, _ = io.WriteString(w, "<html>") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, a := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { answer(w) })
			var into map[string]any
			if err := c.Get(t.Context(), "/projects", nil, &into); err == nil || !strings.Contains(err.Error(), "MockBase server") && !strings.Contains(err.Error(), "elsewhere.example") {
				t.Errorf("got %v", err)
			}
			if a.count() != 1 {
				t.Errorf("asked %d times: a credential must not follow a redirect", a.count())
			}
		})
	}
}

// C-9: GET and calls that may be made twice are repeated three times on 429, 503 and lost connections.
func TestC9_calls_are_repeated_where_that_is_safe(t *testing.T) {
	t.Parallel()
	lose := func(http.ResponseWriter) { panic(http.ErrAbortHandler) }
	busy := func(w http.ResponseWriter) {
		problem(w, http.StatusServiceUnavailable, `{"title":"Busy","code":"busy"}`)
	}
	limited := func(w http.ResponseWriter) { problem(w, http.StatusTooManyRequests, `{"title":"Too many"}`) }
	get := client.Request{Method: http.MethodGet, Path: "/x"}
	act := client.Request{Method: http.MethodPost, Path: "/x"}
	create := client.Request{Method: http.MethodPost, Path: "/x", Creates: true}
	guarded := client.Request{Method: http.MethodPut, Path: "/x", IfMatch: `"v1"`}
	for name, test := range map[string]struct {
		request client.Request
		answer  func(http.ResponseWriter)
		want    int
	}{
		"GET after a lost connection":                   {get, lose, 2},
		"GET after 503":                                 {get, busy, 2},
		"GET after 429":                                 {get, limited, 2},
		"PUT after 503":                                 {client.Request{Method: http.MethodPut, Path: "/x"}, busy, 2},
		"POST after 429, which did nothing":             {act, limited, 2},
		"POST that creates after a lost connection":     {create, lose, 2},
		"POST that creates after 503":                   {create, busy, 2},
		"not POST after a lost connection":              {act, lose, 1},
		"not POST after 503":                            {act, busy, 1},
		"not PATCH after 503":                           {client.Request{Method: http.MethodPatch, Path: "/x"}, busy, 1},
		"not PUT of a version after a lost connection":  {guarded, lose, 1},
		"PUT of a version after 429, which did nothing": {guarded, limited, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, a := serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
				if n == 1 {
					test.answer(w)
				}
			})
			_, err := c.Do(t.Context(), test.request)
			if a.count() != test.want || (err == nil) != (test.want > 1) {
				t.Errorf("asked %d times, want %d; error %v", a.count(), test.want, err)
			}
			if keys := a.list[0].Header.Get("Idempotency-Key"); (keys != "") != test.request.Creates || keys != a.list[len(a.list)-1].Header.Get("Idempotency-Key") {
				t.Errorf("keys differ or are missing: %q", keys)
			}
		})
	}
}

func TestC9_a_call_is_given_up_after_three_repetitions(t *testing.T) {
	t.Parallel()
	c, a := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		problem(w, http.StatusTooManyRequests, `{"title":"Too many requests","type":"https://iana.org/assignments/http-problem-types#quota-exceeded"}`)
	})
	err := c.Get(t.Context(), "/x", nil, nil)
	if a.count() != 4 || mockbase.ErrorCode(err) != mockbase.CodeRateLimited {
		t.Errorf("asked %d times: %v", a.count(), err)
	}
}

func TestC9_a_wait_that_the_time_does_not_hold_is_not_begun(t *testing.T) {
	t.Parallel()
	c, a := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Retry-After", "60")
		problem(w, http.StatusTooManyRequests, `{"title":"Too many requests"}`)
	})
	began := time.Now()
	refused, ok := errors.AsType[*client.RefusedError](c.Get(t.Context(), "/x", nil, nil))
	if !ok || refused.RetryAfter != time.Minute || a.count() != 1 || time.Since(began) > 40*time.Second {
		t.Errorf("asked %d times, refused %+v", a.count(), refused)
	}
}

func TestADeleteWhoseAnswerWasLostIsDone(t *testing.T) {
	t.Parallel()
	c, a := serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		if n == 1 {
			panic(http.ErrAbortHandler)
		}
		problem(w, http.StatusNotFound, `{"title":"Not found","code":"not-found"}`)
	})
	if _, err := c.Do(t.Context(), client.Request{Method: http.MethodDelete, Path: "/x"}); err != nil || a.count() != 2 {
		t.Errorf("asked %d times: %v", a.count(), err)
	}
}

// C-80: a client that reaches nobody says why.
func TestC80_a_server_that_gives_no_answer_is_explained(t *testing.T) {
	t.Parallel()
	noName := strings.Repeat("x", 64) + ".invalid" // It is too long to ask a name server for.
	unsealed := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(unsealed.Close)
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(silent.Close)
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = nil
	secure.StartTLS()
	t.Cleanup(secure.Close)
	for name, test := range map[string]struct{ server, says, hint string }{
		"refused":             {"http://127.0.0.1:1", "nobody listens there", "start the server"},
		"no such host":        {"http://" + noName, noName, ""},
		"plain HTTP to TLS":   {strings.Replace(secure.URL, "https", "http", 1), "speaks TLS", secure.URL},
		"TLS to plain HTTP":   {strings.Replace(unsealed.URL, "http", "https", 1), "speaks plain HTTP", unsealed.URL},
		"unknown certificate": {secure.URL, "certificate", "--ca-file"},
		"too slow":            {silent.URL, "no answer within 300ms", "--timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := time.Minute
			if name == "too slow" {
				limit = 300 * time.Millisecond
			}
			c := open(t, client.Options{Server: test.server, Timeout: limit})
			err := c.Get(t.Context(), "/x", nil, nil)
			away, ok := errors.AsType[*client.UnreachableError](err)
			if !ok {
				t.Fatalf("got %v", err)
			}
			if !strings.Contains(away.Error(), test.says) || !strings.Contains(away.Hint, test.hint) || away.Server != test.server || away.Timeout != (name == "too slow") {
				t.Errorf("got %q, hint %q", away, away.Hint)
			}
		})
	}
}

func TestCertificatesOfAFileAreTrusted(t *testing.T) {
	t.Parallel()
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{}`) }))
	t.Cleanup(secure.Close)
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open(t, client.Options{Server: secure.URL, CAFile: path}).Get(t.Context(), "/x", nil, nil); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{path, path + "-none"} {
		if _, err := client.New(client.Options{Server: secure.URL, CAFile: wrong}); err == nil {
			t.Errorf("%s was taken", wrong)
		}
	}
}

func TestATextThatIsNoAddressIsRefusedWithoutItsPassword(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "shop", "ftp://shop", "http://ada:hunter2@shop", "http://shop?x=1", "http://shop#x"} {
		_, err := client.New(client.Options{Server: text})
		if _, ok := errors.AsType[*client.AddressError](err); !ok || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestAListIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	c, a := serve(t, func(w http.ResponseWriter, r *http.Request, n int) {
		next := `"c"`
		if n == 3 {
			next = "null"
		}
		_, _ = fmt.Fprintf(w, `{"items":[%d,%d],"nextCursor":%s}`, 2*n-1, 2*n, next)
		if r.URL.Query().Get("q") != "x" {
			t.Errorf("page %d was asked for with %s", n, r.URL.RawQuery)
		}
	})
	var got []string
	take := func(item json.RawMessage) error { got = append(got, string(item)); return nil }
	if err := c.List(t.Context(), "/x", map[string][]string{"q": {"x"}}, 0, take); err != nil {
		t.Fatal(err)
	}
	if strings.Join(got, " ") != "1 2 3 4 5 6" || a.list[0].URL.Query().Get("limit") != "200" || a.list[1].URL.Query().Get("cursor") != "c" {
		t.Errorf("got %v", got)
	}
	if err := c.List(t.Context(), "/x", map[string][]string{"q": {"x"}}, 2, take); err != nil || a.count() != 4 || a.list[3].URL.Query().Get("limit") != "2" {
		t.Errorf("asked %d times: %v", a.count(), err)
	}
	stop := errors.New("enough")
	if err := c.List(t.Context(), "/x", map[string][]string{"q": {"x"}}, 0, func(json.RawMessage) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

func TestAStreamOutlivesTheTimeOfACall(t *testing.T) {
	t.Parallel()
	more := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/refused" {
			problem(w, http.StatusForbidden, `{"title":"Forbidden","code":"forbidden"}`)
			return
		}
		if r.URL.Path == "/api/v1/silent" {
			<-r.Context().Done()
			return
		}
		_, _ = io.WriteString(w, "one\n")
		_ = http.NewResponseController(w).Flush()
		<-more
		_, _ = io.WriteString(w, "two\n")
	}))
	t.Cleanup(s.Close)
	const limit = 2 * time.Second
	c := open(t, client.Options{Server: s.URL, Timeout: limit})
	response, err := c.Open(t.Context(), client.Request{Method: http.MethodGet, Path: "/events", Accept: "text/event-stream"})
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(limit+200*time.Millisecond, func() { close(more) })
	text, err := io.ReadAll(response.Body)
	if string(text) != "one\ntwo\n" || err != nil {
		t.Errorf("read %q: %v", text, err)
	}
	_ = response.Body.Close()
	fails := func(path string) error {
		response, err := c.Open(t.Context(), client.Request{Method: http.MethodGet, Path: path})
		if err == nil {
			_ = response.Body.Close()
		}
		return err
	}
	if err := fails("/refused"); mockbase.ErrorCode(err) != mockbase.CodeForbidden {
		t.Errorf("got %v", err)
	}
	err = fails("/silent")
	if away, ok := errors.AsType[*client.UnreachableError](err); !ok || !away.Timeout {
		t.Errorf("got %v", err)
	}
}

func TestACallThatItsCallerGivesUpSaysSo(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c, _ := serve(t, func(_ http.ResponseWriter, r *http.Request, _ int) { cancel(); <-r.Context().Done() })
	if err := c.Get(ctx, "/x", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
