package jsonvalue

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// Encoding returns how a byte order mark says that a text is coded: UTF-8, UTF-16LE, UTF-16BE, UTF-32LE or UTF-32BE; ""
// without one. JSON is exchanged in UTF-8, so whoever reads another is told (rule F6).
func Encoding(src []byte) string {
	name, _ := mark(src)
	return name
}

// mark returns what the byte order mark says, and its length.
func mark(src []byte) (name string, size int) {
	for _, m := range [...]struct{ name, bytes string }{
		{"UTF-8", "\xEF\xBB\xBF"},
		// The longer ones first: the mark of UTF-16LE is the beginning of that of UTF-32LE.
		{"UTF-32LE", "\xFF\xFE\x00\x00"},
		{"UTF-32BE", "\x00\x00\xFE\xFF"},
		{"UTF-16LE", "\xFF\xFE"},
		{"UTF-16BE", "\xFE\xFF"},
	} {
		if len(src) >= len(m.bytes) && string(src[:len(m.bytes)]) == m.bytes {
			return m.name, len(m.bytes)
		}
	}
	return "", 0
}

// decodeText returns the text in UTF-8 without a byte order mark.
func decodeText(src []byte) (string, error) {
	name, size := mark(src)
	src = src[size:]
	switch name {
	case "UTF-16LE":
		return decodeUnits(src, binary.LittleEndian)
	case "UTF-16BE":
		return decodeUnits(src, binary.BigEndian)
	case "UTF-32LE":
		return decodeWide(src, binary.LittleEndian)
	case "UTF-32BE":
		return decodeWide(src, binary.BigEndian)
	default:
		return string(src), nil
	}
}

func decodeUnits(src []byte, order binary.ByteOrder) (string, error) {
	const size = 2
	decoded := make([]byte, 0, len(src))
	for ; len(src) >= size; src = src[size:] {
		r := rune(order.Uint16(src))
		if utf16.IsSurrogate(r) && len(src) >= 2*size {
			if pair := utf16.DecodeRune(r, rune(order.Uint16(src[size:]))); pair != utf8.RuneError {
				r, src = pair, src[size:]
			}
		}
		decoded = appendRune(decoded, r)
	}
	return decodedWhole(decoded, src)
}

func decodeWide(src []byte, order binary.ByteOrder) (string, error) {
	const size = 4
	decoded := make([]byte, 0, len(src)/2)
	for ; len(src) >= size; src = src[size:] {
		r := order.Uint32(src)
		if r > utf8.MaxRune {
			return "", undecodable(decoded, "this is no character")
		}
		decoded = appendRune(decoded, rune(r))
	}
	return decodedWhole(decoded, src)
}

// decodedWhole returns the decoded text unless bytes are left over.
func decodedWhole(decoded, rest []byte) (string, error) {
	if len(rest) > 0 {
		return "", undecodable(decoded, "the text ends within a character")
	}
	return string(decoded), nil
}

func undecodable(decoded []byte, message string) *SyntaxError {
	p := parser{text: string(decoded), pos: len(decoded)}
	return p.fault(message)
}
