package httplimit_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
)

// journal is a log that tests read.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

// lines returns what was written since the last call, without the time.
func (j *journal) lines() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var lines []string
	for line := range strings.Lines(j.text.String()) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), " ")
		lines = append(lines, line)
	}
	j.text.Reset()
	return lines
}

// logged makes a guard of 1 request a minute that logs to a journal, on the clock of the bubble.
func logged(t *testing.T, mode httplimit.MatchLog) (*httplimit.Guard, *journal) {
	t.Helper()
	j := &journal{}
	return newGuard(t, "1/60s", func(o *httplimit.Options) {
		o.LogMatches, o.Logger = mode, slog.New(slog.NewTextHandler(j, nil))
		o.Limiter = newLimiter(t, func(o *ratelimit.Options) { o.Clock = nil })
	}), j
}

func admit(g *httplimit.Guard, peer string, times int) {
	for range times {
		g.Admit(httptest.NewRecorder(), requestFrom(peer))
	}
}

const (
	refusedLine = `level=WARN msg="request refused by a rate limit" policy=engine layer=limit key=192.0.2.1 method=GET limit=1 window=1m0s retry_after=1m0s degraded=none`
	moreLine    = `level=WARN msg="more requests refused by a rate limit" policy=engine layer=limit key=192.0.2.1 suppressed=`
)

func TestRL93_the_first_denial_of_a_window_has_a_line_and_the_others_a_summary(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, j := logged(t, "")
		admit(g, "192.0.2.1:9", 11)
		if diff := cmp.Diff([]string{refusedLine}, j.lines()); diff != "" {
			t.Errorf("ten denials (-want +got)\n%s", diff)
		}
		wait(time.Minute + time.Second)
		if diff := cmp.Diff([]string{moreLine + "9"}, j.lines()); diff != "" {
			t.Errorf("when the window is over (-want +got)\n%s", diff)
		}
		wait(time.Hour)
		if lines := j.lines(); len(lines) != 0 {
			t.Errorf("an hour of silence: %q", lines)
		}
	})
}

// wait lets the bubble's time pass.
func wait(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestRL93_a_denial_in_the_next_window_brings_the_summary_of_the_last(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		clock := newYear.Truncate(time.Minute)
		g := newGuard(t, "1/60s", func(o *httplimit.Options) {
			o.Logger = slog.New(slog.NewTextHandler(j, nil))
			o.Clock = func() time.Time { return clock }
			o.Limiter = newLimiter(t, func(o *ratelimit.Options) { o.Clock = func() time.Time { return clock } })
		})
		admit(g, "192.0.2.1:9", 4)
		clock = clock.Add(time.Minute)
		admit(g, "192.0.2.1:9", 2)
		if diff := cmp.Diff([]string{refusedLine, moreLine + "2", refusedLine}, j.lines()); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

func TestRL93_close_writes_what_was_held_back(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, j := logged(t, httplimit.LogFirst)
		admit(g, "192.0.2.1:9", 4)
		for range 2 {
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		}
		if diff := cmp.Diff([]string{refusedLine, moreLine + "2"}, j.lines()); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		admit(g, "192.0.2.1:9", 1) // A guard goes on guarding; it only has no timer any more.
	})
}

func TestRL93_at_most_a_hundred_lines_a_second(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, j := logged(t, httplimit.LogFirst)
		for i := range 5000 {
			admit(g, "10.0."+strconv.Itoa(i/250)+"."+strconv.Itoa(i%250)+":9", 3)
		}
		if got := len(j.lines()); got != 99 {
			t.Errorf("%d lines for a flood within a second, want 99 and room for a summary", got)
		}
		wait(2 * time.Minute)
		lines := j.lines()
		total := 0
		for _, line := range lines {
			_, number, _ := strings.Cut(line, "suppressed=")
			suppressed, err := strconv.Atoi(number)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			total += suppressed
		}
		if len(lines) > 101 || total != 5000*2-99 {
			t.Errorf("%d lines about %d denials, want up to 101 about all %d", len(lines), total, 5000*2-99)
		}
	})
}

func TestRL93_all_and_off(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for mode, want := range map[httplimit.MatchLog]int{httplimit.LogAll: 9, httplimit.LogOff: 0} {
			g, j := logged(t, mode)
			admit(g, "192.0.2.1:9", 10)
			wait(2 * time.Minute)
			if lines := j.lines(); len(lines) != want {
				t.Errorf("%s: %d lines, want %d", mode, len(lines), want)
			}
		}
	})
}

func TestRL93_a_line_names_the_route_and_not_the_path(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, j := logged(t, httplimit.LogAll)
		routes := http.NewServeMux()
		routes.Handle("GET /users/{id}", g.Middleware(hello))
		for range 2 {
			routes.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/users/secret", http.NoBody))
		}
		lines := strings.Join(j.lines(), "\n")
		if !strings.Contains(lines, `path_pattern="GET /users/{id}"`) || strings.Contains(lines, "secret") {
			t.Errorf("logged %s", lines)
		}
	})
}
