package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mockbase/mockbase"
)

// AddressError reports a text that is no address of a server.
type AddressError struct {
	Server string
}

// Error names the text, without a password in it.
func (e *AddressError) Error() string {
	text := e.Server
	if at, err := url.Parse(text); err == nil {
		text = at.Redacted()
	}
	return strconv.Quote(text) + " is no URL of a server"
}

// RefusedError is an answer with a status of 400 and more.
type RefusedError struct {
	Status int
	// Problem is what the server said of it; its code is CodeInternal when the answer was none of the server's.
	Problem *mockbase.Error
	// RequestID finds the request in the server's log.
	RequestID string
	// RetryAfter is how long the server asks to wait, 0 when it does not.
	RetryAfter time.Duration
	// Plan is the plan of a conflict (rule M-65), nil without one.
	Plan json.RawMessage
}

// Error is the server's message.
func (r *RefusedError) Error() string { return r.Problem.Message }

// Unwrap leads to the *mockbase.Error.
func (r *RefusedError) Unwrap() error { return r.Problem }

// UnreachableError is a server that gave no answer.
type UnreachableError struct {
	// Server is the address that was called.
	Server string
	// Timeout tells that it took too long.
	Timeout bool
	// Hint says what to do, "" where nothing is known.
	Hint string
	Err  error
}

// Error says why, without the address.
func (u *UnreachableError) Error() string { return u.Err.Error() }

// Unwrap leads to the cause.
func (u *UnreachableError) Unwrap() error { return u.Err }

// wireProblem is a problem as the server sends it (rule M-5).
type wireProblem struct {
	Title          string                `json:"title"`
	Detail         string                `json:"detail"`
	Code           mockbase.Code         `json:"code"`
	RequestID      string                `json:"requestId"`
	Errors         []mockbase.FieldError `json:"errors"`
	CurrentVersion int64                 `json:"currentVersion"`
	Quota          *mockbase.QuotaUse    `json:"quota"`
	Plan           json.RawMessage       `json:"plan"`
}

// refusal reads the answer that a call was refused with.
func (c *Client) refusal(response *http.Response, text []byte) error {
	if text := string(text); response.StatusCode == http.StatusBadRequest && strings.Contains(text, "HTTP request to an HTTPS server") {
		return &UnreachableError{Server: c.base, Err: errors.New("the server speaks TLS"), Hint: "write " + strings.Replace(c.base, "http://", "https://", 1)}
	}
	r := &RefusedError{Status: response.StatusCode, RetryAfter: retryAfter(response.Header, time.Now()), RequestID: response.Header.Get("X-Request-Id")}
	var p wireProblem
	if err := json.Unmarshal(text, &p); err != nil || p.Title == "" && p.Detail == "" {
		r.Problem = &mockbase.Error{Code: mockbase.CodeInternal, Message: foreign(response)}
		return r
	}
	r.Problem = &mockbase.Error{Code: p.Code, Message: p.Detail, Fields: p.Errors, Version: p.CurrentVersion, Quota: p.Quota}
	if r.Problem.Message == "" {
		r.Problem.Message = p.Title
	}
	if p.Code == "" {
		r.Problem.Code = codeOf(response.StatusCode)
	}
	if p.RequestID != "" {
		r.RequestID = p.RequestID
	}
	r.Plan = p.Plan
	return r
}

// foreign describes an answer that is no problem of this API.
func foreign(response *http.Response) string {
	if to := response.Header.Get("Location"); to != "" && response.StatusCode < http.StatusBadRequest {
		return fmt.Sprintf("status %d leads to %s: name that address if it is the server's", response.StatusCode, to)
	}
	return fmt.Sprintf("status %d without a problem of this API: is the address that of a MockBase server, or does a proxy stand in front?", response.StatusCode)
}

// codeOf is the code of a problem that names none, such as the limiter's.
func codeOf(status int) mockbase.Code {
	switch status {
	case http.StatusUnauthorized:
		return mockbase.CodeUnauthenticated
	case http.StatusForbidden:
		return mockbase.CodeForbidden
	case http.StatusNotFound:
		return mockbase.CodeNotFound
	case http.StatusTooManyRequests:
		return mockbase.CodeRateLimited
	case http.StatusServiceUnavailable:
		return mockbase.CodeUnavailable
	}
	return mockbase.CodeInternal
}

// reason turns the error of a call into one for people. A call that its caller gave up has the caller's reason.
func (c *Client) reason(outer, bounded context.Context, r *Request, err error) error {
	if outer.Err() != nil {
		return outer.Err()
	}
	if _, ok := errors.AsType[*RefusedError](err); ok {
		return err
	}
	if _, ok := errors.AsType[*UnreachableError](err); ok {
		return err
	}
	if errors.Is(bounded.Err(), context.DeadlineExceeded) {
		return c.unreachable(r, context.DeadlineExceeded)
	}
	return c.unreachable(r, err)
}

// unreachable says why no answer came (rule C-80).
func (c *Client) unreachable(r *Request, err error) error {
	u := &UnreachableError{Server: c.base, Err: plain(err)}
	late, isNet := errors.AsType[net.Error](err)
	name, isName := errors.AsType[*net.DNSError](err)
	_, isAuthority := errors.AsType[x509.UnknownAuthorityError](err)
	_, isHost := errors.AsType[x509.HostnameError](err)
	_, isRecord := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded), isNet && late.Timeout():
		u.Timeout, u.Err, u.Hint = true, fmt.Errorf("no answer within %s", c.timeout+r.Longer), "wait longer with --timeout"
	case isRecord, strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		u.Err, u.Hint = errors.New("the server speaks plain HTTP"), "write "+strings.Replace(c.base, "https://", "http://", 1)
	case isName:
		u.Err, u.Hint = fmt.Errorf("there is no host %s", name.Name), "check the name in the address"
	case errors.Is(err, syscall.ECONNREFUSED):
		u.Err, u.Hint = errors.New("nobody listens there"), "start the server, or name its address with --server or MOCKBASE_URL"
	case isAuthority:
		u.Hint = "name the certificate that signed the server's with --ca-file"
	case isHost:
		u.Hint = "use a name that the server's certificate is for"
	}
	return u
}

// plain drops what net/http puts in front of a reason.
func plain(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if wrapped, ok := errors.AsType[*net.OpError](err); ok {
		err = wrapped.Err
	}
	return err
}
