package engine

import (
	"maps"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// The names of headers that the engine itself sets or reads, in canonical form.
const (
	headerAcceptEncoding   = "Accept-Encoding"
	headerAcceptRanges     = "Accept-Ranges"
	headerAllow            = "Allow"
	headerAllowCredentials = "Access-Control-Allow-Credentials"
	headerAllowHeaders     = "Access-Control-Allow-Headers"
	headerAllowMethods     = "Access-Control-Allow-Methods"
	headerAllowOrigin      = "Access-Control-Allow-Origin"
	headerAllowPrivate     = "Access-Control-Allow-Private-Network"
	headerClearSiteData    = "Clear-Site-Data"
	headerConnection       = "Connection"
	headerContentEncoding  = "Content-Encoding"
	headerContentLength    = "Content-Length"
	headerContentRange     = "Content-Range"
	headerContentType      = "Content-Type"
	headerAuthorization    = "Authorization"
	headerCookie           = "Cookie"
	headerDate             = "Date"
	headerDecision         = "Mockbase-Mock"
	headerETag             = "ETag"
	headerExpose           = "Access-Control-Expose-Headers"
	headerLastModified     = "Last-Modified"
	headerMaxAge           = "Access-Control-Max-Age"
	headerOrigin           = "Origin"
	headerRequestHeaders   = "Access-Control-Request-Headers"
	headerRequestMethod    = "Access-Control-Request-Method"
	headerRequestPrivate   = "Access-Control-Request-Private-Network"
	headerSetCookie        = "Set-Cookie"
	headerTrailer          = "Trailer"
	headerUserAgent        = "User-Agent"
	headerVary             = "Vary"
)

// decisionNone is the decision header of an answer that no mock gave (rule M7).
const decisionNone = "none"

// answer is a whole answer, worked out when the mock was compiled.
type answer struct {
	status int
	body   []byte
	// length is the line of Content-Length, nil for none, which answers of the same length share, and decision the value of
	// the decision header, "" for none. They are what answers differ in, so that the other lines can be shared.
	length   *[1]string
	decision [1]string
	// lines are the other ones of every answer. Answers share them, so they are never changed in place.
	lines []headerLine
	// dressing is nil for an answer that is the same for every request.
	dressing *dressing
	// special is what few answers have, nil for none of it.
	special *special
	// nameless tells that some line has no value, so that the recorded header must be cleaned.
	nameless bool
	// secret tells that a header holds what is never recorded, browser that one is kept from browsers (rule Y10).
	secret, browser bool
	// bound tells that a header is about the connection, which HTTP/2 does not allow (rule N11).
	bound bool
	// ownOrigin and ownExpose tell that the author stated Access-Control-Allow-Origin and -Expose-Headers, which win (rule
	// L18).
	ownOrigin, ownExpose bool
}

// special is what few answers have.
type special struct {
	// headLength is the Content-Length that the author stated, for a HEAD request that the mock answers by itself (rule
	// O3); "" otherwise.
	headLength string
	// cross are the lines that a request of an allowed origin gets in addition, where the answer depends on the origin
	// (rules L15 to L19).
	cross []headerLine
}

// draft is an answer in the making.
type draft struct {
	status int
	kind   mockbase.BodyKind
	body   []byte
	// mediaType is the type of the body where its author states none, "" for that of its kind.
	mediaType string
	headers   []mockbase.Header
	// hints and trailers go before and after (rules O1 and O20).
	hints, trailers []mockbase.Header
	// coding is the content coding that is applied to the body (rule O15).
	coding string
	// autoTag, conditional, ranges, compress and chunked ask for what rules O11 to O14 and O19 describe.
	autoTag, conditional, ranges, compress, chunked bool
	stream                                          *mockbase.Stream
	// decision is the value of the decision header, "" for none.
	decision string
}

// statusOf returns the status of an answer: 200 if it is not stated, or 204 without a body.
func (d *draft) statusOf() int {
	switch {
	case d.status != 0:
		return d.status
	case d.kind == mockbase.BodyNone:
		return http.StatusNoContent
	default:
		return http.StatusOK
	}
}

// bodyless tells whether an answer of this status has no body (rule O2).
func bodyless(status int) bool {
	return status == http.StatusNoContent || status == http.StatusResetContent || status == http.StatusNotModified
}

// compile works the answer out. Header names keep the spelling of their author (rule O6).
func (d *draft) compile(s *settings) *answer { return d.compileInto(new(answer), s) }

// compileInto does so in memory that is there already.
func (d *draft) compileInto(a *answer, s *settings) *answer {
	a.status = d.statusOf()
	if d.coding != "" && len(d.body) > 0 {
		d.encode()
	}
	if !bodyless(a.status) {
		a.body = slices.Clip(d.body)
	}
	h := d.header(a, s)
	a.dressing = d.dress(a, h)
	if own := d.ownLength(); own != nil && !bodyless(a.status) {
		a.specially().headLength = own[0]
	}
	a.inspect(h)
	a.addOrigins(h, s)
	return a
}

// inspect notes what the header holds that needs care.
func (a *answer) inspect(h http.Header) {
	a.ownOrigin, a.ownExpose = holdsHeader(h, headerAllowOrigin), holdsHeader(h, headerExpose)
	for name, lines := range h {
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		a.secret = a.secret || isSecretHeader(canonical)
		a.browser = a.browser || canonical == headerSetCookie || canonical == headerClearSiteData
		a.bound = a.bound || isConnectionHeader(canonical)
		a.nameless = a.nameless || len(lines) == 0
	}
}

// addOrigins makes the lines of the answer, with what browsers of other origins need.
func (a *answer) addOrigins(h http.Header, s *settings) {
	s.origins.decorate(h, nil)
	if !s.origins.open && !s.origins.off {
		cross := maps.Clone(h)
		s.origins.decorate(cross, anyOrigin())
		maps.DeleteFunc(cross, func(name string, _ []string) bool {
			_, always := h[name]
			return always || name == headerAllowOrigin
		})
		if lines := s.common.linesOf(cross); len(lines) > 0 {
			a.specially().cross = lines
		}
	}
	a.length = takeLine(h, headerContentLength)
	if decision := takeLine(h, headerDecision); decision != nil {
		a.decision = *decision
	}
	a.lines = s.common.linesOf(h)
}

// specially returns what few answers have, made if there is nothing yet.
func (a *answer) specially() *special {
	if a.special == nil {
		a.special = new(special)
	}
	return a.special
}

// takeLine takes a header that has one line out of a header map.
func takeLine(h http.Header, key string) *[1]string {
	lines := h[key]
	if len(lines) != 1 {
		return nil
	}
	delete(h, key)
	return (*[1]string)(lines)
}

// encode applies the coding that the author asked for, and says so in the header (rule O15).
func (d *draft) encode() {
	d.body = encode(d.coding, d.body)
	d.headers = mergeHeaders(d.headers, []mockbase.Header{{Name: headerContentEncoding, Values: []string{d.coding}}})
}

// header builds the header map: the author's headers, the framing, and what keeps net/http from adding its own.
func (d *draft) header(a *answer, s *settings) http.Header {
	h := make(http.Header, len(d.headers)+4)
	for _, own := range d.headers {
		switch canonical := textproto.CanonicalMIMEHeaderKey(own.Name); {
		case canonical == headerContentLength, canonical == headerDecision, canonical == headerConnection, canonical == "Transfer-Encoding":
			// Framing follows from the bytes and cannot be removed (rules O3 and O10); the decision is the engine's.
		case own.Remove:
			h[canonical] = nil
		default:
			h[own.Name] = own.Values
			if own.Name != canonical && (canonical == headerDate || canonical == headerContentType) {
				// net/http looks for these two in canonical spelling, and adds them otherwise.
				h[canonical] = nil
			}
		}
	}
	d.frame(h, a, s)
	if d.decision != "" {
		h[headerDecision] = []string{d.decision}
	}
	return h
}

// frame adds length and type (rules O2 to O5).
func (d *draft) frame(h http.Header, a *answer, s *settings) {
	_, typed := h[headerContentType]
	if !typed {
		h[headerContentType] = nil
		switch {
		case len(d.body) > 0 && (len(a.body) > 0 || a.status == http.StatusNotModified):
			h[headerContentType] = s.common.typeOf(d.kind)
			if d.mediaType != "" {
				h[headerContentType] = []string{d.mediaType}
			}
		case d.mediaType != "" && d.kind != mockbase.BodyNone && !bodyless(a.status):
			// A document says the type of an empty body too (rule W34).
			h[headerContentType] = []string{d.mediaType}
		}
	}
	switch {
	case a.status == http.StatusNotModified:
		d.frameNotModified(h)
	case a.status != http.StatusNoContent:
		h[headerContentLength] = s.common.lengthOf(len(a.body))
	}
}

// frameNotModified gives a 304 the headers that a 200 would have. net/http drops length and type from a 304 by their
// canonical names, so they go out in lower case.
func (d *draft) frameNotModified(h http.Header) {
	if lines := h[headerContentType]; len(lines) > 0 {
		h["content-type"], h[headerContentType] = lines, nil
	}
	if len(d.body) > 0 {
		h["content-length"] = []string{strconv.Itoa(len(d.body))}
	}
	if own := d.ownLength(); own != nil {
		h["content-length"] = own
	}
}

// ownLength is the author's Content-Length; one that is no number is dropped, as it would break the framing.
func (d *draft) ownLength() []string {
	for _, own := range d.headers {
		if !own.Remove && strings.EqualFold(own.Name, headerContentLength) && len(own.Values) == 1 {
			if _, err := strconv.ParseUint(own.Values[0], 10, 63); err == nil {
				return own.Values
			}
		}
	}
	return nil
}

// mergeHeaders puts an answer's own headers over the project's default ones, name by name (mock format, section 6).
func mergeHeaders(defaults, own []mockbase.Header) []mockbase.Header {
	merged := make([]mockbase.Header, 0, len(defaults)+len(own))
	for _, header := range defaults {
		if !slices.ContainsFunc(own, func(o mockbase.Header) bool { return strings.EqualFold(o.Name, header.Name) }) {
			merged = append(merged, header)
		}
	}
	return append(merged, own...)
}
