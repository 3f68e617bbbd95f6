package fault_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mockbase/mockbase/engine/fault"
)

// stage is a server that breaks every answer to /broken, and answers everything else.
type stage struct {
	*httptest.Server

	begun    chan struct{}
	outcomes chan fault.Outcome
}

func pause(ctx context.Context, d time.Duration) {
	if d == 0 {
		<-ctx.Done()
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// newStage serves HTTP/1 in clear.
func newStage(t *testing.T, f fault.Fault) *stage {
	t.Helper()
	s := makeStage(f)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// newTLSStage serves HTTP/2, and HTTP/1 to who asks for it.
func newTLSStage(t *testing.T, f fault.Fault) *stage {
	t.Helper()
	s := makeStage(f)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func makeStage(f fault.Fault) *stage {
	s := &stage{begun: make(chan struct{}, 10), outcomes: make(chan fault.Outcome, 10)}
	if f.Sleep == nil {
		f.Sleep = pause
	}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/broken" {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(w, "whole")
			return
		}
		s.begun <- struct{}{}
		f := f
		f.Rand = rand.New(rand.NewPCG(1, 1))
		outcome := f.Strike(w, r, fault.Answer{Status: http.StatusOK, Body: []byte("0123456789")})
		s.outcomes <- outcome
		if outcome.Abort {
			panic(http.ErrAbortHandler)
		}
	}))
	s.Config.ConnContext = fault.WithConnection
	return s
}

// get tells whether an answer began, and what came of its body.
func get(t *testing.T, c *http.Client, url string) (begun bool, body string, err error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.Do(r)
	if err != nil {
		return false, "", err
	}
	defer answer.Body.Close()
	received, err := io.ReadAll(answer.Body)
	return true, string(received), err
}

func TestQ8_faults_on_http_1(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault fault.Fault
		want  string
		reset bool
	}{
		"empty":                   {fault.Fault{Kind: fault.Empty}, "", false},
		"reset":                   {fault.Fault{Kind: fault.Reset}, "", true},
		"reset after bytes":       {fault.Fault{Kind: fault.Reset, AfterBytes: new(int64(3))}, "Content-Length: 10\r\n…\r\n\r\n012", true},
		"reset after all":         {fault.Fault{Kind: fault.Reset, AfterBytes: new(int64(99))}, "Content-Length: 10\r\n…\r\n\r\n0123456789", true},
		"reset after the head":    {fault.Fault{Kind: fault.Reset, AfterBytes: new(int64(0))}, "HTTP/1.1 200 OK\r\n…\r\n\r\n", true},
		"reset of the connection": {fault.Fault{Kind: fault.ResetConnection}, "", true},
		"malformed chunk":         {fault.Fault{Kind: fault.MalformedChunk}, "Transfer-Encoding: chunked\r\n\r\nthis is no chunk\r\n", false},
		"truncate":                {fault.Fault{Kind: fault.Truncate}, "Content-Length: 10\r\n…\r\n\r\n01234", false},
		"truncate after none":     {fault.Fault{Kind: fault.Truncate, AfterBytes: new(int64(0))}, "Content-Length: 10\r\n…\r\n\r\n", false},
		"hang for a while":        {fault.Fault{Kind: fault.Hang, For: time.Millisecond}, "", false},
		"no TLS to abort":         {fault.Fault{Kind: fault.TLSAbort}, "", false},
		"Q10 raw":                 {fault.Fault{Kind: fault.Raw, Raw: []byte("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx")}, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, c.fault)
			received, err := exchange(t, s.Listener.Addr().String(), "GET /broken HTTP/1.1\r\nHost: a\r\n\r\n")
			if got := errors.Is(err, syscall.ECONNRESET); got != c.reset || err != nil && !got {
				t.Errorf("the connection ended with %v", err)
			}
			begin, end, found := strings.Cut(c.want, "…")
			if found && !strings.Contains(received, begin) || !strings.HasSuffix(received, end) {
				t.Errorf("received %q, want %q", received, c.want)
			}
			if !found && c.want != "" && !strings.HasSuffix(received, c.want) || c.want == "" && received != "" {
				t.Errorf("received %q, want %q", received, c.want)
			}
			if _, body, err := get(t, s.Client(), s.URL); err != nil || body != "whole" {
				t.Errorf("the next request: %q %v", body, err)
			}
		})
	}
}

