package engine

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/parking"
)

// HeadBounds are the bounds of the head of a request in bytes, and where the pages of problems are.
type HeadBounds struct {
	MaxHeader, MaxTarget int64
	// BasePath stands before the pages of problems.
	BasePath string
}

// RefuseHead answers a request whose head the server cannot read or whose expectation it does not meet, so that no plane has seen it (rules N6, N7 and M-6). Its
// problem has the form of the management plane, and names the request by id.
func RefuseHead(r *parking.Refused, b HeadBounds, id string) *http.Response {
	p := &problem{Status: r.Status, Instance: id, RequestID: id}
	switch {
	case r.Status == http.StatusRequestHeaderFieldsTooLarge && r.InLine && b.MaxTarget < b.MaxHeader:
		long := targetTooLong(b.MaxTarget)
		p.Status, p.Code, p.Title, p.Detail = long.status, long.code, long.title, long.detail
	case r.Status == http.StatusRequestHeaderFieldsTooLarge:
		p.Code, p.Title = mockbase.CodeHeadersTooLarge, "Headers too large"
		p.Detail = fmt.Sprintf("The request line and the header fields together are longer than %d bytes%s; look for a cookie or a token that has grown.", b.MaxHeader, counted(r))
	case r.Status == http.StatusExpectationFailed:
		p.Code, p.Title = mockbase.CodeBadRequest, "Expectation failed"
		p.Detail = "Of all that a request may expect, the server meets 100-continue alone; leave out the header Expect, or send that."
	case r.InClear:
		p.Code, p.Title = mockbase.CodeBadRequest, "Bad request"
		p.Detail = "This is an HTTP request to an HTTPS server; write https:// in its address."
	default:
		p.Code, p.Title, p.Detail = mockbase.CodeBadRequest, "Bad request", "The head of the request cannot be read."
		if r.Reason != "" {
			p.Detail = "The head of the request cannot be read: " + r.Reason + "."
		}
	}
	p.Type = b.BasePath + problemType(p.Code)
	h := http.Header{}
	h.Set(headerContentType, "application/problem+json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Request-Id", id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	if r.Secure {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	body := encodeProblem(p)
	return &http.Response{
		StatusCode: p.Status, ProtoMajor: 1, ProtoMinor: 1, Header: h, Close: true,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// counted says how HTTP/2 counts the length of a head (RFC 9113, section 6.5.2).
func counted(r *parking.Refused) string {
	if r.HTTP2 {
		return ", with the 32 that HTTP/2 counts for each of them"
	}
	return ""
}
