package openapi

import (
	"strconv"

	"github.com/mockbase/mockbase"
)

// spot is a place in a message, as violations name it (rule W30): its location and, below a body, a JSON Pointer.
type spot struct {
	location, pointer string
	// inBody tells that the spot lies in a body, whose own pointer is empty.
	inBody bool
}

// spotOf is the spot of a location that is no part of anything else.
func spotOf(location string) spot {
	return spot{location: location, inBody: location == "body" || location == "response.body"}
}

// child is the spot of a member.
func (s spot) child(name string) spot {
	below := spot{location: name, pointer: s.pointer, inBody: s.inBody}
	if s.location != "" {
		below.location = s.location + "." + name
	}
	if s.inBody {
		below.pointer += "/" + mockbase.PointerToken(name)
	}
	return below
}

// item is the spot of the item of a list.
func (s spot) item(i int) spot { return s.child(strconv.Itoa(i)) }

// violation is one at the spot.
func (s spot) violation(code, text string) []mockbase.Violation {
	list := violation(s.location, code, text)
	list[0].Pointer = s.pointer
	return list
}
