package template_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/engine/template"
)

// example is a text, what it is rendered with, and its output.
type example struct {
	name, text string
	request    request
	want       string
}

func check(t *testing.T, examples []example) {
	t.Helper()
	for _, x := range examples {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			if got := render(t, x.text, scopeOf(&x.request)); got != x.want {
				t.Errorf("%s\ngot  %q\nwant %q", x.text, got, x.want)
			}
		})
	}
}

func TestP2_a_value_that_is_one_action_keeps_its_type(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ name, doc, body, want string }{
		{"text with quotes and markup", `{"n":"{{ body.n }}"}`, `{"n":"R&D <b> \"x\""}`, `{"n":"R&D <b> \"x\""}`},
		{"number text", `{"n":"{{ body.n }}"}`, `{"n":12.50}`, `{"n":12.50}`},
		{"list and object", `{"n":"{{ body.n }}"}`, `{"n":[1,{"k":null}]}`, `{"n":[1,{"k":null}]}`},
		{"missing is null", `{"n":"{{ body.n }}"}`, `{}`, `{"n":null}`},
		{"missing path parameter is null", `{"n":"{{ path.none }}"}`, `{}`, `{"n":null}`},
		{"boolean", `["{{ body.n }}"]`, `{"n":false}`, `[false]`},
		{"trimmed action", `["{{- body.n -}}"]`, `{"n":3}`, `[3]`},
		{"result of a function", `["{{ body.n | add 1 }}"]`, `{"n":3}`, `[4]`},
		{"a time is text", `["{{ now }}"]`, `{}`, `["2026-03-04T12:30:15Z"]`},
		{"a made object", `["{{ dict \"b\" 1 \"a\" (list 2 nil) }}"]`, `{}`, `[{"b":1,"a":[2,null]}]`},
		{"mixed text stays text", `{"n":"n={{ body.n }}"}`, `{"n":12.50}`, `{"n":"n=12.50"}`},
		{"mixed text is quoted", `{"n":"n={{ body.n }}"}`, `{"n":"a\"b\\\nc"}`, `{"n":"n=a\"b\\\nc"}`},
		{"mixed text beyond ASCII", `{"n":"ü{{ body.n }}"}`, `{"n":"é"}`, `{"n":"üé"}`},
		{"two actions are text", `["{{ body.n }}{{ body.n }}"]`, `{"n":1}`, `["11"]`},
		{"a declaration before it makes it text", `["{{ $x := 1 }}{{ $x }}"]`, `{}`, `["1"]`},
		{"names are not rendered", `{"{{ body.n }}":1}`, `{"n":2}`, `{"{{ body.n }}":1}`},
		{"the rest stays as it was", `{"z":1.0,"a":[],"o":{},"s":"\u00e9","e":1e3,"x":"{{ body.n }}"}`, `{"n":0}`, `{"z":1.0,"a":[],"o":{},"s":"é","e":1e3,"x":0}`},
		{"a whole document", `"{{ body }}"`, `{"b":1,"a":2}`, `{"b":1,"a":2}`},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			if got := renderJSON(t, x.doc, withBody(x.body)); got != x.want {
				t.Errorf("%s\ngot  %s\nwant %s", x.doc, got, x.want)
			}
		})
	}
}

func TestP2_nothing_is_escaped_for_HTML(t *testing.T) {
	t.Parallel()
	q := request{query: pairs{"q", "<b>&"}}
	check(t, []example{
		{"plain", `{{ query.q }}`, q, "<b>&"},
		{"on demand", `{{ query.q | escapeHtml }}`, q, "&lt;b&gt;&amp;"},
		{"json does not either", `{{ query.q | json }}`, q, `"<b>&"`},
	})
}

func TestP3_json_and_jsonEscape(t *testing.T) {
	t.Parallel()
	check(t, []example{
		{"json", `{"n":{{ query.n | json }}}`, request{query: pairs{"n", `a"b`}}, `{"n":"a\"b"}`},
		{"jsonEscape", `{"n":"x{{ query.n | jsonEscape }}"}`, request{query: pairs{"n", "a\"\nb"}}, `{"n":"xa\"\nb"}`},
		{"json of missing", `{{ query.n | json }}`, request{}, `null`},
	})
}

