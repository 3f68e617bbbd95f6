package body

import (
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/mockbase/mockbase/engine/jsonvalue"
	"github.com/mockbase/mockbase/engine/operator"
)

// Message is a body as it was received, with the views of it that conditions ask for. It belongs to one request and is not
// safe for concurrent use.
type Message struct {
	raw    []byte
	header http.Header
	// line is the request that the body came with, nil where there is none.
	line    Line
	decoded view[[]byte]
	parsed  view[*jsonvalue.Value]
	tree    view[filterable]
	// verdicts are what matching has found out, examined how many bytes explanations have looked at.
	verdicts []verdict
	examined int
	// explained is how many conditions were explained although the body is large.
	explained int
	// effort bounds what matching spends on the body, nil for no bound.
	effort *operator.Effort
	views
}

// view is one reading of a body, made at most once.
type view[T any] struct {
	made  bool
	value T
	err   error
}

func (v *view[T]) get(read func() (T, error)) (T, error) {
	if !v.made {
		v.value, v.err = read()
		v.made = true
	}
	return v.value, v.err
}

// New returns the message of a body that was received with a header, which may be nil. Neither is changed.
func New(raw []byte, header http.Header) *Message {
	return &Message{raw: raw, header: header}
}

// Raw returns the bytes as they were received, still coded.
func (m *Message) Raw() []byte { return m.raw }

// ContentType returns the value of the Content-Type header, "" if there is none.
func (m *Message) ContentType() string { return m.header.Get("Content-Type") }

// Decoded returns the bytes without their content coding (rule F2). The error names the coding and what is wrong (rule
// F3).
func (m *Message) Decoded() ([]byte, error) {
	return m.decoded.get(func() ([]byte, error) { return Decode(m.raw, Codings(m.header["Content-Encoding"]), m.bound()) })
}

// Preview shows the beginning of the body as text, or says why it cannot be read.
func (m *Message) Preview() string {
	text, err := m.Text()
	if err != nil {
		return err.Error()
	}
	return cut(text)
}

// JSON returns the body as JSON, whatever its Content-Type says (rule F9). The error says where it stops being JSON, or
// why it is not read.
func (m *Message) JSON() (*jsonvalue.Value, error) {
	return m.parsed.get(func() (*jsonvalue.Value, error) {
		decoded, err := m.Decoded()
		if err != nil {
			return nil, err
		}
		return jsonvalue.Parse(decoded, jsonvalue.Limits{})
	})
}

// Notes returns what is odd about the body as JSON without keeping it from being read: a name given twice (rule G11),
// another coding than UTF-8 (rule F6), a charset that says otherwise (rule F12); and what is odd about it as a multipart
// body (rule I5). It returns nil for a body that nobody asked for.
func (m *Message) Notes() []string {
	notes := m.notes
	if !m.parsed.made || m.parsed.err != nil {
		return notes
	}
	if coding := jsonvalue.Encoding(m.decoded.value); coding != "" && coding != "UTF-8" {
		notes = append(notes, "the JSON is coded in "+coding+", not in UTF-8")
	}
	if charset := m.charset(); charset != "" && !strings.EqualFold(charset, "utf-8") {
		notes = append(notes, fmt.Sprintf("the charset %q is ignored: JSON is UTF-8", cut(charset)))
	}
	if name := m.parsed.value.Duplicate(); name != "" {
		notes = append(notes, fmt.Sprintf("the name %q is given twice; the last counts", cut(name)))
	}
	return notes
}

// charset returns the parameter of the Content-Type, "" if it is not stated.
func (m *Message) charset() string {
	contentType := m.ContentType()
	if contentType == "" {
		return ""
	}
	// A value whose other parameters are broken may still state it.
	_, params, _ := mime.ParseMediaType(contentType)
	return params["charset"]
}