// exchange sends bytes and reads until the connection ends.
func exchange(t *testing.T, address, request string) (string, error) {
	t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	received, err := io.ReadAll(conn)
	return string(received), err
}

// Rule Q8: the end of an empty answer is an orderly one, even with a body that nobody read.
func TestQ8_an_unread_body_does_not_make_a_reset(t *testing.T) {
	t.Parallel()
	s := newStage(t, fault.Fault{Kind: fault.Empty})
	body := strings.Repeat("x", 32<<10)
	received, err := exchange(t, s.Listener.Addr().String(), "POST /broken HTTP/1.1\r\nHost: a\r\nContent-Length: 32768\r\n\r\n"+body)
	if received != "" || err != nil {
		t.Errorf("received %q, %v", received, err)
	}
}

func TestQ14_garbage_follows_from_the_seed_and_is_never_http(t *testing.T) {
	t.Parallel()
	s := newStage(t, fault.Fault{Kind: fault.Garbage})
	first, err := exchange(t, s.Listener.Addr().String(), "GET /broken HTTP/1.1\r\nHost: a\r\n\r\n")
	second, again := exchange(t, s.Listener.Addr().String(), "GET /broken HTTP/1.1\r\nHost: a\r\n\r\n")
	if err != nil || again != nil || first != second || len(first) < 100 {
		t.Errorf("%d and %d bytes, %v, %v", len(first), len(second), err, again)
	}
	if strings.HasPrefix(first, "HTTP/") || first[0] < 0x80 {
		t.Errorf("it begins with %q", first[:8])
	}
}

func TestQ8_hang_ends_when_the_client_leaves(t *testing.T) {
	t.Parallel()
	s := newStage(t, fault.Fault{Kind: fault.Hang})
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-s.begun
		leave()
	}()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/broken", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.Client().Do(r)
	if err == nil {
		answer.Body.Close()
		t.Fatal("it was answered")
	}
	if outcome := <-s.outcomes; outcome.Status != 0 || outcome.Body != nil {
		t.Errorf("outcome %v", outcome)
	}
}

// What the server writes is checked by curl, which knows many kinds of failure.
func TestQ9_curl_sees_the_failure(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Log("there is no curl here; the bytes are checked by the other tests")
		return
	}
	for kind, want := range map[string][]int{
		fault.Empty: {52}, fault.Reset: {56}, fault.Garbage: {1, 8}, fault.MalformedChunk: {56}, fault.Truncate: {18},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, fault.Fault{Kind: kind})
			var out bytes.Buffer
			command := exec.CommandContext(t.Context(), curl, "-q", "-sS", "--noproxy", "*", s.URL+"/broken")
			command.Stdout, command.Stderr = &out, &out
			err := command.Run()
			failed, ok := errors.AsType[*exec.ExitError](err)
			if !ok {
				t.Fatalf("%v: %s", err, out.Bytes())
			}
			for _, code := range want {
				if failed.ExitCode() == code {
					return
				}
			}
			t.Errorf("curl exits %d, want %v: %s", failed.ExitCode(), want, out.Bytes())
		})
	}
}

func TestQ12_a_stream_breaks_and_the_others_go_on(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault fault.Fault
		// head tells that an answer begins, and body what comes of it.
		head bool
		body string
	}{
		"reset":             {fault.Fault{Kind: fault.Reset}, false, ""},
		"empty":             {fault.Fault{Kind: fault.Empty}, false, ""},
		"hang":              {fault.Fault{Kind: fault.Hang, For: time.Millisecond}, false, ""},
		"reset after bytes": {fault.Fault{Kind: fault.Reset, AfterBytes: new(int64(4))}, true, "0123"},
		"truncate":          {fault.Fault{Kind: fault.Truncate, AfterBytes: new(int64(6))}, true, "012345"},
		"malformed chunk":   {fault.Fault{Kind: fault.MalformedChunk}, true, "this is no chunk\r\n"},
		"raw":               {fault.Fault{Kind: fault.Raw, Raw: []byte("raw")}, true, "raw"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTLSStage(t, c.fault)
			started, release := s.slow(t)
			<-started
			begun, body, err := get(t, s.Client(), s.URL+"/broken")
			if err == nil || begun != c.head || body != c.body {
				t.Errorf("begun %v, body %q, error %v", begun, body, err)
			}
			if err != nil && !strings.Contains(err.Error(), "stream error") {
				t.Errorf("the stream ended with %v", err)
			}
			if err := release(); err != nil {
				t.Errorf("the other stream failed: %v", err)
			}
		})
	}
}