func TestP5_missing_values(t *testing.T) {
	t.Parallel()
	body := `{"u":null,"e":"","f":false,"z":0,"zz":-0.0e5,"l":[],"o":{},"t":"x","n":{"k":[1]}}`
	yes := func(expression string) string { return "{{ if " + expression + " }}y{{ else }}n{{ end }}" }
	check(t, []example{
		{"at any depth", `[{{ body.x.y.z }}][{{ body.t.y.z }}][{{ path.a.b }}][{{ var.none.x }}]`, request{body: body}, "[][][][]"},
		{"of a part", `[{{ (part "none").size }}]`, request{}, "[]"},
		{"of an index", `[{{ index body "n" "k" 7 }}][{{ index body.n.k -1 }}][{{ index query "a" "b" }}]`, request{body: body}, "[][][]"},
		{"without a JSON body", `[{{ body }}][{{ body.a }}][{{ jsonPath "$.a" }}]`, request{body: "{"}, "[][][]"},
		{"null prints nothing", `[{{ body.u }}]`, request{body: body}, "[]"},
		{"default replaces null", `{{ body.u | default "d" }}`, request{body: body}, "d"},
		{"default replaces empty text", `{{ body.e | default "d" }}`, request{body: body}, "d"},
		{"default replaces missing", `{{ body.none.x | default "d" }}`, request{body: body}, "d"},
		{"default keeps false, 0 and empty lists", `{{ body.f | default 1 }} {{ body.z | default 1 }} {{ body.l | default 1 }}`, request{body: body}, "false 0 []"},
		{"if is false for them", yes("body.u") + yes("body.e") + yes("body.f") + yes("body.z") + yes("body.zz") + yes("body.l") + yes("body.o") + yes("body.none"), request{body: body}, "nnnnnnnn"},
		{"if is true for the rest", yes("body.t") + yes("body.n") + yes("now") + yes("query") + yes("list 0"), request{body: body, query: pairs{"a", ""}}, "yyyyy"},
		{"empty query value", yes("query.n"), request{query: pairs{"n", ""}}, "n"},
		{"text 0 of the query", yes("query.n"), request{query: pairs{"n", "0"}}, "y"},
		{"an empty view", yes("query"), request{}, "n"},
		{"missing stays missing through functions", `[{{ query.n | upper }}][{{ query.n | int | default 5 }}][{{ query.n | base64 }}]`, request{}, "[][5][]"},
		{"range goes to else", `{{ range body.none }}x{{ else }}none{{ end }}`, request{body: body}, "none"},
	})
}

