package auth_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/management/auth"
)

func TestM38_the_code_is_three_groups_of_four(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$`)
	seen := map[string]bool{}
	for range 200 {
		code := auth.NewSetupCode().String()
		if !form.MatchString(code) || seen[code] {
			t.Fatalf("code %q", code)
		}
		seen[code] = true
	}
}

func TestM38_case_and_hyphens_do_not_matter(t *testing.T) {
	t.Parallel()
	code := auth.NewSetupCode()
	text := code.String()
	for _, input := range []string{
		text, strings.ToLower(text), strings.ReplaceAll(text, "-", ""), " " + text + "\n", "-" + text + "-",
		strings.ReplaceAll(text, "0", "O"), strings.ReplaceAll(text, "1", "l"), strings.ReplaceAll(text, "1", "I"),
	} {
		if !code.Matches(input) {
			t.Errorf("%q does not match %s", input, text)
		}
	}
	for _, input := range []string{"", "-", text[:13], text + "0", strings.Repeat("-", 200) + text, auth.NewSetupCode().String()} {
		if code.Matches(input) {
			t.Errorf("%q matches %s", input, text)
		}
	}
}

func TestM38_a_spent_code_matches_nothing(t *testing.T) {
	t.Parallel()
	code := auth.NewSetupCode()
	select {
	case <-code.Spent():
		t.Fatal("spent at once")
	default:
	}
	code.Spend()
	code.Spend()
	if code.Matches(code.String()) {
		t.Error("the code works twice")
	}
	<-code.Spent()
}

func FuzzSetupCode(f *testing.F) {
	code := auth.NewSetupCode()
	f.Add(code.String())
	f.Add("O0-Il1")
	f.Fuzz(func(t *testing.T, input string) {
		plain := strings.ReplaceAll(strings.ToUpper(input), "-", "")
		if code.Matches(input) && len(strings.TrimSpace(plain)) != 12 {
			t.Errorf("%q matches", input)
		}
	})
}
