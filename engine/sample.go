package engine

import (
	"bytes"
	"context"
	"fmt"
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

// describedRequest makes the request that a client would send to a project by the server's own reading of it: what a socket
// would refuse is refused here. What is no description of one request fails with CodeValidationFailed, pointers relative to
// the sample; what the server refuses before anybody is asked comes back as its refusal.
func (e *Engine) describedRequest(ctx context.Context, slug string, s *mockbase.SampleRequest) (*http.Request, *wireRefusal, error) {
	head, err := e.headOf(slug, s)
	if err != nil {
		return nil, nil, err
	}
	r, refused, err := readHead(ctx, head, e.options.MaxHeader)
	if err != nil {
		return nil, nil, &mockbase.Error{Code: mockbase.CodeUnavailable, Message: "the request could not be read in time", Err: err}
	}
	if refused != nil {
		return nil, e.refusedAs(refused, head), nil
	}
	r.Body = http.NoBody
	if len(s.Body) > 0 {
		r.Body = io.NopCloser(bytes.NewReader(s.Body))
	}
	r.RemoteAddr = remoteOf(s)
	return r.WithContext(ctx), nil, nil
}

func remoteOf(s *mockbase.SampleRequest) string {
	client := s.Client
	if client == "" {
		client = "127.0.0.1"
	}
	return net.JoinHostPort(client, "0")
}

// headOf writes the head of a request. A host and the length of the body are added unless the sample says them.
func (e *Engine) headOf(slug string, s *mockbase.SampleRequest) ([]byte, error) {
	var faults mockbase.Faults
	method := s.Method
	if method == "" {
		method = http.MethodGet
	}
	if !isToken(method) {
		faults.Append(mockbase.FieldError{Pointer: "#/method", Code: mockbase.FieldPattern, Detail: "is no method: a word such as GET"})
	}
	target, why := e.targetOf(slug, method, s.Target)
	if why != "" {
		faults.Append(mockbase.FieldError{Pointer: "#/target", Code: mockbase.FieldPattern, Detail: why})
	}
	var lines bytes.Buffer
	framed := describeLines(&lines, s, &faults)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	if !framed && len(s.Body) > 0 {
		fmt.Fprintf(&lines, "%s: %d\r\n", headerContentLength, len(s.Body))
	}
	head := make([]byte, 0, len(method)+len(target)+lines.Len()+16)
	head = append(head, method+" "+target+" HTTP/1.1\r\n"...)
	head = append(head, lines.Bytes()...)
	return append(head, "\r\n"...), nil
}

// describeLines writes the field lines of a sample, and tells whether they frame the body.
func describeLines(to *bytes.Buffer, s *mockbase.SampleRequest, faults *mockbase.Faults) (framed bool) {
	hosted, chunked := false, false
	for _, line := range s.Headers {
		hosted = hosted || strings.EqualFold(line[0], "Host")
		chunked = chunked || strings.EqualFold(line[0], "Transfer-Encoding")
	}
	framed = chunked
	if !hosted {
		to.WriteString("Host: " + sampleHost + "\r\n")
	}
	for i, line := range s.Headers {
		name, value := line[0], line[1]
		if !isToken(name) || strings.ContainsFunc(value, isControl) {
			faults.Append(mockbase.FieldError{
				Pointer: "#/headers/" + strconv.Itoa(i), Code: mockbase.FieldPattern,
				Detail: "is no header line: a name of letters, digits and hyphens, and a value without line breaks and other control characters",
			})
			continue
		}
		if strings.EqualFold(name, headerContentLength) {
			framed = true
			if n, err := strconv.ParseUint(strings.Trim(value, " \t"), 10, 63); err == nil && !chunked && n != uint64(len(s.Body)) {
				faults.Append(mockbase.FieldError{
					Pointer: "#/headers/" + strconv.Itoa(i), Code: mockbase.FieldConflict,
					Detail: fmt.Sprintf("says %d bytes, and the body has %d: leave the line out, it follows from the body", n, len(s.Body)),
				})
			}
		}
		to.WriteString(name + ": " + value + "\r\n")
	}
	return framed
}

// isControl tells whether a character may not stand in the value of a header.
func isControl(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }

// targetOf puts the project's base path before a target that lacks it, and says why where there can be none.
func (e *Engine) targetOf(slug, method, target string) (full, why string) {
	if target == "*" && method == http.MethodOptions {
		return target, ""
	}
	authority := ""
	if path := originForm(target); path != target {
		authority = target[:len(target)-len(path)]
		if !strings.HasSuffix(target, path) {
			authority = target // it ends with the authority
			if at := strings.IndexByte(target, '?'); at >= 0 {
				authority = target[:at]
			}
		}
		target = path
	}
	switch {
	case !strings.HasPrefix(target, "/"):
		return "", "is no path: write one that begins with a slash, like /users/7?x=1, or a whole URL; OPTIONS alone may be about *"
	case strings.ContainsFunc(target, func(c rune) bool { return c == ' ' || isControl(c) }):
		return "", "is no request target: blanks and control characters are written with % escapes; the server answers 400 to it"
	}
	if t, ok := parseTarget(target, e.prefix); !ok || t.slug != slug {
		target = e.prefix + url.PathEscape(slug) + target
	}
	if _, err := url.ParseRequestURI(authority + target); err != nil {
		return "", "is no request target: a path like /users/7?x=1, with two hexadecimal digits after each %; the server answers 400 to it"
	}
	return authority + target, ""
}

// recordedRequest makes the request of an exchange again. The server has read it before; what was masked or cut is as it
// was recorded.
func (e *Engine) recordedRequest(ctx context.Context, slug string, s *mockbase.SampleRequest) (*http.Request, error) {
	target := s.Target
	if t, ok := parseTarget(target, e.prefix); !ok || t.slug != slug {
		target = e.prefix + url.PathEscape(slug) + target
	}
	at, err := url.ParseRequestURI(target)
	if err != nil {
		return nil, fmt.Errorf("read target: %w", err)
	}
	r := &http.Request{
		Method: s.Method, RequestURI: target, URL: at, Host: sampleHost, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, RemoteAddr: remoteOf(s),
	}
	addHeaders(r, s.Headers)
	frame(r, s.Body)
	return r.WithContext(ctx), nil
}

// addHeaders adds field lines as the server would keep them. What frames the body follows from the body.
func addHeaders(r *http.Request, lines [][2]string) {
	for _, line := range lines {
		name, value := line[0], line[1]
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
