package openapi_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/openapi"
)

// hostilePaths has one operation, which answers with the schema S0.
const hostilePaths = head + "paths: { /a: { get: { responses: { '200': { description: d, content: { application/json: { schema: { $ref: '#/components/schemas/S0' } } } } } } } }\ncomponents:\n  schemas:\n"

// chain writes schemas of which each names the next.
func chain(length int, format string) string {
	var b strings.Builder
	b.WriteString(hostilePaths)
	for i := range length {
		fmt.Fprintf(&b, "    S%d: "+strings.ReplaceAll(format, "NEXT", fmt.Sprintf("{ $ref: '#/components/schemas/S%d' }", i+1))+"\n", i)
	}
	fmt.Fprintf(&b, "    S%d: { type: string }\n", length)
	return b.String()
}

// Rules W22, W41 and W42: what is hostile is answered or refused in bounded time, and what is tolerated is a warning.
func TestW22_vast_documents_are_bounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, want string
		warned     bool
	}{
		"a thousand references":       {chain(1000, "NEXT"), `200 application/json "string"`, false},
		"a thousand levels":           {chain(1000, "{ type: object, properties: { n: NEXT } }"), "200 application/json ", false},
		"three to the power of forty": {chain(40, "{ type: object, required: [a, b, c], properties: { a: NEXT, b: NEXT, c: NEXT } }"), `200 application/json {"a":`, true},
		"a huge enum":                 {hostilePaths + "    S0: { type: string, enum: [" + strings.Repeat("v, ", 100_000) + "w] }\n", `200 application/json "v"`, false},
		"a pattern that RE2 refuses":  {hostilePaths + "    S0: { type: string, pattern: '^(a+)+$(?=x)' }\n", "200 application/json ", true},
		"counts within counts":        {hostilePaths + "    S0: { type: string, pattern: '^((a{0,1000}){0,1000}){0,1000}$' }\n", "200 application/json ", true},
		"billions of items":           {hostilePaths + "    S0: { type: array, minItems: 2000000000, items: { type: string } }\n", `200 application/json ["string"`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := compile(t, c.text)
			if got := told(ask(t, d, "GET /a")); !strings.HasPrefix(got, c.want) {
				t.Errorf("it answers %.200s, want %s", got, c.want)
			}
			if list := warnings(d); (list != "") != c.warned {
				t.Errorf("warnings %.300q", list)
			}
		})
	}
	var laughs strings.Builder
	laughs.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&laughs, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	if _, err := openapi.Parse([]byte(laughs.String() + head + "paths: {}\n")); mockbase.ErrorCode(err) == "" {
		t.Errorf("a billion laughs are read: %v", err)
	}
}

// Rule W42: whatever is generated is valid against its schema, fixed or drawn.
func TestW42_generated_answers_are_valid(t *testing.T) {
	t.Parallel()
	kinds := []string{
		"{ type: integer, minimum: 3, multipleOf: 5 }", "{ type: number, exclusiveMinimum: true, minimum: 0, maximum: 1 }", "{ type: boolean }",
		"{ type: string, minLength: 4, maxLength: 6 }", "{ type: string, pattern: '^[A-Z]{2}-\\d{3}$' }", "{ type: string, format: date-time }", "{ type: string, format: uuid }",
		"{ type: string, format: email, maxLength: 40 }", "{ type: string, enum: [b, a] }", "{ type: array, minItems: 2, uniqueItems: true, items: { type: integer } }",
		"{ type: string, nullable: true }", "{ type: object, additionalProperties: { type: integer } }", "{ oneOf: [ { type: string }, { type: integer } ] }",
		"{ allOf: [ { type: object, required: [a], properties: { a: { type: integer } } }, { type: object, required: [b], properties: { b: { type: string, writeOnly: true }, c: { type: string, readOnly: true } } } ] }",
		"{ anyOf: [ { type: array, items: { type: boolean } }, { type: string } ] }", "{ type: object, required: [n], properties: { n: { type: array, items: { $ref: '#/components/schemas/T' } } } }",
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for round := range 40 {
		var b strings.Builder
		b.WriteString(hostilePaths + "    T: { type: object, properties: { next: { $ref: '#/components/schemas/T' }, v: { type: integer } } }\n    S0:\n      type: object\n      required: [p0]\n      properties:\n")
		for i := range 1 + rnd.IntN(5) {
			fmt.Fprintf(&b, "        p%d: %s\n", i, kinds[rnd.IntN(len(kinds))])
		}
		d := compile(t, b.String())
		for _, request := range []sent{"GET /a", sent(fmt.Sprintf("GET /a?__dynamic=true&__seed=%d", round))} {
			a := ask(t, d, request)
			if a.Status != http.StatusOK {
				t.Fatalf("%s\n%s", b.String(), told(a))
			}
			if list := d.CheckAnswer(0, a.Status, http.Header{"Content-Type": {a.MediaType}}, a.Body); len(list) > 0 {
				t.Errorf("%s\n%s\n%v", b.String(), a.Body, list)
			}
		}
	}
}

// M-9: a document whose values would have no end in sight is answered with the beginning of one.
func TestM9_values_that_fan_out_are_cut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		member string
		cut    bool
	}{
		"objects":  {"required: [a, b, c], properties: { a: NEXT, b: NEXT, c: NEXT }", true},
		"lists":    {"required: [a], properties: { a: { type: array, minItems: 3, items: NEXT } }", true},
		"optional": {"properties: { a: NEXT, b: NEXT, c: NEXT }", false},
	} {
		var b strings.Builder
		b.WriteString(head + "paths: { /a: { get: { responses: { '200': { description: d, content: { application/json: { schema: { $ref: '#/components/schemas/s0' } } } } } } } }\ncomponents:\n  schemas:\n")
		for i := range 40 {
			next := fmt.Sprintf("{ $ref: '#/components/schemas/s%d' }", i+1)
			fmt.Fprintf(&b, "    s%d: { type: object, %s }\n", i, strings.ReplaceAll(c.member, "NEXT", next))
		}
		b.WriteString("    s40: { type: string }\n")
		d := compile(t, b.String())
		for _, request := range []sent{"GET /a", "GET /a?__dynamic=true"} {
			if got := told(ask(t, d, request)); !strings.HasPrefix(got, "200 ") || !strings.Contains(got, `{"a":`) {
				t.Errorf("%s: %s answers %.200s", name, request, got)
			}
		}
		if list := warnings(d); strings.Contains(list, "its answers are cut") != c.cut {
			t.Errorf("%s: warnings %.300q", name, list)
		}
	}
}
