package bench_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/bench"
	"github.com/mockbase/mockbase/openapi"
)

func TestA_tangle_is_a_document_of_the_size_that_was_asked_for(t *testing.T) {
	t.Parallel()
	const size = 200_000
	text := bench.Tangle{Operations: 20, Schemas: 60, Size: size}.Text()
	d, err := openapi.Compile(&mockbase.Document{Name: "d", Inline: text})
	if err != nil || d.Operations() != 20 || len(text) < size*9/10 || len(text) > size*11/10 {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	for _, w := range d.Warnings() {
		if w.Code != mockbase.FieldConflict {
			t.Errorf("%+v", w)
		}
	}
}

func TestCopies_of_a_document_refer_to_their_own_parts(t *testing.T) {
	t.Parallel()
	const text = `openapi: 3.0.0
info: { title: t, version: '1' }
paths: { /a: { get: { operationId: a, responses: { '200': { description: d, content: { application/json: { schema: { $ref: '#/components/schemas/A' } } } } } } } }
components: { schemas: { A: { type: object, properties: { a: { $ref: '#/components/schemas/A' } } } } }
`
	blown, err := bench.Blown([]byte(text), 3000)
	if err != nil {
		t.Fatal(err)
	}
	d, err := openapi.Compile(&mockbase.Document{Name: "d", Inline: blown})
	if err != nil || d.Operations() < 5 || !strings.Contains(string(blown), `"$ref":"#/components/schemas/AC2"`) {
		t.Fatalf("%v: %s", err, blown)
	}
	if list := d.Warnings(); len(list) > 0 {
		t.Errorf("warnings %v", list)
	}
}
