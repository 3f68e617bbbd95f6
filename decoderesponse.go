package mockbase

import (
	"math"
	"net/textproto"
	"slices"
	"strings"
	"time"
)

const (
	// maxBody is the longest body of a response in bytes (mock format, section 6).
	maxBody     = 10 << 20
	maxWebhooks = 10
	// The bounds of a status (rule O1).
	minStatus = 200
	maxStatus = 999
)

// decodeResponse reads one answer of a mock.
func decodeResponse(at place, r *Response) {
	f := at.fields()
	f.slug("name", &r.Name)
	if when, ok := f.at("when"); ok {
		r.When = decodeCondition(when, inResponse)
	}
	if f.Number("weight", &r.Weight) {
		if digits, _ := decimalOf(string(r.Weight)); digits == "" || digits[0] == '-' {
			f.Fault("weight", FieldRange, "must be above 0, found %s", r.Weight)
		}
	}
	f.Int("times", &r.Times, 1, math.MaxInt)
	r.Status, r.StatusTemplate = decodeStatus(f)
	r.Headers = decodeHeaders(f, "headers")
	r.Trailers = decodeTrailers(f)
	r.EarlyHints = decodeHeaders(f, "earlyHints")
	r.Body = decodeBody(f, BodyJSON, BodyText, BodyBase64, BodyFile)
	r.Template = f.template()
	r.Delay = decodeMember(f, "delay", decodeDelay)
	r.Stream = decodeMember(f, "stream", decodeStream)
	oneOf(f, "encode", &r.Encode, "gzip", "deflate", "br", "zstd")
	var etag string
	r.AutoETag = oneOf(f, "etag", &etag, "auto")
	r.Conditional = optional(f, (*Fields).Bool, "conditional")
	r.Range = optional(f, (*Fields).Bool, "range")
	r.Fault = decodeMember(f, "fault", decodeFault)
	r.Proxy = decodeMember(f, "proxy", decodeProxy)
	r.SSE = decodeMember(f, "sse", decodeSSE)
	r.WebSocket = decodeMember(f, "webSocket", decodeWebSocket)
	f.filled("setState", &r.SetState)
	for _, hook := range f.list("webhooks", 0, maxWebhooks) {
		r.Webhooks = append(r.Webhooks, decodeWebhook(hook))
	}
	f.Done()
	checkResponse(f, r)
}

// checkResponse notes members that exclude one another.
func checkResponse(f *Fields, r *Response) {
	for _, kind := range []string{"proxy", "sse", "webSocket"} {
		if !f.Has(kind) {
			continue
		}
		excluded := []string{"json", "text", "base64", "file", "stream", "fault"}
		if kind != "sse" {
			excluded = append(excluded, "status")
		}
		for _, name := range excluded {
			if f.Has(name) {
				f.Fault(name, FieldConflict, "cannot stand beside %s", kind)
			}
		}
	}
	f.atMostOne("proxy", "sse", "webSocket")
	if r.Fault != nil && r.Body.Kind != BodyNone && !faultKeepsBody(r.Fault) {
		f.Fault(string(r.Body.Kind), FieldConflict,
			"is never sent: beside a fault a body needs kind: truncate, a reset with afterBytes, or a probability below 1")
	}
}

// faultKeepsBody tells whether bytes of a body may still be sent (mock format, section 6).
func faultKeepsBody(fault *Fault) bool {
	return fault.Kind == "" || fault.Kind == "truncate" || fault.AfterBytes != nil || fault.Probability != nil && *fault.Probability < 1
}

// decodeStatus reads a status or a template for one.
func decodeStatus(f *Fields) (status int, template string) {
	at, ok := f.at("status")
	if !ok {
		return 0, ""
	}
	if at.Kind == NodeText {
		if !isTemplate(at.Text) {
			at.fault(FieldType, "must be a number or a template with {{ … }}, found %s", at.describe())
			return 0, ""
		}
		return 0, at.Text
	}
	f.Int("status", &status, minStatus, maxStatus)
	return status, ""
}

