package ratelimit_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/storetest"
)

func TestRL18_RL20_rule_strings_mean_what_is_published(t *testing.T) {
	t.Parallel()
	for _, row := range storetest.Published(t).RuleStrings {
		got, err := ratelimit.ParseRules(row.Input)
		if row.ErrorAt != nil {
			fault, ok := errors.AsType[*ratelimit.RuleError](err)
			if !ok || fault.Offset != *row.ErrorAt || fault.Reason == "" || fault.Input != row.Input {
				t.Errorf("%q: %v, want a fault at offset %d", row.Input, err, *row.ErrorAt)
			}
			continue
		}
		want := make([]ratelimit.Policy, 0, len(row.Policies))
		for _, p := range row.Policies {
			want = append(want, p.Policy())
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got)\n%s", row.Input, err, diff)
		}
	}
}

func TestRL18_the_grammar_reads_units_blanks_options_and_every_algorithm(t *testing.T) {
	t.Parallel()
	minute := ratelimit.Policy{Limit: 7, Window: time.Minute}
	with := func(change func(*ratelimit.Policy)) []ratelimit.Policy {
		p := minute
		change(&p)
		return []ratelimit.Policy{p}
	}
	day := with(func(p *ratelimit.Policy) { p.Window = 24 * time.Hour })
	for _, c := range []struct {
		text string
		want []ratelimit.Policy
	}{
		{"  7/m  ", []ratelimit.Policy{minute}},
		{"7 / 1 min", []ratelimit.Policy{minute}},
		{"7\tper\tminute", nil},
		{"7 per minute", []ratelimit.Policy{minute}},
		{"7/60sec", []ratelimit.Policy{minute}},
		{"7/60000MS", []ratelimit.Policy{minute}},
		{"7/d", day},
		{"7/1 days", day},
		{"7/24hours", day},
		{"7/86400seconds", day},
		{"7/m;7/m", []ratelimit.Policy{minute, minute}},
		{"7/m and 7/m", []ratelimit.Policy{minute, minute}},
		{"7/m algorithm=sliding_window", with(func(p *ratelimit.Policy) { p.Algorithm = ratelimit.SlidingWindow })},
		{"7/m algorithm=token_bucket", with(func(p *ratelimit.Policy) { p.Algorithm = ratelimit.TokenBucket })},
		{"7/m algorithm=leaky_bucket", with(func(p *ratelimit.Policy) { p.Algorithm = ratelimit.LeakyBucket })},
		{"7/m algorithm=concurrency", with(func(p *ratelimit.Policy) { p.Algorithm = ratelimit.Concurrency })},
		{"7/m burst=3 algorithm=gcra", with(func(p *ratelimit.Policy) { p.Algorithm, p.Burst = ratelimit.GCRA, 3 })},
		{"7/m ALIGN=First_Request", with(func(p *ratelimit.Policy) { p.Align = ratelimit.AlignFirstRequest })},
		{"7/m algorithm=fixed_window align=clock", with(func(p *ratelimit.Policy) {
			p.Algorithm, p.Align = ratelimit.FixedWindow, ratelimit.AlignClock
		})},
		{"7/m name=search-1", with(func(p *ratelimit.Policy) { p.Name = "search-1" })},
		{"7/m name=and", with(func(p *ratelimit.Policy) { p.Name = "and" })},
	} {
		got, err := ratelimit.ParseRules(c.text)
		if diff := cmp.Diff(c.want, got); (err == nil) != (c.want != nil) || diff != "" {
			t.Errorf("%q: %v (-want +got)\n%s", c.text, err, diff)
		}
	}
}

