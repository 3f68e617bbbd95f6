package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mockbase/mockbase/engine/outbound"
	"github.com/mockbase/mockbase/engine/webhook"
)

// wall is the clock of a test, in a bubble of synctest.
type wall struct{}

func (wall) Now() time.Time { return time.Now() }

func (wall) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

// target answers calls by a list of statuses, the last of which repeats, and notes them.
type target struct {
	mu       sync.Mutex
	statuses []int
	header   http.Header
	err      error
	seen     []string
	at       []time.Duration
	began    time.Time
	requests []*http.Request
}

func (s *target) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	s.seen, s.at, s.requests = append(s.seen, string(body)), append(s.at, time.Since(s.began)), append(s.requests, r)
	if s.err != nil {
		return nil, s.err
	}
	status := s.statuses[min(len(s.seen), len(s.statuses))-1]
	return &http.Response{StatusCode: status, Header: s.header, Body: io.NopCloser(strings.NewReader(strings.Repeat("r", 100<<10)))}, nil
}

// bench is a queue with its target and what it reported.
type bench struct {
	*webhook.Queue
	*target
	mu       sync.Mutex
	attempts []webhook.Attempt
}

func newBench(statuses ...int) *bench {
	b := &bench{target: &target{statuses: statuses, began: time.Now()}}
	b.Queue = webhook.New(b.target, func(a webhook.Attempt) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.attempts = append(b.attempts, a)
	})
	return b
}

func newCall() *webhook.Call {
	return &webhook.Call{
		ID: "whk_1", Project: "p", Session: "default", Clock: wall{}, Timeout: time.Second, Received: http.Header{},
		Make: func(attempt int) (webhook.Request, error) {
			return webhook.Request{Method: http.MethodPost, URL: "http://hook.test/", Body: fmt.Appendf(nil, "attempt %d", attempt)}, nil
		},
	}
}

// times are the seconds after which calls were made.
func (b *bench) times() string {
	b.target.mu.Lock()
	defer b.target.mu.Unlock()
	var list []string
	for _, at := range b.at {
		list = append(list, fmt.Sprint(at.Seconds()))
	}
	return strings.Join(list, " ")
}

func TestS3_what_is_tried_again_and_when(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		statuses []int
		err      error
		change   func(c *webhook.Call)
		header   http.Header
		want     string
	}{
		"one attempt by default":      {statuses: []int{503}, want: "0"},
		"S1 after":                    {statuses: []int{200}, change: func(c *webhook.Call) { c.After = 3 * time.Second }, want: "3"},
		"503 503 200":                 {statuses: []int{503, 503, 200}, change: retries(3, time.Second), want: "0 1 3"},
		"all attempts":                {statuses: []int{429}, change: retries(2, time.Second), want: "0 1 3"},
		"network error":               {err: errors.New("refused"), change: retries(1, time.Second), want: "0 1"},
		"never on 400":                {statuses: []int{400}, change: retries(3, time.Second), want: "0"},
		"S4 never on 302":             {statuses: []int{302}, change: retries(3, time.Second), want: "0"},
		"408 and 425":                 {statuses: []int{408, 425, 204}, change: retries(3, time.Second), want: "0 1 3"},
		"Retry-After":                 {statuses: []int{503, 200}, header: http.Header{"Retry-After": {"7"}}, change: retries(1, time.Second), want: "0 7"},
		"Retry-After up to the most":  {statuses: []int{503, 200}, header: http.Header{"Retry-After": {"700"}}, change: retries(1, time.Second), want: "0 10"},
		"back-off up to the most":     {statuses: []int{503}, change: retries(2, 8*time.Second), want: "0 8 18"},
		"S5 never when it is blocked": {err: &outbound.BlockedError{Reason: outbound.ReasonMetadata}, change: retries(3, time.Second), want: "0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b, c := newBench(test.statuses...), newCall()
				b.header, b.err = test.header, test.err
				if test.change != nil {
					test.change(c)
				}
				if err := b.Add(c); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Hour) //nolint:forbidigo // in a bubble
				synctest.Wait()
				if got := b.times(); got != test.want {
					t.Errorf("called after %s, want %s", got, test.want)
				}
				for i, a := range b.attempts {
					if a.Number != i+1 || a.Last != (i == len(b.attempts)-1) || len(a.Body) > 64<<10 {
						t.Errorf("reported %+v", a)
					}
				}
				for i, r := range b.requests {
					if r.Header.Get("Webhook-Id") != "whk_1" || r.Header.Get("Mockbase-Hops") != "1" || b.seen[i] != fmt.Sprintf("attempt %d", i+1) {
						t.Errorf("sent %v %q", r.Header, b.seen[i])
					}
				}
				b.Close(t.Context())
			})
		})
	}
}