func TestP5_missing_values_are_noted_once(t *testing.T) {
	t.Parallel()
	var notes []string
	s := scopeOf(&request{body: `{"a":null}`})
	s.Notes = func(note string) { notes = append(notes, note) }
	render(t, `{{ body.a }}{{ body.b.c }}{{ range until 3 }}{{ path.id }}{{ end }}{{ header "X-A" }}{{ var.x }}{{ segment 9 }}`, s)
	want := []string{"body.b.c is missing", "path.id is missing", `header "X-A" is missing`, "var.x is missing", "segment 9 is missing"}
	if diff := cmp.Diff(want, notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestP5_what_stands_in_for_a_missing_value_leaves_nothing_to_note(t *testing.T) {
	t.Parallel()
	s := scopeOf(&request{body: `{}`})
	s.Notes = func(note string) { t.Errorf("noted %q", note) }
	render(t, `{{ body.a | default 1 }}{{ if query.n }}x{{ end }}{{ with path.id }}x{{ end }}{{ or body.a (header "X") 2 }}{{ not cookie.c }}{{ body.a | ternary 1 2 }}{{ jsonPath "$.x" 3 }}`, s)
}

func TestP5_notes_are_bounded(t *testing.T) {
	t.Parallel()
	count := 0
	s := scopeOf(&request{body: `{}`})
	s.Notes = func(string) { count++ }
	var text strings.Builder
	for i := range 100 {
		text.WriteString("{{ body.x" + strconv.Itoa(i) + " }}")
	}
	render(t, text.String(), s)
	if count != 20 {
		t.Errorf("%d notes, want 20", count)
	}
}

func TestP7_a_failing_function_ends_the_rendering(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name, text, function, message string
		line                          int
	}{
		{"division by zero", "a\nb {{ div 1 0 }}", "div", "division by zero", 2},
		{"modulo zero", "{{ mod 1 0 }}", "mod", "division by zero", 1},
		{"a text that is no number", `{{ "abc" | int }}`, "int", `"abc" is no number`, 1},
		{"in an argument", "{{ upper\n(div 1 0) }}", "div", "division by zero", 2},
		{"inside a definition", "{{ define \"x\" }}\n\n{{ div 1 0 }}{{ end }}{{ template \"x\" }}", "div", "division by zero", 3},
		{"range over a text", `{{ range "abc" }}{{ end }}`, "range", "a text", 1},
		{"unlike things compared", `{{ eq "7" 7 }}`, "eq", "a text with a number", 1},
		{"a zone that is none", `{{ now | date "unix" "Mars/Olympus" }}`, "date", "no time zone", 1},
		{"a broken XPath", `{{ xpath (index query "x") }}`, "xpath", "does not end", 1},
		{"a broken pattern of the request", `{{ regexFind query.p "a" }}`, "regexFind", "does not compile", 1},
		{"a bad escape", `{{ "%zz" | urlDecode }}`, "urlDecode", "percent-encoded", 1},
		{"bad base64", `{{ "?" | base64Decode }}`, "base64Decode", "no base64", 1},
		{"until beyond its bound", `{{ until 10001 }}`, "until", "10000", 1},
		{"a format with too few values", `{{ printf "%d %d" 1 }}`, "printf", "more than 1 values", 1},
		{"a format with too many values", `{{ printf "%d" 1 2 }}`, "printf", "1 of 2", 1},
		{"a name without value", `{{ dict "a" }}`, "dict", "a value for each name", 1},
		{"a slice out of range", `{{ slice "abc" 5 }}`, "slice", "out of range", 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			failed := failing(t, x.text, scopeOf(&request{query: pairs{"p", "(", "x", "//broken["}}))
			if failed.Function != x.function || failed.Line != x.line || !strings.Contains(failed.Message, x.message) {
				t.Errorf("got %+v, want function %s, line %d and %q", failed, x.function, x.line, x.message)
			}
		})
	}
}

func TestP7_a_failure_in_a_document_names_the_place(t *testing.T) {
	t.Parallel()
	compiled, err := template.CompileJSON(json.RawMessage(`{"a/b":["x","{{ div 1 0 }}"]}`))
	if err != nil {
		t.Fatal(err)
	}
	_, err = compiled.Execute(t.Context(), withBody(""))
	failed, ok := errors.AsType[*template.ExecError](err)
	if !ok || failed.Pointer != "/a~1b/1" || failed.Function != "div" {
		t.Errorf("got %+v", err)
	}
}

