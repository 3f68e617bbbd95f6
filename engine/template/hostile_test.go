package template_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase/engine/template"
	"github.com/mockbase/mockbase/internal/testkit"
)

func TestP6_unknown_functions_are_refused_with_their_place(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name, text, message string
		line, column        int
	}{
		{"alone", `{{ nope }}`, `function "nope" is not defined`, 1, 4},
		{"in a pipeline", "a\nü {{ 1 | uper }}", "did you mean upper?", 2, 10},
		{"in parentheses", `{{ if (nope 1) }}{{ end }}`, "nope", 1, 8},
		{"in a definition", "\n\n{{ define \"x\" }}{{ nope }}{{ end }}", "nope", 3, 20},
		{"with a field", `{{ nope.x }}`, "nope", 1, 4},
		{"call, which has nothing to call", `{{ call body }}`, "call", 1, 4},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			fault := refused(t, x.text)
			if fault.Line != x.line || fault.Column != x.column || !strings.Contains(fault.Message, x.message) {
				t.Errorf("got %v, want line %d, column %d and %q", fault, x.line, x.column, x.message)
			}
		})
	}
}

func TestP6_other_faults_are_refused_with_their_place(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name, text, message string
		line, column        int
	}{
		{"too few arguments", `{{ upper }}`, "takes 1 argument, not 0", 1, 4},
		{"too many arguments", `{{ 1 | now 2 }}`, "takes 0 to 1 argument, not 2", 1, 8},
		{"an open action", "a\nb {{ path.id", "unclosed action", 2, 3},
		{"an open block", "{{ if path.id }}\nx", "{{ end }} is missing", 2, 2},
		{"an end too many", "{{ path.id }}\n {{ end }}", "unexpected {{end}}", 2, 2},
		{"the second of two actions", `{{ path.id }} {{ path.x ) }} {{ path.y }}`, "unexpected", 1, 15},
		{"an unknown variable", `{{ $x }}`, `undefined variable "$x"`, 1, 4},
		{"an integer too large", "a\nb {{ randomInt 0 99999999999999999999 }}", "integer overflow", 2, 18},
		{"a number too large", "a\nb {{ add 1e999999999 1 }}", "illegal number syntax", 2, 10},
		{"a broken character", "a\nb {{ 'ab' }}", "malformed character constant", 2, 6},
		{"a broken string", `{{ "a }}`, "unterminated quoted string", 1, 1},
		{"break outside range", `{{ break }}`, "outside", 1, 1},
		{"an unknown definition", `{{ template "x" }}`, `template "x" is not defined`, 1, 13},
		{"an argument for a value", `{{ path.id 1 }}`, "no function", 1, 8},
		{"a value piped into a value", `{{ 1 | path.id }}`, "no function", 1, 12},
		{"nil alone", `{{ nil }}`, "nil is not a command", 1, 4},
		{"a complex number", `{{ 1i }}`, "no number", 1, 4},
		{"and without arguments", `{{ and }}`, "needs an argument", 1, 4},
		{"a pattern that does not compile", `{{ regexFind "(" body }}`, "regexFind: the pattern does not compile", 1, 4},
		{"a JSONPath that does not compile", `{{ jsonPath "$.[" }}`, "jsonPath", 1, 4},
		{"an XPath that does not compile", `{{ xpath "//a[" }}`, "xpath: the expression does not compile", 1, 4},
		{"faker data that do not exist", `{{ faker "emial" }}`, "did you mean email?", 1, 4},
		{"two definitions of a name", `{{ define "a" }}1{{ end }}{{ define "a" }}2{{ end }}`, "multiple definition", 1, 44},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			fault := refused(t, x.text)
			if fault.Line != x.line || fault.Column != x.column || !strings.Contains(fault.Message, x.message) {
				t.Errorf("got %v, want line %d, column %d and %q", fault, x.line, x.column, x.message)
			}
		})
	}
}

func TestP6_a_fault_in_a_document_names_the_text(t *testing.T) {
	t.Parallel()
	_, err := template.CompileJSON(json.RawMessage(`{"a/b":[1,{"~":"x {{ nope }}"}]}`))
	fault, ok := errors.AsType[*template.SyntaxError](err)
	if !ok || fault.Pointer != "/a~1b/1/~0" || fault.Column != 6 {
		t.Errorf("got %+v", err)
	}
	if _, err := template.CompileJSON(json.RawMessage(`{"a"`)); err == nil {
		t.Error("half a document compiled")
	}
}

// within fails a test whose work takes longer than any bounded one, with room for a slow machine.
func within(t *testing.T, work func()) {
	t.Helper()
	testkit.Bounded(t, 10*time.Second, work)
}

