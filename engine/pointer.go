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

// token writes any name, such as that of a header, as one part of a JSON Pointer fragment.
func token(name string) string {
	const plain = "-._!$&'()*+,;=:@?"
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '~':
			b.WriteString("~0")
		case c == '/':
			b.WriteString("~1")
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte(plain, c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteString("%" + strings.ToUpper(strconv.FormatUint(uint64(c)+0x100, 16)[1:]))
		}
	}
	return b.String()
}

// notServed is the fault of a field that the format knows and this engine does not act on.
func notServed(pointer, field string) mockbase.FieldError {
	return mockbase.FieldError{
		Pointer: pointer,
		Code:    mockbase.FieldNotServed,
		Detail:  strconv.Quote(field) + " is not served by this version yet; leave it out",
	}
}
