package engine

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// sampleHost is the host of a sample request that names none.
const sampleHost = "localhost"

// requestOf makes the request that a client would send to a project, as the server would read it. It fails with
// CodeValidationFailed, pointers relative to the sample.
func (e *Engine) requestOf(ctx context.Context, slug string, s *mockbase.SampleRequest) (*http.Request, error) {
	var faults mockbase.Faults
	method := s.Method
	if method == "" {
		method = http.MethodGet
	}
	if !isToken(method) {
		faults.Append(mockbase.FieldError{Pointer: "#/method", Code: mockbase.FieldPattern, Detail: "is no method"})
	}
	target := e.targetOf(slug, s.Target)
	at, err := url.ParseRequestURI(target)
	if err != nil || strings.ContainsAny(target, " \r\n\x00") {
		faults.Append(mockbase.FieldError{
			Pointer: "#/target", Code: mockbase.FieldPattern, Detail: "is no request target: a path like /users/7?x=1, with % escapes",
		})
	}
	r := &http.Request{
		Method: method, RequestURI: target, URL: at, Host: sampleHost, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, RemoteAddr: net.JoinHostPort("127.0.0.1", "0"),
	}
	if s.Client != "" {
		r.RemoteAddr = net.JoinHostPort(s.Client, "0")
	}
	addHeaders(r, s.Headers, &faults)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	frame(r, s.Body)
	return r.WithContext(ctx), nil
}

// targetOf puts the project's base path before a target that lacks it.
func (e *Engine) targetOf(slug, target string) string {
	if t, ok := parseTarget(target, e.prefix); ok && t.slug == slug {
		return target
	}
	if !strings.HasPrefix(target, "/") {
		target = "/" + target
	}
	return e.prefix + url.PathEscape(slug) + target
}

// addHeaders adds field lines as the server would keep them. What frames the body follows from the body.
func addHeaders(r *http.Request, lines [][2]string, faults *mockbase.Faults) {
	for i, line := range lines {
		name, value := line[0], line[1]
		if !isToken(name) || strings.ContainsAny(value, "\r\n\x00") {
			faults.Append(mockbase.FieldError{
				Pointer: "#/headers/" + strconv.Itoa(i), Code: mockbase.FieldPattern, Detail: "is no header line: a name and a value without a line break",
			})
			continue
		}
		switch canonical := textproto.CanonicalMIMEHeaderKey(name); canonical {
		case "Host":
			r.Host = value
		case headerContentLength:
		case "Transfer-Encoding":
			r.TransferEncoding = []string{"chunked"}
		default:
			r.Header[canonical] = append(r.Header[canonical], strings.Trim(value, " \t"))
		}
	}
}

// frame gives the request its body, with a length unless the request says that it is chunked.
func frame(r *http.Request, body []byte) {
	if len(body) > 0 {
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	switch {
	case len(r.TransferEncoding) > 0:
		r.ContentLength = -1
	case len(body) > 0:
		r.ContentLength = int64(len(body))
		r.Header[headerContentLength] = []string{strconv.Itoa(len(body))}
	}
}

// isToken tells whether a text is a token (RFC 9110, section 5.6.2).
func isToken(text string) bool {
	for i := range len(text) {
		if !isTokenByte(text[i]) {
			return false
		}
	}
	return text != ""
}

// capture is where answers go that nobody receives over a connection. It keeps the first bytes.
type capture struct {
	header http.Header
	status int
	body   []byte
	most   int
	size   int64
}

var _ http.ResponseWriter = (*capture)(nil)

func newCapture(most int) *capture { return &capture{header: http.Header{}, most: most} }

// Header implements http.ResponseWriter.
func (w *capture) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter. What precedes the answer is passed over.
func (w *capture) WriteHeader(status int) {
	if status >= http.StatusOK && w.status == 0 {
		w.status = status
		w.header = w.header.Clone()
	}
}

// Write implements io.Writer.
func (w *capture) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.body = append(w.body, b[:min(len(b), w.most-len(w.body))]...)
	w.size += int64(len(b))
	return len(b), nil
}

// FlushError serves http.ResponseController.
func (*capture) FlushError() error { return nil }
