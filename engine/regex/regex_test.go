package regex_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/engine/regex"
)

func TestK2_patterns_that_are_broken_or_too_large_are_refused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"(":                           "does not compile",
		"(?=a)b":                      "does not compile",
		strings.Repeat("a", 1001):     "longer than 1000 bytes",
		strings.Repeat("(a{99})", 90): "too large",
	} {
		if _, err := regex.Compile(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: got %v, want %q", text, err, want)
		}
	}
}

func TestK2_work_is_bounded_by_text_and_pattern(t *testing.T) {
	t.Parallel()
	p, err := regex.Compile("((a{1,30}){1,30})b")
	if err != nil {
		t.Fatal(err)
	}
	if holds, err := p.Match("xaab"); !holds || err != nil {
		t.Errorf("a short text: got %t, %v", holds, err)
	}
	if at, err := p.Find("xaab"); !slices.Equal(at, []int{1, 4}) || err != nil {
		t.Errorf("the place in a short text: got %v, %v", at, err)
	}
	long := strings.Repeat("a", 300_000)
	if p.Work(len(long)) <= regex.MaxWork || p.Instructions() < 900 {
		t.Errorf("the pattern has %d instructions", p.Instructions())
	}
	if _, err := p.Match(long); !errors.Is(err, regex.ErrTooLong) {
		t.Errorf("a long text: got %v", err)
	}
	if _, err := p.Find(long); !errors.Is(err, regex.ErrTooLong) {
		t.Errorf("the place in a long text: got %v", err)
	}
}
