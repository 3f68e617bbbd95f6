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
