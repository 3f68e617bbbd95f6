// Package client calls the management API of a server for the commands (rule C-9).
//
// # What it repeats
//
// A call that may be made twice without harm is made again, three times at most and within its time: after a connection
// that was lost, after 429 and after 503, as late as the server asks. GET, PUT and DELETE are such calls, and so is a POST
// that creates, because it carries an Idempotency-Key. One whose If-Match names a version is repeated only where the
// server did not see it.
//
// # What it says
//
// An answer with a status of 400 and more is a [*RefusedError], whose cause is the *mockbase.Error that the server sent; a
// server that cannot be reached is an [*UnreachableError]. Neither text holds a credential.
package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// API is where the management API begins, below the address of a server.
const API = "/api/v1"

// DefaultTimeout is how long a call may take unless the options say otherwise.
const DefaultTimeout = 30 * time.Second

// maxAnswer is the longest answer that is held in memory: an export of the largest project is a part of it.
const maxAnswer = 512 << 20

// Options say which server to call, and as whom.
type Options struct {
	// Server is its address, such as http://127.0.0.1:8080; a base path may follow.
	Server string
	// Token is an API token or an access token, "" for none.
	Token string
	// CAFile is a file of PEM certificates that sign the server's, beside those of the system; "" for none.
	CAFile string
	// Timeout bounds a call with everything that is repeated; 0 is DefaultTimeout.
	Timeout time.Duration
	// Agent is the User-Agent.
	Agent string
}

// Client calls one server. It may be used by several goroutines.
type Client struct {
	base    string
	token   string
	agent   string
	timeout time.Duration
	http    *http.Client
}

// New makes a client. It fails on an address that is none and on a certificate file that cannot be used; nothing is
// called yet.
func New(o Options) (*Client, error) {
	at, err := url.Parse(o.Server)
	if err != nil || at.Hostname() == "" || strings.HasSuffix(at.Host, ":") || at.Scheme != "http" && at.Scheme != "https" || at.RawQuery != "" || at.Fragment != "" || at.User != nil {
		return nil, &AddressError{Server: o.Server}
	}
	roots, err := trusted(o.CAFile)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		TLSClientConfig:       &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 0, // the time of the call bounds it
		IdleConnTimeout:       30 * time.Second,
		ForceAttemptHTTP2:     true,
	}
	c := &Client{base: strings.TrimSuffix(at.String(), "/"), token: o.Token, agent: o.Agent, timeout: o.Timeout}
	if c.timeout <= 0 {
		c.timeout = DefaultTimeout
	}
	// A redirect would carry the credential to another place; the API never sends one.
	c.http = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return c, nil
}

// trusted are the system's certificates with those of a file, nil for the system's alone.
func trusted(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // nil is how crypto/tls spells the system's pool
	}
	text, err := os.ReadFile(path) //nolint:gosec // the user names the file
	if err != nil {
		return nil, fmt.Errorf("read certificates: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("read certificates: %s holds none in PEM", path)
	}
	return pool, nil
}

// Server is the address that is called.
func (c *Client) Server() string { return c.base }

// Token is the credential that is sent, "" for none.
func (c *Client) Token() string { return c.token }

// As returns the same client with another credential.
func (c *Client) As(token string) *Client {
	other := *c
	other.token = token
	return &other
}

// Close gives its connections up.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Request is one call.
type Request struct {
	Method string
	// Path is below API, as "/projects/shop"; or below the server's address when Root is set. Its segments are escaped.
	Path string
	Root bool
	// Query is what follows the question mark.
	Query url.Values
	// Body is sent with its media type, JSON unless Type says otherwise.
	Body []byte
	Type string
	// Accept is the media type that is asked for, JSON when it is "".
	Accept string
	// IfMatch is the version that the call is for, as an ETag; "" for whatever is there.
	IfMatch string
	// Creates tells that a POST makes something, so that it carries an Idempotency-Key and may be repeated.
	Creates bool
	// Header holds further fields.
	Header http.Header
	// Longer is added to the time of the call, where the server is asked to wait.
	Longer time.Duration
}

