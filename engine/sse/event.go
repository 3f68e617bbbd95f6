package sse

import (
	"strconv"
	"strings"
)

// Event is one event, ready to be written.
type Event struct {
	// Name, ID and Retry are lines of their own where they are not nil.
	Name, ID *string
	Retry    *int
	// Data is nil for an event without data, which clients pass over.
	Data *string
	// Comment is a line that clients pass over.
	Comment *string
}

// Append writes the event in the format of the HTML standard (rule U2): one line for each field, one data line for each
// line of data, and a blank line. One line break at the end of data or comment is dropped.
func (e *Event) Append(dst []byte) []byte {
	if e.Comment != nil {
		dst = appendLines(dst, ": ", *e.Comment)
	}
	if e.Name != nil {
		dst = appendField(dst, "event: ", *e.Name)
	}
	if e.ID != nil {
		dst = appendField(dst, "id: ", *e.ID)
	}
	if e.Retry != nil {
		dst = appendField(dst, "retry: ", strconv.Itoa(*e.Retry))
	}
	if e.Data != nil {
		dst = appendLines(dst, "data: ", *e.Data)
	}
	return append(dst, '\n')
}

func appendField(dst []byte, name, value string) []byte {
	return append(append(append(dst, name...), value...), '\n')
}

// appendLines writes a text of several lines. A carriage return ends a line too, or part of the text would be read as a
// field of its own.
func appendLines(dst []byte, name, text string) []byte {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		dst = appendField(dst, name, line)
	}
	return dst
}
