package openapi_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/openapi"
)

// head begins a document of version 3.0.
const head = "openapi: 3.0.3\ninfo: { title: t, version: '1' }\n"

// head31 begins one of version 3.1.
const head31 = "openapi: 3.1.0\ninfo: { title: t, version: '1' }\n"

func compile(tb testing.TB, text string, options ...func(*mockbase.Document)) *openapi.Document {
	tb.Helper()
	o := &mockbase.Document{Name: "d", Inline: []byte(text), BasePath: "accept", Requests: "enforce", Responses: "warn"}
	for _, set := range options {
		set(o)
	}
	d, err := openapi.Compile(o)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

func strict(o *mockbase.Document) { o.Strict = true }

// sent is a request of a test, as text: the request line, header lines, an empty line, the body.
type sent string

// ask answers a request.
func ask(tb testing.TB, d *openapi.Document, request sent) *mockbase.DocumentAnswer {
	tb.Helper()
	head, body, _ := strings.Cut(string(request), "\n\n")
	lines := strings.Split(head, "\n")
	method, target, _ := strings.Cut(lines[0], " ")
	path, query, _ := strings.Cut(target, "?")
	q := &mockbase.DocumentRequest{
		Method: method, Path: path, RawQuery: query, Header: http.Header{}, Body: []byte(body), Controls: true,
		Rand: func(response, seed string) *rand.Rand {
			return rand.New(rand.NewPCG(uint64(len(response)), uint64(len(seed))))
		},
		ID: func() string { return "xch_1" },
	}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		q.Header.Add(name, value)
	}
	op, methods := d.Find(method, path, query)
	if op < 0 {
		tb.Fatalf("%s: no operation, methods %q", lines[0], methods)
	}
	return d.Answer(op, q)
}

// told is an answer in one line: status, type, body.
func told(a *mockbase.DocumentAnswer) string {
	if a.Problem != "" {
		var list []string
		for _, v := range a.Violations {
			list = append(list, strings.TrimPrefix(v.Location+" "+v.Code, "security "))
		}
		return strings.TrimSpace(fmt.Sprintf("%d %s %s", a.Status, a.Problem, strings.Join(list, ", ")))
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s %s", a.Status, a.MediaType, a.Body))
}

// exchange is a request and what must come of it.
type exchange struct {
	name    string
	request sent
	want    string
}

func run(t *testing.T, d *openapi.Document, cases []exchange) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, told(ask(t, d, c.request))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.request, diff)
			}
		})
	}
}

func warnings(d *openapi.Document) string {
	var b strings.Builder
	for _, w := range d.Warnings() {
		fmt.Fprintf(&b, "%s %s: %s\n", w.Code, w.Pointer, w.Detail)
	}
	return b.String()
}
