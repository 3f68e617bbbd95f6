package engine

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// mostDrift bounds what is told of one mock.
const mostDrift = 20

// drift compares the answers of a mock with the documents of its project (rule W30): what a client would be surprised by.
// Only what is known before a request is compared.
func (p *program) drift(m *mockbase.Mock) []mockbase.FieldError {
	if m.Request.Path == "" || len(m.Request.Methods) == 0 {
		return nil
	}
	for _, d := range p.documents {
		compared := d.source.Responses != "disabled"
		for _, method := range m.Request.Methods {
			op, methods := d.Find(method, m.Request.Path, "")
			switch {
			case op >= 0 && compared:
				return append(driftOf(d, op, m), p.unhidden(d, op, m)...)
			case op >= 0:
				return p.unhidden(d, op, m)
			case len(methods) > 0 && method == mockbase.MethodAny:
				first, _ := d.Find(methods[0], m.Request.Path, "")
				return p.unhidden(d, first, m)
			case len(methods) > 0 && compared:
				return []mockbase.FieldError{{
					Pointer: "#/request", Code: mockbase.FieldConflict,
					Detail: "answers " + method + ", which document " + quoted(d.source.Name) + " does not declare at this path: it has " + strings.Join(methods, ", "),
				}}
			}
		}
	}
	return nil
}

// unhidden warns of a mock that overrides an operation at one of its paths alone: a document answers with and without the prefix of
// its servers, and a mock has one path (rules W1 and W5).
func (p *program) unhidden(d *described, op int, m *mockbase.Mock) []mockbase.FieldError {
	if d.source.ValidateOnly || op < 0 {
		return nil
	}
	method, _ := d.Endpoint(op)
	left := slices.DeleteFunc(d.Elsewhere(op, m.Request.Path), func(path string) bool {
		return slices.ContainsFunc(p.snapshot.Mocks, func(other *mockbase.Mock) bool {
			return !other.Disabled && other.Request.Path == path &&
				(slices.Contains(other.Request.Methods, method) || slices.Contains(other.Request.Methods, mockbase.MethodAny))
		})
	})
	if len(left) == 0 {
		return nil
	}
	for i := range left {
		left[i] = quoted(left[i])
	}
	return []mockbase.FieldError{{
		Pointer: "#/request", Code: mockbase.FieldConflict,
		Detail: "overrides " + d.Name(op) + " of document " + quoted(d.source.Name) + " at this path alone: the document goes on answering " + method + " at " +
			strings.Join(left, ", ") + ", as its basePath is " + d.source.BasePath + "; make a mock of that path too, or say basePath: strict or ignore",
	}}
}

// driftOf compares each answer with an operation.
func driftOf(d *described, op int, m *mockbase.Mock) []mockbase.FieldError {
	var found []mockbase.FieldError
	for i := range m.Responses {
		at := "#/responses/" + strconv.Itoa(i)
		if m.SingleResponse {
			at = "#/response"
		}
		for _, v := range violationsOf(d, op, &m.Responses[i]) {
			if len(found) == mostDrift {
				return found
			}
			found = append(found, mockbase.FieldError{
				Pointer: at, Code: mockbase.FieldConflict,
				Detail: "differs from document " + quoted(d.source.Name) + ", " + d.Name(op) + ": " + v.Location + ": " + v.Message,
			})
		}
	}
	return found
}

// violationsOf compares one answer as far as it is fixed.
func violationsOf(d *described, op int, r *mockbase.Response) []mockbase.Violation {
	if r.StatusTemplate != "" || r.Proxy != nil || r.SSE != nil || r.WebSocket != nil || r.Fault != nil || r.Body.Kind == mockbase.BodyFile {
		return nil
	}
	header, body := fixedHeader(r), r.Body.Bytes
	if bytes.Contains(body, []byte("{{")) || r.Body.Kind == mockbase.BodyBase64 {
		body = nil
	}
	return slices.DeleteFunc(d.CheckAnswer(op, plainStatus(r), header, body), func(v mockbase.Violation) bool {
		name, below := strings.CutPrefix(v.Location, "response.header.")
		lines, stated := header[http.CanonicalHeaderKey(name)]
		return below && stated && len(lines) == 0
	})
}

// fixedHeader is the header of an answer as far as it is known before a request. A field without lines has some that are not.
func fixedHeader(r *mockbase.Response) http.Header {
	header := http.Header{}
	switch r.Body.Kind {
	case mockbase.BodyJSON:
		header.Set(headerContentType, "application/json")
	case mockbase.BodyText:
		header.Set(headerContentType, "text/plain; charset=utf-8")
	case mockbase.BodyNone, mockbase.BodyBase64, mockbase.BodyFile:
	}
	for i := range r.Headers {
		if h := &r.Headers[i]; !slices.ContainsFunc(h.Values, dynamicText) {
			header[http.CanonicalHeaderKey(h.Name)] = h.Values
		} else {
			header[http.CanonicalHeaderKey(h.Name)] = nil
		}
	}
	return header
}

// plainStatus is the status of an answer, with the default where it names none.
func plainStatus(r *mockbase.Response) int {
	switch {
	case r.Status != 0:
		return r.Status
	case r.Body.Kind == mockbase.BodyNone:
		return http.StatusNoContent
	default:
		return http.StatusOK
	}
}

func dynamicText(text string) bool { return strings.Contains(text, "{{") }