// isTemplate tells whether a text holds an action, {{ … }}, on one line.
func isTemplate(s string) bool {
	for line := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' }) {
		if _, after, found := strings.Cut(line, "{{"); found && strings.Contains(after, "}}") {
			return true
		}
	}
	return false
}

// decodeBody reads the one body that is there, out of these kinds.
func decodeBody(f *Fields, kinds ...BodyKind) Body {
	names := make([]string, len(kinds))
	var body Body
	for i, kind := range kinds {
		names[i] = string(kind)
		if decoded, ok := decodeBodyOf(f, kind); ok && body.Kind == BodyNone {
			body = decoded
		}
	}
	f.atMostOne(names...)
	if len(body.Bytes) > maxBody {
		f.Fault(string(body.Kind), FieldLimit, "has %d bytes, at most %d are allowed", len(body.Bytes), maxBody)
	}
	return body
}

func decodeBodyOf(f *Fields, kind BodyKind) (Body, bool) {
	var text string
	switch kind {
	case BodyJSON:
		at, ok := f.at("json")
		if !ok {
			return Body{}, false
		}
		return Body{kind, at.JSON()}, true
	case BodyBase64:
		var decoded []byte
		ok := f.base64("base64", &decoded)
		return Body{kind, decoded}, ok
	case BodyFile:
		ok := f.filled("file", &text)
		return Body{kind, []byte(text)}, ok
	default:
		ok := f.Text("text", &text)
		return Body{BodyText, []byte(text)}, ok
	}
}

// template reads whether texts are templates. What is there and cannot be read is meant as yes: so that no text is judged
// as what it would be without.
func (f *Fields) template() *bool {
	on := optional(f, (*Fields).Bool, "template")
	if on == nil && f.Has("template") {
		on = new(true)
	}
	return on
}

// decodePlain reads an answer without choices.
func decodePlain(at place) *PlainResponse {
	f := at.fields()
	r := &PlainResponse{}
	r.Status, r.StatusTemplate = decodeStatus(f)
	r.Headers = decodeHeaders(f, "headers")
	r.Body = decodeBody(f, BodyJSON, BodyText, BodyBase64)
	r.Template = f.template()
	r.Delay = decodeMember(f, "delay", decodeDelay)
	f.Done()
	return r
}

// noTrailers names the fields that frame or route a message, say who asks, or what to do with the body.
func noTrailers() []string {
	return []string{
		"Authorization", "Cache-Control", "Content-Encoding", "Content-Length", "Content-Range", "Content-Type", "Expect", "Host",
		"Max-Forwards", "Pragma", "Range", "Set-Cookie", "Te", "Trailer", "Upgrade", "Www-Authenticate",
	}
}

// decodeTrailers reads the fields after a body: none that frames, routes, allows or describes what came before (RFC 9110,
// section 6.5.1).
func decodeTrailers(f *Fields) []Header {
	trailers := decodeHeaders(f, "trailers")
	for _, e := range f.entries("trailers") {
		if slices.Contains(noTrailers(), textproto.CanonicalMIMEHeaderKey(e.name)) {
			e.key.fault(FieldPattern, "%s must come before the body, so it is no trailer: put it into headers", e.name)
		}
	}
	return trailers
}

// decodeHeaders reads header fields.
func decodeHeaders(f *Fields, name string) []Header {
	entries := f.entries(name)
	if len(entries) == 0 {
		return nil
	}
	headers := make([]Header, 0, len(entries))
	for _, e := range entries {
		h := Header{Name: e.name}
		if !checkHeaderName(e, headers) {
			continue
		}
		decodeHeaderValues(e, &h)
		headers = append(headers, h)
	}
	return headers
}

