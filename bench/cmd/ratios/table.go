package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/mockbase/mockbase/bench"
)

// table prints one line for each figure and counts the targets that were missed.
type table struct {
	out            io.Writer
	judged, missed int
}

// printf writes to the table; an output that takes nothing is no reason to stop measuring.
func (t *table) printf(format string, args ...any) { _, _ = fmt.Fprintf(t.out, format, args...) }

func (t *table) heading(text string) { t.printf("\n%s\n", text) }

func (t *table) line(what, value, target, verdict string) {
	t.printf("  %-46s %-34s %-14s %s\n", what, value, target, verdict)
}

func (t *table) verdict(met bool) string { //nolint:revive // a verdict is made of a yes or a no
	t.judged++
	if met {
		return "ok"
	}
	t.missed++
	return "MISSED"
}

// note prints a figure without a target.
func (t *table) note(what, value string) { t.line(what, value, "", "") }

// ratio prints how a subject stands to its floor. The best rounds are judged, being those that other work on the machine
// disturbed least.
func (t *table) ratio(what string, subject, floor bench.Score, target float64) {
	r := bench.RatioOf(subject, floor)
	t.line(what, fmt.Sprintf("best %.3f  median %.3f", r.Best, r.Median), fmt.Sprintf(">= %.2f", target), t.verdict(r.Best >= target))
}

// throughputs prints what the contenders reached, for those who look for where the time goes.
func (t *table) throughputs(scores []bench.Score) {
	for _, s := range scores {
		t.note("  "+s.Name, fmt.Sprintf("%.0f/s  %.1f µs of CPU", s.Best(), float64(s.LeastCPU().Nanoseconds())/1000))
	}
}

func (t *table) atMost(what string, got, limit float64) {
	t.line(what, fmt.Sprintf("%.3f", got), fmt.Sprintf("<= %.2f", limit), t.verdict(got <= limit))
}

func (t *table) within(what string, got, limit time.Duration) {
	t.line(what, got.Round(max(limit/1000, 1)).String(), "< "+limit.String(), t.verdict(got < limit))
}

func (t *table) megabytes(what string, got int64, limit float64) {
	mb := float64(got) / (1 << 20)
	t.line(what, fmt.Sprintf("%.1f MB", mb), fmt.Sprintf("< %.0f MB", limit), t.verdict(mb < limit))
}

func (t *table) equal(what string, got, want int64) {
	t.line(what, strconv.FormatInt(got, 10), fmt.Sprintf("= %d", want), t.verdict(got == want))
}

// outage prints what requests felt of one kind of outage. Counts are those of all runs, times those of the run that other
// work on the machine disturbed least.
func (t *table) outage(name string, runs []bench.OutageReport) {
	least := func(of func(r bench.OutageReport) time.Duration) time.Duration {
		times := make([]time.Duration, len(runs))
		for i, r := range runs {
			times[i] = of(r)
		}
		return slices.Min(times)
	}
	var requests, refused, twice int64
	for _, r := range runs {
		requests += r.Requests
		refused += r.Refused
		twice += max(0, r.Counted-r.Requests)
	}
	normal := least(func(r bench.OutageReport) time.Duration { return r.Normal })
	t.note("Redis "+name, fmt.Sprintf("%d runs, %d requests", len(runs), requests))
	t.equal("  requests that did not pass", refused, 0)
	t.equal("  requests counted twice", twice, 0)
	t.within("  longest added time before the breaker opens", least(func(r bench.OutageReport) time.Duration { return r.Before })-normal, 60*time.Millisecond)
	t.within("  99th percentile once it is open", least(func(r bench.OutageReport) time.Duration { return r.Open }), time.Millisecond)
	t.within("  heals after", least(func(r bench.OutageReport) time.Duration { return r.Heal }), time.Second)
}

// conclude says how many targets were missed, which is an error if the settings are strict.
func (t *table) conclude(s settings) error {
	if t.missed == 0 {
		return nil
	}
	t.printf("\n%d of %d targets missed\n", t.missed, t.judged)
	if s.strict {
		return errors.New("targets are missed")
	}
	return nil
}
