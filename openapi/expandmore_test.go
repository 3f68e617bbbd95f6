package openapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/openapi"
)

// M-78: files are bytes in mocks, and those that have JSON as well lose neither.
func TestM78_generated_files_become_bytes(t *testing.T) {
	t.Parallel()
	made := parse(t, head+`paths:
  /png: { get: { responses: { '200': { description: d, content: { image/png: { schema: { type: string, format: binary } } } } } } }
  /jpeg: { get: { responses: { '200': { description: d, content: { image/jpeg: { schema: { type: string, format: binary } } } } } } }
  /gif: { get: { responses: { '200': { description: d, content: { image/gif: {} } } } } }
  /zip: { get: { responses: { '200': { description: d, content: { application/zip: { schema: { type: string, format: binary } } } } } } }
  /both: { get: { responses: { '200': { description: d, content: { application/json: { example: { a: 1 } }, image/png: { schema: { type: string, format: binary } } } } } } }
`).Expand(openapi.ExpandOptions{})
	if len(made.Mocks) != 5 {
		t.Fatalf("%d mocks; %v", len(made.Mocks), made.Warnings)
	}
	for i, want := range []string{"\x89PNG", "\xff\xd8\xff", "GIF8", "PK\x05\x06", "\x89PNG"} {
		m, err := mockbase.DecodeMock(made.Mocks[i].Document.JSON(), mockbase.FormatJSON)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(m.Responses, func(r mockbase.Response) bool { return r.Body.Kind == mockbase.BodyBase64 })
		if at < 0 || !strings.HasPrefix(string(m.Responses[at].Body.Bytes), want) {
			t.Errorf("%s: no body is %q", m.Name, want)
		}
	}
}

// W26: a response of many statuses keeps one that asks for it, and the mock does not answer like the usual one with the body of an error.
func TestW26_ranges_and_default_keep_a_status_of_theirs(t *testing.T) {
	t.Parallel()
	mocks, list := expanded(t, head+`paths:
  /a:
    get:
      responses:
        '200': { description: d }
        default: { description: d, content: { application/json: { example: any } } }
        '500': { description: d }
        5XX: { description: d, content: { application/json: { example: five } } }
`, openapi.ExpandOptions{})
	for _, want := range []string{
		`{"name":"400","when":{"query":{"__code":"400"}},"status":400,"json":"any"}`,
		`{"name":"500","when":{"query":{"__code":"500"}},"status":500}`,
		`{"name":"501","when":{"query":{"__code":"501"}},"status":501,"json":"five"}`,
	} {
		if !strings.Contains(mocks, want) {
			t.Errorf("no %s in\n%s", want, mocks)
		}
	}
	if strings.Contains(mocks, "200-2") || !strings.Contains(fmt.Sprint(list), "responses of many statuses") {
		t.Errorf("%s\n%v", mocks, list)
	}
}

// W22: a parameter that the path has no place for is told and not asked for.
func TestW22_a_path_parameter_that_the_path_does_not_have_is_left_out(t *testing.T) {
	t.Parallel()
	d := compile(t, head+`paths:
  /u: { get: { parameters: [ { name: id, in: path, required: true, schema: { type: string } } ], responses: { '204': { description: d } } } }
`)
	if a := ask(t, d, "GET /u"); a.Status != http.StatusNoContent {
		t.Errorf("status %d", a.Status)
	}
	if list := d.Warnings(); len(list) != 1 || list[0].Pointer != "#/paths/~1u/get/parameters/0" {
		t.Errorf("warnings: %+v", list)
	}
}

// M-9: warnings have an end, which says how many there are behind it.
func TestM9_the_last_warning_counts_those_that_are_not_listed(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(head + "paths:\n")
	for i := range 1500 {
		fmt.Fprintf(&b, "  /p%d/{id}: { get: { responses: { '204': { description: d } } } }\n", i)
	}
	list := compile(t, b.String()).Warnings()
	last := list[len(list)-1]
	if len(list) != 1000 || last.Code != mockbase.FieldLimit || !strings.Contains(last.Detail, " 501 more") {
		t.Errorf("the last of %d warnings is %+v", len(list), last)
	}
}
