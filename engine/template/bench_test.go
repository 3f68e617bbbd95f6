package template_test

import (
	"encoding/json"
	"testing"

	"github.com/mockbase/mockbase/engine/template"
)

func BenchmarkATextWithOnePathParameter(b *testing.B) {
	compiled, err := template.Compile(`{"id":"{{ path.id }}"}`)
	benchmark(b, compiled, err)
}

func BenchmarkADocumentWithOnePathParameter(b *testing.B) {
	compiled, err := template.CompileJSON(json.RawMessage(`{"id":"{{ path.id }}","name":"Ann","tags":["a","b"]}`))
	benchmark(b, compiled, err)
}

func BenchmarkADocumentWithMixedText(b *testing.B) {
	compiled, err := template.CompileJSON(json.RawMessage(`{"href":"/users/{{ path.id }}/orders"}`))
	benchmark(b, compiled, err)
}

func BenchmarkFunctions(b *testing.B) {
	compiled, err := template.Compile(`{{ path.id | upper }} {{ add 1 2.50 }} {{ if eq path.id "a" }}y{{ else }}n{{ end }}`)
	benchmark(b, compiled, err)
}

func BenchmarkRangeOverAHundred(b *testing.B) {
	compiled, err := template.Compile(`{{ range $i, $x := until 100 }}{{ $i }},{{ end }}`)
	benchmark(b, compiled, err)
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := template.Compile(`{"id":"{{ path.id }}","n":{{ query.n | default "1" | int }}}`); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmark(b *testing.B, compiled *template.Template, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
	q := &request{path: map[string]string{"id": "42"}}
	b.ReportAllocs()
	for b.Loop() {
		s := template.Scope{Request: q}
		if _, err := compiled.Execute(b.Context(), &s); err != nil {
			b.Fatal(err)
		}
	}
}
