package interchange

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mockbase/mockbase"
)

// exportedMock is a mock on its way into another format. It is read twice: as the decoder understood it, and by the members
// that its author wrote, so that one which a format does not ask for is told of.
type exportedMock struct {
	*mockbase.Mock

	exporter  *exporter
	doc       *object
	request   *object
	responses []*exportedResponse
	// pattern is the path, of which ok tells whether it can be read: a mock may state an expression or a target instead.
	pattern mockbase.PathPattern
	ok      bool
}

// exportedResponse is one answer of a mock.
type exportedResponse struct {
	*mockbase.Response

	mock *exportedMock
	doc  *object
	// rendered tells that the texts of the response are templates.
	rendered bool
}

// mock reads a mock; it returns nil for one that answers nothing.
func (e *exporter) mock(m *mockbase.Mock) (*exportedMock, error) {
	node, err := mockbase.ParseNode(m.Document, mockbase.FormatJSON, mockbase.ParseLimits{Depth: maxDepth})
	if err != nil {
		return nil, err //nolint:wrapcheck // A stored mock always parses.
	}
	x := &exportedMock{Mock: m, exporter: e, doc: e.out.object(value{node, "#", m.Name})}
	if m.Disabled {
		e.lost(x.doc.get("enabled"), "the mock is disabled: it is left out")
		return nil, nil //nolint:nilnil // it is told of
	}
	x.doc.skip("name", "enabled", "id", "version", "project", "createdAt", "updatedAt", "updatedBy", "source", "order", "urls", "origin")
	request := x.doc.get("request")
	if request.is(mockbase.NodeText) {
		request.node = &mockbase.Node{Kind: mockbase.NodeObject}
	}
	x.request = e.out.object(request)
	x.request.skip("method", "path", "pathMatches", "rawTarget")
	if pattern, err := mockbase.ParsePath(m.Request.Path); m.Request.Path != "" && err == nil {
		x.pattern, x.ok = pattern, true
	}
	answers := []value{x.doc.get("response")}
	if list := x.doc.get("responses"); list.ok() {
		answers = list.items()
	}
	for i := range m.Responses {
		r := &exportedResponse{Response: &m.Responses[i], mock: x, doc: e.out.object(answers[i])}
		r.rendered = e.config.Defaults.Template
		if r.Template != nil {
			r.rendered = *r.Template
		}
		r.doc.skip("name", "template")
		x.responses = append(x.responses, r)
	}
	return x, nil
}

// done tells of everything that nobody asked for.
func (x *exportedMock) done() {
	x.request.done()
	for _, r := range x.responses {
		r.doc.done()
	}
	x.doc.done()
}

// methods are the methods that the mock answers.
func (x *exportedMock) methods() []string {
	if len(x.Request.Methods) == 0 {
		return []string{http.MethodGet}
	}
	return x.Request.Methods
}

// status is the status of the answer.
func (r *exportedResponse) status() int {
	r.doc.skip("status")
	if r.StatusTemplate != "" {
		r.mock.exporter.lost(r.doc.get("status"), "the status is a template, which cannot be said: 200 is taken")
		return http.StatusOK
	}
	if r.Status == 0 && r.Body.Kind == mockbase.BodyNone && r.SSE == nil {
		return http.StatusNoContent
	}
	return cmp.Or(r.Status, http.StatusOK)
}

// headers are those that the answer is sent with: its own, those of the project, and the type of its body.
func (r *exportedResponse) headers() []mockbase.Header {
	r.doc.skip("headers")
	var list []mockbase.Header
	has := func(name string) bool {
		return slices.ContainsFunc(r.Headers, func(h mockbase.Header) bool { return strings.EqualFold(h.Name, name) })
	}
	for _, h := range r.mock.exporter.config.Defaults.Headers {
		if !has(h.Name) && !h.Remove {
			list = append(list, h)
		}
	}
	typed := has("Content-Type") || slices.ContainsFunc(list, func(h mockbase.Header) bool { return strings.EqualFold(h.Name, "Content-Type") })
	for _, h := range r.Headers {
		if !h.Remove && !framingHeader(h.Name) {
			list = append(list, h)
		}
	}
	if kind := r.defaultType(); kind != "" && !typed {
		list = append(list, mockbase.Header{Name: "Content-Type", Values: []string{kind}})
	}
	return list
}

// defaultType is the type that the server gives a body whose author named none (rule O5).
func (r *exportedResponse) defaultType() string {
	switch {
	case r.SSE != nil:
		return "text/event-stream"
	case r.bodyless():
		return ""
	case r.Body.Kind == mockbase.BodyJSON:
		return "application/json"
	case len(r.Body.Bytes) > 0:
		return "text/plain; charset=utf-8"
	}
	return ""
}

// bodyless tells whether HTTP allows no body beside the status (rule O2).
func (r *exportedResponse) bodyless() bool {
	return r.Status == http.StatusNoContent || r.Status == http.StatusResetContent || r.Status == http.StatusNotModified
}

// contentType is the media type of the answer with its parameters, "" for none.
func (r *exportedResponse) contentType() string {
	for _, h := range r.headers() {
		if strings.EqualFold(h.Name, "Content-Type") && len(h.Values) > 0 {
			return h.Values[0]
		}
	}
	return ""
}

// dynamic tells whether the body is a template with something to render.
func (r *exportedResponse) dynamic() bool {
	return r.rendered && bytes.Contains(r.Body.Bytes, []byte("{{"))
}

