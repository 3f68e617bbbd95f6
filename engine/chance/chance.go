// Package chance draws random decisions that a seed repeats.
//
// A decision is a pure function of its [Key] (rule AA19): neither other mocks, nor timing, nor requests at the same time
// change it, and neither does a restart or another server.
package chance

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math/rand/v2"
)

// Key names one random decision.
type Key struct {
	// Seed is the seed's text, and Session the name of the session.
	Seed, Session string
	// Mock and Response are names. Response is empty where the response is what is being decided.
	Mock, Response string
	// Purpose tells apart the decisions of one call, such as "weight", "delay" and "template".
	Purpose string
	// Call is the number of the mock's call in the session, from 1.
	Call int64
}

// Rand returns the generator of this decision. Equal keys give generators of equal output, with this version of
// MockBase and every later one.
func (k Key) Rand() *rand.Rand {
	h := sha256.New()
	for _, part := range [...]string{k.Seed, k.Session, k.Mock, k.Response, k.Purpose} {
		number(h, uint64(len(part)))
		h.Write([]byte(part))
	}
	number(h, uint64(k.Call)) //nolint:gosec // only told apart, never counted with
	//nolint:gosec // what a seed repeats cannot be secret
	return rand.New(rand.NewChaCha8([sha256.Size]byte(h.Sum(nil))))
}

// UUID draws a random UUID (RFC 9562, version 4).
func UUID(draw *rand.Rand) string {
	const version, variant = 0x4000, 0x8000_0000_0000_0000
	high := draw.Uint64()&^0xf000 | version
	low := draw.Uint64()&^0xc000_0000_0000_0000 | variant
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", high>>32, high>>16&0xffff, high&0xffff, low>>48, low&0xffff_ffff_ffff)
}

// number writes fixed-width numbers, so that no two keys feed the hash alike.
func number(h hash.Hash, n uint64) {
	var buffer [8]byte
	binary.BigEndian.PutUint64(buffer[:], n)
	h.Write(buffer[:])
}
