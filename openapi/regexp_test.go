package openapi_test

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"unicode"

	"github.com/mockbase/mockbase"
)

// Rule W20: \s and \S are those of ECMA 262, also within classes.
func TestW20_blanks_are_those_of_ECMA(t *testing.T) {
	t.Parallel()
	for pattern, c := range map[string]struct{ fits, differs []string }{
		`^\s$`:        {[]string{" ", "\v", "\u00a0", "\ufeff", "\u2028", "\u3000", "\t"}, []string{"a", "\u200b"}},
		`^\S$`:        {[]string{"a", "\u200b", "é", "😀", "\x01"}, []string{" ", "\v", "\u00a0", "\ufeff"}},
		`^[^\s@]+$`:   {[]string{"a", "é"}, []string{"a\v", "a\u00a0b", "@"}},
		`^[\S]+$`:     {[]string{"a-"}, []string{"\v"}},
		`^[\s-x]$`:    {[]string{"x", "-", "\v"}, []string{"a"}},
		`^[\s-]$`:     {[]string{"-", "\v"}, []string{"a"}},
		`^\\s$`:       {[]string{`\s`}, []string{" "}},
		`^[\]\s]$`:    {[]string{"]", "\v"}, []string{"s"}},
		`^\[\s\]$`:    {[]string{"[ ]", "[\v]"}, []string{"["}},
		`^\u0041\s?$`: {[]string{"A", "A\v"}, []string{"B"}},
	} {
		d := compile(t, body(`{ type: string, pattern: '`+pattern+`' }`))
		op, _ := d.Find("GET", "/p", "")
		check := func(text string) int {
			value, err := json.Marshal(text)
			if err != nil {
				t.Fatal(err)
			}
			return len(d.CheckAnswer(op, 200, http.Header{"Content-Type": {"application/json"}}, value))
		}
		for _, text := range c.fits {
			if check(text) > 0 {
				t.Errorf("%s: %q does not fit", pattern, text)
			}
		}
		for _, text := range c.differs {
			if check(text) == 0 {
				t.Errorf("%s: %q fits", pattern, text)
			}
		}
	}
}

// Rule W45: what is drawn for open classes has no control characters where others are allowed.
func TestW45_drawn_texts_are_printable(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{`^[^\s@]+@[^\s@]+\.[^\s@]+$`, `^\S{9}$`, `^[^a-zA-Z0-9]{9}$`, `^\W{9}$`, `^\D{9}$`, `^[^a-z]{9}$`} {
		d := compile(t, body(`{ type: string, pattern: '`+pattern+`' }`))
		op, _ := d.Find("GET", "/p", "")
		for seed := range uint64(20) {
			a := d.Answer(op, &mockbase.DocumentRequest{
				Method: "GET", Path: "/p", Header: http.Header{}, Preferred: mockbase.Preferred{Dynamic: "true"},
				Rand: func(string, string) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) },
			})
			var text string
			if err := json.Unmarshal(a.Body, &text); err != nil || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("%s: got %s", pattern, a.Body)
			}
		}
	}
}
