package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Request is one attempt, rendered.
type Request struct {
	Method, URL string
	Header      http.Header
	Body        []byte
	// Shown is the URL as attempts show it, where the URL itself holds secrets; "" shows the URL.
	Shown string
}

// Retries say how a call is tried again.
type Retries struct {
	// Max is how many attempts may follow the first.
	Max                 int
	Backoff, MaxBackoff time.Duration
	// Jitter is the share of the time by which it varies, 0 to 1.
	Jitter float64
}

// Sign says how a call is signed.
type Sign struct {
	Header, Secret string
	// SHA512 signs with HMAC-SHA-512 instead of HMAC-SHA-256.
	SHA512 bool
}

// Call is a webhook that waits.
type Call struct {
	// ID is the Webhook-Id of all attempts.
	ID string
	// Project and Session own the call, Name and Exchange tell where it comes from.
	Project, Session, Name, Exchange string
	// Clock is that of the session.
	Clock Clock
	// After is the time before the first attempt, Timeout bounds each of them.
	After, Timeout time.Duration
	Retries        Retries
	// Sign is nil for a call that is not signed.
	Sign *Sign
	// Received is the header of the request that led to the call.
	Received http.Header
	// Transport makes the call; nil is the queue's.
	Transport http.RoundTripper
	// Size is how many bytes wait with the call.
	Size int64
	// Make renders an attempt, from 1.
	Make func(attempt int) (Request, error)
	// Random draws from [0, 1).
	Random func() float64
}

// Attempt is how one attempt ended.
type Attempt struct {
	Call *Call
	// Number is 1 for the first attempt; 0 means that the call was dropped before it.
	Number      int
	At          time.Time
	Duration    time.Duration
	Method, URL string
	// Veiled tells that URL is not the one that was called, which holds secrets; so may the text of Err.
	Veiled bool
	Status int
	// Body holds the first bytes of the answer.
	Body []byte
	// Err says what failed, nil with an answer of any status.
	Err error
	// Last tells that no attempt follows.
	Last bool
}

// again tells whether an attempt that ended so is repeated (rule S3).
func (a *Attempt) again() bool {
	switch {
	case a.Err != nil:
		return true
	case a.Status == http.StatusRequestTimeout, a.Status == http.StatusTooEarly, a.Status == http.StatusTooManyRequests:
		return true
	default:
		return a.Status >= http.StatusInternalServerError
	}
}

// pause is the time before the attempt after one of this number: it doubles, varies, and obeys Retry-After, all up to the
// largest one.
func (c *Call) pause(number int, retryAfter string, now time.Time) time.Duration {
	most := c.Retries.MaxBackoff
	if most <= 0 {
		most = math.MaxInt64
	}
	if asked, ok := parseRetryAfter(retryAfter, now); ok {
		return min(asked, most)
	}
	pause := float64(c.Retries.Backoff) * math.Pow(2, float64(number-1))
	if c.Random != nil {
		pause *= 1 + c.Retries.Jitter*(2*c.Random()-1)
	}
	if pause >= float64(most) {
		return most
	}
	return time.Duration(pause)
}

func parseRetryAfter(value string, now time.Time) (time.Duration, bool) {
	const longest = 30 * 24 * time.Hour
	if seconds, err := strconv.Atoi(value); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, int(longest/time.Second))) * time.Second, true
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now)), true
	}
	return 0, false
}

// signature is the HMAC of the body in hexadecimal digits, after the name of the algorithm.
func (s *Sign) signature(body []byte) string {
	name, algorithm := "sha256=", func() hash.Hash { return sha256.New() }
	if s.SHA512 {
		name, algorithm = "sha512=", func() hash.Hash { return sha512.New() }
	}
	mac := hmac.New(algorithm, []byte(s.Secret))
	mac.Write(body)
	return name + hex.EncodeToString(mac.Sum(nil))
}
