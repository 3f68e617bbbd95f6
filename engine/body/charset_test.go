package body_test

import (
	"testing"

	"github.com/mockbase/mockbase/engine/body"
)

func TestF5_text_is_decoded_by_charset_mark_or_as_utf_8(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ raw, contentType, want string }{
		"latin 1":              {"\xe9", "text/plain; charset=iso-8859-1", "é"},
		"its other name":       {"\xe9", "text/plain; charset=latin1", "é"},
		"windows":              {"\x80", `text/plain; charset="Windows-1252"`, "€"},
		"cyrillic":             {"\xd0", "text/plain; charset=koi8-r", "п"},
		"japanese":             {"\x82\xa0", "text/plain; charset=Shift_JIS", "あ"},
		"utf-8":                {"é", "", "é"},
		"utf-8 stated":         {"é", "text/plain; charset=utf8", "é"},
		"mark of utf-8":        {"\xef\xbb\xbfé", "text/plain; charset=utf-8", "é"},
		"mark without charset": {"\xef\xbb\xbfé", "text/plain", "é"},
		"mark of utf-16":       {"\xff\xfeA\x00", "", "A"},
		"utf-16 with its mark": {"\xfe\xff\x00A", "text/plain; charset=utf-16", "A"},
		"utf-16 stated":        {"A\x00", "text/plain; charset=utf-16le", "A"},
		"mark of utf-32":       {"\xff\xfe\x00\x00A\x00\x00\x00", "", "A"},
		"ascii":                {"A", "text/plain; charset=us-ascii", "A"},
		"broken media type":    {"é", ";;", "é"},
	} {
		if got, err := body.DecodeText([]byte(c.raw), c.contentType); err != nil || got != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestF5_undecodable_bytes_are_an_error(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]string{
		"utf-8":           {"\xff", ""},
		"ascii":           {"é", "text/plain; charset=ascii"},
		"unknown charset": {"a", "text/plain; charset=klingon"},
		"half a utf-16":   {"A\x00B", "text/plain; charset=utf-16le"},
		"a gap":           {"\x81", "text/plain; charset=windows-1253"},
	} {
		if got, err := body.DecodeText([]byte(c[0]), c[1]); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}
