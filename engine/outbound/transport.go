package outbound

import (
	"crypto/tls"
	"net/http"
	"strconv"
	"time"
)

// The bounds of a transport: enough connections for a busy proxy, and no answer whose header alone fills the memory.
const (
	handshakeTimeout  = 10 * time.Second
	idleTimeout       = 90 * time.Second
	maxIdle           = 512
	maxIdlePerHost    = 128
	maxResponseHeader = 1 << 20
	copyBuffer        = 32 << 10
)

// HopsHeader counts the calls that led to a request. Every outgoing call carries it (rule S7).
const HopsHeader = "Mockbase-Hops"

// MaxHops is how many calls may follow from one request.
const MaxHops = 10

// SelfCalls says whether this server may be called by itself.
type SelfCalls int

// Webhooks may call the mocks of this server, proxies may not.
const (
	SelfAllowed SelfCalls = iota
	SelfRefused
)

// Verification says whether an upstream's certificate is checked.
type Verification int

// The zero value checks certificates (rule T8).
const (
	VerifyTLS Verification = iota
	InsecureTLS
)

// Reuse says whether connections are kept for further calls.
type Reuse int

// A kept connection goes on to the address that was checked when it was opened. A transport with FreshConnections opens one
// for each call, so that each call looks the name up again.
const (
	KeptConnections Reuse = iota
	FreshConnections
)

// TransportOptions say how a transport calls.
type TransportOptions struct {
	Self  SelfCalls
	TLS   Verification
	Reuse Reuse
}

// Transport makes a transport that holds to the policy. It adds nothing to a request and takes nothing from an answer: no
// compression of its own, no proxy of the environment, no redirect. Its idle connections are the caller's to close.
func (p *Policy) Transport(o TransportOptions) *http.Transport {
	return &http.Transport{
		DialContext: p.dialing(o.Self),
		TLSClientConfig: &tls.Config{
			MinVersion:         tls.VersionTLS12,
			InsecureSkipVerify: o.TLS == InsecureTLS, //nolint:gosec // the author of the mock asked for it by name
		},
		TLSHandshakeTimeout:    handshakeTimeout,
		DisableCompression:     true,
		DisableKeepAlives:      o.Reuse == FreshConnections,
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxIdlePerHost,
		IdleConnTimeout:        idleTimeout,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: maxResponseHeader,
		ForceAttemptHTTP2:      true,
		ReadBufferSize:         copyBuffer,
	}
}

// NextHops returns the value of HopsHeader for a call that follows from a request with these headers, or a *[BlockedError] when
// it would be one too many. What is no number counts as none.
func NextHops(received http.Header) (string, error) {
	most := 0
	for _, value := range received[HopsHeader] {
		if n, err := strconv.Atoi(value); err == nil {
			most = max(most, n)
		}
	}
	if most >= MaxHops {
		return "", &BlockedError{Reason: ReasonLoop, Detail: "loop: " + strconv.Itoa(most) + " calls led here already"}
	}
	return strconv.Itoa(most + 1), nil
}
