package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"
)

// The times of refresh tokens (rule M-34).
const (
	// RefreshGrace is how long after a rotation the predecessor still yields its successor: long enough for a second tab
	// or a lost answer, too short for a thief.
	RefreshGrace = 10 * time.Second
	// RefreshIdle ends a sign-in that nobody refreshes.
	RefreshIdle = 7 * 24 * time.Hour
	// RefreshLife ends every sign-in.
	RefreshLife = 30 * 24 * time.Hour
)

const (
	refreshBits = 256
	// tagSize is the length in bytes of the keyed tag that tells a token of ours from an invented one.
	tagSize = 16
)

// Refresh is a refresh token. Its text is kept by the browser alone; the server keeps Hash.
type Refresh struct {
	// Token is what the cookie holds.
	Token string
	// Hash is the SHA-256 digest of Token.
	Hash []byte
	// SignInID is the family that the token belongs to.
	SignInID string

	secret []byte
}

// NewRefresh makes the first refresh token of a sign-in.
func (k *KeyRing) NewRefresh(signInID string) Refresh {
	secret := make([]byte, refreshBits/8)
	rand.Read(secret) // never fails: it ends the process instead
	return k.refresh(signInID, secret)
}

// Successor returns the token that follows r. It is the same each time it is asked for.
func (k *KeyRing) Successor(r Refresh) Refresh {
	return k.refresh(r.SignInID, k.mac("refresh successor", r.SignInID, r.secret))
}

// ReadRefresh reads a refresh token and tells whether this instance made it. A token that it made may be used up, too
// old or revoked: the sign-in says.
func (k *KeyRing) ReadRefresh(token string) (Refresh, bool) {
	first, rest, _ := strings.Cut(token, ".")
	signInID, _, found := strings.Cut(rest, ".")
	secret, err := base64.RawURLEncoding.Strict().DecodeString(first)
	if !found || err != nil || len(secret) != refreshBits/8 {
		return Refresh{}, false
	}
	genuine := k.refresh(signInID, secret)
	return genuine, hmac.Equal([]byte(genuine.Token), []byte(token))
}

// refresh writes a token: the secret, the sign-in and a tag that binds the two to this instance. The tag lets a token
// that was used up long ago still be recognised, so that its reuse ends the sign-in it belongs to.
func (k *KeyRing) refresh(signInID string, secret []byte) Refresh {
	tag := k.mac("refresh tag", signInID, secret)[:tagSize]
	token := base64.RawURLEncoding.EncodeToString(secret) + "." + signInID + "." + base64.RawURLEncoding.EncodeToString(tag)
	digest := sha256.Sum256([]byte(token))
	return Refresh{Token: token, Hash: digest[:], SignInID: signInID, secret: secret}
}

// mac is HMAC-SHA-256 under the ring's secret; purpose keeps the uses of the secret apart.
func (k *KeyRing) mac(purpose, signInID string, secret []byte) []byte {
	h := hmac.New(sha256.New, k.secret)
	h.Write([]byte(purpose + "\x00" + signInID + "\x00"))
	h.Write(secret)
	return h.Sum(nil)
}