// textual tells whether bytes are a text by their type, as those of a file that travels with the definition often are.
func (r *exportedResponse) textual() bool {
	if r.Body.Kind != mockbase.BodyBase64 || !utf8.Valid(r.Body.Bytes) {
		return false
	}
	kind, _, _ := strings.Cut(strings.ToLower(r.contentType()), ";")
	return strings.HasPrefix(kind, "text/") || slices.ContainsFunc([]string{"json", "xml", "javascript", "yaml"}, func(s string) bool { return strings.Contains(kind, s) })
}

// bodyNode is the body as JSON if it is JSON, else as a text. It is nil without a body, or for one that lies in a file.
func (r *exportedResponse) bodyNode() *mockbase.Node {
	r.doc.skip("json", "text", "base64")
	if r.bodyless() {
		r.doc.skip("file")
		return nil
	}
	switch r.Body.Kind {
	case mockbase.BodyJSON:
		return parsedOr(r.Body.Bytes)
	case mockbase.BodyText:
		return textNode(string(r.Body.Bytes))
	case mockbase.BodyBase64:
		return textNode(base64.StdEncoding.EncodeToString(r.Body.Bytes))
	case mockbase.BodyFile:
		r.mock.exporter.lost(r.doc.get("file"), "the body lies in the file %s on the server: it is left out", quoted(string(r.Body.Bytes)))
	case mockbase.BodyNone:
	}
	return nil
}

// parsedOr reads JSON; what is none is a text, and nothing is null.
func parsedOr(text []byte) *mockbase.Node {
	if len(text) == 0 {
		return nullNode()
	}
	n, err := mockbase.ParseNode(text, mockbase.FormatJSON, mockbase.ParseLimits{Depth: maxDepth})
	if err != nil {
		return textNode(string(text))
	}
	return n
}

// wait is the delay of the answer, with the default of the project: nil is none.
func (r *exportedResponse) wait() *mockbase.Delay {
	r.doc.skip("delay")
	common := r.mock.exporter.config.Defaults.Delay
	switch {
	case r.Delay == nil:
		return common
	case r.Delay.AddDefault && common != nil && common.Kind == mockbase.DelayFixed && r.Delay.Kind == mockbase.DelayFixed:
		sum := *r.Delay
		sum.Fixed, sum.Jitter = r.Delay.Fixed+common.Fixed, r.Delay.Jitter+common.Jitter
		return &sum
	case r.Delay.AddDefault && common != nil:
		r.mock.exporter.lost(r.doc.get("delay"), "the default delay is not added to this one")
	}
	return r.Delay
}

// encodedPath writes a path as it stands in an address. A segment that is a parameter alone is {name}; ok is false for what
// cannot be said so, such as an expression or a rest.
func encodedPath(p mockbase.PathPattern) (text string, ok bool) {
	var b strings.Builder
	ok = true
	for _, s := range p.Segments {
		b.WriteByte('/')
		switch s.Kind {
		case mockbase.SegmentLiteral:
			b.WriteString(escapedSegment(s.Parts[0].Literal))
		case mockbase.SegmentConstrained, mockbase.SegmentParameter:
			b.WriteString("{" + s.Parts[0].Name + "}")
		case mockbase.SegmentMixed, mockbase.SegmentAny, mockbase.SegmentRest:
			ok = false
		}
	}
	return b.String(), ok
}

// escapedSegment percent-encodes what cannot stand in a segment of a path, and leaves what clients usually send as it is.
func escapedSegment(s string) string {
	const plain = "-._~!$&'()*+,;=:@"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte(plain, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteString("%" + strings.ToUpper(string("0123456789abcdef"[c>>4])+string("0123456789abcdef"[c&15])))
	}
	return b.String()
}

// pathExpression writes a path as a regular expression for the path as it is sent.
func pathExpression(p mockbase.PathPattern) string {
	var b strings.Builder
	for i, s := range p.Segments {
		switch {
		case s.Kind == mockbase.SegmentRest && i == len(p.Segments)-1:
			b.WriteString("(/.*)?")
			continue
		case s.Kind == mockbase.SegmentRest:
			b.WriteString("/.+")
			continue
		case s.Kind == mockbase.SegmentAny:
			b.WriteString("/[^/]+")
			continue
		}
		b.WriteByte('/')
		for _, part := range s.Parts {
			switch {
			case part.Name == "":
				b.WriteString(regexp.QuoteMeta(escapedSegment(part.Literal)))
			case part.Pattern != "":
				b.WriteString("(" + javaExpression(part.Pattern) + ")")
			default:
				b.WriteString("([^/]+)")
			}
		}
	}
	return b.String()
}

// parameters are the names of the path's parameters, with their patterns.
func parameters(p mockbase.PathPattern) []mockbase.PathPart {
	var list []mockbase.PathPart
	for _, s := range p.Segments {
		for _, part := range s.Parts {
			if part.Name != "" {
				list = append(list, part)
			}
		}
	}
	return list
}

// title names an answer among those of its mock.
func (r *exportedResponse) title() string {
	if len(r.mock.responses) == 1 {
		return r.mock.Name
	}
	return r.mock.Name + " " + r.Name
}

// statusText is a status with its phrase.
func statusText(code int) string {
	if text := http.StatusText(code); text != "" {
		return text
	}
	return "Status " + strconv.Itoa(code)
}
