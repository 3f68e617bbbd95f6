package outbound_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase/engine/outbound"
)

func TestS5_what_no_url_may_hold_is_escaped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"http://a.test/hook?x=a HTTP/1.1 ":  "http://a.test/hook?x=a%20HTTP/1.1%20",
		"http://a.test/p q?x=é":             "http://a.test/p%20q?x=%C3%A9",
		"http://a.test/é?x=1\t2":            "http://a.test/%C3%A9?x=1%092",
		"http://a.test?x=a b":               "http://a.test?x=a%20b",
		"http://a.test/a%2Fb{c}?x=%2f+%zz":  "http://a.test/a%2Fb%7Bc%7D?x=%2f+%zz",
		"http://a.test/a\r\nX: y":           "http://a.test/a%0D%0AX:%20y",
		"http://a.test/?q=\r\nHost: b\x00":  "http://a.test/?q=%0D%0AHost:%20b%00",
		"http://a.test/;a=1/b,c?d[e]=f&g=!": "http://a.test/;a=1/b,c?d[e]=f&g=!",
		"https://a.test:8443":               "https://a.test:8443",
		"http://a.test/\xff\x7f":            "http://a.test/%FF%7F",
	} {
		u, err := outbound.ParseURL(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := u.String(); got != want {
			t.Errorf("%q becomes %s, want %s", text, got, want)
		}
	}
}

func TestS5_what_cannot_be_escaped_is_refused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"http://a b.test/", "http://a.test\r\n/", " http://a.test/", "http://a.test:8o/", "http://a.test/%zz", "http://", "/hook", "", "ftp://a.test/",
		"http://user:secret@a.test/", "http://a.test /x",
	} {
		if u, err := outbound.ParseURL(text); reasonOf(err) != outbound.ReasonURL {
			t.Errorf("%q: %v, %v; want a refusal for its URL", text, u, err)
		}
	}
}

func FuzzParseURL(f *testing.F) {
	for _, seed := range []string{"http://a.test/hook?x=a HTTP/1.1 ", "http://é.test/é?é#é", "http://a.test/%41%zz", "http://[::1]:80?\r\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := outbound.ParseURL(text)
		if err != nil {
			if reasonOf(err) != outbound.ReasonURL {
				t.Fatalf("%q is refused with %v", text, err)
			}
			return
		}
		if target := u.RequestURI(); strings.ContainsFunc(target, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			t.Fatalf("%q asks for %q", text, target)
		}
	})
}