func TestRL20_a_wrong_rule_names_the_place_and_what_was_wanted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want string
	}{
		{"abc/minute", `offset 0: want a number, as in "100/minute"`},
		{"100per minute", `offset 3: want "/" or " per ", as in "100/minute"`},
		{"100/month", "offset 4: want a unit"},
		{"100/2years", "offset 5: want a unit"},
		{"100/3654d", "offset 4: want a window"},
		{"100/99999999999999999999s", "offset 4: want a number of at most"},
		{"9007199254740992/s", "offset 0: want a number of at most 9007199254740991"},
		{"1/s 2/s", "offset 4: want \",\""},
		{"1/s speed=2", "offset 4: want an option"},
		{"1/s burst", "offset 4: want an option"},
		{"1/s burst=5", "offset 4: only token_bucket, leaky_bucket and gcra have a burst"},
		{"1/s burst=0 algorithm=gcra", "offset 10: want a burst of at least 1"},
		{"1/s align=clock algorithm=gcra", "offset 4: only fixed_window has an align"},
		{"1/s align=left", "offset 10: want clock or first_request"},
		{"1/s algorithm=dice", "offset 14: want fixed_window, "},
		{"1/s name=-x", "offset 9: want a name"},
		{"1/s name=a name=b", "offset 11: the option name is given twice"},
		{"1/s and", "offset 4: want an option"},
		{"1/s and ", "offset 8: want a number"},
		{"1/s, ,2/s", "offset 5: want a number"},
		{"İ/s", "offset 0: want"},
		{strings.Repeat(" ", 4097), "offset 0: want at most 4096 bytes"},
	} {
		policies, err := ratelimit.ParseRules(c.text)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || !errors.Is(err, ratelimit.ErrConfig) {
			t.Errorf("%q: %v, %v, want %s", c.text, policies, err, c.want)
		}
	}
}

func TestRL19_unnamed_rules_are_named_after_their_place(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"1/s":                    {"engine"},
		"1/s name=own":           {"own"},
		"1/s, 2/m":               {"engine-1", "engine-2"},
		"1/s, 2/m name=own, 3/h": {"engine-1", "own", "engine-3"},
	} {
		policies, err := ratelimit.ParseRules(text)
		if err != nil {
			t.Fatal(err)
		}
		ratelimit.NameRules(policies, "engine")
		var got []string
		for _, p := range policies {
			got = append(got, p.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: names %q, want %q", text, got, want)
		}
	}
}

func TestRL21_rules_are_written_in_their_shortest_form(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"120/60s":                              "120/1m",
		"5 per 10 seconds":                     "5/10s",
		"3/500ms algorithm=sliding_log":        "3/500ms algorithm=sliding_log",
		"1/36h and 0/minute":                   "1/36h, 0/1m",
		"60/min name=x burst=5 algorithm=gcra": "60/1m algorithm=gcra burst=5 name=x",
		"1/d align=first_request":              "1/1d align=first_request",
	} {
		policies, err := ratelimit.ParseRules(text)
		if got := ratelimit.FormatRules(policies); err != nil || got != want {
			t.Errorf("%q comes back as %q, %v, want %q", text, got, err, want)
		}
	}
	if got := ratelimit.FormatRules([]ratelimit.Policy{{}}); got != "0/1ms" {
		t.Errorf("the zero policy is written as %q", got)
	}
}

func FuzzRL21_ParseRules_is_a_fixed_point(f *testing.F) {
	for _, row := range storetest.Published(f).RuleStrings {
		f.Add(row.Input)
	}
	f.Add("1/s name=a-b align=first_request; 2 per 3 days algorithm=leaky_bucket burst=9007199254740991")
	f.Fuzz(func(t *testing.T, text string) {
		first, err := ratelimit.ParseRules(text)
		if err != nil {
			fault, ok := errors.AsType[*ratelimit.RuleError](err)
			if !ok || fault.Offset < 0 || fault.Offset > len(text) {
				t.Fatalf("%q: %v, want a place within the text", text, err)
			}
			return
		}
		written := ratelimit.FormatRules(first)
		second, err := ratelimit.ParseRules(written)
		if diff := cmp.Diff(first, second); err != nil || diff != "" {
			t.Fatalf("%q, written as %q: %v\n%s", text, written, err, diff)
		}
		if again := ratelimit.FormatRules(second); again != written {
			t.Fatalf("%q, written as %q and then as %q", text, written, again)
		}
	})
}
