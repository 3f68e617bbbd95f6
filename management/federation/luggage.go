package federation

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"
)

// luggage is what a browser keeps while it is at the provider.
type luggage struct {
	State    string    `json:"s"`
	Nonce    string    `json:"n"`
	Verifier string    `json:"v"`
	Next     string    `json:"x"`
	Fresh    bool      `json:"f"`
	Until    time.Time `json:"u"`
}

// began tells whether this is the state that the browser was sent away with.
func (l luggage) began(state string) bool {
	return l.State != "" && subtle.ConstantTimeCompare([]byte(l.State), []byte(state)) == 1
}

// seal makes luggage unreadable and unchangeable for whoever has no key.
func seal(key []byte, l luggage) (string, error) {
	plain, err := json.Marshal(l)
	if err != nil {
		return "", fmt.Errorf("seal: %w", err)
	}
	lock, err := lockOf(key)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(lock.Seal(nil, nil, plain, nil)), nil //nolint:gosec // the lock adds a nonce of its own
}

// open reads luggage that is not out of date.
func open(key []byte, sealed string, now time.Time) (luggage, error) {
	lock, err := lockOf(key)
	if err != nil {
		return luggage{}, err
	}
	var l luggage
	closed, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return l, ErrLost
	}
	plain, err := lock.Open(nil, nil, closed, nil)
	if err != nil || json.Unmarshal(plain, &l) != nil || !now.Before(l.Until) {
		return luggage{}, ErrLost
	}
	return l, nil
}

func lockOf(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	lock, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return lock, nil
}
