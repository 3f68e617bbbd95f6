package management_test

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
)

// Whoever reads the document, or what a generator made of it, is told of everything what it is for.
func TestM22_the_API_document_describes_everything(t *testing.T) {
	t.Parallel()
	doc := document(t)
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			at := method + " " + path
			if operation.Summary == "" || operation.Description == "" {
				t.Errorf("%s is not described", at)
			}
			for _, p := range append(slices.Clone(item.Parameters), operation.Parameters...) {
				if p.Value.Description == "" {
					t.Errorf("%s: the parameter %s is not described", at, p.Value.Name)
				}
			}
		}
	}
	for name, schema := range doc.Components.Schemas {
		if schema.Value.Description == "" {
			t.Errorf("%s is not described", name)
		}
		wantDescribed(t, name, schema)
	}
	for name, body := range doc.Components.RequestBodies {
		for kind, media := range body.Value.Content {
			wantDescribed(t, "body "+name+" "+kind, media.Schema)
		}
	}
	for name, answer := range doc.Components.Responses {
		for field, header := range answer.Value.Headers {
			if header.Value.Description == "" {
				t.Errorf("answer %s: %s is not described", name, field)
			}
		}
		for kind, media := range answer.Value.Content {
			wantDescribed(t, "answer "+name+" "+kind, media.Schema)
		}
	}
}

// wantDescribed looks at the members of a shape, and wants the type of each value that is one of a few: generators make an enumeration of
// that alone.
func wantDescribed(t *testing.T, at string, schema *openapi3.SchemaRef) {
	t.Helper()
	if schema == nil || schema.Value == nil {
		return
	}
	s := schema.Value
	if len(s.Enum) > 0 && s.Type == nil {
		t.Errorf("%s: the type of the choices is not told", at)
	}
	for name, member := range s.Properties {
		if member.Value.Description == "" {
			t.Errorf("%s.%s is not described", at, name)
		}
		if member.Ref == "" {
			wantDescribed(t, at+"."+name, member)
		}
	}
	if s.Items != nil && s.Items.Ref == "" {
		wantDescribed(t, at+"[]", s.Items)
	}
	for _, list := range []openapi3.SchemaRefs{s.AllOf, s.AnyOf, s.OneOf} {
		for _, one := range list {
			if one.Ref == "" {
				wantDescribed(t, at, one)
			}
		}
	}
}

// Every body of JSON has an example, and kin-openapi holds each against its schema (TestM22_the_API_document_is_valid). Documents that
// are whatever they are have none.
func TestM22_the_API_document_shows_an_example_of_every_body(t *testing.T) {
	t.Parallel()
	doc := document(t)
	without := []string{"JSONDocument", "SchemaDocument", "DocumentContent", "ImportedFiles"}
	for name, body := range doc.Components.RequestBodies {
		shown := slices.ContainsFunc(slices.Collect(maps.Values(body.Value.Content)), func(m *openapi3.MediaType) bool { return m.Example != nil })
		if !shown {
			t.Errorf("body %s has no example", name)
		}
	}
	for name, answer := range doc.Components.Responses {
		for _, kind := range []string{"application/json", "application/problem+json"} {
			if media := answer.Value.Content[kind]; media != nil && media.Example == nil && !slices.Contains(without, name) {
				t.Errorf("answer %s has no example of %s", name, kind)
			}
		}
	}
}

