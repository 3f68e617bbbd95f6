package engine

import (
	"context"
	"errors"
	"net/http"

	"github.com/mockbase/mockbase"
)

// errand is what a call knows of a request that the management plane sends: no shield counts it, and it is marked in the
// journal (rule M-79).
type errand struct {
	// key stands in the place of the client's address for limits and scenarios, "" for the address.
	key string
	// exchange is the id of the recorded exchange.
	exchange string
}

// Send makes a request of the mock plane in the process, as if a client had sent it: counts, states, limits and the journal
// move, but for the shield (rule M-79). It returns when the answer is over or ctx ends. It fails with a [*mockbase.Error]:
// CodeNotFound for a project that is not published, CodeValidationFailed for a request that cannot be sent, with pointers
// relative to #/request and #/session.
func (e *Engine) Send(ctx context.Context, of *mockbase.Errand) (*mockbase.Sent, error) {
	p, err := e.published(of.ProjectID)
	if err != nil {
		return nil, err
	}
	r, refused, err := e.describedRequest(ctx, p.project.Slug, &of.Request)
	if err != nil {
		return nil, below("#/request", err)
	}
	if refused != nil {
		return nil, invalid("no mock would see the request", mockbase.FieldError{Pointer: "#/request", Code: mockbase.FieldConflict, Detail: refused.reason()})
	}
	if of.Session != "" {
		if named := r.Header[headerSession]; len(named) > 0 && named[0] != of.Session {
			return nil, invalid("the request names another session", mockbase.FieldError{
				Pointer: "#/session", Code: mockbase.FieldConflict, Detail: "the request itself names the session " + quoted(named[0]),
			})
		}
		r.Header[headerSession] = []string{of.Session}
	}
	on := &errand{key: of.Key}
	w := newCapture(of.MaxBody)
	began := e.options.Clock()
	broken := e.run(w, r, on)
	cleanHeader(w.header)
	return &mockbase.Sent{
		Exchange: on.exchange, Status: w.status, Header: w.header, Body: w.body, BodySize: w.size,
		Duration: e.options.Clock().Sub(began), Broken: broken,
	}, nil
}

// run serves an errand. It returns true when the answer was broken off: what would break the connection of a client.
func (e *Engine) run(w http.ResponseWriter, r *http.Request, on *errand) (broken bool) {
	return e.broken(func() { e.serve(w, r, origin{errand: on}) })
}

// broken tells whether a handler broke its answer off.
func (*Engine) broken(handle func()) (broken bool) {
	defer func() {
		cause := recover()
		if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			broken = true
		} else if cause != nil {
			panic(cause)
		}
	}()
	handle()
	return false
}
