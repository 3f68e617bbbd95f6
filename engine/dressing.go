package engine

import (
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
)

// dressing is what makes an answer depend on the request, or take more than one write. Most answers have none.
type dressing struct {
	// hints are sent as a 103 before (rule O1).
	hints []headerLine
	// trailers follow the body (rule O20).
	trailers []headerLine
	// conditional tells that conditional requests are answered; tag and modified are the validators of the answer, tag ""
	// and modified zero where it has none. With autoTag each coding has a tag of its own (rules O11 and O12).
	conditional, autoTag bool
	tag                  string
	modified             time.Time
	// ranges tells that parts may be asked for (rule O13).
	ranges bool
	// coded holds the compressed forms, where compression is worth it (rule O14).
	coded *codedForms
	// chunked sends the body without its length (rule O19), stream paces it; either makes headers go out at once.
	chunked bool
	stream  *mockbase.Stream
}

// shipment is what goes over the wire in the end.
type shipment struct {
	status int
	body   []byte
}

// dress returns nil for an answer that needs none. The header is the author's with framing and type; it is completed.
func (d *draft) dress(a *answer, h http.Header) *dressing {
	w := &dressing{hints: hintLines(d.hints)}
	if !bodyless(a.status) {
		w.frame(d, h)
		w.validate(d, a, h)
	}
	if d.compress && worthCoding(h, a.body) {
		w.coded = &codedForms{}
		varyBy(h, headerAcceptEncoding)
	}
	if w.plain() {
		return nil
	}
	return w
}

// plain tells whether the answer is the same for every request after all.
func (w *dressing) plain() bool {
	return len(w.hints) == 0 && w.stream == nil && !w.chunked && !w.conditional && !w.ranges && w.coded == nil
}

// frame says how the body goes out: chunked, with trailers, at a pace (rules O19, O20 and Q6).
func (w *dressing) frame(d *draft, h http.Header) {
	w.stream, w.chunked = d.stream, d.chunked
	var names []string
	for _, t := range d.trailers {
		if len(t.Values) > 0 {
			names = append(names, t.Name)
			// net/http finds the values of trailers by their canonical names.
			w.trailers = append(w.trailers, headerLine{key: http.CanonicalHeaderKey(t.Name), lines: t.Values})
		}
	}
	if len(names) > 0 {
		w.chunked = true
		h[headerTrailer] = []string{strings.Join(names, ", ")}
	}
	if w.chunked {
		delete(h, headerContentLength)
	}
}

// validate finds the validators of a successful answer, and whether parts of it may be asked for.
func (w *dressing) validate(d *draft, a *answer, h http.Header) {
	if a.status < http.StatusOK || a.status >= http.StatusMultipleChoices {
		return
	}
	w.ranges = d.ranges && a.status == http.StatusOK
	if w.ranges && !holdsHeader(h, headerAcceptRanges) {
		h[headerAcceptRanges] = []string{"bytes"}
	}
	w.conditional = d.conditional || d.autoTag
	if own := headerOf(h, headerETag); own != "" {
		w.tag = own
	} else if d.autoTag {
		w.autoTag, w.tag = true, hashTag(a.body)
		h[headerETag] = []string{w.tag}
	}
	if modified, err := http.ParseTime(headerOf(h, headerLastModified)); err == nil {
		w.modified = modified
	}
}

func hintLines(headers []mockbase.Header) []headerLine {
	lines := make([]headerLine, 0, len(headers))
	for _, h := range headers {
		lines = append(lines, headerLine{key: h.Name, lines: h.Values})
	}
	return lines
}

// headerOf returns the first line of a header whatever the spelling of its name, "" if there is none.
func headerOf(h http.Header, name string) string {
	if lines := h[name]; len(lines) > 0 {
		return lines[0]
	}
	for key, lines := range h {
		if len(lines) > 0 && strings.EqualFold(key, name) {
			return lines[0]
		}
	}
	return ""
}

// dropHeader removes a header whatever the spelling of its name. A key without lines keeps net/http from adding its own.
func dropHeader(h http.Header, name string) {
	maps.DeleteFunc(h, func(key string, _ []string) bool { return strings.EqualFold(key, name) })
	h[name] = nil
}

// sendDressed sends an answer whose bytes depend on the request.
func (c *call) sendDressed(h http.Header, a *answer) {
	w := a.dressing
	out := shipment{status: a.status, body: a.body}
	if w.negotiate(c, h, &out) {
		c.expose(h, a)
	}
	if len(w.hints) > 0 && c.request.ProtoAtLeast(1, 1) {
		c.sendHints(h, w.hints)
	}
	c.deliver(h, a, out)
}

// negotiate applies compression, preconditions and ranges, in this order. It tells whether the header has changed.
func (w *dressing) negotiate(c *call, h http.Header, out *shipment) bool {
	changed := false
	asked := c.header
	if w.coded != nil && (!w.ranges || len(asked["Range"]) == 0) {
		changed = w.code(asked, h, out)
	}
	if w.conditional {
		switch status := w.precondition(asked, h, c.method.name); status {
		case 0:
		case http.StatusNotModified:
			out.notModified(h)
			return true
		default:
			out.withoutBody(h, status)
			return true
		}
	}
	if w.ranges && c.method.name == http.MethodGet {
		return c.cut(h, out) || changed
	}
	return changed
}

// notModified makes a 304 with the headers that a 200 would have (rule O2).
func (s *shipment) notModified(h http.Header) {
	// net/http drops length and type from a 304 by their canonical names, so they go out in lower case.
	for _, name := range [...]string{headerContentType, headerContentLength} {
		if lines := h[name]; len(lines) > 0 {
			h[strings.ToLower(name)] = lines
		}
		h[name] = nil
	}
	s.status, s.body = http.StatusNotModified, nil
}

// withoutBody makes an answer of another status that has no body.
func (s *shipment) withoutBody(h http.Header, status int) {
	dropHeader(h, headerContentType)
	dropHeader(h, headerContentEncoding)
	s.status, s.body = status, nil
	setLength(h, 0)
}

// expose lists the names of the header again, after it has changed (rule L19).
func (c *call) expose(h http.Header, a *answer) {
	if !a.ownExpose && len(h[headerExpose]) > 0 {
		delete(h, headerExpose)
		h[headerExpose] = []string{c.program.settings.origins.exposed(h)}
	}
}

// sendHints sends a 103. What it holds is no part of the answer that follows.
func (c *call) sendHints(h http.Header, hints []headerLine) {
	kept := maps.Clone(h)
	clear(h)
	copyLines(h, hints)
	c.w.WriteHeader(http.StatusEarlyHints)
	clear(h)
	maps.Copy(h, kept)
}
