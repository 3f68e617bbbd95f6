package body_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/body"
	"github.com/mockbase/mockbase/internal/testkit"
)

func TestXML_equality(t *testing.T) {
	t.Parallel()
	strict, loose := mockbase.XMLOptions{}, mockbase.XMLOptions{IgnoreOrder: true}
	trimmed := mockbase.XMLOptions{TrimText: true}
	for _, c := range []struct {
		name, expected, actual string
		options                mockbase.XMLOptions
		// where is the place of the difference, "" for equal documents.
		where string
	}{
		{"J1 prefixes do not matter", `<a:r xmlns:a="u"/>`, `<r xmlns="u"/>`, strict, ""},
		{"J1 namespaces do", `<r xmlns="u"/>`, `<r/>`, strict, "/r"},
		{"J1 of attributes too", `<r xmlns:p="u" p:x="1"/>`, `<r xmlns:q="u" q:x="1"/>`, strict, ""},
		{"J1 an attribute without one is another", `<r xmlns:p="u" p:x="1"/>`, `<r x="1"/>`, strict, "/r/@x"},
		{"J2 order and quotes of attributes", `<a x="1" y='2'/>`, `<a y="2" x="1"/>`, strict, ""},
		{"J2 entities are resolved", `<a x="&lt;"/>`, `<a x="&#60;"/>`, strict, ""},
		{"J2 values differ", `<a x="1"/>`, `<a x="2"/>`, strict, "/a/@x"},
		{"J2 one more attribute", `<a/>`, `<a x="2"/>`, strict, "/a/@x"},
		{"J3 blank text between elements", `<a> <b/> </a>`, `<a><b/></a>`, strict, ""},
		{"J3 text compares exactly", `<a>x </a>`, `<a>x</a>`, strict, "/a"},
		{"J3 trimText", `<a>x </a>`, "<a>\n x</a>", trimmed, ""},
		{"J3 comments and instructions", `<a>x<!-- c -->y<?p?></a>`, `<?xml version="1.0"?><a>xy</a>`, strict, ""},
		{"J3 CDATA is text", `<a><![CDATA[<]]></a>`, `<a>&lt;</a>`, strict, ""},
		{"J2 line breaks and tabs in attributes are spaces", `<a b="1 2 3 4 5"/>`, "<a\n\tb=\"1\t2\n3\r\n4\r5\"/>", strict, ""},
		{"J2 but not as references", `<a b="1 2"/>`, `<a b="1&#10;2"/>`, strict, "/a/@b"},
		{"J2 nor in comments and text", "<a b=\"x y\"><!-- ' --><![CDATA[<\t]]>\n</a>", "<a b='x\ny'><!-- ' --><![CDATA[<\t]]>\n</a>", strict, ""},
		{"J3 an empty element", `<a/>`, `<a></a>`, strict, ""},
		{"J4 order matters", `<r><a/><b/></r>`, `<r><b/><a/></r>`, strict, "/r/a"},
		{"J4 ignoreOrder", `<r><a/><b/></r>`, `<r><b/><a/></r>`, loose, ""},
		{"J4 a multiset", `<r><a/><a/><b/></r>`, `<r><a/><b/><b/></r>`, loose, "/r"},
		{"J4 paired as a whole", `<r><a x="1"/><a x="1"><b/></a></r>`, `<r><a x="1"><b/></a><a x="1"/></r>`, loose, ""},
		{"J4 at every depth", `<r><s><a/><b/></s><c/></r>`, `<r><c/><s><b/><a/></s></r>`, loose, ""},
		{"J5 other names", `<r><a/></r>`, `<r><b/></r>`, strict, "/r/a"},
		{"J5 with every option", `<r><a/></r>`, `<r><b/></r>`, mockbase.XMLOptions{IgnoreOrder: true, TrimText: true}, "/r"},
		{"text and element", `<r>a</r>`, `<r><a/></r>`, strict, "/r"},
		{"one child more", `<r><a/></r>`, `<r><a/><a/></r>`, strict, "/r"},
		{"one child less", `<r><a/><a/></r>`, `<r><a/></r>`, strict, "/r"},
	} {
		equal, where, err := body.EqualXML(c.expected, c.actual, c.options)
		if err != nil || where != c.where || equal != (c.where == "") {
			t.Errorf("%s: equal %v, at %q, %v", c.name, equal, where, err)
		}
	}
}

func TestJ7_declarations_entities_and_broken_documents_are_refused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]string{
		"DTD":             {`<!DOCTYPE r [<!ENTITY e "x">]><r>&e;</r>`, "a document type declaration is not allowed"},
		"entity":          {`<r>&e;</r>`, "invalid character entity &e;"},
		"deep":            {strings.Repeat("<a>", 200_000), "too deep"},
		"wide":            {"<r>" + strings.Repeat("<a/>", 150_000) + "</r>", "too large"},
		"two roots":       {"<a/><b/>", "there is a second root element"},
		"text outside":    {"x<a/>", "there is text outside of the root element"},
		"nothing":         {" ", "there is no element"},
		"not closed":      {"<a><b></a>", "element <b> closed by </a>"},
		"cut":             {"<a>", "unexpected EOF"},
		"no XML":          {`{"a":1}`, "there is text outside of the root element"},
		"not UTF-8":       {"<a>\xff</a>", "invalid UTF-8"},
		"billion laughs":  {`<!DOCTYPE l [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><l>&b;</l>`, "a document type declaration is not allowed"},
		"external entity": {`<!DOCTYPE r SYSTEM "file:///etc/passwd"><r/>`, "a document type declaration is not allowed"},
	} {
		var err error
		testkit.Bounded(t, 20*time.Second, func() { _, _, err = body.EqualXML(c[0], "<a/>", mockbase.XMLOptions{}) })
		if err == nil || !strings.HasPrefix(err.Error(), "invalid XML at ") || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v, want %s", name, err, c[1])
		}
	}
}

