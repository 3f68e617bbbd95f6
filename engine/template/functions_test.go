package template_test

import (
	"regexp"
	"testing"

	"github.com/mockbase/mockbase/engine/template"
)

func TestP12_edges_of_arithmetic_and_conversions(t *testing.T) {
	t.Parallel()
	check(t, []example{
		{"whole parts", `{{ int "1e3" }} {{ int "-7.9" }} {{ int -0.5 }} {{ int "+7" }} {{ int "007" }}`, request{}, "1000 -7 0 7 7"},
		{"booleans", `{{ bool "TRUE" }}|{{ bool "0" }}|{{ bool 0.0 }}|{{ bool 2 }}|{{ int true }}|{{ number false }}`, request{}, "true|false|false|true|1|0"},
		{"rounding", `{{ round 0 -0.4 }} {{ round 0 -0.5 }} {{ round 2 1.005 }} {{ round 2 1 }} {{ round 0 2.5 }}`, request{}, "0 -1 1.01 1.00 3"},
		{"sums of many", `{{ add 1 2 3 0.50 }} {{ mul 2 3 4 }} {{ sub 1 1 }}`, request{}, "6.50 24 0"},
		{"quotients", `{{ div 1 8 }} {{ div 100 4 }} {{ div 1000 1 }} {{ div -1 4 }} {{ div 2 3 }}`, request{}, "0.125 25 1000 -0.25 0.6666666666666666666666666666666667"},
		{"remainders", `{{ mod -7 3 }} {{ mod 7.5 2 }} {{ mod "9" "4" }}`, request{}, "-1 1.5 1"},
		{"exponents are written out", `{{ add 1e3 1 }} {{ mul 1e-3 1 }}`, request{}, "1001 0.001"},
	})
}

func TestP8_edges_of_texts_and_lists(t *testing.T) {
	t.Parallel()
	check(t, []example{
		{"substr", `[{{ substr 1 99 "abc" }}][{{ substr 9 10 "abc" }}][{{ substr 2 1 "abc" }}][{{ substr -3 1 "abc" }}]`, request{}, "[bc][][][a]"},
		{"split and join", `{{ split "," "" | length }} {{ split "" "aé" }} {{ list | join "," }}.`, request{}, `1 ["a","é"] .`},
		{"join of anything", `{{ list 1 "a" (list 2) nil true | join "|" }}`, request{}, `1|a|[2]||true`},
		{"replace of nothing", `{{ replace "" "-" "ab" }}`, request{}, `-a-b-`},
		{"no match", `[{{ regexFind "x+" "abc" }}][{{ regexFind "b*" "abc" }}][{{ regexFind "(?i)B." "abc" }}]`, request{}, "[][][bc]"},
		{"lists", `{{ first (list) }}{{ last list }}{{ until 0 }}{{ until -5 }}{{ slice (list 1 2 3) 1 2 }}{{ slice "abc" }}`, request{}, "[][][2]abc"},
		{"objects", `{{ $d := dict "a" 1 "a" 2 }}{{ $d }} {{ $d.a }} {{ length $d }} {{ index $d "a" }}`, request{}, `{"a":2} 2 1 2`},
		{"lengths", `{{ len "é" }} {{ length "é" }} {{ length nil }} {{ len body }}`, request{body: `{"a":1,"b":2}`}, "2 1 0 2"},
		{"pick of a list", `{{ pick (list) }}{{ pick (list 7) }}{{ pick 7 }}`, request{}, "77"},
		{"base64", `{{ base64 "" }}|{{ "_-8" | base64Decode | base64 }}`, request{}, "|/+8="},
		{"segments", `[{{ segment 0 }}][{{ segment 5 }}][{{ request.segment 1 }}]`, request{segments: []string{"a", "b c"}}, "[a][][b c]"},
		{"part", `{{ with part "f" }}{{ .filename }} {{ .contentType }} {{ .text }} {{ .size }} {{ .none }}{{ end }}`, request{parts: map[string]*template.Part{"f": {Filename: "a.png", ContentType: "image/png", Text: "x", Size: 1}}}, "a.png image/png x 1 "},
		{"variables", `{{ var.name }} {{ var.shop.b }} {{ index var.shop.a 1 }} {{ var }}`, request{}, `Ann 1.50 2 {"name":"Ann","shop":{"b":1.50,"a":[1,2]}}`},
		{"webhooks", `{{ response.status }} {{ response.body.total }} {{ index response.headers "x-id" }} {{ attempt }}`, request{}, "201 12.50 9 2"},
	})
}

