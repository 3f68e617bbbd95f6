package mockbase_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/internal/testkit"
)

// parsed returns the value as compact JSON, or the faults of the text.
func parsed(src string, f mockbase.Format, lim mockbase.ParseLimits) string {
	n, err := mockbase.ParseNode([]byte(src), f, lim)
	if e, ok := errors.AsType[*mockbase.Error](err); ok {
		return string(faultLines(e.Fields))
	}
	return string(n.JSON())
}

func TestY4_what_was_written_comes_back_as_it_was(t *testing.T) {
	t.Parallel()
	same := []string{
		`{"z":1,"a":2}`, `2.50`, `1e400`, `-0`, `0.1`, `1E+5`, `9007199254740993`, `"<&>"`, "\"\u2028\"", `"a\"\\\n\t\b\f\r"`,
		`"\u0000\u001f"`, `""`, `null`, `true`, `false`, `[]`, `{}`, `[[],{"":{}}]`, `"é"`, "\"\x7f\"", "\"\ufffd\"",
	}
	for _, text := range same {
		if got := parsed(text, mockbase.FormatJSON, mockbase.ParseLimits{}); got != text {
			t.Errorf("%s comes back as %s", text, got)
		}
	}
	changed := map[string]string{
		"\ufeff{ \"a\" :\t1 }\r\n": `{"a":1}`, `"\u00e9\/\ud83d\ude00"`: `"é/😀"`, `"\ufffd"`: "\"\ufffd\"",
	}
	for text, want := range changed {
		if got := parsed(text, mockbase.FormatJSON, mockbase.ParseLimits{}); got != want {
			t.Errorf("%s comes back as %s, want %s", text, got, want)
		}
	}
}

func TestParseJSONRefusesWhatIsNoJSON(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, text, want string }{
		{"nothing", " \n ", `2:2: #: the text is empty`},
		{"NaN", `[NaN]`, `1:2: #: expected a value, found "NaN"`},
		{"Infinity", `-Infinity`, `1:1: #: "-Infinity" is no JSON number`},
		{"a plus sign", `+1`, `1:1: #: expected a value, found "+"`},
		{"a leading zero", `[01]`, `1:2: #: "01" is no JSON number`},
		{"no digit behind the point", `1.`, `1:1: #: "1." is no JSON number`},
		{"no digit before the point", `.5`, `1:1: #: expected a value, found "."`},
		{"no exponent", `1e+`, `1:1: #: "1e+" is no JSON number`},
		{"two signs in an exponent", `1e-+5`, `1:1: #: "1e-+5" is no JSON number`},
		{"a hexadecimal number", `0x1f`, `1:1: #: "0x1f" is no JSON number`},
		{"another word", `True`, `1:1: #: expected a value, found "True"`},
		{"a word that goes on", `truex`, `1:1: #: expected a value, found "truex"`},
		{"single quotes", `{'a':1}`, `1:2: #: expected a key in double quotes, found ', where JSON has double quotes`},
		{"a key without quotes", `{a:1}`, `1:2: #: expected a key in double quotes, found "a"`},
		{"a comment", "{\n // x\n}", `2:2: #: expected a key in double quotes, found a comment, which JSON does not have`},
		{"a comma at the end of a list", `[1,]`, `1:4: #: expected another item behind the comma, found "]"`},
		{"a comma at the end of an object", `{"a":1,}`, `1:8: #: expected another member behind the comma, found "}"`},
		{"two values", `{} {}`, `1:4: #: one value is enough, found "{" behind it`},
		{"no colon", `{"a" 1}`, `1:6: #: expected a colon behind the key "a", found "1"`},
		{"no comma in a list", "[1\n 2]", `2:2: #: expected a comma or ] behind the item, found "2"`},
		{"no comma in an object", `{"é":"é" "b":2}`, `1:10: #: expected a comma or } behind the member, found "\""`},
		{"the end of a list", `[1`, `1:3: #: expected a comma or ] behind the item, found the end of the text`},
		{"the end of a text", `["é`, `1:2: #: the text is never closed with a double quote`},
		{"the end of an escape", `"\`, `1:2: #: "\\" is no escape of JSON: write two backslashes for a literal one`},
		{"a wrong escape", `"a\x"`, `1:3: #: "\\x" is no escape of JSON: write two backslashes for a literal one`},
		{"half an escape", `"\u00"`, `1:2: #: the escape is no character: write four hexadecimal digits, and both halves of a pair`},
		{"half a pair", `"\ud83d"`, `1:2: #: the escape is no character: write four hexadecimal digits, and both halves of a pair`},
		{"the other half", `"\ude00"`, `1:2: #: the escape is no character: write four hexadecimal digits, and both halves of a pair`},
		{"a pair of wrong halves", `"\ud83d\u0041"`, `1:2: #: the escape is no character: write four hexadecimal digits, and both halves of a pair`},
		{"a line break in a text", "[\"a\nb\"]", `1:4: #: a text holds the control character U+000A: write it as an escape`},
		{"a NUL", "[\x00]", `1:2: #: expected a value, found the control character U+0000`},
		{"a byte that is no UTF-8", "[\"é\xff\"]", `1:4: #: the byte 0xff is not UTF-8: save the text as UTF-8`},
		{"UTF-16", "\xff\xfe[\x00]\x00", `1:1: #: the byte 0xff is not UTF-8: save the text as UTF-8`},
		{"a surrogate in UTF-8", "\"\xed\xa0\x80\"", `1:2: #: the byte 0xed is not UTF-8: save the text as UTF-8`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got, want := parsed(c.text, mockbase.FormatJSON, mockbase.ParseLimits{}), c.want+" [syntax]\n"; got != want {
				t.Errorf("got  %swant %s", got, want)
			}
		})
	}
}

