package openapi_test

import (
	"strings"
	"testing"
)

// Rule W30: a violation in a body has a JSON Pointer, which tells members with dots in their names apart.
func TestW30_violations_in_bodies_have_pointers(t *testing.T) {
	t.Parallel()
	d := compile(t, body("{ type: object, properties: { a.b: { type: array, items: { type: integer } }, c/d: { type: integer } }, required: [e] }"))
	op, _ := d.Find("GET", "/p", "")
	list := d.CheckAnswer(op, 200, map[string][]string{"Content-Type": {"application/json"}}, []byte(`{"a.b":["x"],"c/d":"y"}`))
	var got []string
	for _, v := range list {
		got = append(got, v.Location+" "+v.Pointer)
	}
	want := "response.body.a.b.0 /a.b/0\nresponse.body.c/d /c~1d\nresponse.body.e /e"
	if strings.Join(got, "\n") != want {
		t.Errorf("got %q", got)
	}
}
