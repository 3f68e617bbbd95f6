package collection

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/mockbase/mockbase"
)

// Request is what is asked of a resource.
type Request struct {
	Method string
	Header http.Header
	// Query holds the pairs of the query, decoded, in their order.
	Query []Parameter
	// Body is the request body without content codings.
	Body []byte
	// Base is what the client writes before the paths of collections; Location and Link begin with it.
	Base string
	// Context ends when nobody waits for the answer any more; nil never does.
	Context context.Context //nolint:containedctx // it is that of this one request
}

// abandoned tells that nobody waits for the answer any more.
func (r *Request) abandoned() error {
	if r.Context != nil && r.Context.Err() != nil {
		return problem(mockbase.CodeUnavailable, "the client has left")
	}
	return nil
}

// Parameter is one name and value of a query.
type Parameter struct {
	Name, Value string
}

// Answer is what a resource answers. Exactly one of Problem and the other members says what: a problem has a status of
// its own.
type Answer struct {
	Status int
	// Header holds ETag, Location, Link, X-Total-Count and Preference-Applied, in just this spelling. Where there is a body
	// it is JSON.
	Header http.Header
	Body   []byte
	// Problem is a refusal; its code has a page of its own.
	Problem *mockbase.Error
}

// problem makes a refusal. The detail is a whole sentence without a full stop.
func problem(code mockbase.Code, format string, args ...any) *mockbase.Error {
	return &mockbase.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// refusal turns an error of this package into an answer.
func refusal(err error) *Answer {
	if p, ok := errors.AsType[*mockbase.Error](err); ok {
		return &Answer{Header: http.Header{}, Problem: p}
	}
	if errors.Is(err, errFull) {
		return refusal(problem(mockbase.CodeQuotaReached, "%s; delete items, or reset the data", err.Error()))
	}
	return refusal(problem(mockbase.CodeInternal, "%s", err.Error()))
}

func noItem(of *definition, id string) *mockbase.Error {
	return problem(mockbase.CodeNotFound, "the collection %q has no item with the id %q", of.Name, shown(id))
}

func inUse(r *relation, id string, count int) *mockbase.Error {
	return problem(mockbase.CodeInUse, "%d items of %q point to %q; delete them first, or write onDelete: cascade or setNull",
		count, r.from.Name, shown(id))
}

// shown cuts an id to a length that fits into a sentence.
func shown(id string) string {
	const most = 100
	if len(id) <= most {
		return id
	}
	return strings.ToValidUTF8(id[:most], "") + "…"
}

// prefersItem tells whether the client asks for the item that a DELETE takes away (rule V7, RFC 7240).
func prefersItem(h http.Header) bool {
	for _, line := range h.Values("Prefer") {
		for preference := range strings.SplitSeq(line, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(preference), "=")
			if strings.EqualFold(strings.TrimSpace(name), "return") && strings.Trim(strings.TrimSpace(value), `"`) == "representation" {
				return true
			}
		}
	}
	return false
}

// unless checks If-Match and If-None-Match against an item, nil if there is none (rule V15, RFC 9110 section 13).
func unless(h http.Header, it *item) error {
	if wanted := strings.Join(h.Values("If-Match"), ","); wanted != "" && !holdsTag(wanted, it) {
		return preconditionFailed("If-Match", wanted, it)
	}
	if refused := strings.Join(h.Values("If-None-Match"), ","); refused != "" && holdsTag(refused, it) {
		return preconditionFailed("If-None-Match", refused, it)
	}
	return nil
}

func preconditionFailed(field, value string, it *item) error {
	state := "there is no such item"
	if it != nil {
		state = "the item's tag is " + it.tag
	}
	return problem(mockbase.CodeVersionMismatch, "%s: %s does not hold: %s", field, shown(value), state)
}

// holdsTag tells whether a list of entity tags names the item's. A weak tag names it too: an item has one form only.
func holdsTag(list string, it *item) bool {
	if it == nil {
		return false
	}
	for tag := range strings.SplitSeq(list, ",") {
		tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
		if tag == "*" || tag == it.tag {
			return true
		}
	}
	return false
}
