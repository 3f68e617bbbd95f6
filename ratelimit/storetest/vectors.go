package storetest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

//go:embed testdata/vectors.json
var tables []byte

// Tables are the published numbers of the limiter, as testdata/vectors.json holds them.
type Tables struct {
	Conventions map[string]string `json:"conventions"`
	Vectors     []Vector          `json:"vectors"`
	RuleStrings []RuleString      `json:"ruleStrings"`
	RedisKeys   []RedisKey        `json:"redisKeys"`
	RetryAfter  []RetryAfter      `json:"retryAfterHeader"`
	Addresses   []Address         `json:"clientAddresses"`
}

// Vector is a sequence of checks against one store.
type Vector struct {
	ID        string       `json:"id"`
	Algorithm string       `json:"algorithm"`
	Numbers   PolicyText   `json:"policy"`
	StartMs   int64        `json:"start"`
	Note      string       `json:"note"`
	Steps     []VectorStep `json:"steps"`
}

// PolicyText is a policy as the tables write it: times in milliseconds.
type PolicyText struct {
	Limit     int64  `json:"limit"`
	WindowMs  int64  `json:"windowMs"`
	Algorithm string `json:"algorithm"`
	Burst     int64  `json:"burst"`
	Align     string `json:"align"`
}

// Policy returns the numbers as a policy without a name.
func (p PolicyText) Policy() ratelimit.Policy {
	return ratelimit.Policy{
		Algorithm: ratelimit.Algorithm(p.Algorithm),
		Limit:     p.Limit,
		Window:    time.Duration(p.WindowMs) * time.Millisecond,
		Burst:     p.Burst,
		Align:     ratelimit.Align(p.Align),
	}
}

// VectorStep is one check of a vector.
type VectorStep struct {
	// AtMs is added to the start of the vector.
	AtMs int64 `json:"atMs"`
	// Key tells several identifiers of one vector apart.
	Key string `json:"key"`
	// Cost is nil where the check costs 1.
	Cost *int64 `json:"cost"`
	// Op is what is done with the lease: acquire, which "" means too, renew or release.
	Op     string      `json:"op"`
	Lease  string      `json:"lease"`
	Expect Expectation `json:"expect"`
}

// Expectation is the decision that a vector wants, with waits rounded up to milliseconds.
type Expectation struct {
	Allowed      bool  `json:"allowed"`
	Skipped      bool  `json:"skipped"`
	Remaining    int64 `json:"remaining"`
	ResetMs      int64 `json:"resetMs"`
	RetryAfterMs int64 `json:"retryAfterMs"`
	Never        bool  `json:"never"`
}

// RuleString is a text and the policies it means, or the offset of its fault.
type RuleString struct {
	Input    string       `json:"input"`
	Policies []PolicyText `json:"policies"`
	ErrorAt  *int         `json:"errorAt"`
}

// RedisKey is a written key with the default prefix.
type RedisKey struct {
	Namespace  string `json:"namespace"`
	Identifier string `json:"identifier"`
	Tail       string `json:"tail"`
	Key        string `json:"key"`
	Note       string `json:"note"`
}

// RetryAfter is a wait and its header; nil is no header.
type RetryAfter struct {
	WaitMs int64   `json:"retryAfterMs"`
	Header *string `json:"header"`
}

// Address is a request and the client it comes from.
type Address struct {
	Peer       string      `json:"peer"`
	Trusted    []string    `json:"trusted"`
	Source     string      `json:"source"`
	Headers    [][2]string `json:"headers"`
	Client     string      `json:"client"`
	Identifier string      `json:"identifier"`
	Note       string      `json:"note"`
}

// Published reads the tables. A member that this package does not know is an error, so that no row goes unread.
func Published(tb testing.TB) *Tables {
	tb.Helper()
	decoder := json.NewDecoder(bytes.NewReader(tables))
	decoder.DisallowUnknownFields()
	read := &Tables{}
	if err := decoder.Decode(read); err != nil {
		tb.Fatalf("read testdata/vectors.json: %v", err)
	}
	return read
}

// Policy returns the policy of the vector.
func (v *Vector) Policy() *ratelimit.Policy {
	p := v.Numbers.Policy()
	p.Algorithm = ratelimit.Algorithm(v.Algorithm)
	return &p
}

// Requests returns the checks of the vector in this namespace.
func (v *Vector) Requests(namespace string) []ratelimit.Request {
	policy := v.Policy()
	requests := make([]ratelimit.Request, 0, len(v.Steps))
	for _, step := range v.Steps {
		cost := int64(1)
		if step.Cost != nil {
			cost = *step.Cost
		}
		requests = append(requests, ratelimit.Request{
			Key:    ratelimit.Key{Namespace: namespace, Identifier: "client" + step.Key},
			Policy: policy,
			Cost:   cost,
			Now:    time.UnixMilli(v.StartMs + step.AtMs),
			Lease:  step.Lease,
		})
	}
	return requests
}

// Expected returns what a decision says in the words of the vectors.
func Expected(d ratelimit.Decision) Expectation {
	e := Expectation{
		Allowed:   d.Allowed,
		Skipped:   d.Skipped,
		Remaining: d.Remaining,
		ResetMs:   milliseconds(d.Reset),
		Never:     d.RetryAfter == ratelimit.Never,
	}
	if !e.Never {
		e.RetryAfterMs = milliseconds(d.RetryAfter)
	}
	return e
}

func milliseconds(wait time.Duration) int64 {
	return int64((wait + time.Millisecond - 1) / time.Millisecond)
}

// String names the place of a step in messages.
func (v *Vector) String() string { return fmt.Sprintf("%s (%s)", v.ID, v.Note) }
