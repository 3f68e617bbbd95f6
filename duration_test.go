package mockbase_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
)

func TestM2_a_written_duration_is_a_number_with_a_unit_or_a_sum(t *testing.T) {
	t.Parallel()
	cases := map[string]time.Duration{
		"250ms": 250 * time.Millisecond, "1.5s": 1500 * time.Millisecond, "2m": 2 * time.Minute, "1h": time.Hour,
		"7d": 168 * time.Hour, "1m30s": 90 * time.Second, "1h1m1s1ms": 3661001 * time.Millisecond, "0s": 0,
		"0.000001ms": 1, "0.0000001ms": 0, "1.000000000000000000000000001s": time.Second, "007s": 7 * time.Second,
		"106751d": 106751 * 24 * time.Hour, "0.1d": 2*time.Hour + 24*time.Minute, "30s30s": time.Minute,
		"1.999999999999999999d": 2*24*time.Hour - 1,
	}
	for text, want := range cases {
		got, err := mockbase.ParseDuration(text)
		if err != nil || got != want {
			t.Errorf("ParseDuration(%q) is %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestM2_anything_else_is_no_duration(t *testing.T) {
	t.Parallel()
	wrong := []string{
		"", "5", "s", "5 s", " 5s", "5s ", "-5s", "+5s", "5S", "5us", "5ns", "5w", "1.s", ".5s", "1e3s", "5m 30s", "1,5s", "５s", "5sec",
		"106752d", "106751d24h", "99999999999999999999s", strings.Repeat("106751d", 3), "18446744073709551616ms",
	}
	for _, text := range wrong {
		if got, err := mockbase.ParseDuration(text); err == nil {
			t.Errorf("ParseDuration(%q) is %s, want an error", text, got)
		}
	}
	_, err := mockbase.ParseDuration("5 minutes")
	if want := `"5 minutes" is no duration: write a number with a unit, such as 250ms, 1.5s, 2m, 1h, 7d or 1m30s`; err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, seed := range []string{"250ms", "1.5s", "7d", "1m30s", "5", "-1s", "99999999999999999999h", "0.0000000000000000001d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := mockbase.ParseDuration(text)
		if err != nil {
			return
		}
		if d < 0 {
			t.Fatalf("%q is %s", text, d)
		}
		// Whatever is accepted has the form of the JSON Schema, and whole digits that Go agrees with.
		if strings.Trim(text, "0123456789.msdh") != "" {
			t.Fatalf("%q is accepted", text)
		}
		if std, stdErr := time.ParseDuration(text); stdErr == nil && std != d && !strings.Contains(text, ".") {
			t.Fatalf("%q is %s, the standard library says %s", text, d, std)
		}
	})
}
