package openapi_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase/openapi"
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

// Rules W16 and W30: fields of forms and parts have pointers as members of JSON have.
func TestW30_violations_in_forms_and_parts_have_pointers(t *testing.T) {
	t.Parallel()
	schema := "{ type: object, required: [must], properties: { n: { type: integer }, a.b: { type: array, items: { type: integer } }, " +
		"o: { type: object, properties: { x: { type: integer }, l: { type: array, items: { type: integer } } } }, small: { type: integer, maximum: 3 } } }"
	d := compile(t, head+`paths:
  /form: { post: { requestBody: { content: { application/x-www-form-urlencoded: { schema: `+schema+` } } }, responses: { '200': { description: d } } } }
  /parts: { post: { requestBody: { content: { multipart/form-data: { schema: `+schema+` } } }, responses: { '200': { description: d } } } }
`)
	two := compile(t, `swagger: '2.0'
info: { title: t, version: '1' }
paths:
  /form: { post: { consumes: [application/x-www-form-urlencoded], responses: { '200': { description: d } }, parameters: [
    { name: n, in: formData, type: integer, required: true }, { name: l/i, in: formData, type: array, items: { type: integer } }, { name: small, in: formData, type: integer, maximum: 3 } ] } }
`)
	form := "\nContent-Type: application/x-www-form-urlencoded\n\n"
	part := func(name, more, text string) string {
		return "--x\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n" + more + "\r\n" + text + "\r\n"
	}
	for _, c := range []struct {
		document *openapi.Document
		request  sent
		want     string
	}{
		{d, sent("POST /form" + form + "n=x&a.b=1&a.b=y&o[x]=z&o[l][]=1&o[l][]=q"), "body.n /n, body.a.b.1 /a.b/1, body.o.x /o/x, body.o.l.1 /o/l/1, body.must /must"},
		{d, sent("POST /form" + form + "small=9"), "body.small /small, body.must /must"},
		{two, sent("POST /form" + form + "l/i=1&l/i=2&small=9"), "body.n /n, body.l/i /l~1i, body.small /small"},
		{
			d, sent("POST /parts\nContent-Type: multipart/form-data; boundary=x\n\n" + part("n", "", "x") + part("a.b", "", "1") + part("a.b", "", "y") +
				part("o", "Content-Type: application/json\r\n", "{") + "--x--\r\n"),
			"body.n /n, body.a.b.1 /a.b/1, body.o /o, body.must /must",
		},
		{d, sent("POST /parts\nContent-Type: multipart/form-data; boundary=x\n\n" + part("must", "", "1") + part("small", "", "9") + "--x--\r\n"), "body.small /small"},
	} {
		var got []string
		for _, v := range ask(t, c.document, c.request).Violations {
			got = append(got, v.Location+" "+v.Pointer)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: got %q, want %q", c.request, got, c.want)
		}
	}
}
