package mockbase

import "fmt"

// PathPattern is a parsed path of a request matcher (mock format, section 6, path syntax).
type PathPattern struct {
	Segments []PathSegment
}

// SegmentKind ranks a path segment; a smaller kind is more specific (rule A4).
type SegmentKind int

// The kinds of segment, from the most specific to the least.
const (
	// SegmentLiteral is text alone.
	SegmentLiteral SegmentKind = iota
	// SegmentMixed is text with parameters, such as {id}.json.
	SegmentMixed
	// SegmentConstrained is one parameter with a pattern, such as {id:\d+}.
	SegmentConstrained
	// SegmentParameter is one parameter, such as {id}.
	SegmentParameter
	// SegmentAny is *: one non-empty segment.
	SegmentAny
	// SegmentRest is ** or {rest...}: any number of segments, at least one unless it stands last (rule B12).
	SegmentRest
)

// PathSegment is what stands between two slashes. A literal segment has one part with Literal, also when it is empty; a
// rest segment written ** has one part without a name.
type PathSegment struct {
	Kind  SegmentKind
	Parts []PathPart
}

// PathPart is literal text (decoded: %2F stands for a slash inside the segment), or a parameter.
type PathPart struct {
	Literal string
	// Name is the parameter's name; "" for literal text and for * and **.
	Name string
	// Pattern is the parameter's RE2 constraint on the whole value, or "" (rule B14).
	Pattern string
}

// PathError says where a path pattern is wrong.
type PathError struct {
	// Column counts bytes from 1 within the pattern.
	Column int
	Reason string
	// Fix says what to write instead, or is "".
	Fix string
}

// Error returns the reason and the column.
func (e *PathError) Error() string {
	return fmt.Sprintf("column %d: %s", e.Column, e.Reason)
}
