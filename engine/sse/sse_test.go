package sse_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mockbase/mockbase/engine/sse"
	"github.com/mockbase/mockbase/internal/testkit"
)

func TestMain(m *testing.M) { testkit.VerifyNoLeaks(m) }

func TestU2_the_form_of_an_event(t *testing.T) {
	t.Parallel()
	retry := 2000
	for _, test := range []struct {
		event sse.Event
		want  string
	}{
		{sse.Event{Data: new("a\nb")}, "data: a\ndata: b\n\n"},
		{sse.Event{Data: new("a\n")}, "data: a\n\n"},
		{sse.Event{Data: new("a\n\n")}, "data: a\ndata: \n\n"},
		{sse.Event{Data: new("")}, "data: \n\n"},
		{sse.Event{Data: new("a\rb\r\nc")}, "data: a\ndata: b\ndata: c\n\n"},
		{sse.Event{Name: new("price"), ID: new("7"), Retry: &retry, Data: new(`{"eur":10}`)}, "event: price\nid: 7\nretry: 2000\ndata: {\"eur\":10}\n\n"},
		{sse.Event{Comment: new("still here")}, ": still here\n\n"},
		{sse.Event{Comment: new("a\nb"), Data: new("x")}, ": a\n: b\ndata: x\n\n"},
		{sse.Event{ID: new("")}, "id: \n\n"},
	} {
		if got := string(test.event.Append(nil)); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// wall is the clock of a test, in a bubble of synctest.
type wall struct{}

func (wall) Now() time.Time { return time.Now() }

func (wall) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// piece is something that reached the client, and when.
type piece struct {
	text string
	at   time.Duration
}

// client is a response writer that notes what arrives. It fails once it has left, and blocks while it is stuck.
type client struct {
	*httptest.ResponseRecorder
	began  time.Time
	mu     sync.Mutex
	pieces []piece
	gone   bool
	stuck  chan struct{}
}

func newClient() *client {
	return &client{ResponseRecorder: httptest.NewRecorder(), began: time.Now()}
}

func (c *client) Write(b []byte) (int, error) {
	if c.stuck != nil {
		<-c.stuck
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return 0, http.ErrHandlerTimeout
	}
	c.pieces = append(c.pieces, piece{string(b), time.Since(c.began)})
	return len(b), nil
}

func (c *client) got() []piece {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.pieces)
}

func (c *client) texts() string {
	var all strings.Builder
	for _, p := range c.got() {
		all.WriteString(p.text)
	}
	return all.String()
}

func after(d time.Duration) func() time.Duration { return func() time.Duration { return d } }

// numbered is a script of events with the ids 1 to n, each after a time.
func numbered(n int, pause time.Duration) []sse.Step {
	steps := make([]sse.Step, n)
	for i := range steps {
		id := string(rune('1' + i))
		steps[i] = sse.Step{ID: &id, Event: (&sse.Event{Data: &id}).Append(nil)}
		if pause > 0 {
			steps[i].After = after(pause)
		}
	}
	return steps
}

func play(t *testing.T, s *sse.Script, lastID string) (*client, sse.Outcome) {
	t.Helper()
	c := newClient()
	outcome, err := sse.NewHub(0).Play(t.Context(), c, &sse.Play{Script: s, LastID: lastID, Clock: wall{}}, func() {}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c, outcome
}

func TestU1_each_event_is_sent_when_it_is_due(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := play(t, &sse.Script{Steps: numbered(3, time.Minute), Loop: 1}, "")
		want := []piece{{"data: 1\n\n", time.Minute}, {"data: 2\n\n", 2 * time.Minute}, {"data: 3\n\n", 3 * time.Minute}}
		if got := c.got(); !slices.Equal(got, want) || !c.Flushed {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestU4_a_client_resumes_after_the_id_it_saw_last(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		resume bool
		lastID string
		loop   int
		want   string
	}{
		{true, "2", 1, "3"}, {true, "3", 1, ""}, {true, "9", 1, "123"}, {true, "", 1, "123"}, {false, "2", 1, "123"}, {true, "2", 2, "3123"},
	} {
		c, _ := play(t, &sse.Script{Steps: numbered(3, 0), Loop: test.loop, Resume: test.resume}, test.lastID)
		got := strings.NewReplacer("data: ", "", "\n", "").Replace(c.texts())
		if got != test.want {
			t.Errorf("after %q with resume %t: %q, want %q", test.lastID, test.resume, got, test.want)
		}
	}
}

func TestU5_close_and_reset_end_a_stream(t *testing.T) {
	t.Parallel()
	for end, reset := range map[sse.End]bool{sse.EndClose: false, sse.EndReset: true} {
		steps := append(numbered(1, 0), sse.Step{Ends: true, End: end}, numbered(1, 0)[0])
		c, outcome := play(t, &sse.Script{Steps: steps, Loop: 3}, "")
		if c.texts() != "data: 1\n\n" || outcome.Reset != reset || outcome.Aborted {
			t.Errorf("wrote %q and ended with %+v", c.texts(), outcome)
		}
	}
	if _, outcome := play(t, &sse.Script{Steps: numbered(1, 0), Loop: 1, End: sse.EndReset}, ""); !outcome.Reset {
		t.Error("end: reset does not reset")
	}
}

// house is a hub and what stops it.
type house struct {
	*sse.Hub
	closing chan struct{}
}

// running plays a script in the background and hands out how it ended.
func running(ctx context.Context, h house, c *client, s *sse.Script, group string) <-chan sse.Outcome {
	ended := make(chan sse.Outcome, 1)
	go func() {
		outcome, err := h.Play(ctx, c, &sse.Play{Script: s, Stream: sse.Stream{Group: group, Project: "p", ID: group}, Clock: wall{}}, func() {}, h.closing)
		if err != nil {
			panic(err)
		}
		ended <- outcome
	}()
	return ended
}

func TestU5_a_broadcast_reaches_every_stream_of_the_mock_in_order(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := house{sse.NewHub(0), make(chan struct{})}
		script := &sse.Script{Steps: numbered(2, time.Minute), Loop: 1, End: sse.EndKeepOpen}
		clients := []*client{newClient(), newClient(), newClient()}
		var ends []<-chan sse.Outcome
		for i, c := range clients {
			ends = append(ends, running(t.Context(), h, c, script, []string{"a", "a", "b"}[i]))
		}
		synctest.Wait()
		if n := h.Broadcast("a", "", &sse.Event{Data: new("x")}); n != 2 {
			t.Errorf("reached %d streams, want 2", n)
		}
		h.Broadcast("a", "", &sse.Event{Data: new("y")})
		time.Sleep(3 * time.Minute) //nolint:forbidigo // in a bubble
		h.Broadcast("a", "", &sse.Event{Data: new("z")})
		synctest.Wait()
		for _, c := range clients[:2] {
			if got := strings.NewReplacer("data: ", "", "\n", "").Replace(c.texts()); got != "xy12z" {
				t.Errorf("a client of the mock got %q", got)
			}
		}
		if strings.Contains(clients[2].texts(), "x") {
			t.Error("a client of another mock got a broadcast")
		}
		close(h.closing)
		for _, end := range ends {
			if outcome := <-end; !outcome.Stopped {
				t.Errorf("N13: ended with %+v", outcome)
			}
		}
	})
}

func TestU5_a_loop_for_ever_ends_with_its_client_and_never_spins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		c := newClient()
		ended := running(ctx, house{Hub: sse.NewHub(0)}, c, &sse.Script{Steps: numbered(1, 0), Loop: 0}, "a")
		time.Sleep(10*time.Second + time.Millisecond) //nolint:forbidigo // in a bubble
		leave()
		if outcome := <-ended; !outcome.Aborted {
			t.Errorf("ended with %+v", outcome)
		}
		if n := len(c.got()); n < 5 || n > 20 {
			t.Errorf("wrote %d events in 10 s without a pause of their own", n)
		}
	})
}

