package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/textproto"
	"sync"
	"time"

	"github.com/mockbase/mockbase/engine/outbound"
)

const hopsHeader = outbound.HopsHeader

// copySize is the size of the pieces in which bodies pass.
const copySize = 32 << 10

// errTimeout ends a call whose upstream was silent for too long.
var errTimeout = errors.New("the upstream did not answer in time")

// Forwarder passes requests on. It keeps connections to upstreams open, so it is made once and shared.
type Forwarder struct {
	verified, insecure *http.Transport
	buffers            sync.Pool
	// closing ends what would last as long as the upstream wants: event streams and tunnels.
	closing <-chan struct{}
}

// New makes a forwarder that calls what the policy allows. When closing, which may be nil, is closed, event streams and
// tunnels end.
func New(policy *outbound.Policy, closing <-chan struct{}) *Forwarder {
	return &Forwarder{
		verified: observe(policy.Transport(outbound.TransportOptions{Self: outbound.SelfRefused})),
		insecure: observe(policy.Transport(outbound.TransportOptions{Self: outbound.SelfRefused, TLS: outbound.InsecureTLS})),
		buffers:  sync.Pool{New: func() any { return new([copySize]byte) }},
		closing:  closing,
	}
}

// CloseIdle closes the connections that no call uses.
func (f *Forwarder) CloseIdle() {
	f.verified.CloseIdleConnections()
	f.insecure.CloseIdleConnections()
}

// Request is a request to pass on.
type Request struct {
	// In is the request as the server received it.
	In *http.Request
	// Header is the one to pass on; it is not changed.
	Header http.Header
	// Target is the raw path, below the project's base, and query. Its bytes are kept.
	Target string
	// Body is the request body, where it was read. Unread is it where it was not.
	Body   []byte
	Unread io.Reader
	// Peer is who sent the request.
	Peer netip.Addr
	// OwnBase is the path that the project's mocks live below, as the client sees it.
	OwnBase string
	// Keep is how many bytes of the answer's body the result holds.
	Keep int
	// Lay puts the answer's header in place: it may change it, and gets the status. Nil copies it.
	Lay func(to, answer http.Header, status int)
}

// Result is an answer that was passed back.
type Result struct {
	Status int
	// Header is the upstream's header, without what belongs to the connection.
	Header http.Header
	// Trailer is the upstream's trailer.
	Trailer http.Header
	// Body holds the first bytes, BodySize is the length.
	Body     []byte
	BodySize int64
	// Aborted tells that the client left.
	Aborted bool
	// Broken is why the answer could not be finished; the connection to the client must be broken off.
	Broken error
	// Tunnelled tells that the connection was handed over to the upstream.
	Tunnelled bool
}

// UpstreamError is an upstream that gave no answer. Nothing was written.
type UpstreamError struct {
	// Status is 502, 504 or 508 (rules T10 and T13).
	Status int
	Cause  error
	// Aborted tells that the client left, and that there is nobody to answer.
	Aborted bool
}

// Error says why.
func (f *UpstreamError) Error() string { return "pass request on: " + f.Cause.Error() }

// Unwrap returns the cause.
func (f *UpstreamError) Unwrap() error { return f.Cause }

// ErrorOf turns the reason for not calling into a failure.
func ErrorOf(err error) *UpstreamError {
	f := &UpstreamError{Status: http.StatusBadGateway, Cause: err}
	if blocked, ok := errors.AsType[*outbound.BlockedError](err); ok {
		f.Cause = blocked
		if blocked.Reason == outbound.ReasonSelf || blocked.Reason == outbound.ReasonLoop {
			f.Status = http.StatusLoopDetected
		}
	}
	return f
}

// call is one request on its way to the upstream and back.
type call struct {
	forwarder *Forwarder
	route     *Route
	in        *Request
	w         http.ResponseWriter
	ctx       context.Context //nolint:containedctx // lives as long as the call
	cancel    context.CancelCauseFunc
	// silence ends the call when the upstream says nothing for the route's time-out.
	silence *time.Timer

	// mu keeps interim answers from being written once the call has its answer.
	mu       sync.Mutex
	answered bool
	// upstream is the connection of the answer; nil for one of HTTP/2.
	upstream *observed
	// announced sends the header of an answer whose body is late; nil sends none.
	announced *announcement
}

