package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// headerWarning tells the client of an answer that is not what its type says (rule P4).
const headerWarning = "Mockbase-Warning"

// rendered is a reply with templates.
type rendered struct {
	settings *settings
	// draft holds what is the same for every call, and the sources of the templates in their places.
	draft                    draft
	status, body             *script
	headers, hints, trailers []renderedLine
	// mould is the answer with gaps, where only a body and plain headers are rendered; nil otherwise.
	mould *mould
}

var _ reply = (*rendered)(nil)

// renderedLine is a field line with a template, by its place in a list of headers.
type renderedLine struct {
	header, line int
	script       *script
}

// rendered compiles the templates of a response; nil if there are none.
func (w *workbench) rendered(source *mockbase.Response, d *draft) *rendered {
	r := &rendered{settings: w.settings, draft: *d, status: w.script(source.StatusTemplate, "/status", "status")}
	at := "/" + string(d.kind)
	switch d.kind {
	case mockbase.BodyJSON:
		r.body = w.compileScript(scriptKey{source: string(d.body), isJSON: true}, at, "body")
	case mockbase.BodyText:
		r.body = w.script(string(d.body), at, "body")
	case mockbase.BodyFile:
		r.body = w.script(string(d.body), at, "file")
	case mockbase.BodyNone, mockbase.BodyBase64:
	}
	r.headers = w.lines(d.headers, "headers", "header")
	r.hints = w.lines(d.hints, "earlyHints", "early hint")
	r.trailers = w.lines(d.trailers, "trailers", "trailer")
	if r.status == nil && r.body == nil && len(r.headers)+len(r.hints)+len(r.trailers) == 0 {
		return nil
	}
	// Parts of what differs from call to call would not fit together (rule O13).
	r.draft.ranges = r.draft.ranges && (r.body == nil || d.kind == mockbase.BodyFile)
	if w.faults.Len() == 0 {
		r.mould = r.cast()
	}
	return r
}

func (w *workbench) lines(headers []mockbase.Header, member, what string) []renderedLine {
	var lines []renderedLine
	for i := range headers {
		h := &headers[i]
		pointer := "/" + member + "/" + mockbase.PointerToken(h.Name)
		for j, value := range h.Values {
			if s := w.script(value, pointer, what+" "+h.Name); s != nil {
				lines = append(lines, renderedLine{header: i, line: j, script: s})
			}
		}
	}
	return lines
}

// prepare renders everything, before the delay begins and before anything is sent.
func (r *rendered) prepare(c *call) (sending, *failure) {
	if r.mould != nil {
		if a, failed := r.pour(c); a != nil {
			return a, nil
		} else if failed != nil {
			return nil, failed
		}
	}
	return r.whole(c)
}

// whole makes the answer as if it were compiled for this call alone.
func (r *rendered) whole(c *call) (sending, *failure) {
	d := r.draft
	var failed *failure
	if r.status != nil {
		if d.status, failed = r.statusOf(c); failed != nil {
			return nil, failed
		}
	}
	if d.headers, failed = renderLines(c, d.headers, r.headers); failed != nil {
		return nil, failed
	}
	if d.hints, failed = renderLines(c, d.hints, r.hints); failed != nil {
		return nil, failed
	}
	if d.trailers, failed = renderLines(c, d.trailers, r.trailers); failed != nil {
		return nil, failed
	}
	if failed = r.renderBody(c, &d); failed != nil {
		return nil, failed
	}
	return d.compile(r.settings), nil
}

// renderBody renders the body, or the name of the file that it is in.
func (r *rendered) renderBody(c *call, d *draft) *failure {
	if r.body != nil {
		out, failed := r.body.render(c, nil)
		if failed != nil {
			return failed
		}
		d.body = out
	}
	if d.kind == mockbase.BodyFile {
		failed := d.load(r.settings, string(d.body))
		if failed != nil && r.body != nil && r.body.secretive(c) {
			failed.detail = "The file cannot be read: " + errVeiled.Error() + "."
		}
		return failed
	}
	if r.body != nil && brokenJSON(d.kind, d.typeOf(), d.body) {
		c.note("the body is no valid JSON, though its type says so")
		d.headers = append(slices.Clip(d.headers), mockbase.Header{Name: headerWarning, Values: []string{"invalid-json"}})
	}
	return nil
}

// typeOf is the stated type of the body.
func (d *draft) typeOf() string {
	for i := range d.headers {
		if h := &d.headers[i]; len(h.Values) > 0 && strings.EqualFold(h.Name, headerContentType) {
			return h.Values[0]
		}
	}
	return ""
}