func TestP8_edges_of_comparisons(t *testing.T) {
	t.Parallel()
	q := request{body: `{"l":[1,{"a":1.0}],"m":[1.0,{"a":1}],"o":{"a":1,"b":2},"p":{"b":2.0,"a":1}}`}
	check(t, []example{
		{"structures", `{{ eq body.l body.m }}|{{ eq body.o body.p }}|{{ eq body.o (dict "b" 2 "a" 1) }}|{{ eq body.l (list 1 2) }}|{{ eq (list "1") (list 1) }}|{{ eq body.l body.o }}`, q, "true|true|true|false|false|false"},
		{"missing", `{{ eq query.n nil }} {{ eq query.n "" }} {{ ne query.n "a" }} {{ eq body.l "a" }}`, q, "true false true false"},
		{"times", `{{ lt now (now "+1ms") }}|{{ eq now (now "+0s") }}`, q, "true|true"},
		{"booleans", `{{ eq true (not false) }}|{{ ne true false }}`, q, "true|true"},
	})
	for _, text := range []string{`{{ lt "1" 2 }}`, `{{ lt query.n 2 }}`, `{{ ge true false }}`, `{{ eq 1 "1" }}`, `{{ eq true 1 }}`} {
		failing(t, text, scopeOf(&q))
	}
}

func TestP8_printf_keeps_to_Go(t *testing.T) {
	t.Parallel()
	check(t, []example{
		{"integers", `{{ printf "%d|%5d|%-5d|%05d|%+d|%x|%X|%o|%b" 42 42 42 42 42 255 255 8 5 }}`, request{}, "42|   42|42   |00042|+42|ff|FF|10|101"},
		{"whole decimals and texts", `{{ printf "%d %d" 2.0 "7" }}`, request{}, "2 7"},
		{"floats", `{{ printf "%f|%.3f|%8.2f|%e|%g" 1.5 1.5 1.5 1500 0.25 }}`, request{}, "1.500000|1.500|    1.50|1.500000e+03|0.25"},
		{"texts", `{{ printf "%s|%5s|%-5s|%.2s|%q|%x|%v" "ab" "ab" "ab" "abc" "a\"" "hi" "v" }}`, request{}, `ab|   ab|ab   |ab|"a\""|6869|v`},
		{"others", `{{ printf "%t %c %U %% %v %v" true 233 233 nil (list 1) }}`, request{}, "true é U+00E9 %  [1]"},
		{"stars and positions", `{{ printf "%*d|%-*d|%[2]s %[1]s" 4 7 4 7 | trim }}`, request{}, "7|7   |7 4"},
	})
	for _, text := range []string{`{{ printf "%" }}`, `{{ printf "%z" 1 }}`, `{{ printf "%d" 1.5 }}`, `{{ printf "%d" "x" }}`, `{{ printf "%[3]d" 1 }}`, `{{ printf "%c" -1 }}`, `{{ printf "%*d" "x" 1 }}`} {
		failing(t, text, withBody(""))
	}
}