// Forward passes a request on and its answer back. The error is a *[UpstreamError].
func (f *Forwarder) Forward(w http.ResponseWriter, route *Route, in *Request) (*Result, error) {
	ctx, cancel := context.WithCancelCause(in.In.Context())
	defer cancel(nil)
	c := &call{forwarder: f, route: route, in: in, w: w, ctx: ctx, cancel: cancel}
	c.silence = time.AfterFunc(max(route.timeout, time.Millisecond), func() { cancel(errTimeout) })
	defer c.silence.Stop()
	out, err := c.request()
	if err != nil {
		return nil, ErrorOf(err)
	}
	transport := f.verified
	if route.rule.InsecureTLS {
		transport = f.insecure
	}
	answer, err := transport.RoundTrip(out)
	c.mu.Lock()
	c.answered = true
	c.mu.Unlock()
	if err != nil {
		return nil, c.failure(err)
	}
	defer answer.Body.Close()
	c.restore(answer.Header)
	return c.answer(out, answer)
}

// request builds the call to the upstream.
func (c *call) request() (*http.Request, error) {
	in := c.in
	hops, err := outbound.NextHops(in.Header)
	if err != nil {
		return nil, err
	}
	if in.In.Method == http.MethodConnect {
		return nil, errors.New("a CONNECT request asks for a tunnel and cannot be passed on")
	}
	out := &http.Request{
		Method: in.In.Method, URL: c.route.target(in.Target), Header: c.route.outgoing(in, hops),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	out.Host = c.route.host(in.In.Host)
	if stated := out.Header[headerHost]; len(stated) > 0 {
		out.Host = stated[0]
	}
	in.body(out)
	return out.WithContext(httptrace.WithClientTrace(c.ctx, &httptrace.ClientTrace{Got1xxResponse: c.interim, GotConn: c.connected})), nil
}

// connected notes the connection that the call has got, the last where it is tried again.
func (c *call) connected(got httptrace.GotConnInfo) {
	conn, ok := got.Conn.(*observed)
	if ok {
		conn.expect(c.in.In.Method)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.upstream = conn
}

// restore puts the field Connection back where net/http has taken it away.
func (c *call) restore(h http.Header) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.upstream == nil || len(h[headerConnection]) > 0 {
		return
	}
	if lines := c.upstream.connection(); len(lines) > 0 {
		h[headerConnection] = lines
	}
}

// body gives the call the body of the request, framed as it came (rule T2).
func (in *Request) body(out *http.Request) {
	out.ContentLength = in.In.ContentLength
	switch {
	case in.Unread != nil && in.In.ContentLength != 0:
		out.Trailer = withoutFraming(in.In.Trailer)
		out.Body = io.NopCloser(&withTrailer{Reader: in.Unread, of: in.In})
	case len(in.Body) > 0 || in.In.ContentLength < 0:
		out.Trailer = withoutFraming(in.In.Trailer)
		out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(in.Body)), nil }
		out.Body = io.NopCloser(bytes.NewReader(in.Body))
	case len(in.Header[headerContentLength]) > 0:
		// Without this, net/http writes the length 0 for some methods only.
		out.Body, out.TransferEncoding = http.NoBody, []string{"identity"}
	}
}

// interim passes an interim answer on (rule T11).
func (c *call) interim(code int, header textproto.MIMEHeader) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answered || code == http.StatusContinue || code == http.StatusSwitchingProtocols || !c.in.In.ProtoAtLeast(1, 1) {
		return nil
	}
	h := c.w.Header()
	kept := h.Clone()
	clear(h)
	maps.Copy(h, withoutHops(http.Header(header)))
	c.w.WriteHeader(code)
	clear(h)
	maps.Copy(h, kept)
	return nil
}

// failure tells a client that left from an upstream that was silent and one that failed.
func (c *call) failure(err error) *UpstreamError {
	switch {
	case errors.Is(context.Cause(c.ctx), errTimeout):
		return &UpstreamError{Status: http.StatusGatewayTimeout, Cause: fmt.Errorf("%w (%s)", errTimeout, c.route.timeout)}
	case c.in.In.Context().Err() != nil:
		return &UpstreamError{Status: http.StatusBadGateway, Cause: err, Aborted: true}
	default:
		return ErrorOf(err)
	}
}
