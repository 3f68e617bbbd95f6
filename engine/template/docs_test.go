package template_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/engine/template"
)

// page is the users' page about templates.
func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "templates.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// documented is the scope that the page describes.
func documented() *template.Scope {
	s := scopeOf(&request{
		method: "POST", segments: []string{"users", "7", "orders"},
		path: map[string]string{"id": "7"}, matrix: map[string]string{"rev": "3"},
		query: pairs{"n", "1", "t", "1", "t", "2", "filter[open]", "yes"}, form: pairs{"color", "red", "color", "blue"},
		cookies: pairs{"theme", "dark"}, headers: map[string][]string{"Accept": {"application/json"}},
		body:  `{"total":12.50,"name":"Ann & Bob","note":null,"items":[{"sku":"A-1","qty":2},{"sku":"B-2","qty":1}]}`,
		parts: map[string]*template.Part{"file": {Name: "file", Filename: "a.txt", ContentType: "text/plain", Text: "hello", Size: 5}},
	})
	s.Variables = map[string]json.RawMessage{"shop": json.RawMessage(`"Corner"`)}
	s.Seed = "42"
	return s
}

// Each example of the page, written as an action, an arrow and a result, gives what the page says.
func TestDocs_every_example_gives_what_the_page_says(t *testing.T) {
	t.Parallel()
	examples := regexp.MustCompile("`((?:\\{\\{|<)[^`]*\\}\\}[^`]*)` → (?:`([^`]*)`|nothing)").FindAllStringSubmatch(page(t), -1)
	if len(examples) < 120 {
		t.Errorf("found only %d examples", len(examples))
	}
	for _, x := range examples {
		text := strings.ReplaceAll(x[1], `\|`, "|")
		if got := render(t, text, documented()); got != x[2] {
			t.Errorf("%s gives %q, the page says %q", text, got, x[2])
		}
	}
}

func TestDocs_every_function_has_a_row_with_an_example(t *testing.T) {
	t.Parallel()
	rows := regexp.MustCompile("(?m)^\\| ((?:`\\w+`(?:, )?)+) \\| .* → .*\\|$").FindAllStringSubmatch(page(t), -1)
	described := map[string]bool{}
	for _, row := range rows {
		for name := range strings.SplitSeq(row[1], ", ") {
			described[strings.Trim(name, "`")] = true
		}
	}
	for _, name := range template.FunctionNames() {
		if !described[name] {
			t.Errorf("%s is not described", name)
		}
		if !strings.Contains(page(t), name) {
			t.Errorf("%s is not in the page", name)
		}
	}
}

func TestDocs_every_kind_of_faker_data_is_listed_and_drawn_from_the_seed(t *testing.T) {
	t.Parallel()
	want := "Kinds: `" + strings.Join(template.FakerKinds(), "`, `") + "`."
	if !strings.Contains(strings.ReplaceAll(page(t), "\n", " "), want) {
		t.Errorf("the page should say:\n%s", want)
	}
	for _, kind := range template.FakerKinds() {
		text := `{{ faker "` + kind + `" }}`
		one, two := render(t, text, documented()), render(t, text, documented())
		if one == "" || one != two || len(one) > 10_000 {
			t.Errorf("%s gives %q and %q", kind, one, two)
		}
	}
}

// The examples of the mock format, section 7.
func TestP8_examples_of_the_mock_format(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{{ queryAll "t" | join "," }}`:                     "1,2",
		`{{ now "+24h" | date "2006-01-02" "UTC" }}`:        "2026-03-05",
		`{{ "a b" | urlEncode }}`:                           "a%20b",
		`{{ mul 3 1.10 }}`:                                  "3.30",
		`{{ query.none | default "1" }}`:                    "1",
		`{"n":{{ query.n | json }}}`:                        `{"n":"1"}`,
		`{{ jsonPath "$.x" "none" }}`:                       "none",
		`{{ range $i, $x := body.items }}{{ $i }}{{ end }}`: "01",
	} {
		if got := render(t, text, documented()); got != want {
			t.Errorf("%s gives %q, want %q", text, got, want)
		}
	}
}
