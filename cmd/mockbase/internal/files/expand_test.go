package files_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/files"
)

func invalid(pointer string) error {
	return mockbase.Invalid([]mockbase.FieldError{{Pointer: pointer, Code: mockbase.FieldNotServed, Detail: "is not served yet"}})
}

func environment(name string) (string, bool) {
	value, ok := map[string]string{"STATUS": "201", "NAME": `Ada "the" one`, "EMPTY": "", "OBJECT": "{a: 1}"}[name]
	return value, ok
}

func TestC41_variables_are_replaced_in_values(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, response, want string }{
		{"a value", `{ text: "${NAME}" }`, `{"text":"Ada \"the\" one"}`},
		{"a number stays one", "\n      status: ${STATUS}", `{"status":201}`},
		{"a number in quotes is a text", `{ text: "${STATUS}" }`, `{"text":"201"}`},
		{"a default", `{ text: "${NONE:-none: at} all" }`, `{"text":"none: at all"}`},
		{"an empty variable has its default", `{ text: "${EMPTY:-x}" }`, `{"text":"x"}`},
		{"an empty default", `{ text: "${NONE:-}!" }`, `{"text":"!"}`},
		{"two dollars are one", `{ text: "$${NAME} costs $$5" }`, `{"text":"${NAME} costs $5"}`},
		{"one dollar alone stays", `{ text: "5$ $NAME" }`, `{"text":"5$ $NAME"}`},
		{"a value never becomes structure", "\n      json: ${OBJECT}", `{"json":"{a: 1}"}`},
		{"inside lists and objects", `{ json: [{ a: "${STATUS}" }, ["${STATUS}"]] }`, `{"json":[{"a":"201"},["201"]]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := tree(t, "-- a.yaml --\n# ${UNSET} in a comment is nobody's business\nmocks:\n\n  - request: GET /a\n    response: "+test.response+"\n")
			set, _, faults := load(t, dir, files.Options{Lookup: environment})
			if len(faults) > 0 {
				t.Fatal(faults)
			}
			m := set.Projects[0].Definition.Mocks[0]
			if got := string(m.Document); !strings.HasSuffix(got, `"response":`+test.want+"}") {
				t.Errorf("document %s, want the response %s", got, test.want)
			}
			if m.Line != 4 {
				t.Errorf("the mock is said to be in line %d", m.Line)
			}
		})
	}
}

func TestC41_what_cannot_be_replaced_is_a_fault_with_its_line(t *testing.T) {
	t.Parallel()
	dir := tree(t, `
-- a.yaml --
mocks:
  - request: GET /a
    response:
      text: "${MISSING}"
      headers: { X-A: "${1A}", X-B: "${NAME" }
-- b.json --
{"mocks": [{"request": "GET /b",
  "response": {"status": "${STATUS}"}}]}
`)
	_, _, faults := load(t, dir, files.Options{Lookup: environment})
	want := []string{
		"a.yaml:4:13: the variable MISSING is not set: set it, or write ${MISSING:-default} [reference]",
		"a.yaml:5:23: ${1A is no variable: write ${NAME}, ${NAME:-default}, or $$ for a dollar sign [syntax]",
		"a.yaml:5:37: ${NAME is no variable: write ${NAME}, ${NAME:-default}, or $$ for a dollar sign [syntax]",
	}
	if len(faults) != 4 || cmp.Diff(want, faults[:3]) != "" || !strings.HasPrefix(faults[3], "b.json:2:") {
		t.Errorf("faults:\n%s", strings.Join(faults, "\n"))
	}
}

func FuzzExpansion(f *testing.F) {
	for _, seed := range []string{"${A}", "$$", "${A:-b}", "${", "$}", "${A:-${B}}", "a: ${A}\n- b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		dir := tree(t, "")
		write(t, dir, "a.yaml", "mocks:\n  - request: GET /a\n    response: { text: "+text+" }\n")
		if _, err := files.Load(files.Options{Paths: []string{dir}, Lookup: environment}); err != nil {
			t.Fatal(err)
		}
	})
}