func TestP9_hostile_sources_are_refused_before_they_can_do_harm(t *testing.T) {
	t.Parallel()
	many := func(n int, text string) string { return strings.Repeat(text, n) }
	chain := many(200, `{{ if .a }}x{{ else `)
	for name, text := range map[string]string{
		"a million nested ifs":          many(1_000_000, `{{if .}}`),
		"a million nested ifs, closed":  many(1_000_000, `{{if .}}`) + many(1_000_000, `{{end}}`),
		"101 nested ranges":             many(101, `{{range .a}}`) + many(101, `{{end}}`),
		"nested ifs behind long blanks": many(200, "{{"+many(60, " ")+"if .}}") + many(200, `{{end}}`),
		"a chain of else if":            strings.ReplaceAll(chain, "x{{ else {{ if", "x{{ else if") + "}}{{ end }}",
		"a long chain of else if":       "{{ if .a }}" + many(150, "{{ else if .b }}") + "{{ end }}",
		"a long chain of else with":     "{{ with .a }}" + many(150, "{{ else with .b }}") + "{{ end }}",
		"nested blocks":                 many(101, `{{ block "b" . }}`) + many(101, `{{ end }}`),
		"half a million parentheses":    `{{ ` + many(500_000, `(`) + `1` + many(500_000, `)`) + ` }}`,
		"101 parentheses":               `{{ ` + many(101, `(`) + `1` + many(101, `)`) + ` }}`,
		"60 blocks with 60 parentheses": many(60, `{{ if 1 }}`) + `{{ ` + many(60, `(`) + `1` + many(60, `)`) + ` }}` + many(60, `{{ end }}`),
		"more than 10,000 actions":      many(10_001, `{{ 1 }}`),
		"more than 10,000 texts":        many(5_001, `x{{ 1 }}`),
		"more than 10,000 operands":     `{{ print ` + many(10_001, `1 `) + ` }}`,
		"more than 10,000 commands":     `{{ 1 ` + many(10_001, `| print`) + ` }}`,
		"a long action":                 `{{ print ` + many(600_000, `1 `) + ` }}`,
		"many comments":                 many(40_001, `{{/**/}}`),
		"a source beyond 10 MiB":        `{{ 1 }}` + many(11<<20, "x"),
		"recursion":                     `{{ define "a" }}{{ template "a" }}{{ end }}`,
		"recursion behind a condition":  `{{ define "a" }}{{ if false }}{{ template "a" }}{{ end }}{{ end }}{{ template "a" }}`,
		"indirect recursion":            `{{ define "a" }}{{ template "b" }}{{ end }}{{ define "b" }}{{ template "a" }}{{ end }}{{ template "a" }}`,
		"a block inside itself":         `{{ block "a" . }}{{ template "a" }}{{ end }}`,
		"a huge pattern":                `{{ regexFind "` + many(1001, "a") + `" body }}`,
		"a pattern that explodes":       `{{ regexFind "((a{100}){100}){100}" body }}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			within(t, func() {
				fault := refused(t, text)
				if fault.Line < 1 || fault.Column < 1 || fault.Message == "" {
					t.Errorf("no place: %+v", fault)
				}
			})
		})
	}
}

func TestP9_what_is_just_within_the_bounds_compiles(t *testing.T) {
	t.Parallel()
	many := func(n int, text string) string { return strings.Repeat(text, n) }
	for name, text := range map[string]string{
		"100 nested ifs":     many(100, `{{ if 1 }}`) + "x" + many(100, `{{ end }}`),
		"100 parentheses":    `{{ ` + many(100, `(`) + `1` + many(100, `)`) + ` }}`,
		"100 times else if":  "{{ if .a }}" + many(99, "{{ else if .b }}") + "{{ end }}",
		"5,000 actions":      many(5_000, `x{{ 1 }}`),
		"5,000 small blocks": many(5_000, `{{ if 1 }}x{{ end }}`),
		"many definitions":   many(1, `{{ define "a" }}x{{ end }}`) + many(3_000, `{{ template "a" }}`),
		"a large text":       many(1<<20, "x") + `{{ 1 }}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			render(t, text, withBody(""))
		})
	}
}

