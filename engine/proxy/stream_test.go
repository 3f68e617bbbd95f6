package proxy_test

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/proxy"
	"github.com/mockbase/mockbase/internal/testkit"
)

func TestMain(m *testing.M) { testkit.VerifyNoLeaks(m) }

// upstream starts a server to pass requests on to.
func upstream(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

// open asks the front and returns the answer once its header is here.
func open(t *testing.T, target string) io.Reader {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, target, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer.Body
}

func TestT11_pieces_pass_as_they_come(t *testing.T) {
	t.Parallel()
	for name, contentType := range map[string]string{"events": "text/event-stream", "other chunks": "text/plain", "known length": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			next := make(chan struct{})
			to := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
				if contentType == "" {
					w.Header().Set("Content-Length", "10")
				} else {
					w.Header().Set("Content-Type", contentType)
				}
				for _, piece := range []string{"one\n\n", "two\n\n"} {
					_, _ = io.WriteString(w, piece)
					_ = http.NewResponseController(w).Flush()
					<-next
				}
			})
			f := newFront(t, mockbase.Proxy{To: to}, nil)
			body := bufio.NewReader(open(t, f.URL))
			for _, want := range []string{"one\n", "two\n"} {
				if line, err := body.ReadString('\n'); line != want {
					t.Fatalf("read %q, %v before the upstream went on", line, err)
				}
				_, _ = body.ReadString('\n')
				next <- struct{}{}
			}
		})
	}
}

func TestT11_the_header_does_not_wait_for_the_body(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	to := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "4")
		_ = http.NewResponseController(w).Flush()
		<-next
		_, _ = io.WriteString(w, "body")
	})
	f := newFront(t, mockbase.Proxy{To: to}, nil)
	body := open(t, f.URL)
	// The answer is here, and the upstream has not sent its body.
	close(next)
	if text, err := io.ReadAll(body); string(text) != "body" {
		t.Errorf("read %q, %v", text, err)
	}
}

func TestT10_a_client_that_leaves_cancels_the_call(t *testing.T) {
	t.Parallel()
	for name, flush := range map[string]bool{"before the answer": false, "within the answer": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arrived, cancelled := make(chan struct{}), make(chan struct{})
			to := upstream(t, func(w http.ResponseWriter, r *http.Request) {
				if flush {
					w.WriteHeader(http.StatusOK)
					_ = http.NewResponseController(w).Flush()
				}
				close(arrived)
				<-r.Context().Done()
				close(cancelled)
			})
			f := newFront(t, mockbase.Proxy{To: to}, nil)
			ctx, leave := context.WithCancel(t.Context())
			go func() {
				<-arrived
				leave()
			}()
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			transport := &http.Transport{DisableKeepAlives: true}
			if answer, err := transport.RoundTrip(request); err == nil {
				_, _ = io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
			select {
			case <-cancelled:
			case <-time.After(time.Minute):
				t.Fatal("the upstream is still asked")
			}
			select {
			case result := <-f.results:
				if !result.Aborted || result.Broken != nil {
					t.Errorf("the result is %+v", result)
				}
			case failure := <-f.failures:
				// The client may leave before the answer that is under way reaches it.
				if !failure.Aborted {
					t.Errorf("the failure is %v", failure)
				}
			}
		})
	}
}

func TestT10_a_body_that_stops_coming_is_given_up_but_events_are_not(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	to := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/events" {
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		}
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-release:
			_, _ = io.WriteString(w, "whole")
		case <-r.Context().Done():
		}
	})
	f := newFront(t, mockbase.Proxy{To: to, Timeout: 3 * time.Second}, nil)
	events := open(t, f.URL+"/events")
	if body, err := io.ReadAll(open(t, f.URL+"/other")); string(body) != "half" || err == nil {
		t.Errorf("read %q, %v", body, err)
	}
	if result := <-f.results; result.Broken == nil || !strings.Contains(result.Broken.Error(), "3s") {
		t.Errorf("the result is %+v", result)
	}
	close(release)
	if body, err := io.ReadAll(events); string(body) != "halfwhole" || err != nil {
		t.Errorf("read %q, %v", body, err)
	}
}

func TestN13_event_streams_end_when_the_server_stops(t *testing.T) {
	t.Parallel()
	to := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	f := newFront(t, mockbase.Proxy{To: to}, nil)
	answer := open(t, f.URL)
	close(f.closing)
	if _, err := io.ReadAll(answer); err == nil {
		t.Error("the stream ended as if it were whole")
	}
	if result := <-f.results; result.Broken == nil {
		t.Errorf("the result is %+v", result)
	}
}

