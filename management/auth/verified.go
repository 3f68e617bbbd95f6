package auth

import (
	"crypto/sha256"
	"sync"
	"time"
)

// maxVerified bounds the tokens that are known to be genuine.
const maxVerified = 4096

// genuine is a token whose form, claims and signature were found right.
type genuine struct {
	claims    Claims
	notBefore time.Time
	key       *signingKey
}

// verified remembers tokens whose signature was checked, by their digest: a client sends the same one with each request, and
// the check is a good part of what a request costs. What depends on the time, and on which keys count, is asked each time.
// Tokens that were refused are not remembered.
type verified struct {
	mu    sync.RWMutex
	known map[[sha256.Size]byte]genuine
}

// find returns the claims of a token that is known and still good. Whoever is told of none has to look at the token itself.
func (v *verified) find(token string, k *KeyRing) (Claims, bool) {
	v.mu.RLock()
	g, ok := v.known[sha256.Sum256([]byte(token))]
	v.mu.RUnlock()
	if !ok || !g.counts(k) {
		return Claims{}, false
	}
	return g.claims, true
}

// counts tells whether the token's time and key are still, or already, good.
func (g *genuine) counts(k *KeyRing) bool {
	now := k.clock()
	return g.key != nil && k.lookup(g.key.ID) == g.key && now.Before(g.claims.ExpiresAt) &&
		!now.Before(g.notBefore) && !now.Before(g.claims.IssuedAt)
}

// keep remembers a token. When there are too many, all are forgotten: they are checked once more.
func (v *verified) keep(token string, g genuine) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known == nil || len(v.known) >= maxVerified {
		v.known = map[[sha256.Size]byte]genuine{}
	}
	v.known[sha256.Sum256([]byte(token))] = g
}