func TestM8_a_key_given_twice_is_an_error(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 50 {
		fmt.Fprintf(&many, `"k%d":1,`, i)
	}
	cases := []struct {
		name, text string
		f          mockbase.Format
		want       string
	}{
		{"in JSON", `{"a":1,"b":{"c":1,"c":2},"a":3}`, mockbase.FormatJSON, "" +
			"1:19: #/b/c: the key \"c\" is given twice, first in line 1, column 13 [duplicate_key]\n" +
			"1:26: #/a: the key \"a\" is given twice, first in line 1, column 2 [duplicate_key]\n"},
		{"by another spelling", `{"a":1,"\u0061":2}`, mockbase.FormatJSON, "" +
			"1:8: #/a: the key \"a\" is given twice, first in line 1, column 2 [duplicate_key]\n"},
		{"in a large object", "{" + many.String() + `"k49":2}`, mockbase.FormatJSON, "" +
			"1:392: #/k49: the key \"k49\" is given twice, first in line 1, column 384 [duplicate_key]\n"},
		{"in YAML", "a: 1\nb: {c: 1, c: 2}\na: 3\n", mockbase.FormatYAML, "" +
			"2:11: #/b/c: the key \"c\" is given twice, first in line 2, column 5 [duplicate_key]\n" +
			"3:1: #/a: the key \"a\" is given twice, first in line 1, column 1 [duplicate_key]\n"},
		{"once with quotes", "1: a\n'1': b\n", mockbase.FormatYAML, "" +
			"2:1: #/1: the key \"1\" is given twice, first in line 1, column 1 [duplicate_key]\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, parsed(c.text, c.f, mockbase.ParseLimits{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestM9_a_text_is_bounded(t *testing.T) {
	t.Parallel()
	limits := mockbase.ParseLimits{Bytes: 1 << 10, Depth: 3, Values: 20, Aliases: 2}
	cases := []struct {
		name, text string
		f          mockbase.Format
		want       string
	}{
		{"bytes", strings.Repeat(" ", 1025), mockbase.FormatJSON, "0:0: #: the text has 1025 bytes, at most 1024 are read"},
		{"depth in JSON", `[[[1]]]`, mockbase.FormatJSON, ""},
		{"more depth in JSON", `[[[[]]]]`, mockbase.FormatJSON, "1:4: #: more than 3 objects and lists inside one another"},
		{"depth in YAML", `[[[1]]]`, mockbase.FormatYAML, ""},
		{"more depth in YAML", "- - -\n    - {}\n", mockbase.FormatYAML, "2:7: #: more than 3 objects and lists inside one another"},
		{"values in JSON", `[` + strings.Repeat("1,", 19) + `1]`, mockbase.FormatJSON, "1:40: #: the text has more than 20 values"},
		{"values in YAML", `[` + strings.Repeat("1,", 19) + `1]`, mockbase.FormatYAML, "1:40: #: the text has more than 20 values"},
		{"many values in YAML", strings.Repeat("-\n", 21), mockbase.FormatYAML, "0:0: #: the text has more than 20 values"},
		{"aliases", "a: &x 1\nb: [*x, *x]\n", mockbase.FormatYAML, ""},
		{"more aliases", "a: &x 1\nb: [*x, *x, *x]\n", mockbase.FormatYAML, "2:13: #: more than 2 aliases are expanded"},
		{"what aliases bring", "a: &x " + strings.Repeat("y", 600) + "\nb: [*x, *x]\n", mockbase.FormatYAML, "1:4: #: aliases expand to more than 1024 bytes"},
		{"values that aliases bring", "a: &x [1,2,3,4,5]\nb: [*x, *x]\n", mockbase.FormatYAML, "1:14: #: the text has more than 20 values"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := parsed(c.text, c.f, limits)
			if c.want == "" && json.Valid([]byte(got)) {
				return
			}
			if want := c.want + " [limit]\n"; got != want {
				t.Errorf("got  %swant %s", got, want)
			}
		})
	}
}

func TestM9_ten_thousand_nested_lists_are_refused_at_once(t *testing.T) {
	t.Parallel()
	for _, f := range []mockbase.Format{mockbase.FormatJSON, mockbase.FormatYAML} {
		for _, text := range []string{strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999), strings.Repeat("[", 1_000_000)} {
			var got string
			testkit.Bounded(t, 10*time.Second, func() { got = parsed(text, f, mockbase.ParseLimits{}) })
			if !strings.HasSuffix(got, "[limit]\n") {
				t.Errorf("%s: got %s", f, got)
			}
		}
	}
}