// brokenJSON tells whether a text says that it is JSON and is not (rule P4). A JSON body is always valid.
func brokenJSON(kind mockbase.BodyKind, mediaType string, body []byte) bool {
	return kind == mockbase.BodyText && isJSONType(mediaType) && !json.Valid(body)
}

func isJSONType(mediaType string) bool {
	mediaType, _, _ = strings.Cut(strings.ToLower(mediaType), ";")
	mediaType = strings.TrimSpace(mediaType)
	return mediaType == "application/json" || strings.HasSuffix(mediaType, "+json")
}

// statusOf renders the status (rule O1).
func (r *rendered) statusOf(c *call) (int, *failure) {
	return readText(c, r.status, parseStatus)
}

// parseStatus reads a rendered status.
func parseStatus(text string) (int, error) {
	status, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || status < http.StatusOK || status > 999 {
		return 0, fmt.Errorf("%s is no status from 200 to 999", quoted(text))
	}
	return status, nil
}

// renderLines returns the headers with their templates rendered; the same list where there are none.
func renderLines(c *call, headers []mockbase.Header, lines []renderedLine) ([]mockbase.Header, *failure) {
	if len(lines) == 0 {
		return headers, nil
	}
	headers = slices.Clone(headers)
	for i := range lines {
		l := &lines[i]
		value, failed := l.value(c)
		if failed != nil {
			return nil, failed
		}
		h := &headers[l.header]
		if l.line == 0 || i == 0 || lines[i-1].header != l.header {
			h.Values = slices.Clone(h.Values)
		}
		h.Values[l.line] = value
	}
	return headers, nil
}

var errLineBreak = errors.New("a line holds no CR, LF or NUL")

// value renders a field line (rules O8 and O9).
func (l *renderedLine) value(c *call) (string, *failure) {
	value, failed := l.script.text(c)
	switch {
	case failed != nil:
		return "", failed
	case strings.ContainsAny(value, "\r\n\x00"):
		return "", badValue(l.script.what, errLineBreak)
	case mockbase.BeyondLatin1(value):
		c.note("the " + l.script.what + " holds text outside Latin-1, and goes out as UTF-8")
	}
	return value, nil
}

// mould is an answer with gaps, so that little is left to do for each call: its body, its length and some lines.
type mould struct {
	answer *answer
	// places are those of the rendered headers among the lines.
	places []int
	// mediaType is the stated type.
	mediaType string
}

// cast makes the mould, nil where a template decides about more than the bytes in the gaps.
func (r *rendered) cast() *mould {
	d := r.draft
	if r.status != nil || r.body == nil || d.kind == mockbase.BodyFile || d.coding != "" || d.compress {
		return nil
	}
	m := &mould{answer: d.compile(r.settings), mediaType: d.typeOf()}
	if m.answer.length == nil || !m.answer.even() {
		return nil
	}
	for i := range r.headers {
		name := d.headers[r.headers[i].header].Name
		at := m.answer.place(name)
		if at < 0 || !fitsMould(name) {
			return nil
		}
		m.places = append(m.places, at)
	}
	return m
}

// even tells whether nothing about the answer depends on the request but what the templates say.
func (a *answer) even() bool {
	return a.dressing == nil && (a.special == nil || a.special.headLength == "") && !bodyless(a.status)
}

// fitsMould tells whether a header's value has no influence on the rest of the header.
func fitsMould(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case headerVary, headerContentType, headerContentLength, headerContentEncoding, headerDate, "Etag", headerExpose, headerAllowOrigin:
		return false
	default:
		return true
	}
}

// place returns where a line is, -1 if there is none.
func (a *answer) place(key string) int {
	return slices.IndexFunc(a.lines, func(l headerLine) bool { return l.key == key })
}

// pour fills the mould. It returns nil where the answer does not fit.
func (r *rendered) pour(c *call) (*answer, *failure) {
	a := poured{answer: *r.mould.answer}
	if len(r.headers) > 0 {
		a.lines = slices.Clone(a.lines)
	}
	for i := range r.headers {
		value, failed := r.headers[i].value(c)
		if failed != nil {
			return nil, failed
		}
		line := &a.lines[r.mould.places[i]]
		line.lines = slices.Clone(line.lines)
		line.lines[r.headers[i].line] = value
	}
	body, failed := r.body.render(c, make([]byte, 0, 2*len(r.draft.body)))
	if failed != nil {
		return nil, failed
	}
	if len(body) == 0 || brokenJSON(r.draft.kind, r.mould.mediaType, body) {
		c.forgetScope()
		return nil, nil //nolint:nilnil // the answer is made as a whole then
	}
	a.body = body
	a.size[0] = strconv.Itoa(len(body))
	a.length = &a.size
	return &a.answer, nil
}

// poured is an answer with the line of its length, in one piece of memory.
type poured struct {
	answer
	size [1]string
}
