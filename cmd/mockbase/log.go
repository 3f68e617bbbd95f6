package main

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// journalist writes the server's messages: text for people, JSON for programs (rule C-1).
type journalist struct {
	*slog.Logger

	out   io.Writer
	json  bool
	quiet bool
	clock func() time.Time
}

// newJournalist writes messages to the process's error stream.
func (p *process) newJournalist(m config.Messages) *journalist {
	level := levelOf(m.LogLevel)
	if p.verbose > 0 && !p.origins["log-level"].Stated() {
		level = slog.LevelDebug
	}
	if p.quiet {
		level = slog.LevelError
	}
	j := &journalist{out: p.Err, json: m.LogFormat == "json" || m.LogFormat == "auto" && !isTerminal(p.Err), quiet: p.quiet, clock: p.clock}
	options := &slog.HandlerOptions{Level: level}
	if j.json {
		options.ReplaceAttr = spelledDurations
		j.Logger = slog.New(slog.NewJSONHandler(p.Err, options))
		return j
	}
	options.ReplaceAttr = shortTime
	j.Logger = slog.New(slog.NewTextHandler(p.Err, options))
	return j
}

func levelOf(l config.LogLevel) slog.Level {
	var level slog.Level
	_ = level.UnmarshalText([]byte(l)) // the setting knows the same four words
	return level
}

// shortTime leaves the date out of text for people; they see the messages as they come.
func shortTime(groups []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey && len(groups) == 0 {
		return slog.String(slog.TimeKey, a.Value.Time().Format(time.TimeOnly))
	}
	return a
}

// spelledDurations writes durations with their unit, as in text; a bare number of nanoseconds is nobody's guess.
func spelledDurations(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

// say writes what a start has to say: lines for people, or one record with the same facts. It does so whatever the level
// of messages is, unless the process is to be quiet.
func (j *journalist) say(text, message string, facts ...slog.Attr) {
	switch {
	case j.quiet:
	case j.json:
		record := slog.NewRecord(j.clock(), slog.LevelInfo, message, 0)
		record.AddAttrs(facts...)
		_ = j.Handler().Handle(context.Background(), record) // who cannot be told cannot be told that either
	default:
		printf(j.out, "%s", text)
	}
}

// complain writes a fault that has a place in a text: the line as it stands for people, or one record. It is heard
// whatever the level of messages is, for no level hides errors.
func (j *journalist) complain(finding string) {
	if j.json {
		j.Error("a definition is faulty", slog.String("finding", finding))
		return
	}
	printf(j.out, "%s\n", finding)
}
