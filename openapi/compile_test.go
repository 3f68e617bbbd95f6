package openapi_test

import (
	"fmt"
	"strings"
	"testing"
)

// entwined is a document whose schemas all lead to one another.
func entwined(operations, schemas int) string {
	var b strings.Builder
	b.WriteString(head + "components:\n  schemas:\n")
	for i := range schemas {
		fmt.Fprintf(&b, "    M%d:\n      type: object\n      required: [name]\n      properties:\n        name: { type: string, pattern: '^[a-z]{1,40}$' }\n", i)
		for j := 1; j <= 4; j++ {
			fmt.Fprintf(&b, "        r%d: { $ref: '#/components/schemas/M%d' }\n", j, (i*7+j*131)%schemas)
		}
	}
	b.WriteString("paths:\n")
	for i := range operations {
		schema := fmt.Sprintf("{ content: { application/json: { schema: { $ref: '#/components/schemas/M%d' } } }", i)
		fmt.Fprintf(&b, "  /r%d:\n    post:\n      requestBody: %s }\n      responses: { '200': %s, description: d } }\n", i, schema, schema)
	}
	return b.String()
}

// TestW22_each_schema_is_compiled_once_however_they_lead_to_one_another counts texts, as the compiler takes the square of the
// schemas in one.
func TestW22_each_schema_is_compiled_once_however_they_lead_to_one_another(t *testing.T) {
	t.Parallel()
	const operations, schemas = 50, 400
	d := compile(t, entwined(operations, schemas))
	if list := warnings(d); strings.Contains(list, "large") {
		t.Errorf("warnings:\n%s", list)
	}
	count, longest := d.Texts()
	if count > 2*(schemas+2*operations) || longest > 8 {
		t.Errorf("%d texts were compiled, the longest of %d schemas", count, longest)
	}
	for body, want := range map[string]string{
		`{"r4":{"r1":{"name":"a"}}}`:     "422 validation-failed body.name required, body.r4.name required",
		`{"name":"a","r1":{"name":"b"}}`: "200 ",
	} {
		if got := told(ask(t, d, sent("POST /r0\nContent-Type: application/json\n\n"+body))); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s, want %s", body, got, want)
		}
	}
}

// TestW22_a_long_schema_is_compiled_in_parts counts like the test before.
func TestW22_a_long_schema_is_compiled_in_parts(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(head + "paths:\n  /a:\n    post:\n      requestBody:\n        content:\n          application/json:\n            schema:\n              type: object\n              properties:\n")
	for i := range 200 {
		fmt.Fprintf(&b, "                p%d: { type: object, properties: { a: { type: integer }, b: { type: object, properties: { c: { type: integer } } } } }\n", i)
	}
	b.WriteString("      responses: { '200': { description: d } }\n")
	d := compile(t, b.String())
	if got := told(ask(t, d, "POST /a\nContent-Type: application/json\n\n{\"p199\":{\"b\":{\"c\":\"x\"}}}")); got != "422 validation-failed body.p199.b.c type" {
		t.Errorf("got %s", got)
	}
	if _, longest := d.Texts(); longest > 600 {
		t.Errorf("one text has %d schemas", longest)
	}
}
