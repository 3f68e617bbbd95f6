package engine

import (
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// pointerTo appends names to a JSON Pointer fragment (RFC 6901, sections 3 and 6). A name that holds a slash already is
// taken as several.
func pointerTo(at string, names ...string) string {
	return at + "/" + strings.Join(names, "/")
}

// notServed is the fault of a field that the format knows and this engine does not act on.
func notServed(pointer, field string) mockbase.FieldError {
	return mockbase.FieldError{
		Pointer: pointer,
		Code:    mockbase.FieldNotServed,
		Detail:  strconv.Quote(field) + " is not served by this version yet; leave it out",
	}
}
