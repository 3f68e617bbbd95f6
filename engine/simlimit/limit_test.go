package simlimit_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/simlimit"
)

// policy is a fixed window of an hour from the first request on, changed by what a test needs.
func policy(change func(p *mockbase.LimitPolicy)) *mockbase.LimitPolicy {
	p := &mockbase.LimitPolicy{Algorithm: "fixed_window", Limit: 5, Window: time.Hour}
	if change != nil {
		change(p)
	}
	if p.Algorithm == "fixed_window" && p.Align == "" {
		p.Align = "first_request"
	}
	return p
}

func compile(tb testing.TB, p *mockbase.LimitPolicy) *simlimit.Limit {
	tb.Helper()
	return compileAt(tb, p, simlimit.OwnPlace("mck_1", "a", 0))
}

func compileAt(tb testing.TB, p *mockbase.LimitPolicy, place simlimit.Place) *simlimit.Limit {
	tb.Helper()
	var faults mockbase.Faults
	l := simlimit.Compile(p, place, "#/rateLimit", &faults)
	if l == nil {
		tb.Fatal(faults.Err())
	}
	return l
}

func TestX9_policies_that_cannot_work_are_told_with_their_pointers(t *testing.T) {
	t.Parallel()
	burst, half := int64(0), 0.5
	for name, test := range map[string]struct {
		change func(p *mockbase.LimitPolicy)
		want   []string
	}{
		"an algorithm that is none":  {func(p *mockbase.LimitPolicy) { p.Algorithm = "dice" }, []string{"#/rateLimit/algorithm"}},
		"no window":                  {func(p *mockbase.LimitPolicy) { p.Window = 0 }, []string{"#/rateLimit/window"}},
		"a negative limit":           {func(p *mockbase.LimitPolicy) { p.Limit = -1 }, []string{"#/rateLimit/limit"}},
		"burst where none is known":  {func(p *mockbase.LimitPolicy) { burst = 2; p.Burst = &burst }, []string{"#/rateLimit/burst"}},
		"an alignment of a bucket":   {func(p *mockbase.LimitPolicy) { p.Algorithm, p.Align = "gcra", "clock" }, []string{"#/rateLimit/align"}},
		"too much used at the start": {func(p *mockbase.LimitPolicy) { p.InitialUsed = 6 }, []string{"#/rateLimit/initialUsed"}},
		"use of what is under way": {
			func(p *mockbase.LimitPolicy) { p.Algorithm, p.InitialUsed = "concurrency", 1 }, []string{"#/rateLimit/initialUsed"},
		},
		"a ban after too many": {
			func(p *mockbase.LimitPolicy) { p.Ban = &mockbase.LimitBan{After: 10_001, Within: 1, For: 1} }, []string{"#/rateLimit/ban/after"},
		},
		"a ban within no time": {
			func(p *mockbase.LimitPolicy) { p.Ban = &mockbase.LimitBan{After: 1, For: 1} }, []string{"#/rateLimit/ban/within"},
		},
		"a ban for no time": {
			func(p *mockbase.LimitPolicy) { p.Ban = &mockbase.LimitBan{After: 1, Within: 1} }, []string{"#/rateLimit/ban/for"},
		},
		"two drafts at once": {
			func(p *mockbase.LimitPolicy) { p.Headers = []string{"draft", "split"} }, []string{"#/rateLimit/headers"},
		},
		"all at once": {
			func(p *mockbase.LimitPolicy) {
				p.Window, p.InitialUsed, p.WarnAt = 0, 9, &half
				p.Ban = &mockbase.LimitBan{After: 1, Within: 1}
			},
			[]string{"#/rateLimit/window", "#/rateLimit/initialUsed", "#/rateLimit/ban/for"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var faults mockbase.Faults
			l := simlimit.Compile(policy(test.change), simlimit.PolicyPlace("p"), "#/rateLimit", &faults)
			var got []string
			for _, f := range faults.Fields() {
				got = append(got, f.Pointer)
			}
			if diff := cmp.Diff(test.want, got); diff != "" || l != nil {
				t.Errorf("compiled %v (-want +got):\n%s", l, diff)
			}
		})
	}
}

func TestX2_buckets_are_the_owners_or_those_that_authors_name(t *testing.T) {
	t.Parallel()
	named := func(bucket string) *mockbase.LimitPolicy {
		return policy(func(p *mockbase.LimitPolicy) { p.Bucket = bucket })
	}
	first := compileAt(t, policy(nil), simlimit.OwnPlace("mck_1", "a", 0))
	second := compileAt(t, policy(nil), simlimit.OwnPlace("mck_1", "a", 1))
	other := compileAt(t, policy(nil), simlimit.OwnPlace("mck_2", "a", 0))
	shared := compileAt(t, named("partner"), simlimit.OwnPlace("mck_1", "a", 0))
	partner := compileAt(t, policy(nil), simlimit.PolicyPlace("partner"))
	if first.Shares(second) || first.Shares(other) || !shared.Shares(partner) || !first.Shares(first) {
		t.Error("the buckets are not those of their owners")
	}
	if first.Bucket() != "a" || second.Bucket() != "a-2" || shared.Bucket() != "partner" {
		t.Errorf("they are called %s, %s and %s", first.Bucket(), second.Bucket(), shared.Bucket())
	}
	// No name that an author may give is the bucket of a mock, and long ones keep their number.
	if compileAt(t, named("mck-1"), simlimit.OwnPlace("x", "x", 0)).Shares(first) {
		t.Error("a name reaches the bucket of a mock")
	}
	long := simlimit.OwnPlace("mck_1", "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl", 11)
	if len(long.Name) != 64 || long.Name[61:] != "-12" {
		t.Errorf("a long name becomes %s", long.Name)
	}
	if compileAt(t, policy(nil), simlimit.Place{Owner: "Ünder", Name: "u"}).Shares(first) {
		t.Error("names that no store takes share a bucket")
	}
}
