package jsonvalue

import (
	"strconv"
	"strings"
)

// Pointer writes a place, name by name, as a JSON Pointer (RFC 6901): "" is the document itself.
func Pointer(path ...string) string {
	var b strings.Builder
	for _, token := range path {
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1"))
	}
	return b.String()
}

// ParsePointer takes a JSON Pointer apart; ~1 is decoded before ~0 (rule H12). It reports false for a text that is none.
func ParsePointer(pointer string) (path []string, ok bool) {
	if pointer == "" {
		return nil, true
	}
	if pointer[0] != '/' {
		return nil, false
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		plain := strings.ReplaceAll(strings.ReplaceAll(token, "~1", ""), "~0", "")
		if strings.Contains(plain, "~") {
			return nil, false
		}
		path = append(path, strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~"))
	}
	return path, true
}

// At returns the value at a place, name by name. An index has no leading zero, and - is the index of nothing (rule H12).
func (v *Value) At(path ...string) (*Value, bool) {
	for _, token := range path {
		switch v.kind {
		case Object:
			member, ok := v.Member(token)
			if !ok {
				return nil, false
			}
			v = member
		case Array:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= v.Len() || strconv.Itoa(i) != token {
				return nil, false
			}
			v = v.Item(i)
		default:
			return nil, false
		}
	}
	return v, true
}
