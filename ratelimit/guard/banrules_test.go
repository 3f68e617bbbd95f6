package guard_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
)

func TestRL96_rules_for_bans_are_read_from_text(t *testing.T) {
	t.Parallel()
	rule := func(name string, retries int64, find, ban time.Duration, parts ...string) guard.BanRule {
		return guard.BanRule{
			BanRule: ratelimit.BanRule{Name: name, MaxRetry: retries, FindTime: find, BanTime: ban}, Key: guard.Key{Parts: parts},
		}
	}
	grown := rule("slow", 3, 24*time.Hour, 48*time.Hour)
	grown.Growth, grown.Extend = 1.5, true
	for _, c := range []struct {
		text string
		want []guard.BanRule
		at   int
	}{
		{text: guard.SignInBans, want: []guard.BanRule{
			rule("login-1", 5, 10*time.Minute, 15*time.Minute, "ip", "account"), rule("login-2", 20, 10*time.Minute, time.Hour, "ip"),
		}},
		{text: " 5/20s   ban=15m ", want: []guard.BanRule{rule("login", 5, 20*time.Second, 15*time.Minute)}},
		{text: "3/1d ban=2d growth=1.5 extend=true name=slow", want: []guard.BanRule{grown}},
		{text: "", at: 0},
		{text: "5/10m", at: 0},
		{text: "five/10m ban=1m", at: 0},
		{text: "5/fortnight ban=1m", at: 0},
		{text: "0/10m ban=1m", at: 0},
		{text: "5/10m ban=soon", at: 6},
		{text: "5/10m ban=1h key=ip+", at: 13},
		{text: "5/10m ban=1h growth=0.5", at: 13},
		{text: "5/10m ban=1h growth=NaN", at: 13},
		{text: "5/10m ban=1h extend=maybe", at: 13},
		{text: "5/10m ban=1h name=A", at: 13},
		{text: "5/10m ban=1h colour=red", at: 13},
		{text: "5/10m ban=99999d", at: 6},
		{text: "5/10m ban=1h, 5/10m  bane=1h", at: 21},
		{text: "5/10m ban=1h,", at: 13},
		{text: "5/10m ban=1h name=manual", at: 0},
		{text: "5/10m ban=1h growth=1e9", at: 0},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			got, err := guard.ParseBans(c.text, "login")
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("rules (-want +got):\n%s", diff)
			}
			wrong, ok := errors.AsType[*ratelimit.RuleError](err)
			if ok == (c.want != nil) || ok && (wrong.Offset != c.at || wrong.Input != c.text || wrong.Reason == "") {
				t.Errorf("error %+v, want one at %d: %t", err, c.at, c.want == nil)
			}
		})
	}
}

// Fuzz: whatever the text is, it is read to rules that are valid, or refused at a place inside it.
func FuzzParseBans(f *testing.F) {
	for _, seed := range []string{guard.SignInBans, "5/10m ban=15m", "1/1ms ban=3653d growth=1000 extend=false", ",", "5/10m ban=1h key=\x00", "9/1d ban=1d name=a,1/1s ban=1s"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := guard.ParseBans(text, "login")
		if wrong, ok := errors.AsType[*ratelimit.RuleError](err); ok != (err != nil) || ok && (wrong.Offset < 0 || wrong.Offset > len(text)) {
			t.Fatalf("%q: %v", text, err)
		}
		for i := range rules {
			if err := rules[i].Validate(); err != nil {
				t.Fatalf("%q was read to a rule that is wrong: %v", text, err)
			}
		}
	})
}
