package openapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/openapi"
)

// W22: only references that go round are a circle, however long the way is.
func TestW22_long_chains_of_references_are_no_circle(t *testing.T) {
	t.Parallel()
	for _, n := range []int{60, 99, 1000} {
		var b strings.Builder
		b.WriteString(head + "paths: { /a: { get: { responses: { '200': { description: d, content: { application/json: { schema: { $ref: '#/components/schemas/S0' } } } } } } } }\ncomponents:\n  schemas:\n")
		for i := range n {
			fmt.Fprintf(&b, "    S%d: { $ref: '#/components/schemas/S%d' }\n", i, i+1)
		}
		circle := b.String() + fmt.Sprintf("    S%d: { $ref: '#/components/schemas/S%d' }\n", n, n/2)
		fmt.Fprintf(&b, "    S%d: { type: integer, minimum: 41, maximum: 43 }\n", n)
		d := compile(t, b.String())
		if got := told(ask(t, d, "GET /a")); !strings.HasPrefix(got, "200 ") || !strings.Contains(got, "41") {
			t.Errorf("%d references: %s", n, got)
		}
		if list := warnings(d); strings.Contains(list, "circle") {
			t.Errorf("%d references: %s", n, list)
		}
		d = compile(t, circle)
		ask(t, d, "GET /a")
		if list := warnings(d); !strings.Contains(list, "circle") {
			t.Errorf("a circle of %d references: %s", n-n/2+1, list)
		}
	}
}

// M-78, W3: what answers in the document answers in the mocks that are made of it.
func TestM78_of_two_operations_at_one_place_the_first_becomes_a_mock(t *testing.T) {
	t.Parallel()
	mocks, list := expanded(t, head+`paths:
  /dupe/{a}: { get: { operationId: aaa, responses: { '200': { description: d } } } }
  /dupe/{b}: { get: { operationId: bbb, responses: { '200': { description: d } } }, post: { operationId: ccc, responses: { '200': { description: d } } } }
`, openapi.ExpandOptions{})
	if !strings.Contains(mocks, `"aaa"`) || strings.Contains(mocks, `"bbb"`) || !strings.Contains(mocks, `"ccc"`) {
		t.Errorf("mocks:\n%s", mocks)
	}
	if !strings.Contains(fmt.Sprint(list), "comes first") {
		t.Errorf("warnings: %v", list)
	}
}

// W22: what a path has and nobody knows is told, and so is a limit that is beyond the bound.
func TestW22_nothing_of_a_path_disappears_in_silence(t *testing.T) {
	t.Parallel()
	_, list := expanded(t, head+`paths:
  /brew:
    brew: { responses: { '200': { description: d } } }
    gett: { responses: { '200': { description: d } } }
    x-mine: 1
    get:
      responses:
        '200': { description: d }
        '429': { description: d, headers: { X-RateLimit-Limit: { schema: { type: integer }, example: 99999999999999 } } }
`, openapi.ExpandOptions{Limits: true})
	text := fmt.Sprint(list)
	for _, want := range []string{`"brew" is no method`, `"gett" is no method`, "the declared limit of 99999999999999"} {
		if !strings.Contains(text, want) {
			t.Errorf("nothing says %s: %s", want, text)
		}
	}
	if strings.Contains(text, "x-mine") {
		t.Errorf("an extension is warned of: %s", text)
	}
}

// W42: a list as long as its schema wants is made up to ten thousand items; one that is longer is cut, which is told.
func TestW42_long_lists_are_made(t *testing.T) {
	t.Parallel()
	d := compile(t, hostilePaths+"    S0: { type: array, minItems: 2000, items: { type: string } }\n")
	if got := told(ask(t, d, "GET /a")); strings.Count(got, `"string"`) != 2000 {
		t.Errorf("it answers %.200s", got)
	}
	if list := warnings(d); list != "" {
		t.Errorf("warnings: %s", list)
	}
}

// W42: that a schema asks for more than is made is found out once, and not again with every request.
func TestW42_what_is_too_large_is_found_out_once(t *testing.T) {
	t.Parallel()
	d := compile(t, chain(40, "{ type: object, required: [a, b], properties: { a: NEXT, b: NEXT } }"))
	ask(t, d, "GET /a?__dynamic=true")
	before := d.Steps()
	ask(t, d, "GET /a?__dynamic=true")
	if made := d.Steps() - before; made > 5000 {
		t.Errorf("the second request made %d values", made)
	}
}
