package engine_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/engine/fault"
)

// http2Client serves an engine in clear over HTTP/2 and returns a client of it, and the address of the project.
func http2Client(t *testing.T, h http.Handler) (client *http.Client, base string) {
	t.Helper()
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h, Protocols: protocols, ConnContext: fault.WithConnection, ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	transport := &http.Transport{Protocols: protocols}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
		<-done
	})
	return &http.Client{Transport: transport}, "http://" + listener.Addr().String() + "/m/shop"
}

// fetched is a whole answer.
type fetched struct {
	header, trailer http.Header
	body            string
}

func fetch(t *testing.T, client *http.Client, address string) (fetched, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(r)
	if err != nil {
		return fetched{}, err
	}
	defer answer.Body.Close()
	received, err := io.ReadAll(answer.Body)
	return fetched{answer.Header, answer.Trailer, string(received)}, err
}

func TestO20_trailers_and_slow_headers_on_http_2(t *testing.T) {
	t.Parallel()
	var recorded recorder
	e := newEngine(t, engine.Options{Journal: &recorded})
	publishDefinition(t, e, `mocks:
  - { request: GET /t, response: { text: abc, headers: { eTAG: x, Keep-Alive: y }, trailers: { x-Sum: 7 } } }
  - { request: GET /s, response: { text: abc, stream: { slowHeaders: 1ms } } }
`)
	client, base := http2Client(t, e)
	got, err := fetch(t, client, base+"/t")
	header := got.header
	if err != nil || got.body != "abc" || got.trailer.Get("X-Sum") != "7" || header.Get("Etag") != "x" {
		t.Errorf("%+v, %v", got, err)
	}
	// Rule N11.
	exposed := header.Get("Access-Control-Expose-Headers")
	if notes := recorded.last(t, 1).Warnings; header.Get("Keep-Alive") != "" || strings.Contains(exposed, "Keep") || len(notes) != 1 {
		t.Errorf("header %v, notes %q", header, notes)
	}
	began := time.Now()
	if got, err := fetch(t, client, base+"/s"); err != nil || got.body != "abc" || time.Since(began) < 100*time.Millisecond {
		t.Errorf("Q7: %q after %s, %v", got.body, time.Since(began), err)
	}
}

func TestQ12_one_stream_breaks_and_the_other_completes(t *testing.T) {
	t.Parallel()
	var recorded recorder
	e := newEngine(t, engine.Options{Journal: &recorded})
	publishDefinition(t, e, `mocks:
  - { request: GET /slow, response: { text: whole, delay: 200ms } }
  - { request: GET /reset, response: { fault: reset } }
  - { request: GET /cut, response: { text: "0123456789", fault: { kind: truncate, afterBytes: 4 } } }
`)
	client, base := http2Client(t, e)
	var both sync.WaitGroup
	both.Go(func() {
		if got, err := fetch(t, client, base+"/slow"); err != nil || got.body != "whole" {
			t.Errorf("the other stream: %q, %v", got.body, err)
		}
	})
	if _, err := fetch(t, client, base+"/reset"); err == nil || !strings.Contains(err.Error(), "stream error") {
		t.Errorf("reset: %v", err)
	}
	if got, err := fetch(t, client, base+"/cut"); err == nil || got.body != "0123" {
		t.Errorf("truncate: %q, %v", got.body, err)
	}
	both.Wait()
	recorded.last(t, 3)
	kinds := map[string]int{}
	for _, x := range recorded.all() {
		kinds[x.Fault]++
	}
	if kinds["reset"] != 1 || kinds["truncate"] != 1 || kinds[""] != 1 {
		t.Errorf("recorded %v", kinds)
	}
}
