package ratelimit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	maxNamespace  = 64
	maxIdentifier = 128
	// hashedMark begins every identifier that was hashed, and none that was not.
	hashedMark = "h_"
	// hashedBytes is the part of the digest that is kept: 128 bits.
	hashedBytes = 16
)

// ValidNamespace says whether a key may have this namespace: [a-z0-9_-]{1,64} (rule RL57).
func ValidNamespace(namespace string) bool {
	if namespace == "" || len(namespace) > maxNamespace {
		return false
	}
	for i := range len(namespace) {
		c := namespace[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// KeyIdentifier returns an identifier as stores write it (rule RL58). It stays readable if it matches
// [A-Za-z0-9._~:/-]{1,128} and does not begin with "h_"; any other becomes "h_" and the first 32 hexadecimal digits of
// its SHA-256. A written identifier therefore holds no braces, blanks or control characters, and has a bounded length.
func KeyIdentifier(identifier string) string {
	if plainIdentifier(identifier) {
		return identifier
	}
	digest := sha256.Sum256([]byte(identifier))
	return hashedMark + hex.EncodeToString(digest[:hashedBytes])
}

func plainIdentifier(identifier string) bool {
	if identifier == "" || len(identifier) > maxIdentifier || strings.HasPrefix(identifier, hashedMark) {
		return false
	}
	for i := range len(identifier) {
		if !plainByte(identifier[i]) {
			return false
		}
	}
	return true
}

func plainByte(c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '-' && c <= ':': // The last range is - . / 0…9 and the colon.
		return true
	default:
		return c == '_' || c == '~'
	}
}

// KeyTail returns the last field of a written key (rule RL57). For a fixed window on the clock it is the start of the
// window that holds now: Unix seconds, or Unix milliseconds and "ms" when the window is not whole seconds. For all
// others it is a tag of the algorithm, so that none reads another's value.
func KeyTail(p *Policy, now time.Time) string {
	return string(AppendKeyTail(nil, p, now))
}

// AppendKeyTail appends [KeyTail] to dst.
func AppendKeyTail(dst []byte, p *Policy, now time.Time) []byte {
	if tag := tailTag(p); tag != "" {
		return append(dst, tag...)
	}
	if p.Window%time.Second == 0 {
		return strconv.AppendInt(dst, windowStart(p, now)/ticksPerSecond, 10)
	}
	return append(strconv.AppendInt(dst, windowStart(p, now)/ticksPerMillisecond, 10), "ms"...)
}

// tailTag returns the tag of the policy's kind of state; it is empty for the fixed window on the clock.
func tailTag(p *Policy) string {
	switch p.Algorithm {
	case SlidingWindow:
		return "sw"
	case SlidingLog:
		return "sl"
	case TokenBucket, LeakyBucket, GCRA:
		return "me"
	case Concurrency:
		return "cc"
	default:
		if p.clockAligned() {
			return ""
		}
		return "ff"
	}
}

// KeyText returns the key as it is written to a shared store: prefix:namespace:identifier:tail (rules RL25, RL57, RL58).
func KeyText(prefix string, k Key, tail string) string {
	return prefix + ":" + k.Namespace + ":" + KeyIdentifier(k.Identifier) + ":" + tail
}

// Validate returns an error that wraps ErrConfig if the namespace is impossible. Every identifier is possible.
func (k Key) Validate() error {
	if !ValidNamespace(k.Namespace) {
		return fmt.Errorf("read key: namespace %q does not match [a-z0-9_-]{1,64}: %w", k.Namespace, ErrConfig)
	}
	return nil
}
