package body_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/engine/body"
)

const formType = "multipart/form-data; boundary=B1"

// partsOf builds a body of parts, each a head and a content divided by an empty line.
func partsOf(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("--B1\r\n" + strings.Replace(p, "\n\n", "\r\n\r\n", 1) + "\r\n")
	}
	return b.String() + "--B1--\r\n"
}

func TestI5_boundaries_preambles_and_bare_line_feeds(t *testing.T) {
	t.Parallel()
	const head = `Content-Disposition: form-data; name="a"`
	for name, c := range map[string]struct {
		text, contentType string
		bare              bool
	}{
		"plain":    {partsOf(head + "\n\n1"), formType, false},
		"quoted":   {"--x y\r\n" + head + "\r\n\r\n1\r\n--x y--", `multipart/form-data; boundary="x y"`, false},
		"preamble": {"ignored\r\n" + partsOf(head+"\n\n1") + "ignored", formType, false},
		"bare":     {"--B1\n" + head + "\n\n1\n--B1--\n", formType, true},
		"mixed":    {partsOf(head + "\n\n1"), "Multipart/Mixed; boundary=B1", false},
	} {
		parts, bare, err := body.ParseParts([]byte(c.text), c.contentType)
		if err != nil || len(parts) != 1 || parts[0].Name != "a" || string(parts[0].Body) != "1" || bare != c.bare {
			t.Errorf("%s: %v %v %v", name, parts, bare, err)
		}
	}
	for name, c := range map[string]struct{ text, contentType, want string }{
		"no boundary":    {partsOf(head + "\n\n1"), "multipart/form-data", "no boundary"},
		"empty boundary": {partsOf(head + "\n\n1"), "multipart/form-data; boundary=", "no boundary"},
		"not multipart":  {"a=1", "text/plain", "the Content-Type is not multipart"},
		"cut":            {"--B1\r\n" + head + "\r\n\r\n1", formType, "read part 1: unexpected EOF"},
		"no end":         {"--B1\r\n" + head + "\r\n\r\n1\r\n--B1", formType, "read part"},
		"other boundary": {"--B2\r\n\r\n1\r\n--B2--", formType, "read part 1: multipart: NextPart: EOF"},
		"broken head":    {partsOf("no field\n\n1"), formType, "read part 1: malformed MIME header"},
	} {
		if _, _, err := body.ParseParts([]byte(c.text), c.contentType); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestI8_only_the_last_component_of_a_filename_is_exposed(t *testing.T) {
	t.Parallel()
	for disposition, want := range map[string]string{
		`form-data; name="f"; filename="../a/b.txt"`:                              "b.txt",
		`form-data; name="f"; filename="C:\dir\b.txt"`:                            "b.txt",
		`form-data; name="f"; filename=b.txt; filename*=UTF-8''c.txt`:             "b.txt",
		`form-data; filename*=UTF-8''%e2%82%ac.txt; name="f"; filename=b.txt`:     "b.txt",
		`form-data; name=f; filename*=UTF-8''%e2%82%ac%2B+.txt`:                   "€++.txt",
		`form-data; name=f; filename*=iso-8859-1'en'..%2F%E9.txt`:                 "é.txt",
		`form-data; name=f; filename*=plain.txt`:                                  "plain.txt",
		`form-data; name=f; filename*=klingon''a.txt`:                             "a.txt",
		`form-data; name=f; filename="a\"b;c.txt" ; x=1`:                          `a"b;c.txt`,
		`form-data;name = f;FileName="";`:                                         "",
		`form-data; name=f; filename="open.txt`:                                   "open.txt",
		`form-data; flag; name=f; filename=first.txt; filename="second.txt"; end`: "first.txt",
	} {
		parts, _, err := body.ParseParts([]byte(partsOf("Content-Disposition: "+disposition+"\n\n1")), formType)
		if err != nil || len(parts) != 1 || parts[0].Filename != want || !parts[0].HasFilename || parts[0].Name != "f" {
			t.Errorf("%s: %+v, %v", disposition, parts, err)
		}
	}
}

func TestI9_parts_are_bytes_and_at_most_a_thousand(t *testing.T) {
	t.Parallel()
	coded := partsOf("Content-Disposition: form-data; name=f\r\nContent-Transfer-Encoding: quoted-printable\n\n=41\x00\xff")
	parts, _, err := body.ParseParts([]byte(coded), formType)
	if err != nil || string(parts[0].Body) != "=41\x00\xff" {
		t.Errorf("%q, %v", parts[0].Body, err)
	}
	many := func(n int) []byte {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("Content-Disposition: form-data; name=p%d\n\n", i)
		}
		return []byte(partsOf(list...))
	}
	if parts, _, err := body.ParseParts(many(1000), formType); err != nil || len(parts) != 1000 {
		t.Errorf("1,000 parts: %d, %v", len(parts), err)
	}
	for _, n := range []int{1001, 10_000} {
		if _, _, err := body.ParseParts(many(n), formType); !errors.Is(err, body.ErrTooLarge) {
			t.Errorf("%d parts: %v", n, err)
		}
	}
}

func FuzzParseParts(f *testing.F) {
	f.Add(partsOf("Content-Disposition: form-data; name=\"a\"; filename*=UTF-8''x\n\n1", "\n\n2"), formType)
	f.Add("--B1\nA: b\n\n1\n--B1--", formType)
	f.Add("--\r\n\r\n----", `multipart/x; boundary=""`)
	f.Fuzz(func(t *testing.T, text, contentType string) {
		parts, _, err := body.ParseParts([]byte(text), contentType)
		if err != nil {
			return
		}
		size := 0
		for _, p := range parts {
			size += len(p.Body)
			if strings.ContainsAny(p.Filename, `/\`) {
				t.Errorf("file name %q", p.Filename)
			}
		}
		if size > len(text) || len(parts) > 1000 {
			t.Errorf("%d parts of %d bytes in %d bytes", len(parts), size, len(text))
		}
	})
}