func TestPlacesCountCharacters(t *testing.T) {
	t.Parallel()
	cases := map[mockbase.Format]string{
		mockbase.FormatJSON: "{\"é😀\": [1,\r\n\t{\"b\": \"x\"}]}",
		mockbase.FormatYAML: "{\"é😀\": [1,\r\n  {\"b\": \"x\"}]}",
	}
	for f, text := range cases {
		n, err := mockbase.ParseNode([]byte(text), f, mockbase.ParseLimits{})
		if err != nil {
			t.Fatal(err)
		}
		list := n.Find("é😀")
		inner := list.Items[1]
		column := map[mockbase.Format]int{mockbase.FormatJSON: 2, mockbase.FormatYAML: 3}[f]
		got := []int{
			n.Line, n.Column, n.Members[0].Line, n.Members[0].Column, list.Line, list.Column, list.Items[0].Column,
			inner.Line, inner.Column, inner.Members[0].Column, inner.Members[0].Value.Column,
		}
		want := []int{1, 1, 1, 2, 1, 8, 9, 2, column, column + 1, column + 6}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", f, diff)
		}
	}
}

func TestFindReturnsNilForWhatIsNotThere(t *testing.T) {
	t.Parallel()
	n, err := mockbase.ParseNode([]byte(`{"a":null}`), mockbase.FormatJSON, mockbase.ParseLimits{})
	if err != nil {
		t.Fatal(err)
	}
	if n.Find("a") == nil || n.Find("a").Kind != mockbase.NodeNull || n.Find("b") != nil {
		t.Error("Find is wrong")
	}
}

func FuzzParseJSON(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,2.50,true,null,"x\u00e9\n"]}`, `[[[[]]]]`, `{"a":1,"a":2}`, `1e400`, `"\ud83d\ude00"`, "\ufeff{}", `[1,]`, `{"a"`, "\xff", `"\`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		n, err := mockbase.ParseNode(src, mockbase.FormatJSON, mockbase.ParseLimits{})
		if err != nil {
			checkFaults(t, src, err)
			return
		}
		// Whatever is accepted is JSON to the standard library too, up to a byte order mark, and a fixed point.
		if !json.Valid(src) && !strings.HasPrefix(string(src), "\ufeff") {
			t.Fatalf("%q is accepted", src)
		}
		checkFixedPoint(t, n)
	})
}

// checkFaults holds the error of a text to its form.
func checkFaults(tb testing.TB, src []byte, err error) {
	tb.Helper()
	e, ok := errors.AsType[*mockbase.Error](err)
	if !ok {
		tb.Fatalf("%q: error is %#v", src, err)
	}
	if len(e.Fields) == 0 || len(e.Fields) > mockbase.MaxFieldErrors || e.Message == "" {
		tb.Fatalf("%q: %d faults, message %q", src, len(e.Fields), e.Message)
	}
	lines := strings.Count(string(src), "\n") + strings.Count(string(src), "\r") + 2
	for i, f := range e.Fields {
		if !strings.HasPrefix(f.Pointer, "#") || f.Code == "" || f.Detail == "" || f.Line > lines || (f.Line == 0) != (f.Column == 0) {
			tb.Fatalf("%q: fault %d is %+v", src, i, f)
		}
	}
}

// checkFixedPoint holds a value to itself written as JSON and YAML and read again.
func checkFixedPoint(tb testing.TB, n *mockbase.Node) {
	tb.Helper()
	text := n.JSON()
	again, err := mockbase.ParseNode(text, mockbase.FormatJSON, mockbase.ParseLimits{})
	if err != nil || string(again.JSON()) != string(text) {
		tb.Fatalf("%s comes back from JSON otherwise: %v", text, err)
	}
	written, err := mockbase.EncodeMockYAML(text)
	if err != nil {
		tb.Fatalf("%s cannot be written as YAML: %v", text, err)
	}
	again, err = mockbase.ParseNode(written, mockbase.FormatYAML, mockbase.ParseLimits{})
	if err != nil {
		tb.Fatalf("%s cannot be read from YAML: %v\n%s", text, err, written)
	}
	if got := again.JSON(); string(got) != string(text) {
		tb.Fatalf("%s comes back from YAML as %s\n%s", text, got, written)
	}
}
