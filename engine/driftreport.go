package engine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// mostReported bounds what is told of each kind of drift.
const mostReported = 100

// Drift compares the mocks of a project with one of its documents (rule W30): mocks that answer differently than their
// operation says, mocks of which no document knows, and, where the document serves nothing itself, operations that nothing
// answers. It is empty for a project that cannot be served.
func (e *Engine) Drift(s *mockbase.Snapshot, document string) []mockbase.FieldError {
	p := e.programOf(s)
	if p == nil {
		return nil
	}
	i := slices.IndexFunc(p.documents, func(d *described) bool { return d.source.Name == document })
	if i < 0 {
		return nil
	}
	r := &driftReport{program: p, document: p.documents[i], covered: make([]bool, p.documents[i].Operations())}
	for _, m := range s.Mocks {
		r.mock(m)
	}
	r.unanswered()
	return r.found
}

// driftReport collects what differs.
type driftReport struct {
	program  *program
	document *described
	// covered are the operations that a mock answers.
	covered []bool
	strange int
	found   []mockbase.FieldError
}

func (r *driftReport) add(code mockbase.Code, detail string) {
	r.found = append(r.found, mockbase.FieldError{Code: code, Detail: detail})
}

// mock compares one mock, where it is known which paths it answers.
func (r *driftReport) mock(m *mockbase.Mock) {
	if m.Request.Path == "" || m.Disabled {
		return
	}
	known := r.cover(m)
	switch {
	case !known && len(m.Request.Methods) > 0 && !r.elsewhere(m):
		if r.strange++; r.strange <= mostReported {
			r.add(mockbase.FieldReference, "mock "+quoted(m.Name)+" answers "+m.Request.Methods[0]+" "+quoted(m.Request.Path)+r.stranger(m))
		}
	case known && r.document.source.Responses != "disabled" && len(r.found) < mostReported:
		for _, f := range r.program.drift(m) {
			r.add(f.Code, "mock "+quoted(m.Name)+", "+f.Pointer+": "+f.Detail)
		}
	}
}

// stranger says how a mock is unknown to the document.
func (r *driftReport) stranger(m *mockbase.Mock) string {
	if _, methods := r.document.Find(m.Request.Methods[0], m.Request.Path, ""); len(methods) > 0 {
		return ", and the document has " + strings.Join(methods, ", ") + " alone at this path"
	}
	return ", of which the document knows nothing"
}

// cover notes the operations that a mock answers, and tells whether there are any.
func (r *driftReport) cover(m *mockbase.Mock) bool {
	known := false
	for _, method := range m.Request.Methods {
		if method == mockbase.MethodAny {
			known = r.any(m) || known
			continue
		}
		if op, _ := r.document.Find(method, m.Request.Path, ""); op >= 0 {
			known, r.covered[op] = true, true
		}
	}
	return known
}

// any covers the operations of a path for a mock of all methods.
func (r *driftReport) any(m *mockbase.Mock) bool {
	_, methods := r.document.Find("", m.Request.Path, "")
	for _, method := range methods {
		if op, _ := r.document.Find(method, m.Request.Path, ""); op >= 0 {
			r.covered[op] = true
		}
	}
	return len(methods) > 0
}

// elsewhere tells whether another document knows the path of a mock.
func (r *driftReport) elsewhere(m *mockbase.Mock) bool {
	return slices.ContainsFunc(r.program.documents, func(d *described) bool {
		if d == r.document {
			return false
		}
		op, methods := d.Find(m.Request.Methods[0], m.Request.Path, "")
		return op >= 0 || len(methods) > 0
	})
}

// unanswered lists the operations that neither a mock nor the document answers.
func (r *driftReport) unanswered() {
	if !r.document.source.ValidateOnly {
		return
	}
	count := 0
	for op, covered := range r.covered {
		if covered {
			continue
		}
		if count++; count <= mostReported {
			method, path := r.document.Endpoint(op)
			r.add(mockbase.FieldRequired, "no mock answers "+method+" "+quoted(path)+", and the document serves nothing itself")
		}
	}
	if count > mostReported {
		r.add(mockbase.FieldLimit, "no mock answers "+strconv.Itoa(count-mostReported)+" further operations")
	}
}
