package jsonvalue_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/engine/jsonvalue"
	"github.com/mockbase/mockbase/internal/testkit"
)

func parse(tb testing.TB, text string) *jsonvalue.Value {
	tb.Helper()
	v, err := jsonvalue.Parse([]byte(text), jsonvalue.Limits{})
	if err != nil {
		tb.Fatalf("%.80q: %v", text, err)
	}
	return v
}

func TestParseKeepsWhatWasWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		` { "b" : 1.50 , "a" : [ true , null , -0 , 1E+2 ] } `: `{"b":1.50,"a":[true,null,-0,1E+2]}`,
		`"\u00e9\/\n\u0001<\ud83d\ude00"`:                      `"é/\n\u0001<😀"`,
		`"\ud800 \udfffx \ud800\ud83d\ude00"`:                  `"\ud800 \udfffx \ud800😀"`,
		`{}`:                                                   `{}`,
		`[[],{}]`:                                              `[[],{}]`,
		`1e1000000000`:                                         `1e1000000000`,
		"\"\xff\xed\xa0\xbd\xed\xb8\x80\"":                     "\"\xff\xed\xa0\xbd\xed\xb8\x80\"",
	} {
		v := parse(t, text)
		if got := v.String(); got != want {
			t.Errorf("%q is written as %q, want %q", text, got, want)
		}
		if again := parse(t, v.String()); !jsonvalue.Equal(v, again) {
			t.Errorf("%q: what is written does not equal what was read", text)
		}
	}
}

