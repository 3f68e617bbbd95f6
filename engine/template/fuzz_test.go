package template_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/mockbase/mockbase/engine/template"
	"github.com/mockbase/mockbase/internal/testkit"
)

// FuzzTemplate compiles and executes any text, alone and as a value of a document. Nothing may panic, errors are of the two
// kinds with a place, bounds hold, and what a document renders to is JSON.
func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{
		`{{ path.id }}`, `{{ range $i, $x := body.a }}{{ $i }}{{ break }}{{ else }}e{{ end }}`, `{{ define "a" }}{{ . }}{{ end }}{{ template "a" 1 }}`,
		`{{ with body.o }}{{ .b | default (add 1 2.5) }}{{ end }}`, `{{ block "b" . }}x{{ end }}`, `{{ if and (eq 1 1.0) (not false) }}y{{ else if 1 }}z{{ end }}`,
		`{{ printf "%[2]*[1]d|%-5s|%q|%x|%U" 12 6 }}`, `{{ jsonPath "$..a" "d" }}`, `{{ regexFind "(a+)+b" bodyText }}`, "{{- /* c */ -}}", `{{ "{{" }}`,
		`{{ randomInt 1 6 }}{{ uuid }}{{ faker "name" }}{{ now "+1h" | date "unix" "UTC" }}`, `{{ $x := 1 }}{{ range until 3 }}{{ $x = mul $x 2 }}{{ end }}{{ $x }}`,
		`{{ slice "abc" 1 2 }}{{ substr 0 -1 "é" }}{{ index (dict "a" (list 1 2)) "a" 1 }}`, `{{`, `{{ "a`, `{{ (((1))) }}`, `{{ 0x1p-2 }}{{ 'a' }}{{ 1e400 }}`,
		"{{ define \"\xff\" }}x{{ end }}{{ template \"\xff\" }}",
	} {
		f.Add(seed, `{"a":[1,{"a":"x"}],"o":{"b":1.50},"e":1e999999}`)
	}
	f.Fuzz(func(t *testing.T, text, body string) {
		testkit.Bounded(t, 10*time.Second, func() { compileAndExecute(t, text, body) })
	})
}

// compileAndExecute does with a text, and with a document that holds it, what is done with those of a mock.
func compileAndExecute(t *testing.T, text, body string) {
	t.Helper()
	compiled, err := template.Compile(text)
	execute(t, compiled, err, body)
	source, err := json.Marshal(map[string]string{"v": text})
	if err != nil {
		t.Fatal(err)
	}
	compiled, err = template.CompileJSON(source)
	if out := execute(t, compiled, err, body); out != nil && !json.Valid(out) {
		t.Errorf("%q renders to %q, which is no JSON", text, out)
	}
}

func execute(t *testing.T, compiled *template.Template, err error, body string) []byte {
	t.Helper()
	if err != nil {
		if fault, ok := errors.AsType[*template.SyntaxError](err); !ok || fault.Line < 1 || fault.Column < 1 {
			t.Errorf("compile: %v", err)
		}
		return nil
	}
	s := scopeOf(&request{body: body, path: map[string]string{"id": "7"}, query: pairs{"q", body}})
	out, err := compiled.Execute(t.Context(), s)
	if err != nil {
		if failed, ok := errors.AsType[*template.ExecError](err); !ok || failed.Line < 1 {
			t.Errorf("execute: %v", err)
		}
		return nil
	}
	if len(out) > template.MaxOutput {
		t.Errorf("an output of %d bytes", len(out))
	}
	return out
}