// A client that gets DATA and RST_STREAM in one read drops the data, as curl does.
func TestQ12_curl_gets_the_data_before_the_stream_is_reset(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Log("there is no curl here; what the server sends is checked by the other tests")
		return
	}
	for name, c := range map[string]struct {
		fault fault.Fault
		body  string
	}{
		"truncate":        {fault.Fault{Kind: fault.Truncate}, "01234"},
		"malformed chunk": {fault.Fault{Kind: fault.MalformedChunk}, "this is no chunk\r\n"},
		"raw":             {fault.Fault{Kind: fault.Raw, Raw: []byte("raw")}, "raw"},
		"reset":           {fault.Fault{Kind: fault.Reset, AfterBytes: new(int64(4))}, "0123"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// A busy machine may not let curl read for longer than the fault waits.
			c.fault.Sleep = func(ctx context.Context, d time.Duration) { pause(ctx, 10*d) }
			s := newTLSStage(t, c.fault)
			for range 2 {
				// The error is the fault itself.
				got, _ := exec.CommandContext(t.Context(), curl, "-q", "-sk", "--noproxy", "*", "--http2", s.URL+"/broken").Output()
				if string(got) != c.body {
					t.Errorf("curl got %q, want %q", got, c.body)
				}
			}
		})
	}
}

// slow begins a request whose body only ends on release, which returns how the request went.
func (s *stage) slow(t *testing.T) (started <-chan struct{}, release func() error) {
	t.Helper()
	reader, writer := io.Pipe()
	begun, done := make(chan struct{}), make(chan error, 1)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/slow", reader)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		answer, err := s.Client().Do(r)
		if err == nil {
			var body []byte
			body, err = io.ReadAll(answer.Body)
			answer.Body.Close()
			if err == nil && string(body) != "whole" {
				err = errors.New(string(body))
			}
		}
		done <- err
	}()
	go func() {
		// The pipe takes the byte when the request is on its way.
		_, _ = writer.Write([]byte("x"))
		close(begun)
	}()
	return begun, func() error {
		writer.Close()
		return <-done
	}
}

func TestQ12_a_connection_breaks_with_all_its_streams(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{fault.ResetConnection, fault.TLSAbort} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newTLSStage(t, fault.Fault{Kind: kind})
			started, release := s.slow(t)
			<-started
			if _, body, err := get(t, s.Client(), s.URL+"/broken"); err == nil {
				t.Errorf("body %q", body)
			}
			if err := release(); err == nil {
				t.Error("the other stream was answered")
			}
			if _, body, err := get(t, s.Client(), s.URL); err != nil || body != "whole" {
				t.Errorf("a new connection: %q, %v", body, err)
			}
		})
	}
}

func TestQ12_tls_abort_says_no_goodbye(t *testing.T) {
	t.Parallel()
	s := newTLSStage(t, fault.Fault{Kind: fault.TLSAbort})
	client := s.Client()
	transport, ok := client.Transport.(*http.Transport)
	if !ok {
		t.Fatal("no transport")
	}
	config := transport.TLSClientConfig.Clone()
	// Later versions send more than the answer after the handshake.
	config.ServerName, config.NextProtos, config.MaxVersion = "example.com", []string{"http/1.1"}, tls.VersionTLS12
	var d net.Dialer
	raw, err := d.DialContext(t.Context(), "tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	conn := tls.Client(raw, config)
	if _, err := io.WriteString(conn, "GET /broken HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if received, err := io.ReadAll(raw); len(received) > 0 || err != nil {
		t.Errorf("received %q and %v", received, err)
	}
}

func TestWatchNoticesThatTheClientLeft(t *testing.T) {
	t.Parallel()
	left := make(chan bool, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wire, err := fault.Seize(w)
		if err != nil {
			t.Error(err)
			return
		}
		ctx, stop := wire.Watch(r.Context())
		pause(ctx, time.Minute)
		left <- ctx.Err() != nil
		stop()
		wire.Close()
	}))
	t.Cleanup(server.Close)
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if !<-left {
		t.Error("nobody noticed")
	}
}

func TestAWriterWithoutAConnectionCannotBeSeized(t *testing.T) {
	t.Parallel()
	if _, err := fault.Seize(httptest.NewRecorder()); err == nil {
		t.Error("there is a wire")
	}
}