func TestG12_invalid_JSON_has_a_place(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{a:1}`:                            "1:2: a name in double quotes is expected",
		``:                                 "1:1: the text ends where a value is expected",
		` `:                                "1:2: the text ends where a value is expected",
		`{} x`:                             "1:4: something follows the document",
		`1 2`:                              "1:3: something follows the document",
		"[1,\n 2 // two\n]":                "2:4: a comma or ] is expected",
		"{\n\"é\": NaN}":                   "2:6: a value is expected",
		`[1,]`:                             "1:4: a value is expected",
		`{"a":1,}`:                         "1:8: a name in double quotes is expected",
		`{"a" 1}`:                          "1:6: a colon is expected",
		`[1`:                               "1:3: the text ends before ]",
		`{"a":1`:                           "1:7: the text ends before }",
		`"a`:                               "1:3: the text ends before a closing double quote",
		`"a\n`:                             "1:5: the text ends before a closing double quote",
		`"a\x"`:                            "1:3: this is no escape of JSON",
		`"a\u12G4"`:                        "1:3: this is no escape of JSON",
		`"a\`:                              "1:3: this is no escape of JSON",
		"\"a\tb\"":                         "1:3: a control character must be written as an escape",
		"\"\\n\t\"":                        "1:4: a control character must be written as an escape",
		`01`:                               "1:1: this is no number of JSON",
		`-`:                                "1:1: this is no number of JSON",
		`1.`:                               "1:1: this is no number of JSON",
		`[1e]`:                             "1:2: this is no number of JSON",
		`[+1]`:                             "1:2: a value is expected",
		`0x10`:                             "1:1: this is no number of JSON",
		`Infinity`:                         "1:1: a value is expected",
		`'a'`:                              "1:1: a value is expected",
		"\xFE\xFF\x00":                     "1:1: the text ends within a character",
		"\xFF\xFE\x00\x00\x01":             "1:1: the text ends within a character",
		"\x00\x00\xFE\xFF\x7F\xFF\xFF\xFF": "1:1: this is no character",
	} {
		_, err := jsonvalue.Parse([]byte(text), jsonvalue.Limits{})
		syntax, ok := errors.AsType[*jsonvalue.SyntaxError](err)
		if !ok {
			t.Errorf("%q: %v, want a syntax error", text, err)
			continue
		}
		if diff := cmp.Diff("invalid JSON at "+want, syntax.Error()); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestG14_more_than_ten_thousand_levels_are_too_deep(t *testing.T) {
	t.Parallel()
	testkit.Bounded(t, 10*time.Second, func() {
		if _, err := jsonvalue.Parse([]byte(strings.Repeat("[", 10_001)), jsonvalue.Limits{}); !errors.Is(err, jsonvalue.ErrTooDeep) {
			t.Errorf("10,001 levels: %v", err)
		}
	})
	nested := strings.Repeat(`{"a":[`, 5_000) + strings.Repeat("]}", 5_000)
	if v := parse(t, nested); v.String() != nested {
		t.Error("10,000 levels are not what was written")
	}
	if _, err := jsonvalue.Parse([]byte("[[1]]"), jsonvalue.Limits{Depth: 1}); !errors.Is(err, jsonvalue.ErrTooDeep) {
		t.Errorf("2 levels of 1: %v", err)
	}
	if _, err := jsonvalue.Parse([]byte("[1,2]"), jsonvalue.Limits{Values: 2}); !errors.Is(err, jsonvalue.ErrTooLarge) {
		t.Errorf("3 values of 2: %v", err)
	}
}

func TestF6_a_byte_order_mark_says_how_the_text_is_coded(t *testing.T) {
	t.Parallel()
	const text = `{"a":"é😀"}`
	wide := func(order func([]byte, uint32) []byte, mark string) []byte {
		out := []byte(mark)
		for _, r := range text {
			out = order(out, uint32(r))
		}
		return out
	}
	units := func(order func([]byte, uint16) []byte, mark string) []byte {
		out := []byte(mark)
		for _, u := range utf16.Encode([]rune(text)) {
			out = order(out, u)
		}
		return out
	}
	for name, src := range map[string][]byte{
		"":         []byte(text),
		"UTF-8":    []byte("\xEF\xBB\xBF" + text),
		"UTF-16BE": units(func(b []byte, u uint16) []byte { return append(b, byte(u>>8), byte(u)) }, "\xFE\xFF"),
		"UTF-16LE": units(func(b []byte, u uint16) []byte { return append(b, byte(u), byte(u>>8)) }, "\xFF\xFE"),
		"UTF-32BE": wide(func(b []byte, u uint32) []byte { return append(b, byte(u>>24), byte(u>>16), byte(u>>8), byte(u)) }, "\x00\x00\xFE\xFF"),
		"UTF-32LE": wide(func(b []byte, u uint32) []byte { return append(b, byte(u), byte(u>>8), byte(u>>16), byte(u>>24)) }, "\xFF\xFE\x00\x00"),
	} {
		if got := jsonvalue.Encoding(src); got != name {
			t.Errorf("encoding %q, want %q", got, name)
		}
		if got := parse(t, string(src)).String(); got != text {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := parse(t, "\xFE\xFF\x00\"\xD8\x00\x00\"").String(); got != `"\ud800"` {
		t.Errorf("half of a pair in UTF-16 is %s", got)
	}
}

func TestG11_the_last_of_a_name_given_twice_counts(t *testing.T) {
	t.Parallel()
	v := parse(t, `{"a":1,"b":0,"a":2}`)
	if a, ok := v.Member("a"); !ok || a.Text() != "2" || v.Len() != 2 || v.Duplicate() != "a" {
		t.Errorf("a is %v of %d members, twice: %q", a, v.Len(), v.Duplicate())
	}
	if got := v.String(); got != `{"b":0,"a":2}` {
		t.Errorf("written as %s", got)
	}
	if !jsonvalue.Equal(v, parse(t, `{"a":2,"b":0}`)) {
		t.Error("it does not equal the object with the last value")
	}
	many := "{" + strings.Repeat(`"x":1,`, 40) + `"y":2,"x":3}`
	if x, ok := parse(t, many).Member("x"); !ok || x.Text() != "3" || parse(t, many).Len() != 2 {
		t.Error("the last of many does not count")
	}
	for text, want := range map[string]string{
		`[{"a":{"b":1,"b":2}}]`: "b",
		`{"":1,"":2}`:           `""`,
		`[{"a":1},{"a":2}]`:     "",
		`7`:                     "",
	} {
		if got := parse(t, text).Duplicate(); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestValuesTellWhatTheyAre(t *testing.T) {
	t.Parallel()
	v := parse(t, `{"n":null,"b":true,"i":1,"s":"x","a":[1,2],"o":{}}`)
	var got []string
	for name, member := range v.Members() {
		got = append(got, name+" "+member.Kind().String()+" "+member.Text())
	}
	want := []string{"n null ", "b boolean ", "i number 1", "s string x", "a array ", "o object "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	a, _ := v.Member("a")
	if a.Len() != 2 || a.Item(1).Text() != "2" {
		t.Errorf("a has %d items", a.Len())
	}
	if b, _ := v.Member("b"); !b.Bool() {
		t.Error("b is not true")
	}
	if _, ok := v.Member("z"); ok {
		t.Error("z is there")
	}
	if _, ok := a.Member("0"); ok {
		t.Error("an array has a member")
	}
	if jsonvalue.Kind(99).String() != "unknown" {
		t.Error("kind 99 has a name")
	}
	for range a.Members() {
		t.Error("an array has members")
	}
	for range v.Items() {
		t.Error("an object has items")
	}
	for range v.Members() {
		break
	}
	for i := range a.Items() {
		if i == 0 {
			break
		}
	}
}
