package openapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/openapi"
)

// manyOperations is a document of so many operations, each with the example and with a schema of its own.
func manyOperations(t *testing.T, count int, example string) *openapi.Document {
	t.Helper()
	var b strings.Builder
	b.WriteString("openapi: 3.0.0\ninfo: { title: t, version: '1' }\ncomponents: { examples: { e: { value: " + example + " } } }\npaths:\n")
	for i := range count {
		fmt.Fprintf(&b, "  /p%d:\n    get:\n      responses:\n        200: { description: d, content: { application/json: { schema: { type: array, items: { type: integer, maximum: %d } }, "+
			"examples: { e: { $ref: '#/components/examples/e' } } } } }\n", i, i)
	}
	d, err := openapi.Compile(&mockbase.Document{Name: "d", Inline: []byte(b.String())})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// W39: what is odd about the last of many operations is told as well.
func TestW39_every_operation_is_examined(t *testing.T) {
	t.Parallel()
	d := manyOperations(t, 300, "[ 298 ]")
	var told int
	for _, w := range d.Warnings() {
		if w.Code != mockbase.FieldConflict || !strings.HasPrefix(w.Pointer, "#/paths/~1p") {
			t.Errorf("%+v", w)
		}
		told++
	}
	if told != 298 {
		t.Errorf("%d operations have an example that does not fit, want 298", told)
	}
}

// M-9: the work that goes into warnings has an end, which is a warning itself.
func TestM9_a_document_that_is_too_large_to_be_examined_says_so(t *testing.T) {
	t.Parallel()
	d := manyOperations(t, 300, "["+strings.Repeat("1,", 2000)+"1]")
	list := d.Warnings()
	last := list[len(list)-1]
	if last.Code != mockbase.FieldLimit || last.Pointer != "#" || !strings.Contains(last.Detail, "of 300 operations alone") {
		t.Errorf("the last of %d warnings is %+v", len(list), last)
	}
}
