package management_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
)

// stream is an open stream of events.
type stream struct {
	t      *testing.T
	status int
	lines  *bufio.Scanner
}

// event is one of them; id is that of the exchange in its place.
type event struct {
	kind, id, place string
	data            map[string]any
}

func (w *world) open(t *testing.T, query, as string, header map[string]string) *stream {
	t.Helper()
	r := w.request(t, call{method: http.MethodGet, path: shopPath + "/events" + query, as: as, header: header})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	got, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { got.Body.Close() })
	s := &stream{t: t, status: got.StatusCode, lines: bufio.NewScanner(got.Body)}
	s.lines.Buffer(nil, 8<<20)
	return s
}

// next returns the next event, "" at the end of the stream.
func (s *stream) next() event {
	s.t.Helper()
	var e event
	for s.lines.Scan() {
		name, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch {
		case s.lines.Text() == "" && e.kind != "":
			return e
		case name == "event":
			e.kind = value
		case name == "id":
			e.place = value
			e.id, _, _ = strings.Cut(value, ".")
		case name == "data":
			if err := json.Unmarshal([]byte(value), &e.data); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	return e
}

func (e event) ids() []string {
	list := []string{}
	items, _ := e.data["items"].([]any)
	for _, item := range items {
		list = append(list, item.(map[string]any)["id"].(string))
	}
	return list
}

func (w *world) served(by mockbase.AnsweredBy) string {
	x := exchange(w.shop.ID, w.clock.Now(), by)
	w.journal.Record(x)
	return x.ID
}

func TestM70_exchanges_are_told_as_they_happen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.served(mockbase.AnsweredByMock)
	s := w.open(t, "?batch=5ms&answeredBy=mock", viewer, nil)
	if hello := s.next(); hello.kind != "hello" || hello.data["lastId"] != first || hello.id != first {
		t.Errorf("hello %+v", hello)
	}
	w.served(mockbase.AnsweredByShield)
	second := w.served(mockbase.AnsweredByMock)
	if e := s.next(); e.kind != "exchange" || e.id != second || len(e.ids()) != 1 || e.data["dropped"] != 0.0 {
		t.Errorf("event %+v", e)
	}
	// A client that comes back goes on where it was.
	third := w.served(mockbase.AnsweredByMock)
	for name, again := range map[string]*stream{
		"header": w.open(t, "?batch=5ms", viewer, map[string]string{"Last-Event-ID": second}),
		"query":  w.open(t, "?batch=5ms&after="+second, viewer, nil),
	} {
		again.next()
		if e := again.next(); e.kind != "exchange" || len(e.ids()) != 1 || e.ids()[0] != third {
			t.Errorf("%s: event %+v", name, e)
		}
	}
	// One that comes back and leaves after hello has lost nothing.
	again := w.open(t, "?batch=5ms&after="+second, viewer, nil)
	if hello := again.next(); hello.id != second || hello.data["lastId"] != third {
		t.Errorf("hello %+v", hello)
	}
	lost := w.open(t, "?batch=5ms&after=xch_gone", viewer, nil)
	lost.next()
	if e := lost.next(); e.kind != "resync" {
		t.Errorf("event %+v", e)
	}
}

func TestM70_changes_of_mocks_are_told(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(t, "?batch=5ms&types=mock", viewer, nil)
	s.next()
	w.addMock(`{"name":"hello","request":"GET /hello","response":{}}`)
	if e := s.next(); e.kind != "mock" || e.data["name"] != "hello" || e.data["change"] != "created" {
		t.Errorf("event %+v", e)
	}
	w.send(call{method: http.MethodDelete, path: mocksPath + "/hello", as: editor}).want(http.StatusNoContent)
	if e := s.next(); e.data["change"] != "deleted" {
		t.Errorf("event %+v", e)
	}
}

func TestM70_what_a_slow_reader_misses_is_counted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(t, "?batch=1s", viewer, nil)
	s.next()
	// The reader is told 500 of them a second, so that it is too far behind in the end, however busy the machine is.
	for range 30_000 {
		w.journal.Record(exchange(w.shop.ID, w.clock.Now(), mockbase.AnsweredByMock))
	}
	for dropped := 0.0; dropped == 0; {
		e := s.next()
		if e.kind == "" || len(e.ids()) > 500 {
			t.Fatalf("event %q with %d items", e.kind, len(e.ids()))
		}
		dropped = e.data["dropped"].(float64)
	}
}

func TestM70_a_stream_ends_soon_after_its_credential(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(t, "?batch=50ms", viewer, nil)
	s.next()
	w.setRole(w.shop, viewer, mockbase.RoleNone)
	began := time.Now()
	if e := s.next(); e.kind != "bye" || e.data["reason"] == "" || time.Since(began) > 30*time.Second {
		t.Errorf("event %+v after %s", e, time.Since(began))
	}
}

func TestM70_streams_are_bounded_and_end_with_the_server(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var all []*stream
	for range 20 {
		s := w.open(t, "", viewer, nil)
		s.next()
		all = append(all, s)
	}
	w.send(call{method: http.MethodGet, path: shopPath + "/events", as: viewer}).want(http.StatusTooManyRequests, mockbase.CodeTooManyStreams)
	w.open(t, "", owner, nil).next()
	w.made.EndStreams()
	for _, s := range all {
		if e := s.next(); e.kind != "bye" {
			t.Errorf("event %+v", e)
		}
	}
}

func TestM70_wrong_parameters_are_named(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, query := range []string{"?types=exchanges", "?batch=0ms", "?batch=1h", "?status=x"} {
		w.send(call{method: http.MethodGet, path: shopPath + "/events" + query, as: viewer}).want(http.StatusBadRequest, mockbase.CodeInvalidParameter)
	}
}

func TestM71_a_ticket_lets_in_once(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ticket := func() string {
		got := w.post("/events/tickets", viewer, "").want(http.StatusCreated).json()
		if got["expiresIn"] != 60.0 {
			t.Errorf("ticket %v", got)
		}
		return got["ticket"].(string)
	}
	one := ticket()
	if s := w.open(t, "?ticket="+one, guest, nil); s.status != http.StatusOK || s.next().kind != "hello" {
		t.Errorf("status %d", s.status)
	}
	w.send(call{method: http.MethodGet, path: shopPath + "/events?ticket=" + one}).want(http.StatusUnauthorized)
	// It is for one project and one purpose, and does not last.
	w.send(call{method: http.MethodGet, path: "/api/v1/projects/other/events?ticket=" + ticket()}).want(http.StatusUnauthorized)
	w.send(call{method: http.MethodGet, path: trafficPath + "?ticket=" + ticket()}).want(http.StatusUnauthorized)
	old := ticket()
	w.clock.Advance(time.Minute)
	w.send(call{method: http.MethodGet, path: shopPath + "/events?ticket=" + old}).want(http.StatusUnauthorized)
	if log := w.log.String(); strings.Contains(log, one) {
		t.Errorf("a ticket was logged: %s", log)
	}
}

func TestM183_a_ticket_is_for_whom_the_project_shows_itself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.post("/events/tickets", stranger, "").want(http.StatusNotFound)
	w.post("/events/tickets", guest, "").want(http.StatusUnauthorized)
}