func TestP9_hostile_renderings_end_within_their_bounds(t *testing.T) {
	t.Parallel()
	var doubling strings.Builder
	for i := range 60 {
		doubling.WriteString(`{{ define "t` + strconv.Itoa(i) + `" }}{{ template "t` + strconv.Itoa(i+1) + `" }}{{ template "t` + strconv.Itoa(i+1) + `" }}{{ end }}`)
	}
	doubling.WriteString(`{{ define "t60" }}{{ end }}{{ template "t0" }}`)
	deep := strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200)
	for _, x := range []struct{ name, text, body, message string }{
		{"a range over a range", `{{ range until 1000 }}{{ range until 1000 }}x{{ end }}{{ end }}`, "", "too many steps"},
		{"a range over a huge number", `{{ range 1000000000000 }}{{ end }}`, "", "too many steps"},
		{"definitions that double", doubling.String(), "", "too many steps"},
		{"a huge width", `{{ printf "%1000000000d" 1 }}`, "", "width"},
		{"a huge width as a value", `{{ printf "%*d" 1000000 1 }}`, "", "width"},
		{"a huge precision", `{{ printf "%.1000000f" 1 }}`, "", "precision"},
		{"many widths", `{{ $f := "%9999d" }}{{ range until 10 }}{{ $f = print $f $f }}{{ end }}{{ printf $f 1 }}`, "", "more than 1 values"},
		{"many wide values", `{{ $f := "%[1]9999d" }}{{ range until 12 }}{{ $f = print $f $f }}{{ end }}{{ printf $f 1 }}`, "", "too large"},
		{"output", `{{ $x := randomString 1000000 }}{{ range until 20 }}{{ $x }}{{ end }}`, "", "too much output"},
		{"a text that doubles", `{{ $x := "xx" }}{{ range until 100 }}{{ $x = print $x $x }}{{ end }}`, "", "too large"},
		{"a text that grows by replace", `{{ $x := "aa" }}{{ range until 100 }}{{ $x = replace "a" "aaaaaaaaaa" $x }}{{ end }}`, "", "too large"},
		{"a replace of nothing by much", `{{ replace "" (randomString 100000) (randomString 100000) }}`, "", "too large"},
		{"a join with a long separator", `{{ until 10000 | join (randomString 100000) }}`, "", "too large"},
		{"a split into letters", `{{ randomString 1000000 | split "" }}`, "", "too long"},
		{"a list that doubles", `{{ $x := list 1 }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ $x }}`, "", "too much output"},
		{"a list that doubles, compared", `{{ $x := list 1 }}{{ $y := list 1 }}{{ range until 60 }}{{ $x = list $x $x }}{{ $y = list $y $y }}{{ end }}{{ eq $x $y }}`, "", "too much time"},
		{"many large texts", `{{ $x := randomString 1000000 }}{{ range until 1000 }}{{ $y := upper $x }}{{ end }}`, "", "too much"},
		{"powers of powers", `{{ $x := 9 }}{{ range until 100 }}{{ $x = mul $x $x }}{{ end }}`, "", "digits"},
		{"a number that is short to write", `{{ add body.n 1 }}`, `{"n":1e1000000000}`, "digits"},
		{"a tiny number", `{{ add body.n 1 }}`, `{"n":1e-1000000000}`, "digits"},
		{"a huge whole number", `{{ body.n | int }}`, `{"n":1e1000000000}`, "digits"},
		{"a huge number printed", `{{ printf "%d" body.n }}`, `{"n":1e1000000000}`, "digits"},
		{"rounding to many digits", `{{ round 1000000000 1.5 }}`, "", "it rounds to"},
		{"a long random text", `{{ randomString 1000000000 }}`, "", "it draws"},
		{"a long list of numbers", `{{ until 1000000000 }}`, "", "10000"},
		{"nested descendants", `{{ jsonPath "$..*..*..*..*" }}`, deep, "too much work"},
		{"a pattern of the body for each node", `{{ jsonPath "$[?match(@.a, @.b)]" }}`, "[" + strings.Repeat(`{"a":"x","b":"(x{1000}){1000}"},`, 2000) + `{"b":"` + strings.Repeat("(a?){1000}", 100) + `"}]`, "too much work"},
		{"a large structure, again and again", `{{ $x := list (randomString 1000000) }}{{ $y := list $x $x $x $x $x }}{{ range until 10000 }}{{ $z := hmacSha256 "k" $y }}{{ end }}`, "", "too much"},
		{"a structure too large for a text", `{{ $x := list 1 }}{{ range until 40 }}{{ $x = list $x $x }}{{ end }}{{ sha256 $x }}`, "", "too large"},
		{"a pattern on a long text", `{{ randomString 1000000 | regexFind "(x+x+)+(y+y+)+(z+z+)+q" }}`, "", "too long for this pattern"},
		{"a pattern of the request that unfolds", `{{ $p := "a{1000}" }}{{ range until 6 }}{{ $p = print $p $p }}{{ end }}{{ regexFind $p "a" }}`, "", "too large"},
		{"a long pattern of the request", `{{ regexFind (randomString 2000) "a" }}`, "", "longer than 1000"},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			within(t, func() {
				begin := time.Now()
				failed := failing(t, x.text, withBody(x.body))
				slow := time.Since(begin) > template.MaxTime && strings.Contains(failed.Message, "too much time")
				if !slow && !strings.Contains(failed.Message, x.message) {
					t.Errorf("got %v, want %q", failed, x.message)
				}
			})
		})
	}
}

func TestP9_the_texts_of_one_answer_share_their_budget(t *testing.T) {
	t.Parallel()
	s := withBody("")
	text := `{{ range until 10 }}{{ range until 6000 }}{{ end }}{{ end }}`
	render(t, text, s)
	if failed := failing(t, text, s); !strings.Contains(failed.Message, "too many steps") {
		t.Errorf("got %v", failed)
	}
	s.Renew()
	render(t, text, s)
}

func TestP9_a_request_that_ends_stops_its_rendering(t *testing.T) {
	t.Parallel()
	compiled, err := template.Compile(`{{ range until 10 }}{{ range until 6000 }}{{ end }}{{ end }}`)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = compiled.Execute(ctx, withBody(""))
	if failed, ok := errors.AsType[*template.ExecError](err); !ok || !strings.Contains(failed.Message, "the request ended") {
		t.Errorf("got %v", err)
	}
}
