package auth

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mockbase/mockbase"
)

// KeyState is the place of a signing key in its life (rule M-33).
type KeyState string

// The states of a key. A next key is published before it signs, so that other parties know it in time; a retired key
// only verifies, until the last token that it signed has expired.
const (
	KeyNext    KeyState = "next"
	KeyActive  KeyState = "active"
	KeyRetired KeyState = "retired"
)

// RotateAfter is the age at which [KeyRing.RotateIfDue] replaces the active key (rule M-33).
const RotateAfter = 90 * 24 * time.Hour

// algorithm is the one signature algorithm of this version. A key keeps its algorithm, so that a later version can add
// another without trusting a token's header.
const algorithm = "EdDSA"

// secretSize is the length in bytes of the secret that refresh tokens are derived with.
const secretSize = 32

// Key describes a signing key without its private half.
type Key struct {
	// ID is the key id that tokens name in their kid header.
	ID        string
	Algorithm string
	State     KeyState
	CreatedAt time.Time
	// RetiresAt is when a retired key stops verifying; zero for the others.
	RetiresAt time.Time
}

// signingKey is a key with its halves; private is nil once the key is retired.
type signingKey struct {
	Key

	public  ed25519.PublicKey
	private ed25519.PrivateKey
}

// KeyRing holds the signing keys of an instance. It is safe for concurrent use.
type KeyRing struct {
	dir   string
	clock func() time.Time

	mu       sync.RWMutex
	instance string
	secret   []byte
	keys     []*signingKey

	verified verified
}

// OpenKeyRing reads the key ring kept in dir, or makes one there: an active key, the next one, an instance id and a
// secret for refresh tokens. The directory is made with mode 0700 and the file with 0600; wider rights are narrowed. An
// empty dir keeps the ring in memory, and every token ends with the process. A nil clock is time.Now.
func OpenKeyRing(dir string, clock func() time.Time) (*KeyRing, error) {
	if clock == nil {
		clock = time.Now
	}
	ring := &KeyRing{dir: dir, clock: clock}
	found, err := ring.load()
	if err != nil {
		return nil, fmt.Errorf("open key ring: %w", err)
	}
	if found {
		if _, err := ring.RotateIfDue(); err != nil {
			return nil, fmt.Errorf("open key ring: %w", err)
		}
		return ring, nil
	}
	if err := ring.found(); err != nil {
		return nil, fmt.Errorf("make key ring: %w", err)
	}
	return ring, nil
}

// found fills an empty ring and keeps it.
func (k *KeyRing) found() error {
	active, err := k.newKey(KeyActive)
	if err != nil {
		return err
	}
	next, err := k.newKey(KeyNext)
	if err != nil {
		return err
	}
	secret := make([]byte, secretSize)
	rand.Read(secret) // never fails: it ends the process instead
	k.instance = mockbase.NewID("mb_", k.clock())
	k.secret = secret
	k.keys = []*signingKey{active, next}
	return k.save()
}

func (k *KeyRing) newKey(state KeyState) (*signingKey, error) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, fmt.Errorf("generate key: %w", err)
	}
	now := k.clock().UTC().Truncate(time.Millisecond)
	about := Key{ID: mockbase.NewID(mockbase.PrefixKey, now), Algorithm: algorithm, State: state, CreatedAt: now}
	return &signingKey{Key: about, public: public, private: private}, nil
}

// InstanceID names this installation; it is the issuer of its tokens (rule M-31).
func (k *KeyRing) InstanceID() string { return k.instance }

// Derive returns 32 secret bytes for one purpose, the same as long as the ring's file is kept. The purposes do not reveal
// each other's bytes, nor the ring's secret.
func (k *KeyRing) Derive(purpose string) []byte { return k.mac("derive", purpose, nil) }

// Keys lists the keys that verify now, the active one first.
func (k *KeyRing) Keys() []Key {
	k.mu.RLock()
	defer k.mu.RUnlock()
	var list []Key
	for _, key := range k.keys {
		if k.verifies(key) {
			list = append(list, key.Key)
		}
	}
	return list
}

// verifies tells whether a token signed by key may still be accepted.
func (k *KeyRing) verifies(key *signingKey) bool {
	return key.State != KeyRetired || k.clock().Before(key.RetiresAt)
}

// active returns the key that signs.
func (k *KeyRing) active() *signingKey {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.keys[0]
}

// lookup finds the key that id names exactly, or nil.
func (k *KeyRing) lookup(id string) *signingKey {
	k.mu.RLock()
	defer k.mu.RUnlock()
	at := slices.IndexFunc(k.keys, func(key *signingKey) bool { return key.ID == id })
	if at < 0 || !k.verifies(k.keys[at]) {
		return nil
	}
	return k.keys[at]
}

// RotateIfDue rotates when the active key is older than RotateAfter, and tells whether it did.
func (k *KeyRing) RotateIfDue() (bool, error) {
	if k.clock().Sub(k.active().CreatedAt) < RotateAfter {
		return false, nil
	}
	return true, k.Rotate()
}

// Rotate promotes the next key, makes a new next one and keeps the old active key for verification until its last
// token has expired. On an error the ring is as before.
func (k *KeyRing) Rotate() error {
	next, err := k.newKey(KeyNext)
	if err != nil {
		return fmt.Errorf("rotate keys: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.keys
	promoted := *k.keys[1]
	promoted.State, promoted.CreatedAt = KeyActive, next.CreatedAt
	retired := *k.keys[0]
	retired.State, retired.private = KeyRetired, nil
	retired.RetiresAt = next.CreatedAt.Add(AccessLife + Leeway)
	k.keys = []*signingKey{&promoted, next, &retired}
	for _, key := range before[2:] {
		if k.verifies(key) {
			k.keys = append(k.keys, key)
		}
	}
	if err := k.save(); err != nil {
		k.keys = before
		return fmt.Errorf("rotate keys: %w", err)
	}
	return nil
}

// Replace makes a new active and a new next key and forgets all others at once: no token that they signed is good any
// more. On an error the ring is as before.
func (k *KeyRing) Replace() error {
	active, err := k.newKey(KeyActive)
	if err != nil {
		return fmt.Errorf("replace keys: %w", err)
	}
	next, err := k.newKey(KeyNext)
	if err != nil {
		return fmt.Errorf("replace keys: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.keys
	k.keys = []*signingKey{active, next}
	if err := k.save(); err != nil {
		k.keys = before
		return fmt.Errorf("replace keys: %w", err)
	}
	return nil
}

// JWK is the public half of a signing key (RFC 8037).
type JWK struct {
	KeyType   string `json:"kty"`
	Curve     string `json:"crv"`
	Use       string `json:"use"`
	Algorithm string `json:"alg"`
	ID        string `json:"kid"`
	X         string `json:"x"`
}

// JWKSet is the document at /.well-known/jwks.json (RFC 7517, section 5).
type JWKSet struct {
	Keys []JWK `json:"keys"`
}

// JWKS lists the public halves of the keys that sign, will sign, or verify still.
func (k *KeyRing) JWKS() JWKSet {
	k.mu.RLock()
	defer k.mu.RUnlock()
	set := JWKSet{Keys: []JWK{}}
	for _, key := range k.keys {
		if k.verifies(key) {
			set.Keys = append(set.Keys, JWK{
				KeyType: "OKP", Curve: "Ed25519", Use: "sig", Algorithm: key.Algorithm,
				ID: key.ID, X: base64.RawURLEncoding.EncodeToString(bytes.Clone(key.public)),
			})
		}
	}
	return set
}
