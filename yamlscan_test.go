package mockbase_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
)

func TestM5_a_wrong_bracket_is_named_at_its_place(t *testing.T) {
	t.Parallel()
	const (
		list    = "the list that begins here with [ is never closed"
		object  = "the object that begins here with { is never closed"
		follows = "nothing can follow the value in brackets: check the brackets, or put a text that begins with one in quotes"
		noText  = "{ cannot follow here: put a text that holds one in quotes, or a comma before it"
		comma   = "a comma is missing before this value"
		colon   = "a second colon cannot follow here: put a text that holds one in quotes, or check the commas and brackets"
	)
	head := "mocks:\n  - request: GET /a\n"
	cases := []struct{ name, text, want string }{
		{"a list in the first line", "mocks: [", "1:8: #: " + list},
		{"a list with a value", `addr: ["a"`, "1:7: #: " + list},
		{"an object at the start", "{", "1:1: #: " + object},
		{"an object at the end", head + "    response: { text: a\n", "3:15: #: " + object},
		{"the other bracket", head + "    response: {json: {a: [1, 2}}\n", "3:31: #: } does not close the [ in line 3, column 26"},
		{"the other bracket of a list", "a: [{b: 1]\n", "1:10: #: ] does not close the { in line 1, column 5"},
		{"a variable without quotes", head + "    response: {text: ${NOPE}}\n", "3:23: #: " + noText},
		{"a list before the next key", "a: [1, 2\nb: 3\nc: 4\n", "1:4: #: " + list},
		{"a comma before the next key", "a: [1, 2,\nb: [3]\nc: }\n", "1:4: #: " + list},
		{"an object before the next item", "mocks:\n  - { request: GET /a, response: { text: a }\n  - { request: GET /b, response: {} }\n", "2:5: #: " + object},
		{"an inner object before the next item", "mocks:\n  - { request: GET /a, response: { text: a\n  - { request: GET /b, response: {} }\n", "2:34: #: " + object},
		{"the inner of two", "a: {b: {c: 1\n", "1:8: #: " + object},
		{"one too many", "a: {b: 1}}\n", "1:10: #: " + follows},
		{"one alone", "a: 1\nb: ]\n", "2:4: #: ] closes nothing: put a text that begins with it in quotes"},
		{"a text that begins with braces", "a: {{b}} c\n", "1:10: #: " + follows},
		{"a template in an object", "a: {b: x {{c}}}\n", "1:10: #: " + noText},
		{"no comma between quotes", "a: [\"b\" 'c']\n", "1:9: #: " + comma},
		{"no comma between objects", "a:\n  - [{b: 1}\n     {c: 2}]\n", "3:6: #: " + noText},
		{"two colons in brackets", "a: {b: c: d}\n", "1:9: #: " + colon},
		{"brackets in quotes", "a: \"[{\\\"\"\nb: '[{'''\nc: [\n", "3:4: #: " + list},
		{"brackets in comments", "# [{\na: 1 # [{\nb: [1, # ]}\n", "3:4: #: " + list},
		{"brackets in a block", "a: |\n  [{\n\n  \"\nb: >-\n  }]\nc:\n  - d: |2\n      [\n    e: [\n", "10:8: #: " + list},
		{"brackets in plain texts", "a: b[{ it's\n  [c\nd: e]}\nf: [\n", "4:4: #: " + list},
		{"an apostrophe in brackets", "a: [it's, b 'c\n  'd]\ne: {\n", "3:4: #: " + object},
		{"brackets behind an anchor and a tag", "a: &x !!seq [1, *x\n", "1:13: #: " + list},
		{"characters of several bytes", "ä: {é: 😀, [\n", "1:11: #: " + list},
		{"DOS line ends", "a: [1]\r\nb: {\r\n", "2:4: #: " + object},
		{"keys in quotes", "{\"a\":1,\"b\":[{\"c\":{}]}\n", "1:20: #: ] does not close the { in line 1, column 13"},
		{"a line of an object at the margin", "a: {\nb: 1,\nc: [2}\n}\n", "1:4: #: " + object},
		{"a colon in a block after a right list", "a: [1]\nb: c: d\n", "2:5: #: a colon cannot follow here: put a text that holds one in quotes, or check the indentation"},
		{"another fault before it", "a: @x\nb: [\n", `1:4: #: "@" cannot begin a value: put the value in quotes`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want+" [syntax]\n", parsed(c.text, mockbase.FormatYAML, mockbase.ParseLimits{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestM9_any_depth_of_YAML_is_the_same_fault(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, unit, end, place string
	}{
		{"lists", "[", "]", "1:101"},
		{"objects", "{a: ", "}", "1:401"},
		{"both", "[{a: ", "}]", "1:251"},
		{"block lists", "- ", "", "1:201"},
	}
	for _, c := range cases {
		for _, n := range []int{101, 9_000, 10_001, 50_000} {
			want := c.place + ": #: more than 100 objects and lists inside one another [limit]\n"
			text := strings.Repeat(c.unit, n) + "1" + strings.Repeat(c.end, n)
			if got := parsed(text, mockbase.FormatYAML, mockbase.ParseLimits{}); got != want {
				t.Errorf("%d %s: got %.200s", n, c.name, got)
			}
		}
	}
	var keys strings.Builder
	for i := range 150 {
		keys.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	want := "101:101: #: more than 100 objects and lists inside one another [limit]\n"
	if got := parsed(keys.String(), mockbase.FormatYAML, mockbase.ParseLimits{}); got != want {
		t.Errorf("keys: got %.200s", got)
	}
}

func TestNoBracketOfARightTextIsWrong(t *testing.T) {
	t.Parallel()
	files := definitionFiles(t, "valid")
	for _, pattern := range []string{"testdata/definitions/encoded/*.yaml", "examples/*.yaml", "examples/*/*.yaml", "compose.yaml", "docs/*.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		if wrong := mockbase.WrongBracket(readFile(t, file)); wrong != "" {
			t.Errorf("%s: %s", file, wrong)
		}
	}
	for _, text := range []string{
		"a: [b c\n  d, 'e''f', \"g\\\"]\": h, &j !!str k, *j]\nl: {}\n", "- [a]\n- - {b: c,\n d: e}\n",
		"--- [a,\nb]\n...\n", "a: |-\n\n  [\n # no comment\nb: x}\n", "a: b\n  - c [\nd: e\n", "a:\n  - b\n   [\n  - c\n", "[\"a\":1, {b::c, d:}]\n",
		"a: \"b\n  [c\n\n  \\\n  d\"\n", "a: # [\n  b # {\n", "a: [ # [\n  b, # ]\n  c#d\n  ]\n", "a: &b\n  [c]\nd: !!map {}\n",
	} {
		_, err := mockbase.ParseNode([]byte(text), mockbase.FormatYAML, mockbase.ParseLimits{})
		if wrong := mockbase.WrongBracket([]byte(text)); wrong != "" || err != nil {
			t.Errorf("%q: %s, error %v", text, wrong, err)
		}
	}
}
