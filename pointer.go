package mockbase

import (
	"strconv"
	"strings"
)

// childPointer appends a member's name to a JSON Pointer fragment: ~ and / are escaped (RFC 6901, section 3), and so are
// the characters that a URI fragment cannot hold (section 6).
func childPointer(pointer, name string) string {
	for i := range len(name) {
		if !wordByte(name[i]) {
			return pointer + "/" + PointerToken(name)
		}
	}
	return pointer + "/" + name
}

// PointerToken writes any name, such as that of a header, as one part of a JSON Pointer fragment (RFC 6901, sections 3 and
// 6).
func PointerToken(name string) string {
	const plain = "-._!$&'()*+,;=:@?"
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '~':
			b.WriteString("~0")
		case c == '/':
			b.WriteString("~1")
		case wordByte(c), strings.IndexByte(plain, c) >= 0:
			b.WriteByte(c)
		default:
			const hex = "0123456789ABCDEF"
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

// itemPointer appends an index to a JSON Pointer.
func itemPointer(pointer string, i int) string {
	return pointer + "/" + strconv.Itoa(i)
}
