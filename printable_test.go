package mockbase_test

import (
	"testing"

	"github.com/mockbase/mockbase"
)

func TestB7_bytes_that_are_no_text_are_escaped_and_not_replaced(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                 "",
		"/a/é%20":          "/a/é%20",
		"/a/\xff\xc3(":     "/a/%FF%C3(",
		"caf\xe9":          "caf%E9",
		"\ufffd is a text": "\ufffd is a text",
		"half \xe2\x82":    "half %E2%82",
	} {
		if got := mockbase.Printable(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

func TestM20_what_cannot_be_shown_is_found(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct{ line, prose string }{
		"": {},
		"Zoë 👩‍💻 \u200f\u200eשלום \ufffd \ue000": {},
		"a\nb":     {"holds the control character U+000A, which cannot be shown", ""},
		"a\tb\r\n": {"holds the control character U+0009, which cannot be shown", ""},
		"a\x00":    {"holds the control character U+0000, which cannot be shown", "holds the control character U+0000, which cannot be shown"},
		"\x7f":     {"holds the control character U+007F, which cannot be shown", "holds the control character U+007F, which cannot be shown"},
		"\u0085":   {"holds the control character U+0085, which cannot be shown", "holds the control character U+0085, which cannot be shown"},
		"a\u2028":  {"holds the line separator U+2028", "holds the line separator U+2028"},
		"\u202e":   {"holds U+202E, which turns the direction of text", "holds U+202E, which turns the direction of text"},
		"\u2069":   {"holds U+2069, which turns the direction of text", "holds U+2069, which turns the direction of text"},
		"a\xffb":   {"holds the byte 0xff, which is no UTF-8", "holds the byte 0xff, which is no UTF-8"},
	} {
		if got := mockbase.LineFault(text); got != want.line {
			t.Errorf("%q in a line %q, want %q", text, got, want.line)
		}
		if got := mockbase.ProseFault(text); got != want.prose {
			t.Errorf("%q in a text %q, want %q", text, got, want.prose)
		}
		if line, prose := mockbase.CleanLine(text), mockbase.CleanProse(text); mockbase.LineFault(line)+mockbase.ProseFault(prose) != "" ||
			want.line == "" && line != text || want.prose == "" && prose != text {
			t.Errorf("%q is cleaned to %q and %q", text, line, prose)
		}
	}
}
