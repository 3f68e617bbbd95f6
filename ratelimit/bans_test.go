package ratelimit_test

import (
	"encoding/json"
	"errors"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

func TestRL94_a_ban_rule_reports_all_its_faults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		rule ratelimit.BanRule
		want string
	}{
		{"a rule that is right", ratelimit.BanRule{Name: "login", MaxRetry: 5, FindTime: 20 * time.Second, BanTime: 15 * time.Minute}, ""},
		{"the zero rule", ratelimit.BanRule{}, "name maxRetry findTime banTime"},
		{"a reserved name", ratelimit.BanRule{Name: "manual", MaxRetry: 1, FindTime: time.Second, BanTime: time.Second}, "name"},
		{"too many", ratelimit.BanRule{Name: "a", MaxRetry: ratelimit.MaxRetries + 1, FindTime: time.Second, BanTime: time.Second}, "maxRetry"},
		{"a growth that shrinks", ratelimit.BanRule{Name: "a", MaxRetry: 1, FindTime: time.Second, BanTime: time.Second, Growth: 0.5}, "growth"},
		{"no number", ratelimit.BanRule{Name: "a", MaxRetry: 1, FindTime: time.Second, BanTime: time.Second, Growth: math.NaN()}, "growth"},
		{"no end of growth", ratelimit.BanRule{Name: "a", MaxRetry: 1, FindTime: time.Second, BanTime: time.Second, Growth: math.Inf(1)}, "growth"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := c.rule.Validate()
			var fields []string
			if wrong, ok := errors.AsType[*ratelimit.PolicyError](err); ok {
				for _, f := range wrong.Faults {
					fields = append(fields, f.Field)
				}
			}
			if got := strings.Join(fields, " "); got != c.want || (err != nil) != errors.Is(err, ratelimit.ErrConfig) {
				t.Errorf("faults %q (%v), want %q", got, err, c.want)
			}
		})
	}
}

func TestRL99_repeats_grow_by_the_factor_up_to_a_day(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		banTime time.Duration
		growth  float64
		repeats int64
		want    time.Duration
	}{
		{"the first", time.Hour, 2, 0, time.Hour},
		{"the second is twice as long", time.Hour, 2, 1, 2 * time.Hour},
		{"the fifth would be 16 h", time.Hour, 2, 4, 16 * time.Hour},
		{"the sixth would be 32 h", time.Hour, 2, 5, 24 * time.Hour},
		{"the millionth", time.Hour, 2, 1_000_000, 24 * time.Hour},
		{"repeats beyond all numbers", time.Hour, 1000, math.MaxInt64, 24 * time.Hour},
		{"no growth", time.Hour, 0, 9, time.Hour},
		{"growth by 1", time.Hour, 1, 9, time.Hour},
		{"a ban that begins above a day stays", 72 * time.Hour, 2, 3, 72 * time.Hour},
		{"impossible repeats", time.Hour, 2, -3, time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := ratelimit.BanRule{BanTime: c.banTime, Growth: c.growth}
			if got := r.BanFor(c.repeats); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestRL101_the_end_of_a_ban_does_not_belong_to_it(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_767_225_600, 0)
	b := ratelimit.Ban{Until: now.Add(time.Second)}
	if !b.Holds(now) || b.Holds(b.Until) || b.Rest(now) != time.Second || b.Rest(b.Until.Add(time.Hour)) != 0 {
		t.Errorf("ban until %s: holds %t now, %t at its end, rest %s", b.Until, b.Holds(now), b.Holds(b.Until), b.Rest(now))
	}
	never := ratelimit.Ban{}
	if !never.Holds(now.AddDate(100, 0, 0)) || never.Rest(now) != ratelimit.Never {
		t.Error("a ban without end has one")
	}
}

func TestRL101_an_administrator_names_a_ban_by_what_the_list_shows(t *testing.T) {
	t.Parallel()
	hashed := ratelimit.KeyIdentifier("alice smith")
	for _, c := range []struct{ name, key, want string }{
		{"a readable key", "203.0.113.9", "203.0.113.9"},
		{"a key that is hashed", "alice smith", hashed},
		{"what it is listed by", hashed, hashed},
		{"what only begins like a digest", "h_abc", ratelimit.KeyIdentifier("h_abc")},
		{"what has the length of one", "h_" + strings.Repeat("x", 32), ratelimit.KeyIdentifier("h_" + strings.Repeat("x", 32))},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := ratelimit.WrittenBanKey(c.key); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestRL101_a_ban_has_one_JSON_form(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	network := netip.MustParsePrefix("203.0.113.0/24")
	for _, c := range []struct {
		ban  ratelimit.Ban
		want string
	}{
		{
			ratelimit.Ban{Rule: "login", Identifier: "a", From: from, Until: from.Add(time.Hour), Repeat: 2},
			`{"rule":"login","key":"a","from":"2026-01-01T00:00:00Z","until":"2026-01-01T01:00:00Z","repeat":2}`,
		},
		{
			ratelimit.Ban{Rule: "manual", Identifier: network.String(), Network: network, From: from, Actor: "root", Reason: "abuse"},
			`{"rule":"manual","key":"203.0.113.0/24","network":"203.0.113.0/24","from":"2026-01-01T00:00:00Z","repeat":0,"actor":"root","reason":"abuse"}`,
		},
	} {
		if got, err := json.Marshal(c.ban); err != nil || string(got) != c.want {
			t.Errorf("%s, %v\nwant %s", got, err, c.want)
		}
	}
}
