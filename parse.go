package mockbase

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// ParseLimits bound what a text may cost; a zero member means its default (rule M-9).
type ParseLimits struct {
	// Bytes is the longest text, by default 32 MiB.
	Bytes int
	// Depth is the most objects and lists inside one another, by default 100.
	Depth int
	// Values is the most values of a text, by default 1,000,000. Each costs about a hundred bytes of memory.
	Values int
	// Aliases is the most YAML aliases that are expanded, by default 100. An expansion also counts towards Bytes and
	// Values.
	Aliases int
}

func (l ParseLimits) withDefaults() ParseLimits {
	fallback := func(limit *int, value int) {
		if *limit <= 0 {
			*limit = value
		}
	}
	fallback(&l.Bytes, 32<<20)
	fallback(&l.Depth, 100)
	fallback(&l.Values, 1_000_000)
	fallback(&l.Aliases, 100)
	return l
}

// ParseNode reads one JSON or YAML value strictly: a key that is given twice, a second document, anything behind the
// value, invalid UTF-8 and whatever exceeds the limits are errors. The error is an [*Error] of CodeMalformedBody whose
// fields name the places.
//
// YAML is read as version 1.2: no, off, yes and timestamps are text, 0o17 and 0x1f are numbers, and every number comes
// out as JSON text. Merge keys (<<) are expanded.
func ParseNode(src []byte, f Format, lim ParseLimits) (*Node, error) {
	faults := &Faults{}
	n, err := parse(src, f, lim, faults)
	if err != nil {
		return nil, err
	}
	if fields := faults.Fields(); len(fields) > 0 {
		return nil, malformed(fields...)
	}
	return n, nil
}

// ParseTolerant is [ParseNode] for documents of other tools, which take a key that is given twice: the first value counts,
// and the faults name the others.
func ParseTolerant(src []byte, f Format, lim ParseLimits) (*Node, []FieldError, error) {
	faults := &Faults{}
	n, err := parse(src, f, lim, faults)
	return n, faults.Fields(), err
}

// parse is ParseNode but for duplicate keys, which it adds to faults and leaves out.
func parse(src []byte, f Format, lim ParseLimits, faults *Faults) (*Node, error) {
	lim = lim.withDefaults()
	if len(src) > lim.Bytes {
		return nil, malformed(FieldError{
			Pointer: "#", Code: FieldLimit,
			Detail: fmt.Sprintf("the text has %d bytes, at most %d are read", len(src), lim.Bytes),
		})
	}
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	if at := firstInvalid(src); at >= 0 {
		line, column := placeOf(src, at)
		return nil, malformed(FieldError{
			Pointer: "#", Code: FieldSyntax, Line: line, Column: column,
			Detail: fmt.Sprintf("the byte 0x%02x is not UTF-8: save the text as UTF-8", src[at]),
		})
	}
	if f == FormatYAML {
		return parseYAML(src, lim, faults)
	}
	return parseJSON(src, lim, faults)
}

// malformed is the error of a text that cannot be read.
func malformed(fields ...FieldError) *Error {
	e := &Error{Code: CodeMalformedBody, Message: describeFields(fields), Fields: fields}
	if first := fields[0]; first.Line > 0 && len(fields) == 1 {
		e.Message = fmt.Sprintf("line %d, column %d: %s", first.Line, first.Column, first.Detail)
	}
	return e
}

// firstInvalid returns the offset of the first byte that is not UTF-8, -1 if there is none.
func firstInvalid(src []byte) int {
	if utf8.Valid(src) {
		return -1
	}
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// placeOf returns the line and the column of an offset.
func placeOf(src []byte, at int) (line, column int) {
	before := src[:at]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte{'\n'}) + 1, utf8.RuneCount(before[start:]) + 1
}
