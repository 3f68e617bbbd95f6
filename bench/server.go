package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/engine/journal"
)

// projectSlug is the project that every mock of a benchmark belongs to.
const projectSlug = "bench"

// bodySize is the length of every answer's body: a small JSON document.
const bodySize = 128

// Spec says what a server serves. It travels as JSON to the process that serves it.
type Spec struct {
	// Floor is the answer of a bare net/http handler; nil serves mocks.
	Floor *FloorAnswer `json:"floor,omitempty"`
	// Mocks is the number of mocks in the project; Journal records, with the default bounds.
	Mocks   int  `json:"mocks"`
	Journal bool `json:"journal"`
	// Templated lets one mock answer every path that the mocks have, with a part of the path in its body.
	Templated bool `json:"templated,omitempty"`
	// Shield is where the shield counts: "" for none, "memory", or the URL of a Redis.
	Shield string `json:"shield"`
	// Budget is the time that a check in Redis may take; 0 is the product's default.
	Budget time.Duration `json:"budget,omitempty"`
	// Profile is the file for a CPU profile; empty is none.
	Profile string `json:"profile,omitempty"`
}

// FloorAnswer is what the floor writes: the headers that net/http does not write by itself, and the body.
type FloorAnswer struct {
	Header http.Header `json:"header"`
	Body   []byte      `json:"body"`
}

// ServeHTTP writes the answer and does nothing else.
func (a *FloorAnswer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	maps.Copy(w.Header(), a.Header)
	_, _ = w.Write(a.Body)
}

// Handler makes what a spec describes. The function that comes with it ends what runs behind the handler.
func (s Spec) Handler() (http.Handler, func(), error) {
	if s.Floor != nil {
		return s.Floor, func() {}, nil
	}
	guard, closeShield, err := newShield(s.Shield, s.Budget)
	if err != nil {
		return nil, nil, err
	}
	options := engine.Options{}
	if guard != nil {
		options.Shield = guard
	}
	if s.Journal {
		options.Journal = journal.New(journal.Options{})
	}
	documents := make([][]byte, s.Mocks)
	for i := range documents {
		documents[i] = mockDocument(i)
	}
	if s.Templated {
		documents = [][]byte{templatedMock()}
	}
	e, err := newEngine(options, documents)
	return e, closeShield, err
}

func newEngine(o engine.Options, documents [][]byte) (*engine.Engine, error) {
	e, err := engine.New(o)
	if err != nil {
		return nil, fmt.Errorf("make engine: %w", err)
	}
	snapshot, err := newSnapshot(documents)
	if err != nil {
		return nil, err
	}
	if err := e.Publish(snapshot); err != nil {
		return nil, fmt.Errorf("publish %d mocks: %w", len(documents), err)
	}
	return e, nil
}

func newSnapshot(documents [][]byte) (*mockbase.Snapshot, error) {
	now := time.Now()
	project := &mockbase.Project{
		ID: mockbase.NewID(mockbase.PrefixProject, now), Slug: projectSlug, Access: mockbase.AccessPublic, Version: 1, Revision: 1,
	}
	snapshot := &mockbase.Snapshot{Project: project}
	for i, document := range documents {
		m, err := mockbase.DecodeMock(document, mockbase.FormatJSON)
		if err != nil {
			return nil, fmt.Errorf("decode mock %d: %w", i, err)
		}
		m.ID, m.ProjectID, m.Version, m.Order = mockbase.NewID(mockbase.PrefixMock, now), project.ID, 1, int64(i+1)
		snapshot.Mocks = append(snapshot.Mocks, m)
	}
	return snapshot, nil
}

// mockPath is the path of the i-th mock. All are of one length, so that answers and requests are too.
func mockPath(i int) string { return fmt.Sprintf("/v1/things-%05d/details", i) }

// mockDocument is the i-th mock: a JSON body of bodySize bytes.
func mockDocument(i int) []byte {
	return document(fmt.Sprintf("thing-%05d", i), mockPath(i), map[string]any{"json": json.RawMessage(filled(`{"text":"`, bodySize))})
}

// templatedMock answers with about as many bytes, and with the parameter of its path among them.
func templatedMock() []byte {
	body := filled(`{"thing":"{{ path.thing }}","text":"`, bodySize)
	return document("templated", "/v1/{thing}/details", map[string]any{"json": json.RawMessage(body), "template": true})
}

// filled is a JSON document of a size that begins as given, inside its last text.
func filled(begin string, size int) []byte {
	body := append(make([]byte, 0, size), begin...)
	for len(body) < size-2 {
		body = append(body, 'x')
	}
	return append(body, `"}`...)
}

func document(name, path string, response map[string]any) []byte {
	document, err := json.Marshal(map[string]any{
		"name":     name,
		"request":  map[string]any{"method": "GET", "path": path},
		"response": response,
	})
	if err != nil {
		panic(err) // Maps of text cannot fail to encode.
	}
	return document
}

// Requests are the bytes of a GET of each of the first n mocks, with the headers of a plain client.
func Requests(n int) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		all[i] = []byte("GET /m/" + projectSlug + mockPath(i) + " HTTP/1.1\r\n" +
			"Host: 127.0.0.1:8080\r\nUser-Agent: bench/1\r\nAccept: */*\r\n\r\n")
	}
	return all
}

// Listen serves a handler on a free loopback port, with the settings that the product's own listener has. The function
// that it returns ends the server.
func Listen(ctx context.Context, h http.Handler) (addr string, end func(), err error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listen: %w", err)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{
		Handler:                      h,
		ReadHeaderTimeout:            10 * time.Second,
		IdleTimeout:                  2 * time.Minute,
		MaxHeaderBytes:               64 << 10,
		DisableGeneralOptionsHandler: true,
		Protocols:                    protocols,
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l)
	}()
	return l.Addr().String(), func() {
		_ = server.Close()
		<-done
	}, nil
}

// FloorFor asks a server once and returns the floor that writes the same answer. Date and Content-Length are left to
// net/http, which writes them by itself.
func FloorFor(ctx context.Context, addr string) (*FloorAnswer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/m/"+projectSlug+mockPath(0), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return nil, fmt.Errorf("ask for the answer: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, errors.New("the mock answers " + strconv.Itoa(answer.StatusCode))
	}
	floor := &FloorAnswer{Header: answer.Header.Clone(), Body: make([]byte, answer.ContentLength)}
	delete(floor.Header, "Date")
	delete(floor.Header, "Content-Length")
	delete(floor.Header, "Connection")
	if _, err := io.ReadFull(answer.Body, floor.Body); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return floor, nil
}
