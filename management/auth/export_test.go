package auth

import "errors"

// ReadHash exposes decodeHash: it tells whether text is a stored hash that would be computed.
func ReadHash(text string) error {
	_, err := decodeHash(text)
	return err
}

// IsOutOfBounds tells whether err refuses the work a stored hash asks for.
func IsOutOfBounds(err error) bool { return errors.Is(err, errHashBounds) }

// Fill takes every slot of h until release is called, and lets waiting callers queue behind.
func (h *Hasher) Fill() (release func()) {
	for range maxHashing {
		h.slots <- struct{}{}
	}
	return func() {
		for range maxHashing {
			<-h.slots
		}
	}
}

// Nobody is the hash that an unknown user's password is compared with.
func (h *Hasher) Nobody() string { return h.nobody.String() }

// Waiting is the number of callers that wait for a slot.
func (h *Hasher) Waiting() int { return int(h.waiting.Load()) }

// MaxWaiting is the number of callers that may wait.
const MaxWaiting = maxWaiting

// CommonPasswords is the embedded list as it stands in the file.
func CommonPasswords() string { return commonPasswords }

// Checksum is the checksum of an API token's beginning.
func Checksum(text string) string { return checksum(text) }
