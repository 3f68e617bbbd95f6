package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase/bench"
)

// TestMain makes the test binary the server that the program starts itself as.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serveCommand { //nolint:forbidigo // this is main
		if err := run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil { //nolint:forbidigo // this is main
			os.Stderr.WriteString(err.Error())
			os.Exit(1) //nolint:forbidigo // this is main
		}
		return
	}
	m.Run()
}

// short keeps measures to a moment; what they find is no matter here.
func short(args ...string) []string {
	return append([]string{"-rounds", "1", "-length", "10ms", "-clients", "2", "-requests", "200", "-away", "600ms", "-outages", "1", "-crowd", "20", "-creates", "20"}, args...)
}

func TestRatios_prints_each_figure_beside_its_target(t *testing.T) {
	t.Parallel()
	profiles := t.TempDir()
	var out, errs bytes.Buffer
	err := run(t.Context(), short("-only", "static,answers,miss,redis,checks,peers,memory", "-profile", profiles), strings.NewReader(""), &out, &errs)
	if err != nil || errs.Len() > 0 {
		t.Fatalf("%v %s", err, errs.String())
	}
	for _, want := range []string{
		"One static mock", "journal on ", ">= 0.80", "journal off ", ">= 0.92", "floor", "µs of CPU",
		"The shield with its counters in Redis", ">= 0.65", "round trips a check, 1 clients", "incr 5000",
		"one transaction a check", "256 callers, 2 ms away", ">= 7.00", "the median check in round trips", "known to be exhausted",
		"with the breaker open", "ulule/limiter, memory", "sethvargo/go-limiter", "throttled, Redis", "go-redis/redis_rate", "64 callers",
		"Memory with the journal on", "<= 1.10", "journal on against off", "2 KB static body", "httputil.ReverseProxy", "< 5ms",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, out.String())
		}
	}
	for _, unasked := range []string{"Many mocks", "The real binary", "Redis goes away"} {
		if strings.Contains(out.String(), unasked) {
			t.Errorf("%q was not asked for", unasked)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(profiles, "*.pprof")); len(files) < 3 {
		t.Errorf("profiles are %q", files)
	}
}

func TestRatios_says_what_it_does_not_know(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"-only", "speed"}, `no measure is called "speed": there are static, templated, many`},
		{[]string{"-unknown"}, "flag provided but not defined"},
		{[]string{serveCommand, "{"}, "read the specification"},
		{[]string{serveCommand, `{"shield":"nonsense://"}`}, "make shield"},
	} {
		var out, errs bytes.Buffer
		if err := run(t.Context(), c.args, strings.NewReader(""), &out, &errs); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: got %v, want %q", c.args, err, c.says)
		}
	}
}

func TestTable_judges(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	table := &table{out: &out}
	half := []bench.Score{{Name: "subject", Rounds: []float64{50, 40}, CPU: []time.Duration{3000, 2000}}, {Name: "floor", Rounds: []float64{100, 80}}}
	table.throughputs(half)
	table.ratio("met", half[0], half[1], 0.5)
	table.ratio("missed", half[0], half[1], 0.51)
	table.within("quick", time.Second, time.Minute)
	table.within("slow", time.Minute, time.Second)
	table.megabytes("small", 1<<20, 2)
	table.equal("other", 1, 2)
	table.outage("leaves", []bench.OutageReport{
		{Requests: 10, Counted: 9, Normal: 1, Before: 70 * time.Millisecond, Open: 2 * time.Millisecond, Heal: time.Hour},
		{Requests: 10, Counted: 12, Normal: 2, Before: 9 * time.Millisecond, Open: 3 * time.Millisecond, Heal: time.Second / 2},
	})
	if table.judged != 11 || table.missed != 5 {
		t.Errorf("judged %d, missed %d:\n%s", table.judged, table.missed, out.String())
	}
	for _, want := range []string{"50/s  2.0 µs of CPU", "best 0.500  median 0.500", "1.0 MB", "2 runs, 20 requests", "9ms", "500ms", "= 2", "MISSED"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, out.String())
		}
	}
}

func TestTable_a_missed_target_is_an_error_where_that_is_asked_for(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		got    int64
		strict bool
		fails  bool
	}{{1, true, false}, {2, false, false}, {2, true, true}} {
		table := &table{out: &bytes.Buffer{}}
		table.equal("one", c.got, 1)
		if err := table.conclude(settings{strict: c.strict}); (err != nil) != c.fails {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