func TestP7_an_output_before_the_failure_is_dropped(t *testing.T) {
	t.Parallel()
	compiled, err := template.Compile(`before {{ div 1 0 }}`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := compiled.Append(t.Context(), []byte("kept"), withBody(""))
	if err == nil || string(got) != "kept" {
		t.Errorf("got %q and %v", got, err)
	}
}

func TestP8_the_language_is_that_of_Go(t *testing.T) {
	t.Parallel()
	body := `{"a":[5,6],"o":{"z":1,"a":2,"m":3},"u":[{"n":"x"},{"n":"y"}]}`
	check(t, []example{
		{"range with index", `{{ range $i, $x := body.a }}{{ $i }}{{ end }}`, request{body: body}, "01"},
		{"range with item", `{{ range $x := body.a }}{{ $x }},{{ end }}`, request{body: body}, "5,6,"},
		{"range with dot", `{{ range body.u }}{{ .n }}{{ end }}`, request{body: body}, "xy"},
		{"document order", `{{ range $k, $v := body.o }}{{ $k }}{{ $v }} {{ end }}`, request{body: body}, "z1 a2 m3 "},
		{"range over a number", `{{ range 3 }}{{ . }}{{ end }}`, request{}, "012"},
		{"range over query", `{{ range $k, $v := query }}{{ $k }}={{ $v }};{{ end }}`, request{query: pairs{"t", "1", "u", "2", "t", "3"}}, "t=1;u=2;"},
		{"range over a made object", `{{ range $k, $v := dict "z" 1 "a" 2 }}{{ $k }}{{ $v }}{{ end }}`, request{}, "z1a2"},
		{"range else", `{{ range list }}x{{ else }}e{{ end }}`, request{}, "e"},
		{"break and continue", `{{ range until 9 }}{{ if eq . 1 }}{{ continue }}{{ end }}{{ if eq . 4 }}{{ break }}{{ end }}{{ . }}{{ end }}`, request{}, "023"},
		{"break leaves the inner loop alone", `{{ range until 2 }}{{ range until 5 }}{{ if . }}{{ break }}{{ end }}x{{ end }}|{{ end }}`, request{}, "x|x|"},
		{"assignment in a loop", `{{ $n := 0 }}{{ range until 4 }}{{ $n = add $n . }}{{ end }}{{ $n }}`, request{}, "6"},
		{"assignment by range", `{{ $k := 0 }}{{ $v := 0 }}{{ range $k, $v = list "a" "b" }}{{ end }}{{ $k }}{{ $v }}`, request{}, "1b"},
		{"shadowing ends with its block", `{{ $x := 1 }}{{ if true }}{{ $x := 2 }}{{ $x }}{{ end }}{{ $x }}`, request{}, "21"},
		{"variables of if", `{{ if $x := query.n }}{{ $x }}{{ else }}no{{ end }}`, request{query: pairs{"n", "7"}}, "7"},
		{"else if", `{{ if false }}a{{ else if true }}b{{ else }}c{{ end }}`, request{}, "b"},
		{"with", `{{ with body.o }}{{ .z }}{{ end }}{{ with body.none }}x{{ else }}e{{ end }}`, request{body: body}, "1e"},
		{"else with", `{{ with body.none }}x{{ else with body.a }}{{ len . }}{{ end }}`, request{body: body}, "2"},
		{"dollar is the argument", `{{ define "d" }}{{ range until 1 }}{{ $.z }}{{ end }}{{ end }}{{ template "d" body.o }}`, request{body: body}, "1"},
		{"define and template", `{{ define "hi" }}Hi {{ . }}{{ path.id }}!{{ end }}{{ template "hi" "Ann" }}{{ template "hi" }}`, request{path: map[string]string{"id": "7"}}, "Hi Ann7!Hi 7!"},
		{"variables are not seen by definitions", `{{ define "d" }}{{ $x := 2 }}{{ $x }}{{ end }}{{ $x := 1 }}{{ template "d" }}{{ $x }}`, request{}, "21"},
		{"block", `{{ block "b" 3 }}[{{ . }}]{{ end }}`, request{}, "[3]"},
		{"comment", `a{{/* }} nothing {{ */}}b{{- /* x */ -}} c`, request{}, "abc"},
		{"trim markers", "a \n {{- 1 -}} \t b", request{}, "a1b"},
		{"braces", `{{ "{{" }} {{ "}}" }} {{ "{{` + "`" + `" }}`, request{}, "{{ }} {{`"},
		{"raw text", "{{ `a\"\\n}}` }}", request{}, `a"\n}}`},
		{"pipelines pass the last argument", `{{ 3 | sub 10 }} {{ "b" | printf "%s%s" "a" }}`, request{}, "7 ab"},
		{"parentheses", `{{ (add 1 (mul 2 3)) }} {{ (dict "a" (dict "b" 5)).a.b }}`, request{}, "7 5"},
		{"and, or and not", `{{ and 1 0 2 }} {{ or 0 "" "x" }} {{ not 1 }} {{ or "" 0 }} {{ 5 | and 1 }}`, request{}, "0 x false 0 5"},
		{"both leave arguments out", `{{ and false (div 1 0) }} {{ or 1 (div 1 0) }}`, request{}, "false 1"},
		{"numbers of Go", `{{ 0x1F }} {{ 1_000 }} {{ 'a' }} {{ .5 }} {{ +7 }} {{ -3 }} {{ 1e3 }}`, request{}, "31 1000 97 0.5 7 -3 1e3"},
		{"dot of a text is empty", `[{{ . }}][{{ .x.y }}][{{ $ }}]`, request{}, "[][][]"},
		{"nil as an argument", `{{ default 1 nil }}`, request{}, "1"},
	})
}

func TestP10_output_is_not_rendered_again(t *testing.T) {
	t.Parallel()
	check(t, []example{{"text", "{{ query.q }}", request{query: pairs{"q", "{{now}}"}}, "{{now}}"}})
	if got := renderJSON(t, `{"v":"{{ body.v }}"}`, withBody(`{"v":"{{ uuid }}"}`)); got != `{"v":"{{ uuid }}"}` {
		t.Errorf("got %s", got)
	}
}

func TestP11_first_values_and_all_values(t *testing.T) {
	t.Parallel()
	q := request{
		query: pairs{"t", "1", "t", "2", "a[b]", "9"}, form: pairs{"t", "1", "t", "2"}, cookies: pairs{"c", "z", "c", "y"},
		headers: map[string][]string{"X-V": {"1", "2"}}, trailers: pairs{"X-Sum", "ab"}, matrix: map[string]string{"m": "5"},
	}
	check(t, []example{
		{"query", `{{ query.t }} {{ queryAll "t" | last }}`, q, "1 2"},
		{"header", `{{ header "x-v" }} {{ headerAll "X-V" | join "+" }}`, q, "1 1+2"},
		{"form", `{{ form.t }} {{ formAll "t" | join "," }} {{ form.none }}.`, q, "1 1,2 ."},
		{"cookie", `{{ cookie.c }} {{ cookieAll "c" | join "," }}`, q, "z z,y"},
		{"odd names", `{{ index query "a[b]" }}`, q, "9"},
		{"name from the request", `{{ header (index query "h") }}`, request{query: pairs{"h", "X-A"}, headers: map[string][]string{"x-a": {"1"}}}, "1"},
		{"trailer", `{{ index request.trailers "X-Sum" }}`, q, "ab"},
		{"matrix", `{{ matrix.m }}{{ request.matrix.m }}`, q, "55"},
		{"no values", `{{ queryAll "none" }} {{ queryAll "none" | length }}`, q, "[] 0"},
		{"a view prints as an object", `{{ query }}`, q, `{"t":"1","a[b]":"9"}`},
		{"length and first of a view", `{{ length query }}`, q, `2`},
	})
}

func TestP12_numbers_keep_their_text(t *testing.T) {
	t.Parallel()
	q := request{body: `{"n":9007199254740993,"m":1.10,"e":1E+2,"a":0.1,"b":0.2,"l":[1.0,10000000000000000000000]}`}
	check(t, []example{
		{"json", `{{ body.n | json }} {{ body.m }} {{ body.e }}`, q, "9007199254740993 1.10 1E+2"},
		{"through functions", `{{ list body.n body.m | last }} {{ body.l | first }} {{ default 0 body.m }}`, q, "1.10 1.0 1.10"},
		{"arithmetic", `{{ add body.a body.b }} {{ mul 3 1.10 }} {{ add body.n 1 }}`, q, "0.3 3.30 9007199254740994"},
		{"comparison", `{{ gt body.n 9007199254740992 }},{{ eq body.m 1.1 }},{{ eq body.e 100 }} {{ index body.l 1 }}`, q, "true,true,true 10000000000000000000000"},
		{"printf", `{{ printf "%d %.1f %v %s" body.n body.a body.m body.e }}`, q, "9007199254740993 0.1 1.10 1E+2"},
		{"literals", `{{ 1.10 }} {{ list 1.50 2 }}`, q, "1.10 [1.50,2]"},
		{"jsonPath", `{{ jsonPath "$.n" }} {{ jsonPath "$.l" }}`, q, "9007199254740993 [1.0,10000000000000000000000]"},
	})
}

func TestP13_a_rendering_has_one_now_and_one_stream_of_random_values(t *testing.T) {
	t.Parallel()
	s := scopeOf(&request{})
	if got := render(t, `{{ now }}|{{ now "-1h" | date "rfc3339" "UTC" }}|{{ now | date "15:04 MST" "Europe/Berlin" }}`, s); got != "2026-03-04T12:30:15Z|2026-03-04T11:30:15Z|13:30 CET" {
		t.Errorf("got %s", got)
	}
	text := `{{ uuid }} {{ ulid }} {{ randomInt 1 1000000 }} {{ randomFloat 0 1 }} {{ randomString 8 }} {{ pick "a" "b" "c" }} {{ faker "name" }}`
	first, again := render(t, text, scopeOf(&request{})), render(t, text, scopeOf(&request{}))
	if first != again {
		t.Errorf("the same seed gives\n%s\n%s", first, again)
	}
	if one, two := render(t, `{{ uuid }}`, s), render(t, `{{ uuid }}`, s); one == two {
		t.Errorf("two texts of one answer draw the same %s", one)
	}
}

func TestP13_the_generator_is_made_once_and_only_where_it_is_needed(t *testing.T) {
	t.Parallel()
	made := 0
	s := scopeOf(&request{})
	s.Rand = func() *rand.Rand { made++; return rand.New(rand.NewPCG(1, 2)) }
	render(t, `{{ path.id }}`, s)
	if made != 0 {
		t.Errorf("made %d without need", made)
	}
	render(t, `{{ uuid }}{{ pick 1 2 }}`, s)
	render(t, `{{ uuid }}`, s)
	if made != 1 {
		t.Errorf("made %d, want 1", made)
	}
	s = &template.Scope{}
	if failed := failing(t, `{{ uuid }}`, s); failed.Function != "uuid" {
		t.Errorf("got %v", failed)
	}
}

func TestP14_jsonPath_and_its_default(t *testing.T) {
	t.Parallel()
	q := request{body: `{"x":null,"items":[{"sku":"a"},{"sku":"b"}],"o":{"z":1,"b":{"k":2},"a":3},"e":[]}`}
	check(t, []example{
		{"null is a node", `[{{ jsonPath "$.x" "M" }}]`, q, "[]"},
		{"no node", `[{{ jsonPath "$.y" "M" }}][{{ jsonPath "$.e[*]" "M" }}][{{ jsonPath "$.y" }}]`, q, "[M][M][]"},
		{"one node", `{{ jsonPath "$.items[0].sku" }}`, q, "a"},
		{"several nodes", `{{ jsonPath "$.items[*].sku" }} {{ jsonPath "$..sku" | join "," }}`, q, `["a","b"] a,b`},
		{"document order", `{{ jsonPath "$.o.*" }}`, q, `[1,{"k":2},3]`},
		{"an order of its own", `{{ jsonPath "$.items[::-1].sku" }} {{ jsonPath "$.o['a','z']" }}`, q, `["b","a"] [3,1]`},
		{"filter", `{{ jsonPath "$.items[?@.sku == 'b']" }}`, q, `{"sku":"b"}`},
		{"without a body", `{{ jsonPath "$.x" "M" }}`, request{}, "M"},
		{"xpath", `{{ xpath "//a" }} {{ xpath "//b" | join "+" }} {{ xpath "//c" "none" }}`, request{xml: map[string][]string{"//a": {"1"}, "//b": {"2", "3"}}}, "1 2+3 none"},
	})
}

func TestP15_lists_and_objects_print_as_JSON(t *testing.T) {
	t.Parallel()
	check(t, []example{
		{"object", `{{ body }}`, request{body: `{"b": 1, "a": [true, null, "x"]}`}, `{"b":1,"a":[true,null,"x"]}`},
		{"made values", `{{ list 1 "a" nil }} {{ dict "z" 1.0 "a" (list) }}`, request{}, `[1,"a",null] {"z":1.0,"a":[]}`},
		{"in print", `{{ print body "x" 1 2 }} {{ printf "%v" body }}`, request{body: `{"a":1}`}, `{"a":1}x1 2 {"a":1}`},
		{"request", `{{ request }}`, request{}, `{"method":"GET","path":"/users/a b","rawPath":"/users/a%20b","rawQuery":"n=1","url":"http://api.test:8080/users/a%20b?n=1","host":"api.test","port":"8080","scheme":"http","clientIp":"192.0.2.7","id":"xch_1","trailers":{}}`},
		{"limit and response", `{{ limit }} {{ response }}`, request{}, `{"limit":10,"remaining":4,"reset":30,"retryAfter":12,"policy":"burst"} {"status":201,"headers":{"X-Id":"9"},"body":{"total":12.50}}`},
	})
}

func TestAA19_many_executions_at_once_do_not_disturb_each_other(t *testing.T) {
	t.Parallel()
	text, err := template.Compile(`{{ define "d" }}{{ . }}{{ end }}{{ range $i, $x := body.a }}{{ $i }}{{ $x | upper }}{{ regexFind path.id $x }}{{ end }}{{ template "d" path.id }}{{ uuid }}{{ jsonPath "$..a" }}{{ now | date "15" "Asia/Tokyo" }}`)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := template.CompileJSON(json.RawMessage(`{"a":"{{ path.id }}","b":"x{{ path.id }}","c":"{{ body }}"}`))
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 8 {
		id := string(rune('a' + i))
		group.Go(func() {
			var first, second string
			for range 50 {
				s := scopeOf(&request{path: map[string]string{"id": id}, body: `{"a":["` + id + `","z"]}`})
				one, err1 := text.Execute(t.Context(), s)
				two, err2 := doc.Execute(t.Context(), s)
				if err := errors.Join(err1, err2); err != nil {
					t.Error(err)
					return
				}
				if first == "" {
					first, second = string(one), string(two)
				}
				if first != string(one) || second != string(two) || !strings.Contains(second, `"x`+id+`"`) {
					t.Errorf("goroutine %s: got %s and %s", id, one, two)
				}
			}
		})
	}
	group.Wait()
}

func TestConstantsAndUses(t *testing.T) {
	t.Parallel()
	still, err := template.Compile("plain } text")
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := still.Constant(); !ok || string(got) != "plain } text" {
		t.Errorf("got %q, %v", got, ok)
	}
	if out, err := still.Execute(t.Context(), &template.Scope{}); err != nil || string(out) != "plain } text" {
		t.Errorf("got %q, %v", out, err)
	}
	doc, err := template.CompileJSON(json.RawMessage(` {"a" : [1.0, "x"]} `))
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := doc.Constant(); !ok || string(got) != `{"a":[1.0,"x"]}` {
		t.Errorf("got %q, %v", got, ok)
	}
	moving, err := template.Compile(`{{ body.a }}{{ limit.policy }}{{ faker "name" }}`)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := moving.Constant(); ok {
		t.Error("an action is a constant")
	}
	if u := moving.Uses(); !u.Has(template.UsesBody) || !u.Has(template.UsesLimit) || !u.Has(template.UsesRandom) || u.Has(template.UsesCall|template.UsesTime) {
		t.Errorf("uses %b", u)
	}
}

func TestARenderingAppendsToABuffer(t *testing.T) {
	t.Parallel()
	compiled, err := template.Compile(`{{ path.id }}!`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := compiled.Append(t.Context(), []byte("id "), scopeOf(&request{path: map[string]string{"id": "7"}}))
	if err != nil || string(got) != "id 7!" {
		t.Errorf("got %q, %v", got, err)
	}
}
