package dialect_test

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/dialect"
)

// instant is 250.5 ms behind a whole second.
var instant = time.Date(2026, 1, 1, 0, 0, 17, 250_500_000, time.UTC)

var perMinute = ratelimit.Policy{Name: "orders", Limit: 10, Window: time.Minute}

// answer is one after which used units are used and the window ends 43 s later.
func answer(used int64) *dialect.Answer {
	d := ratelimit.Decision{Allowed: true, Limit: 10, Remaining: 10 - used, Reset: 43 * time.Second, Next: 43 * time.Second, Policy: &perMinute}
	return &dialect.Answer{Decision: d, Now: instant}
}

func denied() *dialect.Answer {
	a := answer(10)
	a.Allowed, a.RetryAfter = false, 2500*time.Millisecond
	return a
}

func writer(t *testing.T, o dialect.Options) *dialect.Writer {
	t.Helper()
	w, err := dialect.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// lines returns all fields in order, in their exact case.
func lines(h http.Header) string {
	all := make([]string, 0, len(h))
	for name, values := range h {
		all = append(all, name+": "+strings.Join(values, "|"))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// field returns the value of a field under its exact name.
func field(h http.Header, name string) string { return strings.Join(h[name], "|") }

func TestRL117_RL119_X10_dialects(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		o    dialect.Options
		a    *dialect.Answer
		want string
	}{
		"nothing is asked for": {dialect.Options{}, answer(4), ""},
		"none":                 {dialect.Options{Dialects: []dialect.Dialect{dialect.None}}, answer(4), ""},
		"draft": {
			dialect.Options{Dialects: []dialect.Dialect{dialect.Draft}},
			answer(4),
			"RateLimit-Policy: \"orders\";q=10;w=60\nRateLimit: \"orders\";r=6;t=43",
		},
		"draft on a denial tells the wait": {
			dialect.Options{Dialects: []dialect.Dialect{dialect.Draft}},
			denied(),
			"RateLimit-Policy: \"orders\";q=10;w=60\nRateLimit: \"orders\";r=0;t=3",
		},
		"draft with a list of policies": {
			dialect.Options{Dialects: []dialect.Dialect{dialect.Draft}, Policies: []ratelimit.Policy{perMinute, {}, {Name: "day", Limit: 9, Window: 24 * time.Hour}}},
			answer(4), "RateLimit-Policy: \"orders\";q=10;w=60, \"day\";q=9;w=86400\nRateLimit: \"orders\";r=6;t=43",
		},
		"split": {
			dialect.Options{Dialects: []dialect.Dialect{dialect.Split}, Reset: dialect.ResetHTTPDate},
			answer(4),
			"RateLimit-Limit: 10\nRateLimit-Remaining: 6\nRateLimit-Reset: 43",
		},
		"x": {
			dialect.Options{Dialects: []dialect.Dialect{dialect.X}},
			answer(4),
			"X-RateLimit-Limit: 10\nX-RateLimit-Remaining: 6\nX-RateLimit-Reset: 1767225661",
		},
		"x in seconds": {
			dialect.Options{Dialects: []dialect.Dialect{dialect.X}, Reset: dialect.ResetSeconds},
			answer(4),
			"X-RateLimit-Limit: 10\nX-RateLimit-Remaining: 6\nX-RateLimit-Reset: 43",
		},
		"x in milliseconds, rounded up": {
			dialect.Options{Dialects: []dialect.Dialect{dialect.X}, Reset: dialect.ResetEpochMillis},
			answer(4),
			"X-RateLimit-Limit: 10\nX-RateLimit-Remaining: 6\nX-RateLimit-Reset: 1767225660251",
		},
		"x as a date": {
			dialect.Options{Dialects: []dialect.Dialect{dialect.X}, Reset: dialect.ResetHTTPDate},
			answer(4),
			"X-RateLimit-Limit: 10\nX-RateLimit-Remaining: 6\nX-RateLimit-Reset: Thu, 01 Jan 2026 00:01:01 GMT",
		},
		"x-github keeps its epoch": {
			dialect.Options{Dialects: []dialect.Dialect{dialect.XGitHub}, Reset: dialect.ResetSeconds},
			answer(4),
			"X-RateLimit-Limit: 10\nX-RateLimit-Remaining: 6\nX-RateLimit-Reset: 1767225661\nX-RateLimit-Resource: orders\nX-RateLimit-Used: 4",
		},
		"x-delta keeps its seconds": {
			dialect.Options{Dialects: []dialect.Dialect{dialect.XDelta}, Reset: dialect.ResetEpoch},
			answer(4),
			"X-RateLimit-Limit: 10\nX-RateLimit-Remaining: 6\nX-RateLimit-Reset: 43",
		},
		"own names in the form of the reset": {
			dialect.Options{
				Dialects: []dialect.Dialect{dialect.Custom}, Reset: dialect.ResetEpochMillis,
				Fields: []dialect.Field{{Name: "x-my-QUOTA", Value: "{limit}"}, {Name: "X-Left", Value: "{remaining}/{used}"}, {Name: "X-Reset", Value: "{reset} {resetSeconds} {resetUnix}"}},
			},
			answer(4),
			"X-Left: 6/4\nX-Reset: 1767225660251 43 1767225661\nx-my-QUOTA: 10",
		},
	} {
		h := make(http.Header)
		writer(t, c.o).Limit(h, c.a)
		want := strings.Split(c.want, "\n")
		slices.Sort(want)
		if diff := cmp.Diff(strings.Join(want, "\n"), lines(h)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

func TestRL117_draft_leaves_out_what_nobody_knows(t *testing.T) {
	t.Parallel()
	places := ratelimit.Policy{Name: "places", Algorithm: ratelimit.Concurrency, Limit: 3, Window: time.Minute}
	short := ratelimit.Policy{Name: "short", Limit: 3, Window: 100 * time.Millisecond}
	for name, c := range map[string]struct {
		a    dialect.Answer
		want string
	}{
		"places in use": {
			dialect.Answer{Decision: ratelimit.Decision{Allowed: true, Limit: 3, Remaining: 2, Policy: &places}},
			"RateLimit-Policy: \"places\";q=3;qu=\"concurrent-requests\"\nRateLimit: \"places\";r=2",
		},
		"a window below a second": {
			dialect.Answer{Decision: ratelimit.Decision{Allowed: true, Limit: 3, Remaining: 2, Next: 50 * time.Millisecond, Policy: &short}},
			"RateLimit-Policy: \"short\";q=3\nRateLimit: \"short\";r=2;t=1",
		},
		"no wait helps": {
			dialect.Answer{Decision: ratelimit.Decision{Limit: 3, RetryAfter: ratelimit.Never, Policy: &short}, Name: "bucket"},
			"RateLimit-Policy: \"bucket\";q=3\nRateLimit: \"bucket\";r=0",
		},
		"a partition": {
			dialect.Answer{Decision: ratelimit.Decision{Allowed: true, Limit: 3, Remaining: 2, Policy: &places}, Partition: []byte("abc")},
			"RateLimit-Policy: \"places\";q=3;qu=\"concurrent-requests\";pk=:YWJj:\nRateLimit: \"places\";r=2;pk=:YWJj:",
		},
		"X3 a limit of zero": {
			dialect.Answer{Decision: ratelimit.Decision{RetryAfter: ratelimit.Never, Policy: &ratelimit.Policy{Name: "closed", Window: time.Minute}}},
			"RateLimit-Policy: \"closed\";q=0;w=60\nRateLimit: \"closed\";r=0",
		},
	} {
		h := make(http.Header)
		writer(t, dialect.Options{Dialects: []dialect.Dialect{dialect.Draft}}).Limit(h, &c.a)
		want := strings.Split(c.want, "\n")
		slices.Sort(want)
		if diff := cmp.Diff(strings.Join(want, "\n"), lines(h)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

func TestX5_fields_begin_at_the_share_of_use(t *testing.T) {
	t.Parallel()
	w := writer(t, dialect.Options{Dialects: []dialect.Dialect{dialect.X}, WarnAt: 0.8})
	for name, c := range map[string]struct {
		a    *dialect.Answer
		told bool
	}{
		"below it": {answer(7), false}, "at it": {answer(8), true}, "above it": {answer(9), true}, "denied": {denied(), true},
		"denied for its cost alone": {&dialect.Answer{Decision: ratelimit.Decision{Limit: 10, Remaining: 9, RetryAfter: time.Second, Policy: &perMinute}}, true},
	} {
		h := make(http.Header)
		w.Limit(h, c.a)
		if told := len(h) > 0; told != c.told {
			t.Errorf("%s: fields %v, want any: %t", name, h, c.told)
		}
	}
}

func TestRL116_X3_RetryAfter(t *testing.T) {
	t.Parallel()
	none := []dialect.Dialect{dialect.None}
	for name, c := range map[string]struct {
		o    dialect.Options
		wait time.Duration
		want string
	}{
		"a millisecond":                 {dialect.Options{}, time.Millisecond, "1"},
		"a second and a bit":            {dialect.Options{}, 1001 * time.Millisecond, "2"},
		"nothing":                       {dialect.Options{}, 0, ""},
		"no wait helps":                 {dialect.Options{}, ratelimit.Never, ""},
		"X4 a date is not too early":    {dialect.Options{RetryAfter: dialect.RetryHTTPDate}, 43 * time.Second, "Thu, 01 Jan 2026 00:01:01 GMT"},
		"a date when no wait helps":     {dialect.Options{RetryAfter: dialect.RetryHTTPDate}, ratelimit.Never, ""},
		"the author wants none":         {dialect.Options{RetryAfter: dialect.RetryNone}, time.Second, ""},
		"RL117 a shield without any":    {dialect.Options{Dialects: none}, time.Second, "1"},
		"X10 none drops what is unsaid": {dialect.Options{Dialects: none, RetryAfter: dialect.RetryUnlessNone}, time.Second, ""},
		"X10 none keeps what is said":   {dialect.Options{Dialects: none, RetryAfter: dialect.RetrySeconds}, time.Second, "1"},
		"unsaid beside a dialect":       {dialect.Options{Dialects: []dialect.Dialect{dialect.X}, RetryAfter: dialect.RetryUnlessNone}, time.Second, "1"},
	} {
		h := http.Header{"Retry-After": {"99"}}
		writer(t, c.o).RetryAfter(h, c.wait, instant)
		if got := h.Get("Retry-After"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestRL120_fields_that_are_there_are_kept(t *testing.T) {
	t.Parallel()
	h := http.Header{"Ratelimit": {"mine"}, "X-RateLimit-Limit": {"7"}}
	writer(t, dialect.Options{Dialects: []dialect.Dialect{dialect.Draft, dialect.X}}).Limit(h, answer(4))
	want := "RateLimit-Policy: \"orders\";q=10;w=60\nRatelimit: mine\nX-RateLimit-Limit: 7\nX-RateLimit-Remaining: 6\nX-RateLimit-Reset: 1767225661"
	if diff := cmp.Diff(want, lines(h)); diff != "" {
		t.Error(diff)
	}
}

func TestRL118_options_that_cannot_be_are_refused_all_at_once(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		o    dialect.Options
		says []string
	}{
		"unknown words": {
			dialect.Options{Dialects: []dialect.Dialect{"y"}, Reset: "minutes", RetryAfter: "maybe", WarnAt: 1.5},
			[]string{"dialect y", "reset minutes", "Retry-After maybe", "1.5"},
		},
		"no number":        {dialect.Options{WarnAt: math.NaN()}, []string{"NaN"}},
		"two names":        {dialect.Options{Dialects: []dialect.Dialect{dialect.Split, dialect.Draft}}, []string{"split and draft"}},
		"twice":            {dialect.Options{Dialects: []dialect.Dialect{dialect.X, dialect.X}}, []string{"x and x"}},
		"none and one":     {dialect.Options{Dialects: []dialect.Dialect{dialect.X, dialect.None}}, []string{"x and none"}},
		"no fields":        {dialect.Options{Dialects: []dialect.Dialect{dialect.Custom}}, []string{"need each other"}},
		"fields alone":     {dialect.Options{Fields: []dialect.Field{{Name: "X-A", Value: "1"}}}, []string{"need each other"}},
		"a name it is not": {dialect.Options{Dialects: []dialect.Dialect{dialect.Custom}, Fields: []dialect.Field{{Name: "X A", Value: "1"}}}, []string{`"X A"`}},
	} {
		_, err := dialect.New(c.o)
		for _, want := range c.says {
			if !errors.Is(err, ratelimit.ErrConfig) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v does not say %q", name, err, want)
			}
		}
	}
}

func TestRL114_X3_problem(t *testing.T) {
	t.Parallel()
	closed := denied()
	closed.Degraded = ratelimit.Closed
	named := denied()
	named.Name = "my-bucket"
	named.Policy = &ratelimit.Policy{Name: "ignored", Limit: 1, Window: 1500 * time.Millisecond}
	for name, c := range map[string]struct {
		a    *dialect.Answer
		wait time.Duration
		want string
	}{
		"a limit": {denied(), 43 * time.Second, `{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Request quota exceeded","status":429,` +
			`"detail":"Policy \"orders\" allows 10 requests per 60 s. Try again in 43 s.","violated-policies":["orders"]}`},
		"a bucket with a name of its own": {named, ratelimit.Never, `{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Request quota exceeded","status":429,` +
			`"detail":"Policy \"my-bucket\" allows 1 request per 1500 ms.","violated-policies":["my-bucket"]}`},
		"RL65 no store": {closed, time.Second, `{"type":"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity","title":"Temporarily reduced capacity","status":429,` +
			`"detail":"Rate limits cannot be checked at the moment. Try again in 1 s.","violated-policies":["orders"]}`},
	} {
		got, err := json.Marshal(c.a.Problem(http.StatusTooManyRequests, c.wait))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
	if got := dialect.Quota(&ratelimit.Policy{}); got != "no requests" {
		t.Errorf("a limit of zero allows %q", got)
	}
}

func FuzzRL142_fields_are_structured(f *testing.F) {
	f.Add("engine", int64(10), int64(60_000), int64(4), int64(43_000_000), int64(17_250_000), []byte("abc"))
	f.Add("a", ratelimit.MaxLimit, int64(1), int64(0), int64(-1), int64(math.MaxInt64), []byte{})
	f.Add("0", int64(1), int64(1), int64(1), int64(math.MinInt64), int64(math.MinInt64), []byte{0xff})
	policy := regexp.MustCompile(`^"[a-z0-9_-]+";q=[0-9]{1,15}(;w=[0-9]{1,15})?(;pk=:[A-Za-z0-9+/]+={0,2}:)?$`)
	limit := regexp.MustCompile(`^"[a-z0-9_-]+";r=[0-9]{1,15}(;t=[0-9]{1,15})?(;pk=:[A-Za-z0-9+/]+={0,2}:)?$`)
	f.Fuzz(func(t *testing.T, name string, limited, millis, used, wait, now int64, partition []byte) {
		p := ratelimit.Policy{Name: name, Limit: limited, Window: time.Duration(millis) * time.Millisecond}
		if millis > int64(ratelimit.MaxWindow/time.Millisecond) || p.Validate() != nil || name == "" || limited == 0 {
			return
		}
		a := &dialect.Answer{Now: time.UnixMicro(now), Partition: partition, Decision: ratelimit.Decision{
			Allowed: used < limited, Limit: limited, Remaining: max(0, min(limited, limited-used)), Policy: &p,
			Reset: time.Duration(wait), Next: time.Duration(wait), RetryAfter: max(ratelimit.Never, time.Duration(wait)),
		}}
		h := make(http.Header)
		writer(t, dialect.Options{Dialects: []dialect.Dialect{dialect.Draft, dialect.X}}).Limit(h, a)
		if got := field(h, "RateLimit-Policy"); !policy.MatchString(got) {
			t.Errorf("RateLimit-Policy: %s", got)
		}
		if got := field(h, "RateLimit"); !limit.MatchString(got) {
			t.Errorf("RateLimit: %s", got)
		}
	})
}

func BenchmarkLimit(b *testing.B) {
	w, err := dialect.New(dialect.Options{Dialects: []dialect.Dialect{dialect.Draft}, Policies: []ratelimit.Policy{perMinute}})
	if err != nil {
		b.Fatal(err)
	}
	a, h := answer(4), make(http.Header)
	b.ReportAllocs()
	for b.Loop() {
		clear(h)
		w.Limit(h, a)
	}
}

// A limit of zero is refused by its author's engine: no limiter is asked, and no wait helps.
func TestRL124_X3_always_limited_has_no_RetryAfter_in_any_form(t *testing.T) {
	t.Parallel()
	always := &ratelimit.Policy{Name: "closed", Window: time.Minute}
	for _, retry := range []dialect.Retry{dialect.RetrySeconds, dialect.RetryHTTPDate, dialect.RetryNone, dialect.RetryUnlessNone} {
		for reset, want := range map[dialect.Reset]string{
			dialect.ResetSeconds: "0", dialect.ResetEpoch: "1767225618", dialect.ResetEpochMillis: "1767225617251",
			dialect.ResetHTTPDate: "Thu, 01 Jan 2026 00:00:18 GMT",
		} {
			w := writer(t, dialect.Options{Dialects: []dialect.Dialect{dialect.X}, Reset: reset, RetryAfter: retry, WarnAt: 1})
			a := &dialect.Answer{Decision: ratelimit.Decision{RetryAfter: ratelimit.Never, Policy: always}, Now: instant}
			h := make(http.Header)
			w.Limit(h, a)
			w.RetryAfter(h, a.RetryAfter, a.Now)
			if diff := cmp.Diff("X-RateLimit-Limit: 0\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: "+want, lines(h)); diff != "" {
				t.Errorf("%s, %s (-want +got)\n%s", reset, retry, diff)
			}
		}
	}
	a := &dialect.Answer{Decision: ratelimit.Decision{RetryAfter: ratelimit.Never, Policy: always}}
	if got := a.Problem(429, a.RetryAfter).Detail; got != `Policy "closed" allows no requests.` {
		t.Errorf("detail %q", got)
	}
}
