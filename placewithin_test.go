package mockbase_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mockbase/mockbase"
)

// placeOf is the line and column of a mark in a text.
func placeOf(text, mark string) (line, column int) {
	before, _, _ := strings.Cut(text, mark)
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
}

func TestM5_places_inside_a_text_are_those_of_the_source(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"plain":                    "x: 1\na: some text HERE it is\n",
		"in single quotes":         "a: 'it''s é HERE'\n",
		"in double quotes":         `a: "tab\t \u00e9é \"q\" \x41 \\ HERE"`,
		"half pairs":               `{"a": "\ud83d\ude00 HERE"}`,
		"JSON":                     `{"x": 1, "a": "one\ntwo\/\"é\u00e9 HERE"}`,
		"block":                    "a: |\n  one\n  two HERE\n",
		"block with empty lines":   "a: |\n\n  one\n\n    deeper\n\n  two HERE\n",
		"block that keeps its end": "a: |+\n  one\n  HERE\n\n",
		"block with CR LF":         "a: |\r\n  one\r\n  two HERE\r\n",
		"block in a list":          "b:\na: |-\n    é one\n    é HERE\n",
		"folded":                   "a: >\n  one\n  two\n  three HERE\n",
		"folded with a paragraph":  "a: >\n  one\n  two\n\n  three\n  HERE\n",
	} {
		format := mockbase.FormatYAML
		if strings.HasPrefix(source, "{") {
			format = mockbase.FormatJSON
		}
		root, err := mockbase.ParseNode([]byte(source), format, mockbase.ParseLimits{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		fault := mockbase.FieldError{Pointer: "#/a"}
		fault.Inside.Line, fault.Inside.Column = placeOf(root.Find("a").Text, "HERE")
		got := mockbase.Locate([]byte(source), format, []mockbase.FieldError{fault})[0]
		if line, column := placeOf(source, "HERE"); got.Line != line || got.Column != column {
			t.Errorf("%s: line %d, column %d, want %d, %d", name, got.Line, got.Column, line, column)
		}
	}
}

// Where a text is not written as it is, the place is that of the whole value.
func TestM5_places_that_cannot_be_told_are_those_of_the_value(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"several lines in quotes": "a: \"one\n  two HERE\"",
		"plain in several lines":  "a: one\n  two HERE",
		"an alias":                "b: &x \"one HERE\"\na: *x",
	} {
		root, err := mockbase.ParseNode([]byte(source), mockbase.FormatYAML, mockbase.ParseLimits{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		fault := mockbase.FieldError{Pointer: "#/a"}
		fault.Inside.Line, fault.Inside.Column = placeOf(root.Find("a").Text, "HERE")
		got := mockbase.Locate([]byte(source), mockbase.FormatYAML, []mockbase.FieldError{fault})[0]
		if n := root.Find("a"); got.Line != n.Line || got.Column != n.Column {
			t.Errorf("%s: line %d, column %d, want %d, %d", name, got.Line, got.Column, n.Line, n.Column)
		}
	}
}

func FuzzPlacesInsideTexts(f *testing.F) {
	f.Add("a: |\n\n  one\n  two\n", 2, 3)
	f.Add(`{"a": "\ud83d\ude00\n\"x\""}`, 2, 1)
	f.Add("a: >\n  one\n\n   two\n", 1, 9)
	f.Add("a: 'x''y'", 1, 3)
	f.Fuzz(func(t *testing.T, source string, line, column int) {
		fault := mockbase.FieldError{Pointer: "#/a", Inside: mockbase.TextPlace{Line: line % 1000, Column: column % 1000}}
		for _, format := range []mockbase.Format{mockbase.FormatJSON, mockbase.FormatYAML} {
			got := mockbase.Locate([]byte(source), format, []mockbase.FieldError{fault})[0]
			if got.Line < 0 || got.Column < 0 || got.Line > 1+strings.Count(source, "\n")+1 {
				t.Errorf("%q: %d, %d", source, got.Line, got.Column)
			}
		}
	})
}
