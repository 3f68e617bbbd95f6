package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"time"
)

// Floor is the least that a server of net/http must do for the same answer.
type Floor struct {
	// Header are the headers that net/http does not write by itself.
	Header http.Header `json:"header"`
	Body   []byte      `json:"body"`
	// Reads has the request's body read and parsed by encoding/json, Waits the answer written after a time.
	Reads bool          `json:"reads,omitempty"`
	Waits time.Duration `json:"waits,omitempty"`
	// Upstream is the address that an httputil.ReverseProxy passes everything on to.
	Upstream string `json:"upstream,omitempty"`
}

func (f *Floor) handler() http.Handler {
	if f.Upstream == "" {
		return f
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: f.Upstream})
	// With the two idle connections of the default it would connect anew for most requests.
	proxy.Transport = &http.Transport{MaxIdleConnsPerHost: 256}
	return proxy
}

// ServeHTTP writes the answer and does nothing else that was not asked for.
func (f *Floor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.Reads {
		body, err := io.ReadAll(r.Body)
		var parsed any
		if err != nil || json.Unmarshal(body, &parsed) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
	}
	pause(r.Context(), f.Waits)
	maps.Copy(w.Header(), f.Header)
	_, _ = w.Write(f.Body)
}

// FloorFor asks a server once and returns the floor that writes the same answer. Date and Content-Length are left to
// net/http, which writes them by itself.
func FloorFor(ctx context.Context, addr string, request []byte) (*Floor, error) {
	made, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(request)))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	made = made.WithContext(ctx)
	made.RequestURI, made.URL.Scheme, made.URL.Host = "", "http", addr
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true}
	answer, err := transport.RoundTrip(made)
	if err != nil {
		return nil, fmt.Errorf("ask for the answer: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, errors.New("the mock answers " + strconv.Itoa(answer.StatusCode))
	}
	floor := &Floor{Header: answer.Header.Clone(), Body: make([]byte, answer.ContentLength)}
	delete(floor.Header, "Date")
	delete(floor.Header, "Content-Length")
	delete(floor.Header, "Connection")
	if _, err := io.ReadFull(answer.Body, floor.Body); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return floor, nil
}