// The rights that the document tells are those that the server asks for.
func TestM22_the_API_document_tells_who_may_call(t *testing.T) {
	t.Parallel()
	for _, r := range management.Routes() {
		told := document(t).Paths.Value(r.Path).GetOperation(r.Method).Extensions
		access, scope := r.Access, r.Scope
		switch access {
		case "anyone":
			access = ""
		case "admin":
			scope = "admin"
		}
		if r.Fresh {
			scope = ""
		}
		if text(told["x-access"]) != access || text(told["x-scope"]) != scope || (told["x-fresh"] == true) != r.Fresh {
			t.Errorf("%s %s: told are %v, asked for are access %q, scope %q, fresh %v", r.Method, r.Path, told, access, scope, r.Fresh)
		}
	}
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// code is a problem code in a description.
var code = regexp.MustCompile("`([a-z]+(?:-[a-z]+)+|internal|busy|unavailable|forbidden|unauthenticated)`")

// codesOf are the problem codes that the document tells of answers with a status: those of the answer, and those of the operation beside
// them.
func codesOf(operation *openapi3.Operation, status int) []string {
	var codes []string
	if answer := operation.Responses.Status(status); answer != nil && answer.Value.Description != nil {
		for _, found := range code.FindAllStringSubmatch(*answer.Value.Description, -1) {
			codes = append(codes, found[1])
		}
	}
	further, _ := operation.Extensions["x-problem-codes"].([]any)
	for _, one := range further {
		if name := text(one); management.Statuses()[mockbase.Code(name)] == status {
			codes = append(codes, name)
		}
	}
	return codes
}

// Every code that an operation is said to have exists, and the operation has an answer with its status. That no other code comes is what
// every test of this package holds its answers against.
func TestM22_the_API_document_names_problem_codes_that_exist(t *testing.T) {
	t.Parallel()
	for path, item := range document(t).Paths.Map() {
		for method, operation := range item.Operations() {
			at := method + " " + path
			further, _ := operation.Extensions["x-problem-codes"].([]any)
			for _, one := range further {
				status := management.Statuses()[mockbase.Code(text(one))]
				if status == 0 || operation.Responses.Status(status) == nil {
					t.Errorf("%s: %v has the status %d, which the operation does not answer", at, one, status)
				}
			}
			for status := http.StatusBadRequest; status < 600; status++ {
				if operation.Responses.Status(status) == nil {
					continue
				}
				codes := codesOf(operation, status)
				if len(codes) == 0 {
					t.Errorf("%s: no code is told of status %d", at, status)
				}
				for _, name := range codes {
					if got := management.Statuses()[mockbase.Code(name)]; got != status {
						t.Errorf("%s: %s stands beside status %d and has %d", at, name, status, got)
					}
				}
			}
		}
	}
}

// General are the fields that any answer may have; the document tells of them once.
func general(field string) bool {
	switch http.CanonicalHeaderKey(field) {
	case "Date", "Content-Type", "Content-Length", "Transfer-Encoding", "Connection", "Vary", "Cache-Control", "Content-Security-Policy",
		"Cross-Origin-Resource-Policy", "Referrer-Policy", "X-Content-Type-Options", "X-Frame-Options", "Strict-Transport-Security":
		return true
	}
	return strings.HasPrefix(field, "Access-Control-")
}

// checkTold wants the document to tell of the problem code and of every field of an answer.
func (a *reply) checkTold(operation *openapi3.Operation) {
	a.t.Helper()
	answer := operation.Responses.Status(a.status)
	if answer == nil {
		return // kin-openapi tells that
	}
	if a.status >= http.StatusBadRequest {
		if got := string(a.problem().Code); !slices.Contains(codesOf(operation, a.status), got) {
			a.t.Errorf("%s answers %d %s, and the API document tells of %v", operation.OperationID, a.status, got, codesOf(operation, a.status))
		}
	}
	for field := range a.header {
		told := slices.ContainsFunc(slices.Collect(maps.Keys(answer.Value.Headers)), func(name string) bool { return strings.EqualFold(name, field) })
		// A sign-in that ends clears the cookie also where the answer is a problem.
		if !told && !general(field) && (field != "Set-Cookie" || a.status < http.StatusBadRequest) {
			a.t.Errorf("%s answers %d with %s, and the API document does not tell of it", operation.OperationID, a.status, field)
		}
	}
}

// A failure is an answer too: it is kept and told as one that came before.
func TestM12_a_repetition_of_a_failure_is_told_as_one(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for body, status := range map[string]int{
		`{"slug":"No","name":"x"}`: http.StatusUnprocessableEntity, `{"slug":"shop","name":"x"}`: http.StatusConflict, `{"slug":`: http.StatusBadRequest,
	} {
		again := call{method: http.MethodPost, path: "/api/v1/projects", as: owner, body: body, header: map[string]string{"Idempotency-Key": strconv.Itoa(status)}}
		first := w.send(again).want(status)
		second := w.send(again).want(status)
		if first.header.Get("Idempotency-Replayed") != "" || second.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%d: %v, then %v", status, first.header, second.header)
		}
	}
}