func TestU6_streams_are_listed_bounded_and_gone_when_the_client_is(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := house{Hub: sse.NewHub(2)}
		script := &sse.Script{Steps: numbered(1, 0), Loop: 1, End: sse.EndKeepOpen}
		ctx, leave := context.WithCancel(t.Context())
		first := running(ctx, h, newClient(), script, "a")
		other, stop := context.WithCancel(t.Context())
		second := running(other, h, newClient(), script, "b")
		synctest.Wait()
		began := false
		_, err := h.Play(t.Context(), newClient(), &sse.Play{Script: script, Clock: wall{}}, func() { began = true }, nil)
		if !errors.Is(err, sse.ErrTooMany) || began {
			t.Errorf("a third stream of two: %v, begun %t", err, began)
		}
		if list := h.List("p"); len(list) != 2 || list[0].Since.IsZero() || len(h.List("q")) != 0 {
			t.Errorf("listed are %+v", list)
		}
		leave()
		if outcome := <-first; !outcome.Aborted {
			t.Errorf("ended with %+v", outcome)
		}
		synctest.Wait()
		if list := h.List("p"); len(list) != 1 || list[0].Group != "b" || h.Open() != 1 {
			t.Errorf("listed are %+v", list)
		}
		stop()
		<-second
	})
}

func TestU6_a_quiet_stream_gets_heartbeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := play(t, &sse.Script{Steps: numbered(1, 50*time.Second), Loop: 1, Heartbeat: 20 * time.Second}, "")
		if got := c.texts(); got != ": heartbeat\n\n: heartbeat\n\ndata: 1\n\n" {
			t.Errorf("got %q", got)
		}
	})
}

func TestU6_a_client_that_does_not_read_holds_nobody_up(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := house{sse.NewHub(0), make(chan struct{})}
		script := &sse.Script{Steps: []sse.Step{{}}, Loop: 1, End: sse.EndKeepOpen}
		slow, quick := newClient(), newClient()
		slow.stuck = make(chan struct{})
		slowEnd, quickEnd := running(t.Context(), h, slow, script, "a"), running(t.Context(), h, quick, script, "a")
		synctest.Wait()
		for range 200 {
			h.Broadcast("a", "", &sse.Event{Data: new("x")})
			synctest.Wait()
		}
		if n := len(quick.got()); n != 200 {
			t.Errorf("the quick client got %d of 200", n)
		}
		if n := h.Open(); n != 1 {
			t.Errorf("%d streams are open, want the quick one alone", n)
		}
		close(slow.stuck)
		if outcome := <-slowEnd; !outcome.Aborted {
			t.Errorf("the slow stream ended with %+v", outcome)
		}
		close(h.closing)
		<-quickEnd
	})
}

func TestScriptHearsWhatWasWritten(t *testing.T) {
	t.Parallel()
	var heard strings.Builder
	c := newClient()
	p := &sse.Play{Script: &sse.Script{Steps: numbered(2, 0), Loop: 1}, Clock: wall{}, Written: func(b []byte) { heard.Write(b) }}
	if _, err := sse.NewHub(0).Play(t.Context(), c, p, func() {}, nil); err != nil {
		t.Fatal(err)
	}
	if heard.String() != c.texts() || heard.Len() == 0 {
		t.Errorf("heard %q, written was %q", heard.String(), c.texts())
	}
}