func retries(most int, backoff time.Duration) func(*webhook.Call) {
	return func(c *webhook.Call) {
		c.Retries = webhook.Retries{Max: most, Backoff: backoff, MaxBackoff: 10 * time.Second}
	}
}

func TestSignaturesAreHMACsOfTheBody(t *testing.T) {
	t.Parallel()
	for want, sign := range map[string]webhook.Sign{
		"sha256=": {Header: "X-Signature", Secret: "dev"},
		"sha512=": {Header: "X-Signature", Secret: "dev", SHA512: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			b, c := newBench(200), newCall()
			c.Sign = &sign
			_ = b.Add(c)
			synctest.Wait()
			if got := b.requests[0].Header.Get("X-Signature"); !strings.HasPrefix(got, want) || len(got) < 70 {
				t.Errorf("signed with %q", got)
			}
			b.Close(t.Context())
		})
	}
}

func TestS5_urls_that_can_never_be_called_are_not(t *testing.T) {
	t.Parallel()
	for _, to := range []string{"ftp://a.test", "http://u:p@a.test", "http://%zz"} {
		synctest.Test(t, func(t *testing.T) {
			b, c := newBench(200), newCall()
			c.Make = func(int) (webhook.Request, error) { return webhook.Request{Method: http.MethodPost, URL: to}, nil }
			_ = b.Add(c)
			synctest.Wait()
			blocked, ok := errors.AsType[*outbound.BlockedError](b.attempts[0].Err)
			if !ok || blocked.Reason != outbound.ReasonURL || len(b.seen) > 0 {
				t.Errorf("%s: %+v", to, b.attempts)
			}
			b.Close(t.Context())
		})
	}
}

func TestS7_a_call_after_ten_is_a_loop(t *testing.T) {
	t.Parallel()
	b, c := newBench(200), newCall()
	c.Received = http.Header{"Mockbase-Hops": {"10"}}
	if err := b.Add(c); err == nil || !strings.Contains(b.attempts[0].Err.Error(), "loop") || len(b.seen) > 0 {
		t.Errorf("%v: %+v", err, b.attempts)
	}
	b.Close(t.Context())
}

func TestS9_waiting_calls_are_bounded_listed_and_cancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(200)
		add := func(session string) error {
			c := newCall()
			c.Session, c.After = session, time.Minute
			return b.Add(c)
		}
		for i := range webhook.MaxWaiting {
			if err := add([]string{"a", "b"}[i%2]); err != nil {
				t.Fatal(err)
			}
		}
		if err := add("a"); !errors.Is(err, webhook.ErrFull) || len(b.Waiting("p")) != webhook.MaxWaiting || len(b.Waiting("q")) != 0 {
			t.Errorf("the 1,001st: %v", err)
		}
		if n := b.Cancel("p", "a"); n != webhook.MaxWaiting/2 {
			t.Errorf("%d were cancelled", n)
		}
		time.Sleep(time.Hour) //nolint:forbidigo // in a bubble
		synctest.Wait()
		if len(b.seen) != webhook.MaxWaiting/2 || len(b.Waiting("p")) != 0 {
			t.Errorf("%d were called, %d wait", len(b.seen), len(b.Waiting("p")))
		}
		b.Close(t.Context())
	})
}

func TestS9_stopping_waits_briefly_and_notes_what_is_dropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, c := newBench(200), newCall()
		c.After = time.Minute
		_ = b.Add(c)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		b.Close(ctx)
		if len(b.seen) != 0 || len(b.attempts) != 1 || !errors.Is(b.attempts[0].Err, webhook.ErrClosed) {
			t.Errorf("reported %+v", b.attempts)
		}
		if err := b.Add(newCall()); !errors.Is(err, webhook.ErrClosed) {
			t.Errorf("after the end: %v", err)
		}
	})
}
