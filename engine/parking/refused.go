package parking

import (
	"bytes"
	"crypto/tls"
	"net/http"
	"strconv"
	"strings"
)

// Refused is a request that net/http hands to no handler, as it cannot read its head.
type Refused struct {
	// Status is what net/http answers: 400, 417 for an expectation, 431 for a head that is too long, 501 for a transfer coding and
	// 505 for a version that it does not know.
	Status int
	// Reason is what net/http says of it, "" where that is no more than the status.
	Reason string
	// InLine tells of a head that is too long that its first line is, in HTTP/2 its path.
	InLine bool
	// Secure tells that the connection is one over TLS.
	Secure bool
	// InClear tells that the request came without TLS where TLS is spoken.
	InClear bool
	// HTTP2 tells that it came over HTTP/2, where a head is longer than its names and values.
	HTTP2 bool
}

const (
	// refusalHeaders are all the fields of an answer that net/http writes past every handler.
	refusalHeaders = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
	refusalBegin   = "HTTP/1.1 "
	refusalVersion = "HTTP/1."
	// unmetBegin and unmetEnd stand around the time, in its answer to an expectation; that to HEAD has no length.
	unmetBegin = "417 Expectation Failed\r\nConnection: close\r\nDate: "
	unmetEnd   = "\r\nContent-Length: 0\r\n\r\n"
	// longestRefusal bounds what is looked at: such an answer is a few words.
	longestRefusal = 512
)

// Write sends what net/http has to say. Its own answer to a head that it hands to nobody is replaced by the one of the lot's owner.
func (t *tenancy) Write(p []byte) (int, error) {
	if t.line.lot.refuse != nil && mayRefuse(p) {
		if answer := t.refusal(p); answer != nil {
			if _, err := t.Conn.Write(answer); err != nil {
				return 0, err //nolint:wrapcheck // it stands in for the connection
			}
			return len(p), nil
		}
	}
	return t.Conn.Write(p) //nolint:wrapcheck // it stands in for the connection
}

// mayRefuse tells whether a piece of an answer is worth a closer look. Most are not.
func mayRefuse(p []byte) bool {
	return len(p) < longestRefusal && len(p) > len(refusalBegin) && (p[len(refusalBegin)] == '4' || p[len(refusalBegin)] == '5') &&
		string(p[:len(refusalVersion)]) == refusalVersion
}

// refusal is the answer in the place of net/http's, nil if that is none of a head that it hands to nobody.
func (t *tenancy) refusal(p []byte) []byte {
	r, ok := readRefusal(p)
	_, r.Secure = t.Conn.(*tls.Conn)
	t.line.mu.Lock()
	ok = ok && !t.seized && (r.Status != http.StatusExpectationFailed || t.line.heads.unmet)
	r.InLine = r.Status == http.StatusRequestHeaderFieldsTooLarge && t.line.heads.phase == inHead && !t.line.heads.begun
	bodiless := t.line.heads.bodiless && !r.InLine
	t.line.mu.Unlock()
	if !ok {
		return nil
	}
	answer := t.line.lot.refuse(&r)
	if answer == nil {
		return nil
	}
	defer answer.Body.Close()
	if bodiless {
		answer.Request = &http.Request{Method: http.MethodHead}
	}
	return written(answer)
}

// written is an answer as it is sent, nil if it cannot be.
func written(answer *http.Response) []byte {
	var b bytes.Buffer
	if answer.Write(&b) != nil {
		return nil
	}
	return b.Bytes()
}

// readRefusal reads what net/http answers past every handler. Handlers cannot give the same: theirs has a date or a length. To
// an expectation only those of a mock that says nothing else could.
func readRefusal(p []byte) (r Refused, ok bool) {
	if at, unmet := strings.CutPrefix(string(p[len(refusalBegin):]), unmetBegin); unmet {
		rest := at[min(len(http.TimeFormat), len(at)):]
		return Refused{Status: http.StatusExpectationFailed}, rest == unmetEnd || rest == "\r\n\r\n"
	}
	line, body, ok := strings.Cut(string(p[len(refusalBegin):]), refusalHeaders)
	if !ok {
		return r, false
	}
	code, text, _ := strings.Cut(line, " ")
	status, err := strconv.Atoi(code)
	if err != nil {
		return r, false
	}
	r.Status = status
	if status == http.StatusNotImplemented {
		r.Reason = body
		return r, true
	}
	_, r.Reason, _ = strings.Cut(text, ": ")
	return r, body == line
}
