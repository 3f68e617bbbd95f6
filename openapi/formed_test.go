package openapi_test

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"regexp"
	"testing"

	"github.com/mockbase/mockbase"
)

// Rules W41 and W44: values that several keywords speak of, with the pattern of what is answered.
func TestW41_W44_values_that_keywords_share(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, schema, want string }{
		{"W41 milliseconds", `{ type: string, format: date-time, pattern: '^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$' }`, `^"2020-01-01T00:00:00\.000Z"$`},
		{"W41 an offset", `{ type: string, format: date-time, pattern: '\+\d\d:\d\d$' }`, `^"2020-01-01T00:00:00\+00:00"$`},
		{"W41 a certain offset", `{ type: string, format: date-time, pattern: '-05:00$' }`, `^"2020-.*-05:00"$`},
		{"W41 a year", `{ type: string, format: date, pattern: '^2023-' }`, `^"2023-01-01"$`},
		{"W41 a month", `{ type: string, format: date, pattern: '-06-' }`, `^"2020-06-01"$`},
		{"W41 a time with microseconds", `{ type: string, format: time, pattern: '\.\d{6}Z$' }`, `^"00:00:00\.000000Z"$`},
		{"W41 a network", `{ type: string, format: ipv4, pattern: '^10\.' }`, `^"10\.\d+\.\d+\.\d+"$`},
		{"W41 a broadcast address", `{ type: string, format: ipv4, pattern: '\.255$' }`, `^"[\d.]+\.255"$`},
		{"W41 a network of IPv6", `{ type: string, format: ipv6, pattern: '^fd00:' }`, `^"fd00:[0-9a-f:]+"$`},
		{"W41 a domain", `{ type: string, format: hostname, pattern: '\.svc\.local$' }`, `^"host\.example\.com\.svc\.local"$`},
		{"W41 an address of a domain", `{ type: string, format: email, pattern: '@acme\.com$' }`, `^"user@acme\.com"$`},
		{"W41 a certain folder", `{ type: string, format: uri, pattern: '^https://cdn\.acme\.com/' }`, `^"https://cdn\.acme\.com/`},
		{"W41 an ending", `{ type: string, format: uri, pattern: '\.pdf$' }`, `^"https://example\.com/.*\.pdf"$`},
		{"W41 another version of UUIDs", `{ type: string, format: uuid, pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$' }`, `^"0{8}-0000-7000-[89a]000-0{12}"$`},
		{"W41 days", `{ type: string, format: duration, pattern: '^P\d+D$' }`, `^"P\dD"$`},
		{"W41 a short address", "{ type: string, format: email, maxLength: 8 }", `^"[a-z]+@[a-z.]+"$`},
		{"W41 a short name", "{ type: string, format: hostname, maxLength: 4 }", `^"[a-z]+"$`},
		{"W41 a relative pointer", "{ type: string, format: relative-json-pointer }", `^"\d`},
		{"W41 a period", "{ type: string, format: period }", `^"2020-01-01T00:00:00Z/`},
		{"W41 a semantic version", "{ type: string, format: semver }", `^"1\.0\.0"$`},
		{"W41 different pointers", "{ type: array, uniqueItems: true, minItems: 3, items: { type: string, format: json-pointer } }", `.`},
		{"W41 different expressions", "{ type: array, uniqueItems: true, minItems: 3, items: { type: string, format: regex } }", `.`},
		{"W41 different bytes", "{ type: array, uniqueItems: true, minItems: 3, items: { type: string, format: byte } }", `.`},
		{"W41 different addresses of a domain", `{ type: array, uniqueItems: true, minItems: 3, items: { type: string, format: email, pattern: '@acme\.com$' } }`, `user2@acme\.com`},
		{"W41 different days of a year", `{ type: array, uniqueItems: true, minItems: 3, items: { type: string, format: date, pattern: '^2023-' } }`, `2023-01-03`},
		{"W41 firsts of months", `{ type: array, uniqueItems: true, minItems: 3, items: { type: string, format: date, pattern: '-01$' } }`, `.`},
		{"W41 full hours", `{ type: array, uniqueItems: true, minItems: 3, items: { type: string, format: date-time, pattern: 'T12:00:00Z$' } }`, `.`},
		{"W41 all objects of small members", "{ type: array, uniqueItems: true, minItems: 4, items: { type: object, properties: { b: { type: boolean }, e: { enum: [1, 2] } } } }", `.`},
		{"W41 all objects of three members", "{ type: array, uniqueItems: true, minItems: 12, items: { type: object, properties: { b: { type: boolean }, e: { enum: [1, 2, 3] }, i: { type: integer, minimum: 0, maximum: 1 } } } }", `.`},
		{"W41 all objects within objects", "{ type: array, uniqueItems: true, minItems: 8, items: { type: object, properties: { b: { type: boolean }, o: { type: object, properties: { c: { type: boolean }, d: { type: boolean } } } } } }", `.`},
		{"W41 all pairs", "{ type: array, uniqueItems: true, minItems: 4, items: { type: array, minItems: 2, maxItems: 2, items: { type: boolean } } }", `.`},
		{"W41 all of two branches", "{ type: array, uniqueItems: true, minItems: 4, items: { anyOf: [{ enum: [a, b] }, { enum: [c, d] }] } }", `.`},
		{"W44 a number that is not whole", "{ oneOf: [{ type: number }, { type: integer }] }", `^\d+\.\d+$`},
		{"W44 objects of such numbers", "{ oneOf: [{ type: object, required: [a], properties: { a: { type: number } } }, { type: object, required: [a], properties: { a: { type: integer } } }] }", `^\{"a":\d+\.\d+\}$`},
		{"W44 lists of such numbers", "{ oneOf: [{ type: array, items: { type: number } }, { type: array, minItems: 1, items: { type: integer } }] }", `.`},
		{"W44 a number beyond 32 bits", "{ oneOf: [{ type: integer, format: int32 }, { type: integer, format: int64 }] }", `^-?\d{10,}$`},
		{"W44 a text beyond a length", "{ oneOf: [{ type: string, maxLength: 10 }, { type: string }] }", `^".{11,}"$`},
		{"W44 a text below a length", "{ oneOf: [{ type: string, minLength: 3 }, { type: string }] }", `^".{0,2}"$`},
		{"W44 what depends on a member", "{ type: object, properties: { a: { type: integer }, b: { type: string } }, dependentSchemas: { a: { properties: { b: { minLength: 9 } } } } }", `^\{"a":0,"b":".{9,}"\}$`},
		{"W44 what a member requires", "{ type: object, properties: { a: { type: integer } }, dependentSchemas: { a: { required: [c], properties: { c: { const: 7 } } } } }", `^\{"a":0,"c":7\}$`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := compile(t, body(c.schema))
			a := ask(t, d, "GET /p")
			if a.Status != http.StatusOK || !regexp.MustCompile(c.want).Match(a.Body) {
				t.Errorf("%s: got %s", c.schema, told(a))
			}
			op, _ := d.Find("GET", "/p", "")
			for seed := range uint64(8) {
				a := d.Answer(op, &mockbase.DocumentRequest{
					Method: "GET", Path: "/p", Header: http.Header{}, Preferred: mockbase.Preferred{Dynamic: "true"},
					Rand: func(string, string) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) },
				})
				if a.Status != http.StatusOK || !json.Valid(a.Body) || len(d.CheckAnswer(op, 200, http.Header{"Content-Type": {a.MediaType}}, a.Body)) > 0 {
					t.Errorf("%s, drawn: got %s", c.schema, told(a))
				}
			}
		})
	}
}