func checkHeaderName(e entry, before []Header) bool {
	same := func(name string) bool { return strings.EqualFold(name, e.name) }
	switch {
	case !validToken(e.name):
		e.key.noHeaderName(e.name)
		return false
	case same("Transfer-Encoding"), same("Connection"):
		e.key.fault(FieldPattern, "%s is set by the server alone", e.name)
		return false
	case slices.ContainsFunc(before, func(h Header) bool { return same(h.Name) }):
		e.key.fault(FieldDuplicateKey, "the header %s is given twice, as names have no letter case: write one list of values", e.name)
		return false
	}
	return true
}

// decodeHeaderValues reads a scalar, a list of scalars, or null, which removes a default.
func decodeHeaderValues(e entry, h *Header) {
	same := func(name string) bool { return strings.EqualFold(name, e.name) }
	switch e.Kind {
	case NodeNull:
		h.Remove = true
		if same("Content-Length") {
			e.fault(FieldPattern, "the server alone decides on %s", e.name)
		}
	case NodeList:
		list := e.items(1, math.MaxInt)
		if len(list) > 1 && slices.ContainsFunc([]string{"Content-Type", "Content-Length", "Location", "Date"}, same) {
			e.fault(FieldConflict, "%s has one value, found %d", e.name, len(list))
		}
		for _, at := range list {
			h.Values = append(h.Values, headerValue(at))
		}
	default:
		h.Values = []string{headerValue(e.place)}
	}
}

func headerValue(at place) string {
	switch {
	case at.Kind == NodeNull, at.Kind == NodeList, at.Kind == NodeObject:
		at.fault(FieldType, "must be a scalar, found %s", at.describe())
	case strings.ContainsAny(at.Text, "\r\n\x00"):
		at.fault(FieldPattern, "a header value holds no CR, LF or NUL, found %s", quote(at.Text))
	}
	return at.Text
}

// decodeWebhook reads a call that follows an answer.
func decodeWebhook(at place) Webhook {
	f := at.fields()
	w := Webhook{Method: "POST", Timeout: 10 * time.Second}
	f.slug("name", &w.Name)
	if f.filled("url", &w.URL) {
		checkURL(f, "url", w.URL)
	}
	if f.Text("method", &w.Method) {
		checkMethod(place{f.node.Find("method"), f.Pointer("method"), f.faults}, w.Method)
	}
	w.Headers = decodeHeaders(f, "headers")
	w.Body = decodeBody(f, BodyJSON, BodyText, BodyBase64)
	w.After = decodeMember(f, "after", decodeAfter)
	f.Duration("timeout", &w.Timeout)
	if retries, ok := f.at("retries"); ok {
		w.Retries = decodeRetries(retries)
	}
	f.Bool("always", &w.Always)
	w.Sign = decodeMember(f, "sign", decodeSign)
	f.Required("url")
	f.Done()
	return w
}

const maxRetries = 10

// decodeRetries reads a number of retries or an object.
func decodeRetries(at place) Retries {
	var r Retries
	if at.Kind == NodeNumber {
		n, isWhole, _ := wholeNumber(at.Text)
		if !isWhole || n < 0 || n > maxRetries {
			at.fault(FieldRange, "must be a whole number from 0 to %d, found %s", maxRetries, at.Text)
			return r
		}
		r.Max = int(n)
		return r
	}
	if at.Kind != NodeObject {
		at.fault(FieldType, "must be a whole number or an object, found %s", at.describe())
		return r
	}
	f := at.fields()
	f.Int("max", &r.Max, 0, maxRetries)
	f.Duration("backoff", &r.Backoff)
	f.Duration("maxBackoff", &r.MaxBackoff)
	f.float("jitter", &r.Jitter, 1)
	f.Required("max")
	f.Done()
	return r
}

func decodeSign(at place) *Sign {
	f := at.fields()
	s := &Sign{Algorithm: "hmac-sha256"}
	f.headerName("header", &s.Header)
	f.filled("secret", &s.Secret)
	oneOf(f, "algorithm", &s.Algorithm, "hmac-sha256", "hmac-sha512")
	f.Required("header", "secret")
	f.Done()
	return s
}
