package mockbase_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/internal/testkit"
)

func TestYAMLIsReadAsVersion12(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, text, want string }{
		{"no, off and yes are text", "[no, No, off, yes, y, n, on]", `["no","No","off","yes","y","n","on"]`},
		{"booleans", "[true, True, TRUE, false, False, FALSE]", `[true,true,true,false,false,false]`},
		{"nothing", "[~, null, Null, NULL]", `[null,null,null,null]`},
		{"an empty value", "a:\nb: 1\n", `{"a":null,"b":1}`},
		{"quotes make text", `["true", 'null', "7", '']`, `["true","null","7",""]`},
		{"numbers keep their text", "[2.50, 1e3, -0, 1E+400, 9007199254740993]", `[2.50,1e3,-0,1E+400,9007199254740993]`},
		{"numbers that JSON does not know", "[+1, .5, 5., -.5, +1.5e3, 5.e3]", `[1,0.5,5,-0.5,1.5e3,5e3]`},
		{"hexadecimal and octal", "[0x1F, 0o17, 0xffffffffffffffffff]", `[31,15,4722366482869645213695]`},
		{"with a sign they are text", "[-0x1F, +0o17, 0xg, 0o8, 0x]", `["-0x1F","+0o17","0xg","0o8","0x"]`},
		{"binary and underscores are text", "[0b101, 1_000]", `["0b101","1_000"]`},
		{"base sixty is text", "[1:30, 12:30:45]", `["1:30","12:30:45"]`},
		{"times are text", "[2026-01-31, 2026-01-31T12:00:00Z]", `["2026-01-31","2026-01-31T12:00:00Z"]`},
		{"what only begins like a number is text", "[1.2.3, 5/10s, 7d, 1e, 007bond, '+', +-1, -]", `["1.2.3","5/10s","7d","1e","007bond","+","+-1","-"]`},
		{"dots are text", "[., .., .a, +.nan]", `[".","..",".a","+.nan"]`},
		{"keys have their own spelling", "200: a\ntrue: b\n1.50: c\n~: d\nno: e\n", `{"200":"a","true":"b","1.50":"c","~":"d","no":"e"}`},
		{"an empty key has quotes", `"": 1`, `{"":1}`},
		{"a block of lines", "a: |\n  x\n   y\n", `{"a":"x\n y\n"}`},
		{"a folded block", "a: >-\n  x\n  y\n", `{"a":"x y"}`},
		{"an anchor and its alias", "a: &x [1, {b: 2}]\nc: *x\n", `{"a":[1,{"b":2}],"c":[1,{"b":2}]}`},
		{"a tag that says what it is anyway", "[!!str 7, !!int 7, !!float 7, !!float 1.5, !!bool true, !!null '', !!null ~, !!str a]", ""},
		{"text by tag", "[!!str 7, !!str true, !!str 'x']", `["7","true","x"]`},
		{"the start and the end of a document are no second one", "---\na: 1\n...\n", `{"a":1}`},
		{"a byte order mark", "\ufeffa: 1\n", `{"a":1}`},
		{"its version", "%YAML 1.2\n---\na: no\n", `{"a":"no"}`},
		{"its version with a comment", "# c\n%YAML  1.2 # d\r\n# e\n--- # f\na: 1\n", `{"a":1}`},
		{"DOS line ends", "a: 1\r\nb: 2\r\n", `{"a":1,"b":2}`},
		{"JSON is YAML", `{"a":[1,"\u00e9",null]}`, `{"a":[1,"é",null]}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.want == "" {
				return
			}
			if diff := cmp.Diff(c.want, parsed(c.text, mockbase.FormatYAML, mockbase.ParseLimits{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestYAMLMergeKeys(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, text, want string }{
		{"what the object lacks is added in place", "x: &x {a: 1, b: 2}\ny: {c: 3, <<: *x, d: 4}\n", `{"x":{"a":1,"b":2},"y":{"c":3,"a":1,"b":2,"d":4}}`},
		{"its own keys win before and behind", "x: &x {a: 1, b: 2}\ny: {a: 3, <<: *x, b: 4}\n", `{"x":{"a":1,"b":2},"y":{"a":3,"b":4}}`},
		{"the first of several wins", "x: &x {a: 1}\nz: &z {a: 2, b: 2}\ny: {<<: [*x, *z]}\n", `{"x":{"a":1},"z":{"a":2,"b":2},"y":{"a":1,"b":2}}`},
		{"an object in place", "y: {<<: {a: 1}, b: 2}\n", `{"y":{"a":1,"b":2}}`},
		{"in quotes it is a key", `y: {"<<": 1}`, `{"y":{"<<":1}}`},
		{"twice is too often", "y: {<<: {a: 1}, <<: {b: 1}}\n", "1:17: #: the key << is given twice: write << with a list of aliases [duplicate_key]\n"},
		{"a scalar cannot be merged", "y: {<<: 7}\n", "1:9: #: << merges objects, found 7 [syntax]\n"},
		{"nor a list of scalars", "y: {<<: [7]}\n", "1:9: #: << merges objects, found 7 [syntax]\n"},
		{"a key of its own twice stays an error", "y: {<<: {a: 1}, a: 2, a: 3}\n", "1:23: #/y/a: the key \"a\" is given twice, first in line 1, column 17 [duplicate_key]\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, parsed(c.text, mockbase.FormatYAML, mockbase.ParseLimits{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestYAMLRefusesWhatItCannotMean(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, text, want string }{
		{"nothing", "", "1:1: #: the document is empty"},
		{"comments alone", "# a\n", "1:1: #: the document is empty"},
		{"a second document", "a: 1\n---\nb: 2\n", "2:1: #: a second document begins here: put each into a file of its own"},
		{"a broken second document", "a: 1\n---\nb: [\n", "3:4: #: the list that begins here with [ is never closed"},
		{"a tab as indentation", "a:\n\tb: 1\n", "2:1: #: a tab cannot indent: use spaces"},
		{"a tab behind blanks", "a:\n  b: 1\n \tc: 2\n", "3:2: #: a tab cannot indent: use spaces"},
		{"a tab in a block", "a: |\n x\n\ty\n", "3:1: #: a tab cannot indent: use spaces"},
		{"two colons", "a: b: c\n", "1:5: #: a colon cannot follow here: put a text that holds one in quotes, or check the indentation"},
		{"a line that goes on wrongly", "a: b\n c: d\n", "2:3: #: a colon cannot follow here: put a text that holds one in quotes, or check the indentation"},
		{"a line between two indentations", "a:\n  b: c\n d: e\n", "3:2: #: this line does not fit to those above: check the indentation, brackets and quotes"},
		{"a key among items", "- a\nb: c\n", "2:1: #: this line does not fit to those above: check the indentation, brackets and quotes"},
		{"a bracket too many", "a: [b]]\nc: d\n", "1:7: #: nothing can follow the value in brackets: check the brackets, or put a text that begins with one in quotes"},
		{"an at sign", "a: @x\n", `1:4: #: "@" cannot begin a value: put the value in quotes`},
		{"a percent sign in braces", "a: {{ %x }}\n", `1:7: #: "%" cannot begin a value: put the value in quotes`},
		{"an open quote", "a: 1\nb: \"x\nc: 'y'\n", "2:4: #: the quoted text that begins here is never closed"},
		{"an open quote in the first line", "a: 'x\nc: \"y\"\n", "1:4: #: the quoted text that begins here is never closed"},
		{"an open bracket", "a: [1,\n", "1:4: #: the list that begins here with [ is never closed"},
		{"no comma", "a: [1\nb: 2\nc: 3\n", "1:4: #: the list that begins here with [ is never closed"},
		{"no alias of the name", "a: *x\n", "1:4: #: the alias *x has no anchor &x before it"},
		{"an alias in its own value", "a: &x [*x]\n", "1:8: #: the alias *x stands inside the value that it means"},
		{"a tag", "a: !foo 1\n", `1:4: #: the tag "!foo" is not supported for "1"`},
		{"a tag that lies", "a: !!int x\n", `1:4: #: the tag "!!int" is not supported for "x"`},
		{"a tag for bytes", "a: !!binary eA==\n", `1:4: #: the tag "!!binary" is not supported for "eA=="`},
		{"a tag on a list", "a: !x []\n", `1:4: #: the tag "!x" is not supported`},
		{"a tag on an object", "a: !x {}\n", `1:4: #: the tag "!x" is not supported`},
		{"a tag on a key", "!x a: 1\n", `1:1: #: the tag "!x" is not supported`},
		{"a list as key", "? [a]\n: b\n", "1:3: #: a key must be written out as a text"},
		{"no key", "a: 1\n?\n: b\n", `2:2: #: the key is missing: write "" for an empty one`},
		{"a control character", "a: \x07\n", "1:4: #: the control character U+0007 cannot stand here: write it as an escape in double quotes"},
		{"a wrong escape", `a: "\q"`, "1:5: #: this is no escape of YAML: write the text in single quotes, or two backslashes for one"},
		{"a directive", "%FOO\na: 1\n", "1:1: #: the directive \"%FOO\" is not supported: leave it out"},
		{"another version", "# c\n%YAML 1.1\n---\na: no\n", "2:1: #: the text is read as YAML 1.2: write %YAML 1.2 or leave the directive out, found \"%YAML 1.1\""},
		{"a version to come", "%YAML 2.0\n---\na: 1\n", "1:1: #: the text is read as YAML 1.2: write %YAML 1.2 or leave the directive out, found \"%YAML 2.0\""},
		{"no version", "%YAML\n---\na: 1\n", "1:1: #: the text is read as YAML 1.2: write %YAML 1.2 or leave the directive out, found \"%YAML\""},
		{"a directive for tags", "%YAML 1.2\n%TAG !! x:\n---\na: !!int 1\n", "2:1: #: the directive \"%TAG\" is not supported: leave it out"},
		{"a version twice", "%YAML 1.2\n%YAML 1.2\n---\na: 1\n", "2:1: #: the directive \"%YAML\" is given twice"},
		{"a version without a document", "%YAML 1.2\n\na: 1\n", "3:1: #: a line with --- must follow the directive"},
		{"a version and nothing else", "%YAML 1.2\n", "2:1: #: a line with --- must follow the directive"},
		{"a version behind the document", "a: 1\n...\n%YAML 1.1\n---\nb: 1\n", "3:1: #: a second document begins here: put each into a file of its own"},
		{"a wrong directive behind the document", "a: 1\n...\n%FOO\n---\nb: 1\n", "3:1: #: a line that begins with % cannot stand here: put a text that does in quotes"},
		{"our version behind the document", "a: 1\n...\n%YAML 1.2\n---\nb: 1\n", "3:1: #: a line that begins with % cannot stand here: put a text that does in quotes"},
		{"a directive inside the document", "a: 1\n%b: 1\n", "2:1: #: a line that begins with % cannot stand here: put a text that does in quotes"},
		{"leading zeros", "a: 007\n", `1:4: #/a: "007" is a number with leading zeros, which tools read in different ways: put it in quotes if it is text`},
		{"infinity", "a: -.inf\n", `1:4: #/a: "-.inf" has no JSON number: put it in quotes if it is text`},
		{"no number", "a: .nan\n", `1:4: #/a: ".nan" has no JSON number: put it in quotes if it is text`},
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

func TestM9_hostile_YAML_is_refused_in_time(t *testing.T) {
	t.Parallel()
	var bomb strings.Builder
	bomb.WriteString("a: &a [x,x,x,x,x,x,x,x,x,x]\n")
	for c := 'b'; c < 'k'; c++ {
		fmt.Fprintf(&bomb, "%c: &%c [%s]\n", c, c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 10))
	}
	cases := map[string]string{
		"a bomb of aliases":    bomb.String(),
		"a thousand aliases":   "a: &a x\nb: [" + strings.Repeat("*a,", 1000) + "]\n",
		"nested lists":         strings.Repeat("- ", 200_000),
		"nested keys":          strings.Repeat("? ", 200_000),
		"open quotes":          strings.Repeat("\"a\n", 100_000),
		"open single quotes":   strings.Repeat("a: 'b\n", 50_000) + "'",
		"braces":               strings.Repeat("{", 500_000),
		"anchors":              "[" + strings.Repeat("&a", 100_000),
		"colons":               strings.Repeat(":", 500_000),
		"a very long key":      "a" + strings.Repeat("b", 1<<20) + ": 1\n" + strings.Repeat("c", 1<<20),
		"comments and a fault": strings.Repeat("# x\n", 200_000) + "a: b: c\n",
		"tags":                 strings.Repeat("!a ", 100_000),
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var err error
			testkit.Bounded(t, 30*time.Second, func() {
				_, err = mockbase.ParseNode([]byte(text), mockbase.FormatYAML, mockbase.ParseLimits{})
			})
			if err == nil {
				t.Fatal("is accepted")
			}
			checkFaults(t, []byte(text), err)
		})
	}
}

func FuzzParseYAML(f *testing.F) {
	for _, seed := range []string{
		"a: 1\nb: [x, {c: d}]\n", "a: &x {b: 1}\nc: {<<: *x}\n", "a: |\n  x\n  y\n", "a: \"\\u00e9\"\n", "- 0x1f\n- .5\n- 1_0\n", "a: 'it''s'\n",
		"? [a]\n: b\n", "a: b: c\n", "\ta: 1\n", "a: !!str 7\n", "---\na\n---\nb\n", "a: >-\n  x\n\n  y\n", "{a: [1, 2\n", "%YAML 1.1\n---\na\n", "a: \"x\n",
		"# c\na: 1 # d\n# e\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		n, err := mockbase.ParseNode(src, mockbase.FormatYAML, mockbase.ParseLimits{})
		if err != nil {
			checkFaults(t, src, err)
			return
		}
		checkFixedPoint(t, n)
	})
}
