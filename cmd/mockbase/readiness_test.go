package main

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/shield"
	"github.com/mockbase/mockbase/management"
	"github.com/mockbase/mockbase/store/sqlite"
)

// AA42 and M-242: ready means that all is loaded and answers; a faulty file or a failing limiter is degraded, a store
// that is gone is not ready.
func TestAA42_ready_is_said_only_while_everything_answers(t *testing.T) {
	t.Parallel()
	db, err := sqlite.Open(t.Context(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &server{process: &process{ctx: t.Context(), clock: time.Now}, settings: &config.Settings{}, state: &readiness{}, store: db, shield: &guarded{Shield: &shield.Shield{}}}
	expect := func(status management.ReadyState, reason string, checks map[string]string) {
		t.Helper()
		if diff := cmp.Diff(management.Readiness{Status: status, Reason: reason, Checks: checks}, s.ready(t.Context())); diff != "" {
			t.Error(diff)
		}
	}
	expect(management.NotReady, "the server is starting", nil)
	s.state.start()
	expect(management.Ready, "", map[string]string{"store": "ok", "limiter": "ok"})

	s.files = &fileMode{}
	expect(management.Ready, "", map[string]string{"store": "ok", "limiter": "ok", "files": "ok"})
	fault := "a.yaml:1:1: wrong [syntax]"
	s.files.fault.Store(&fault)
	expect(management.Degraded, "", map[string]string{"store": "ok", "limiter": "ok", "files": "degraded: " + fault})

	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got := s.ready(t.Context()); got.Status != management.NotReady || got.Reason != "the store does not answer" || got.Checks["store"] == partOK {
		t.Errorf("with the store gone: %+v", got)
	}
	s.state.drain()
	expect(management.NotReady, "the server is stopping", nil)
}

// C-1: messages are text for people and JSON for programs; --quiet drops what is no error, -v adds the details.
func TestC1_messages_have_a_form_and_a_least_level(t *testing.T) {
	t.Parallel()
	clock := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	tests := []struct {
		name     string
		messages config.Messages
		origins  map[string]config.Origin
		quiet    bool
		verbose  int
		// holds and lacks are parts of what is written.
		holds, lacks []string
	}{
		{
			name: "text", messages: config.Messages{LogFormat: "text", LogLevel: "info"},
			holds: []string{"a start\n", "level=INFO msg=told", "level=ERROR msg=wrong"}, lacks: []string{"detail", "2026"},
		},
		{
			name: "JSON is the default where nobody reads along", messages: config.Messages{LogFormat: "auto", LogLevel: "info"},
			holds: []string{`{"time":"2026-01-02T03:04:05Z","level":"INFO","msg":"start","fact":1}` + "\n", `"msg":"told"`}, lacks: []string{"a start"},
		},
		{
			name: "a level", messages: config.Messages{LogFormat: "text", LogLevel: "error"}, verbose: 1,
			origins: map[string]config.Origin{"log-level": config.FromFlag},
			holds:   []string{"a start\n", "wrong"}, lacks: []string{"told", "detail"},
		},
		{
			name: "verbose", messages: config.Messages{LogFormat: "text", LogLevel: "info"}, verbose: 1,
			holds: []string{"msg=detail", "msg=told"},
		},
		{
			name: "quiet", messages: config.Messages{LogFormat: "json", LogLevel: "debug"}, quiet: true,
			holds: []string{`"msg":"wrong","waited":"1.5s"`}, lacks: []string{"start", "told", "detail"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var said strings.Builder
			p := &process{stdio: stdio{Err: &said}, clock: clock, quiet: test.quiet, verbose: test.verbose, origins: test.origins}
			j := p.newJournalist(test.messages)
			j.say("a start\n", "start", slog.Int("fact", 1))
			j.Debug("detail")
			j.Info("told")
			j.Error("wrong", slog.Duration("waited", 1500*time.Millisecond))
			for _, part := range test.holds {
				if !strings.Contains(said.String(), part) {
					t.Errorf("%q lacks %q", said.String(), part)
				}
			}
			for _, part := range test.lacks {
				if strings.Contains(said.String(), part) {
					t.Errorf("%q holds %q", said.String(), part)
				}
			}
		})
	}
}
