package auth

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync/atomic"

	"golang.org/x/text/unicode/norm"

	"github.com/mockbase/mockbase"
)

// The bounds of hashing (rule M-36): four hashes of 19 MiB each fit into a small container, and a queue of 32 is emptied
// within half a second.
const (
	maxHashing = 4
	maxWaiting = 32
)

// maxPHC is longer than every string that decodeHash accepts.
const maxPHC = 512

// HasherOptions configure a [Hasher].
type HasherOptions struct {
	// Parameters are the costs of new hashes; the zero value is DefaultParameters.
	Parameters Parameters
}

// Hasher hashes and checks passwords. At most four run at once and 32 wait; more callers get CodeBusy. It is safe for
// concurrent use.
type Hasher struct {
	parameters Parameters
	nobody     encoded
	slots      chan struct{}
	waiting    atomic.Int32
}

// NewHasher makes a Hasher.
func NewHasher(o HasherOptions) *Hasher {
	if o.Parameters == (Parameters{}) {
		o.Parameters = DefaultParameters()
	}
	return &Hasher{
		parameters: o.Parameters,
		nobody:     encoded{Parameters: o.Parameters, salt: make([]byte, saltSize), hash: make([]byte, hashSize)},
		slots:      make(chan struct{}, maxHashing),
	}
}

// Hash makes the argon2id string of password. The error is CodeBusy or that of ctx.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltSize)
	rand.Read(salt) // never fails: it ends the process instead
	e := encoded{Parameters: h.parameters, salt: salt}
	err := h.run(ctx, func() { e.hash = derive(normal(password), e.Parameters, salt, hashSize) })
	if err != nil {
		return "", err
	}
	return e.String(), nil
}

// Verify tells whether password belongs to the stored string, and whether that string is weaker than a new one would be
// and should be replaced. The empty string is that of a user without a password, to whom none belongs; that takes as long as
// any other. A stored string that cannot be read is an error.
func (h *Hasher) Verify(ctx context.Context, stored, password string) (match, renew bool, err error) {
	if stored == "" {
		return false, false, h.VerifyNobody(ctx, password)
	}
	if len(stored) > maxPHC {
		return false, false, errHashBounds
	}
	e, err := decodeHash(stored)
	if err != nil {
		return false, false, err
	}
	if err := h.run(ctx, func() { match = e.matches(normal(password)) }); err != nil {
		return false, false, err
	}
	return match, match && e.weaker(h.parameters), nil
}

// VerifyNobody takes as long as Verify does, for an account that does not exist (rule M-36).
func (h *Hasher) VerifyNobody(ctx context.Context, password string) error {
	return h.run(ctx, func() { h.nobody.matches(normal(password)) })
}

// run waits for a slot and calls hash.
func (h *Hasher) run(ctx context.Context, hash func()) error {
	select {
	case h.slots <- struct{}{}:
	default:
		if err := h.wait(ctx); err != nil {
			return err
		}
	}
	defer func() { <-h.slots }()
	hash()
	return nil
}

func (h *Hasher) wait(ctx context.Context) error {
	defer h.waiting.Add(-1)
	if h.waiting.Add(1) > maxWaiting {
		return mockbase.Errorf(mockbase.CodeBusy, "too many sign-ins at once, try again in a second")
	}
	select {
	case h.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for password check: %w", ctx.Err())
	}
}

// normal is the form of a password that is hashed: the same text typed on two keyboards is the same password. More than
// the longest allowed password is cut, which no allowed password feels.
func normal(password string) []byte {
	if len(password) > 4*maxPasswordBytes {
		password = password[:4*maxPasswordBytes]
	}
	return norm.NFC.Bytes([]byte(password))
}
