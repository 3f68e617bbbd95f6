package mockbase

import (
	"context"
	"crypto/sha256"
	"strings"
	"sync"
	"time"
)

// Replay is the answer to a request with an Idempotency-Key, kept for a repetition (rule M-12). It holds no secret.
type Replay struct {
	// Caller, Method, Path and Key name the request.
	Caller, Method, Path, Key string
	// Digest is the SHA-256 of the request's body.
	Digest    []byte
	At        time.Time
	Status    int
	MediaType string
	// Header holds the fields that are repeated.
	Header map[string][]string
	Body   []byte
}

// ReplayDraft is the answer that a request with an Idempotency-Key is about to get. A store writes it in the transaction of
// the change, so that a client that repeats the request after a crash never makes the thing twice (rule M-12). Only the first
// transaction after the answer is known writes it.
type ReplayDraft struct {
	mu       sync.Mutex
	replay   Replay
	foretell func(made any) error
	known    bool
	written  bool
}

// NewReplayDraft makes a draft whose answer is not known yet. Of asked, what names the request is used.
func NewReplayDraft(asked Replay) *ReplayDraft { return &ReplayDraft{replay: asked} }

// Answer says what the answer is going to be, before the change is made.
func (d *ReplayDraft) Answer(complete func(*Replay)) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.written {
		complete(&d.replay)
		d.known = true
	}
}

// Foretell sets what is called by whoever makes the thing, with the thing, just before it is stored: it is to call
// [ReplayDraft.Answer]. Its error stops the change.
func (d *ReplayDraft) Foretell(answer func(made any) error) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.foretell = answer
}

// Made is called with the thing that is about to be stored.
func (d *ReplayDraft) Made(made any) error {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	foretell := d.foretell
	d.mu.Unlock()
	if foretell == nil {
		return nil
	}
	return foretell(made)
}

// Withdraw forgets an answer that was not written: the change failed.
func (d *ReplayDraft) Withdraw() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known, d.foretell = d.written, nil
}

// Pending returns the answer that is known and still to be written, or nil.
func (d *ReplayDraft) Pending() *Replay {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.known || d.written {
		return nil
	}
	replay := d.replay
	return &replay
}

// Written is called when the transaction that holds the answer is done.
func (d *ReplayDraft) Written() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.written = true
}

// IsWritten tells whether a transaction holds the answer.
func (d *ReplayDraft) IsWritten() bool {
	if d == nil {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.written
}

// Seed is made of what names the request and its body: the same for a repetition and for nothing else. What is no row of a
// store is found again by it.
func (d *ReplayDraft) Seed() []byte {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	r := &d.replay
	sum := sha256.Sum256([]byte(strings.Join([]string{r.Caller, r.Method, r.Path, r.Key, string(r.Digest)}, "\x00")))
	return sum[:]
}

type replayKey struct{}

// WithReplay returns a context whose first change writes the draft's answer. A nil draft writes none.
func WithReplay(ctx context.Context, d *ReplayDraft) context.Context {
	return context.WithValue(ctx, replayKey{}, d)
}

// ReplayOf returns the draft of a context, nil when it has none.
func ReplayOf(ctx context.Context) *ReplayDraft {
	d, _ := ctx.Value(replayKey{}).(*ReplayDraft)
	return d
}