// echoes upgrades to a protocol that says everything back.
func echoes(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "echo" {
		_, _ = io.WriteString(w, "no upgrade asked")
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\nX-Own: 1\r\n\r\n")
	_, _ = io.Copy(conn, buffered)
}

func TestT11_upgrades_are_tunnelled_when_asked(t *testing.T) {
	t.Parallel()
	to := upstream(t, echoes)
	f := newFront(t, mockbase.Proxy{To: to, Upgrade: true}, nil)
	const upgrade = "GET / HTTP/1.1\r\nHost: m\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"
	conn, err := net.Dial("tcp", f.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	_, _ = io.WriteString(conn, upgrade+"hello\n")
	reader := bufio.NewReader(conn)
	answer, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusSwitchingProtocols || answer.Header.Get("X-Own") != "1" || answer.Header.Get("Upgrade") != "echo" {
		t.Fatalf("got %+v", answer)
	}
	for _, text := range []string{"hello\n", "again\n"} {
		if line, err := reader.ReadString('\n'); line != text {
			t.Fatalf("heard %q, %v", line, err)
		}
		_, _ = io.WriteString(conn, "again\n")
	}
	conn.Close()
	if result := <-f.results; !result.Tunnelled || result.Status != http.StatusSwitchingProtocols {
		t.Errorf("the result is %+v", result)
	}
	plain := newFront(t, mockbase.Proxy{To: to}, nil)
	if got := exchange(t, plain.Listener.Addr().String(), "GET / HTTP/1.1\nHost: m\nConnection: close, Upgrade\nUpgrade: echo\n\n"); !strings.HasSuffix(got, "no upgrade asked") {
		t.Errorf("without upgrade: true the client got %q", got)
	}
}

func TestN13_tunnels_end_when_the_server_stops(t *testing.T) {
	t.Parallel()
	f := newFront(t, mockbase.Proxy{To: upstream(t, echoes), Upgrade: true}, nil)
	conn, err := net.Dial("tcp", f.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: m\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nx")
	reader := bufio.NewReader(conn)
	answer, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	_, _ = reader.ReadByte()
	close(f.closing)
	if _, err := reader.ReadByte(); err == nil {
		t.Error("the tunnel goes on")
	}
	<-f.results
}

// passBoth serves one upstream by our forwarder and by net/http's.
func passBoth(b *testing.B, size int) (ours, theirs http.Handler) {
	b.Helper()
	body := strings.Repeat("x", size)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }))
	b.Cleanup(server.Close)
	target, err := url.Parse(server.URL)
	if err != nil {
		b.Fatal(err)
	}
	route, err := proxy.Compile(&mockbase.Proxy{To: server.URL, Timeout: 30 * time.Second}, proxy.FixedUpstream)
	if err != nil {
		b.Fatal(err)
	}
	forwarder := proxy.New(policy(), nil)
	transport := &http.Transport{MaxIdleConnsPerHost: 128, DisableCompression: true}
	b.Cleanup(forwarder.CloseIdle)
	b.Cleanup(transport.CloseIdleConnections)
	peer := netip.MustParseAddr("127.0.0.1")
	ours = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		in := &proxy.Request{In: r, Header: r.Header, Target: r.RequestURI, Keep: 64 << 10, Peer: peer}
		if _, err := forwarder.Forward(w, route, in); err != nil {
			b.Error(err)
		}
	})
	theirs = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: transport}
	return ours, theirs
}

// The forwarder must reach 0.7 of httputil.ReverseProxy on the same path.
func BenchmarkForward(b *testing.B) {
	for name, size := range map[string]int{"256B": 256, "64KiB": 64 << 10} {
		ours, theirs := passBoth(b, size)
		for which, handler := range map[string]http.Handler{"ours": ours, "reverseproxy": theirs} {
			b.Run(name+"/"+which, func(b *testing.B) {
				server := httptest.NewServer(handler)
				defer server.Close()
				client := &http.Transport{MaxIdleConnsPerHost: 64}
				defer client.CloseIdleConnections()
				b.ReportAllocs()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						request, _ := http.NewRequestWithContext(b.Context(), http.MethodGet, server.URL, http.NoBody)
						answer, err := client.RoundTrip(request)
						if err != nil {
							b.Error(err)
							return
						}
						_, _ = io.Copy(io.Discard, answer.Body)
						answer.Body.Close()
					}
				})
			})
		}
	}
}
