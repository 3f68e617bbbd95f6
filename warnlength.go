package mockbase

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// replacedLength finds a Content-Length that the server does not send as it is (rule O3).
func (m *Mock) replacedLength(r *Response, pointer string, c *Config) []FieldError {
	at := slices.IndexFunc(r.Headers, func(h Header) bool { return strings.EqualFold(h.Name, "Content-Length") })
	if at < 0 || len(r.Headers[at].Values) != 1 || r.Fault != nil && r.Fault.Kind == "raw" {
		return nil
	}
	own := r.Headers[at].Values[0]
	reason := m.lengthFault(r, own, c)
	if reason == "" {
		return nil
	}
	return []FieldError{{
		Pointer: childPointer(pointer+"/headers", r.Headers[at].Name), Code: WarningUnused, Detail: quote(own) + " is " + reason,
	}}
}

// reserved finds headers that the server writes itself, whatever a mock says (rule M7).
func (r *Response) reserved(pointer string) []FieldError {
	var list []FieldError
	for _, h := range r.Headers {
		if strings.EqualFold(h.Name, "Mockbase-Mock") {
			list = append(list, FieldError{
				Pointer: childPointer(pointer+"/headers", h.Name), Code: WarningUnused,
				Detail: "is replaced: the server names the mock there, or leaves it out with decisionHeader: false",
			})
		}
	}
	return list
}

// beyondLatin1 finds headers that not every client reads as they are meant (rule O9).
func (r *Response) beyondLatin1(pointer string) []FieldError {
	var list []FieldError
	for _, h := range r.Headers {
		if slices.ContainsFunc(h.Values, BeyondLatin1) {
			list = append(list, FieldError{
				Pointer: childPointer(pointer+"/headers", h.Name), Code: WarningEncoding,
				Detail: "holds text outside Latin-1, and goes out as UTF-8: some clients read it as something else",
			})
		}
	}
	return list
}

// BeyondLatin1 tells whether a header value holds a character that HTTP has no byte for (rule O9).
func BeyondLatin1(value string) bool {
	return strings.ContainsFunc(value, func(r rune) bool { return r > '\u00ff' })
}

// lengthFault tells what becomes of a stated length, "" if it is sent or cannot be judged.
func (m *Mock) lengthFault(r *Response, own string, c *Config) string {
	if strings.Contains(own, "{{") {
		// It is a template, or there is a warning about one already.
		return ""
	}
	stated, err := strconv.ParseUint(own, 10, 63)
	if err != nil {
		return "replaced: it is no number of bytes, and the length comes from the body"
	}
	status, isSure := r.sureStatus()
	onlyHead := !slices.ContainsFunc(m.Request.Methods, func(method string) bool { return method != http.MethodHead })
	if !isSure || onlyHead && status != http.StatusNoContent || status == http.StatusNotModified || !r.sureLength(c) {
		return ""
	}
	length := uint64(len(r.Body.Bytes))
	switch status {
	case http.StatusNoContent:
		return "not sent, as status 204 has no length"
	case http.StatusResetContent:
		length = 0
	}
	if stated == length {
		return ""
	}
	return "replaced: the body has " + strconv.FormatUint(length, 10) + " bytes"
}

// sureStatus is the status of every answer: 200 when it is not stated, or 204 without a body.
func (r *Response) sureStatus() (status int, isSure bool) {
	switch {
	case r.StatusTemplate != "":
		return 0, false
	case r.Status != 0:
		return r.Status, true
	case r.Body.Kind == BodyNone:
		return http.StatusNoContent, true
	default:
		return http.StatusOK, true
	}
}

// sureLength tells whether every answer has the bytes of the body as they are, and their number in its head.
func (r *Response) sureLength(c *Config) bool {
	switch {
	case r.Proxy != nil, r.SSE != nil, r.WebSocket != nil, r.Stream != nil && r.Stream.Chunked, r.Fault != nil:
		return false
	case r.Body.Kind == BodyFile, r.Encode != "", len(r.Trailers) > 0:
		return false
	default:
		return !r.renders(c) || r.Body.Kind == BodyBase64 || !strings.Contains(string(r.Body.Bytes), "{{")
	}
}