// Path escapes segments and puts them together below the API: Path("projects", slug, "mocks").
func Path(segments ...string) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteString("/" + url.PathEscape(s))
	}
	return b.String()
}

// Answer is what the server said to a call that it did not refuse.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// JSON decodes the body. Numbers in values of any type keep their text.
func (a *Answer) JSON(into any) error {
	if into == nil || len(a.Body) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(a.Body))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return &UnreachableError{Err: errors.New("the answer is not what the management API says: is this address that of a MockBase server?")}
	}
	return nil
}

// Do makes a call and reads its answer. The error is a *RefusedError, an *UnreachableError, or that of ctx when it was cancelled.
func (c *Client) Do(ctx context.Context, r Request) (*Answer, error) {
	bounded, cancel := context.WithTimeout(ctx, c.timeout+r.Longer)
	defer cancel()
	answer, err := c.repeat(bounded, &r)
	if err != nil {
		return nil, c.reason(ctx, bounded, &r, err)
	}
	return answer, nil
}

// Get asks for a path below API and decodes the answer.
func (c *Client) Get(ctx context.Context, path string, query url.Values, into any) error {
	answer, err := c.Do(ctx, Request{Method: http.MethodGet, Path: path, Query: query})
	if err != nil {
		return err
	}
	return answer.JSON(into)
}

// Send makes a call with a JSON body, nil for none, and decodes the answer, unless into is nil.
func (c *Client) Send(ctx context.Context, r Request, body, into any) error {
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("write request: %w", err)
		}
		r.Body = text
	}
	answer, err := c.Do(ctx, r)
	if err != nil {
		return err
	}
	return answer.JSON(into)
}

// Open makes a call and returns its answer while it is still coming, such as a stream of events: the time of the call
// counts up to the header alone. The caller closes the body.
func (c *Client) Open(ctx context.Context, r Request) (*http.Response, error) {
	bounded, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(c.timeout+r.Longer, cancel)
	response, err := c.once(bounded, &r, "")
	late := !timer.Stop()
	if err != nil {
		cancel()
		if late && ctx.Err() == nil {
			return nil, c.unreachable(&r, context.DeadlineExceeded)
		}
		return nil, c.reason(ctx, bounded, &r, err)
	}
	response.Body = &body{ReadCloser: response.Body, done: cancel}
	if response.StatusCode < http.StatusMultipleChoices {
		return response, nil
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return nil, c.reason(ctx, bounded, &r, err)
	}
	return nil, c.refusal(response, text)
}

// body ends the context of its call when it is closed.
type body struct {
	io.ReadCloser

	done context.CancelFunc
}

// Close ends the call.
func (b *body) Close() error {
	b.done()
	return b.ReadCloser.Close()
}

// once makes the call once.
func (c *Client) once(ctx context.Context, r *Request, key string) (*http.Response, error) {
	at := c.base
	if !r.Root {
		at += API
	}
	at += r.Path
	if len(r.Query) > 0 {
		at += "?" + r.Query.Encode()
	}
	var content io.Reader = http.NoBody
	if r.Body != nil {
		content = bytes.NewReader(r.Body)
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, at, content)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	maps.Copy(request.Header, r.Header)
	c.fields(request.Header, r, key)
	return c.http.Do(request)
}

// fields sets the header fields of a call.
func (c *Client) fields(h http.Header, r *Request, key string) {
	set := func(name, value, instead string) {
		if value == "" {
			value = instead
		}
		if value != "" {
			h.Set(name, value)
		}
	}
	set("User-Agent", c.agent, "")
	set("Accept", r.Accept, "application/json")
	set("If-Match", r.IfMatch, "")
	set("Idempotency-Key", key, "")
	if c.token != "" {
		h.Set("Authorization", "Bearer "+c.token)
	}
	if r.Body != nil {
		set("Content-Type", r.Type, "application/json")
	}
}

// newKey makes an Idempotency-Key (rule M-12), "" for a call that has none.
func newKey(r *Request) string {
	if r.Method != http.MethodPost || !r.Creates {
		return ""
	}
	return rand.Text()
}
