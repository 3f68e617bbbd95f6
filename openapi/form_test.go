package openapi_test

import (
	"strings"
	"testing"
)

// fields makes an operation whose body of a media type has these properties and encodings, written as YAML.
func fields(kind, properties, encoding string) string {
	return head + "paths: { /p: { post: { requestBody: { content: { " + kind + ": { schema: { type: object, required: [n], properties: { n: { type: integer }, " +
		properties + " } }, encoding: { " + encoding + " } } } }, responses: { '204': { description: d } } } } }\n"
}

func posted(pairs string) sent {
	return sent("POST /p\nContent-Type: application/x-www-form-urlencoded\n\n" + pairs)
}

func TestW16_fields_of_forms_by_their_encoding(t *testing.T) {
	t.Parallel()
	const object = "{ type: object, required: [a], properties: { a: { type: integer } } }"
	run(t, compile(t, fields("application/x-www-form-urlencoded",
		"j: "+object+", l: { type: array, items: { type: integer } }, d: "+object+", r: { type: string }, both: { anyOf: [{ type: string, pattern: '^0' }, { type: integer, minimum: 5 }] }",
		"j: { contentType: application/json }, l: { contentType: application/json }, r: { allowReserved: false }")), []exchange{
		{"an object as JSON", posted(`n=1&j={"a":1}`), "204"},
		{"an object with a wrong member", posted(`n=1&j=%7B%22a%22:%22x%22%7D`), "422 validation-failed body.j.a type"},
		{"text that is no JSON", posted("n=1&j=x"), "422 validation-failed body.j parse"},
		{"an object given twice", posted("n=1&j={}&j={}"), "422 validation-failed body.j type"},
		{"a list as JSON", posted("n=1&l=[1,2]"), "204"},
		{"the items of a list, each as JSON", posted("n=1&l=1&l=2"), "204"},
		{"a list with a wrong item", posted(`n=1&l=[1,"x"]`), "422 validation-failed body.l.1 type"},
		{"an object in brackets", posted("n=1&d[a]=1"), "204"},
		{"an object as JSON where nothing is said", posted(`n=1&d={"a":1}`), "204"},
		{"text in place of an object", posted("n=1&d=x"), "422 validation-failed body.d parse"},
		{"reserved characters", posted("n=1&r=a:b"), "422 validation-failed body.r coercion"},
		{"a plus for a blank", posted("n=1&r=a+b"), "204"},
		{"a number that is a text as well", posted("n=1&both=01"), "204"},
		{"all faults at once, in the order of the document", posted("l=[true]&d[a]=x"), "422 validation-failed body.n required, body.l.0 type, body.d.a coercion"},
	})
}

// parts makes a multipart request of parts, each its headers, an empty line and its text.
func parts(list ...string) sent {
	var b strings.Builder
	b.WriteString("POST /p\nContent-Type: multipart/form-data; boundary=x\n\n")
	for _, part := range list {
		name, rest, _ := strings.Cut(part, "\n")
		b.WriteString("--x\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n" + strings.ReplaceAll(rest, "\n", "\r\n") + "\r\n")
	}
	return sent(b.String() + "--x--\r\n")
}

func TestW16_parts_by_their_encoding(t *testing.T) {
	t.Parallel()
	const n, asJSON = "n\n\n1", "\nContent-Type: application/json\n\n"
	run(t, compile(t, fields("multipart/form-data", "l: { type: array, items: { type: integer } }, s: { type: string }, h: { type: string }, w: { type: integer }",
		"h: { headers: { X-Size: { required: true, schema: { type: integer } }, X-Note: { schema: { type: string } } } }")), []exchange{
		{"items in parts of their own", parts(n, "l\n\n1", "l\n\n2"), "204"},
		{"items with brackets behind their name", parts(n, "l[]\n\n1", "l[]\n\nx"), "422 validation-failed body.l.1 coercion"},
		{"a list in one part", parts(n, "l"+asJSON+"[1,2]"), "204"},
		{"a list in one part with a wrong item", parts(n, "l"+asJSON+"[1,\"x\"]"), "422 validation-failed body.l.1 type"},
		{"a value that is given twice", parts(n, n), "422 validation-failed body.n type"},
		{"the header of a part", parts(n, "h\nX-Size: 3\n\na"), "204"},
		{"a header that is missing", parts(n, "h\n\na"), "422 validation-failed body.h missing"},
		{"a header with a wrong value", parts(n, "h\nX-Size: a\n\na"), "422 validation-failed body.h coercion"},
		{"all faults at once", parts("w\n\nx"), "422 validation-failed body.n required, body.w coercion"},
		{"a body without its boundary", "POST /p\nContent-Type: multipart/form-data; boundary=x\n\nn=1", "400 bad-request body parse"},
	})
}

func TestW15_XML_that_is_none(t *testing.T) {
	t.Parallel()
	xml := func(text string) sent { return sent("POST /p\nContent-Type: application/xml\n\n" + text) }
	run(t, compile(t, head+"paths: { /p: { post: { requestBody: { content: { application/xml: { schema: { type: object } } } }, responses: { '204': { description: d } } } } }\n"), []exchange{
		{"XML", xml(`<?xml version="1.0"?><a b="c"><d/></a>`), "204"},
		{"an element without its end", xml("<a>"), "400 bad-request body parse"},
		{"text", xml("hello"), "400 bad-request body parse"},
		{"an unknown entity", xml("<a>&x;</a>"), "400 bad-request body parse"},
		{"entities of its own", xml(`<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>`), "204"},
		{"another character set", xml("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xe9</a>"), "204"},
	})
}

func TestW30_violations_are_in_the_order_of_the_document(t *testing.T) {
	t.Parallel()
	run(t, compile(t, head+`paths: { /p: { post: { requestBody: { content: { application/json: { schema: { type: object, properties: { z: { type: integer },
  a: { type: object, properties: { y: { type: integer }, b: { type: integer } } }, l: { type: array, items: { type: integer } } } } } } }, responses: { '204': { description: d } } } } }
`), []exchange{
		{
			"properties as they are declared, items by number", "POST /p\nContent-Type: application/json\n\n" + `{"l":[1,2,"x",4,5,6,7,8,9,10,"y"],"a":{"b":"x","y":"x"},"z":"x"}`,
			"422 validation-failed body.z type, body.a.y type, body.a.b type, body.l.2 type, body.l.10 type",
		},
	})
}