func TestP13_edges_of_time(t *testing.T) {
	t.Parallel()
	check(t, []example{
		{"layouts", `{{ now | date "http" "Europe/Berlin" }}|{{ now | date "rfc3339" "Europe/Berlin" }}|{{ now | date "unixMs" "UTC" }}`, request{}, "Wed, 04 Mar 2026 12:30:15 GMT|2026-03-04T13:30:15+01:00|1772627415250"},
		{"other times", `{{ "2026-01-02T03:04:05+02:00" | date "15:04" "UTC" }} {{ 86400 | date "2006-01-02" "UTC" }} [{{ query.n | date "unix" "UTC" }}]`, request{}, "01:04 1970-01-02 []"},
		{"a summer", `{{ "2026-07-01T12:00:00Z" | date "15:04" "America/New_York" }}`, request{}, "08:00"},
		{"offsets", `{{ now "1m" }} {{ now query.none }}`, request{}, "2026-03-04T12:31:15Z 2026-03-04T12:30:15Z"},
	})
	for _, text := range []string{`{{ now "tomorrow" }}`, `{{ now "+-1h" }}`, `{{ date "unix" "UTC" "yesterday" }}`, `{{ now | date "unix" "../etc/passwd" }}`, `{{ now | date "unix" "Local" }}`, `{{ now | date (randomString 2000) }}`} {
		failing(t, text, withBody(""))
	}
}

func TestAA20_random_values_have_their_form(t *testing.T) {
	t.Parallel()
	for text, form := range map[string]string{
		`{{ uuid }}`:          `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`,
		`{{ ulid }}`:          `^01KJWD7M6[0-9A-HJKMNP-TV-Z]{17}$`,
		`{{ randomInt 1 6 }}`: `^[1-6]$`,
		`{{ randomInt 5 5 }}`: `^5$`,
		`{{ randomInt -9223372036854775808 9223372036854775807 }}`: `^-?\d+$`,
		`{{ randomFloat 2 3 }}`: `^2(\.\d+)?$`,
		`{{ randomString 12 }}`: `^[A-Za-z0-9]{12}$`,
		`{{ pick "a" "b" }}`:    `^[ab]$`,
		`{{ faker "email" }}`:   `^\S+@\S+\.\S+$`,
		`{{ faker "iban" }}`:    `^DE\d{20}$`,
		`{{ faker "price" }}`:   `^\d+\.\d\d$`,
	} {
		if got := render(t, text, withBody("")); !regexp.MustCompile(form).MatchString(got) {
			t.Errorf("%s gives %q", text, got)
		}
	}
	for _, text := range []string{`{{ randomInt 6 1 }}`, `{{ randomInt 1 "x" }}`, `{{ randomFloat 2 1 }}`, `{{ randomFloat "1e999" 1 }}`, `{{ randomString -1 }}`, `{{ faker query.none }}`} {
		failing(t, text, withBody(""))
	}
}

func TestAA20_an_iban_has_right_check_digits(t *testing.T) {
	t.Parallel()
	number := render(t, `{{ faker "iban" }}`, withBody(""))
	// ISO 13616: the country and check digits go to the end, letters count from A = 10, and the remainder by 97 is 1.
	if got := render(t, `{{ mod "`+number[4:]+`1314`+number[2:4]+`" 97 }}`, withBody("")); got != "1" {
		t.Errorf("%s leaves %s", number, got)
	}
}

func TestP9_more_patterns_than_are_kept_work_all_the_same(t *testing.T) {
	t.Parallel()
	text := `{{ range until 100 }}{{ regexFind (printf "^a{%d}$" .) "aaa" }}{{ end }}`
	if got := render(t, text, withBody("")); got != "aaa" {
		t.Errorf("got %.20s", got)
	}
}

func TestAScopeWithoutARequestRenders(t *testing.T) {
	t.Parallel()
	text := `[{{ path.a }}{{ query.a }}{{ query }}{{ queryAll "a" }}{{ header "a" }}{{ segment 0 }}{{ request.method }}{{ body.a }}{{ bodyText }}{{ part "a" }}{{ xpath "//a" }}{{ jsonPath "$.a" }}{{ limit.policy }}{{ response.status }}{{ attempt }}{{ state }}{{ var.x }}]`
	if got := render(t, text, &template.Scope{}); got != "[{}[]]" {
		t.Errorf("got %s", got)
	}
}