func TestJ3_charset_of_a_document(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]string{
		"declared": {"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>", "text/xml"},
		"stated":   {"<?xml version='1.0' encoding='utf-8'?><a>\xe9</a>", "text/xml; charset=latin1"},
		"marked":   {"\xef\xbb\xbf<a>é</a>", "text/xml"},
		"utf-16":   {"\xff\xfe<\x00a\x00>\x00\xe9\x00<\x00/\x00a\x00>\x00", "text/xml"},
		"plain":    {"<a>é</a>", ""},
	} {
		text, err := body.MarkedText([]byte(c[0]), c[1])
		if err != nil || !strings.Contains(string(text), "<a>é</a>") {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	for _, c := range [][2]string{{"<a>\xff</a>", ""}, {"<?xml encoding='klingon'?><a/>", ""}} {
		if _, err := body.MarkedText([]byte(c[0]), c[1]); err == nil {
			t.Errorf("%q is text", c[0])
		}
	}
}

func TestJ8_xpath(t *testing.T) {
	t.Parallel()
	const document = `<a><b>1</b><b k="x">2</b><c xmlns="u">3</c><d/></a>`
	namespaces := []mockbase.NamedText{{Name: "n", Text: "u"}}
	for expression, want := range map[string]body.XPathResult{
		"/a/b":                    {Values: []string{"1", "2"}, Holds: true},
		"//z":                     {},
		"count(/a/b)":             {Values: []string{"2"}, Holds: true},
		"count(//z)":              {Values: []string{"0"}},
		"number('x')":             {Values: []string{"NaN"}},
		"string(/a/d)":            {Values: []string{""}},
		"string(/a/b[2]/@k)":      {Values: []string{"x"}, Holds: true},
		"/a/b/@k":                 {Values: []string{"x"}, Holds: true},
		"//n:c":                   {Values: []string{"3"}, Holds: true},
		"//c":                     {},
		"boolean(//b)":            {Values: []string{"true"}, Holds: true},
		"1 div 4":                 {Values: []string{"0.25"}, Holds: true},
		"1 div 0":                 {Values: []string{"Infinity"}, Holds: true},
		"-1 div 0":                {Values: []string{"-Infinity"}, Holds: true},
		"/a/d":                    {Values: []string{""}, Holds: true},
		"//b[. = '(']":            {},
		"name(//n:c)":             {Values: []string{"c"}, Holds: true},
		"//*[local-name() = 'c']": {Values: []string{"3"}, Holds: true},
	} {
		got, err := body.EvaluateXPath(expression, document, namespaces)
		if err != nil || strings.Join(got.Values, "|") != strings.Join(want.Values, "|") || got.Holds != want.Holds {
			t.Errorf("%s: %+v, %v", expression, got, err)
		}
	}
	for expression, want := range map[string]string{
		"//a[":                           "column 5",
		"a b":                            "column",
		"a) (b":                          "column 2",
		"//x:a":                          "column",
		"'open":                          "column 1",
		"":                               "column 1",
		"foo()":                          "column",
		"a[(b])":                         "column 5",
		strings.Repeat("a/", 3000) + "a": "the expression is longer",
	} {
		if _, err := body.EvaluateXPath(expression, document, nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", expression, err, want)
		}
	}
}

func TestJ8_an_expression_cannot_stall_the_server(t *testing.T) {
	t.Parallel()
	document := "<r>" + strings.Repeat("<a><b><c/></b></a>", 3000) + "</r>"
	for _, expression := range []string{"//*//*//*//*", "count(//*[count(//*[count(//*)>1])>1])", "//*[//*[//*=1]=2]"} {
		testkit.Bounded(t, time.Minute, func() { _, _ = body.EvaluateXPath(expression, document, nil) })
	}
}

func FuzzXMLEquality(f *testing.F) {
	f.Add(`<a:r xmlns:a="u"><b x="1" y='2'/> t <![CDATA[c]]></a:r>`, `<r xmlns="u"/>`)
	f.Add(`<r><a/><b>&lt;</b></r>`, `<?xml version="1.0"?><r><b>&#60;</b><a/></r>`)
	f.Fuzz(func(t *testing.T, x, y string) {
		for _, o := range []mockbase.XMLOptions{{}, {IgnoreOrder: true}, {TrimText: true}, {IgnoreOrder: true, TrimText: true}} {
			// Rule J6: a document equals itself under every option.
			if equal, where, err := body.EqualXML(x, x, o); err == nil && !equal {
				t.Errorf("%q differs from itself at %s under %+v", x, where, o)
			}
			forward, where, err := body.EqualXML(x, y, o)
			if err != nil {
				continue
			}
			if backward, _, _ := body.EqualXML(y, x, o); forward != backward {
				t.Errorf("%q and %q: %v and %v", x, y, forward, backward)
			}
			if !forward && where == "" {
				t.Errorf("%q and %q differ nowhere", x, y)
			}
		}
	})
}

func FuzzXPath(f *testing.F) {
	f.Add("//a[@x='1']", `<r><a x="1"/></r>`)
	f.Add("count(/a/b) = 4", "<a/>")
	f.Fuzz(func(t *testing.T, expression, document string) {
		testkit.Bounded(t, 10*time.Second, func() { _, _ = body.EvaluateXPath(expression, document, nil) })
	})
}
