package httplimit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mockbase/mockbase/ratelimit"
)

// Level says what a fingerprint is made of (rule RL82).
type Level string

// LevelStrict takes all parts. They are easily varied, so that a strict key needs limits by the address beside it (rule
// RL84). LevelNormal takes address, User-Agent and authentication. LevelRelaxed takes authentication, or the address
// where there is none. LevelCustom takes IdentityOptions.FingerprintParts.
const (
	LevelStrict  Level = "strict"
	LevelNormal  Level = "normal"
	LevelRelaxed Level = "relaxed"
	LevelCustom  Level = "custom"
)

// The parts of a fingerprint (rule RL82).
const (
	FingerprintAddress        = "address"
	FingerprintUserAgent      = "user-agent"
	FingerprintAcceptLanguage = "accept-language"
	FingerprintAcceptEncoding = "accept-encoding"
	// FingerprintHeaders is the header hash.
	FingerprintHeaders = "headers"
	// FingerprintAuth is the verified user, or else the token or API key that the request shows.
	FingerprintAuth = "auth"
	// FingerprintJA3 is what a trusted proxy says about the TLS handshake of the client.
	FingerprintJA3 = "ja3"
)

// hashDigits is the length of a header hash in hexadecimal digits.
const hashDigits = 16

// fingerprintPart finds a part of a fingerprint; a part that is missing is the empty text.
type fingerprintPart func(q *question) string

func fingerprintPartOf(name string) (fingerprintPart, error) {
	switch name {
	case FingerprintAddress:
		return (*question).address, nil
	case FingerprintUserAgent, FingerprintAcceptLanguage, FingerprintAcceptEncoding:
		return headerPart(name), nil
	case FingerprintHeaders:
		return (*question).headerHash, nil
	case FingerprintAuth:
		return (*question).authentication, nil
	case FingerprintJA3:
		return (*question).ja3, nil
	}
	if header, ok := strings.CutPrefix(name, KeyHeader); ok && token(header) {
		return headerPart(header), nil
	}
	return nil, fmt.Errorf("fingerprint part %q is not served: want address, user-agent, accept-language, accept-encoding, headers, auth, ja3 "+
		"or header:Name: %w", name, ratelimit.ErrConfig)
}

func headerPart(name string) fingerprintPart {
	name = http.CanonicalHeaderKey(name)
	return func(q *question) string {
		value, _ := headerOf(q, name)
		return value
	}
}

// fingerprint returns the digest of the parts of a level. It is computed once per request where [Identity.Middleware]
// stands before, and nothing in it can be read back.
func (q *question) fingerprint(level Level) string {
	kept, ok := q.request.Context().Value(memoryKey{q.Identity}).(*memory)
	if !ok {
		return q.newFingerprint(level)
	}
	kept.Lock()
	defer kept.Unlock()
	known, ok := kept.fingerprints[level]
	if !ok {
		known = q.newFingerprint(level)
		kept.fingerprints[level] = known
	}
	return known
}

func (q *question) newFingerprint(level Level) string {
	var parts []string
	switch level {
	case LevelStrict:
		parts = []string{
			q.address(), headerPart(FingerprintUserAgent)(q), headerPart(FingerprintAcceptLanguage)(q),
			headerPart(FingerprintAcceptEncoding)(q), q.headerHash(), q.authentication(), q.ja3(),
		}
	case LevelRelaxed:
		parts = []string{q.authentication(), ""}
		if parts[0] == "" {
			parts[1] = q.address()
		}
	case LevelCustom:
		for _, part := range q.custom {
			parts = append(parts, part(q))
		}
	default:
		parts = []string{q.address(), headerPart(FingerprintUserAgent)(q), q.authentication()}
	}
	return q.digest(KeyFingerprint+":"+string(level), JoinKey(parts...))
}

// authentication returns the digest of who is asking, and the empty text where nothing says so.
func (q *question) authentication() string {
	if user, ok := q.user(); ok && user != "" {
		return q.digest(KeyUser, user)
	}
	shown, _ := q.secret(KeyToken, tokenOf)
	return shown
}

// ja3 returns the JA3 header of a trusted peer (rule RL84).
func (q *question) ja3() string {
	if trusted, _ := q.options.Addresses.Trusts(peerOf(q.request)); !trusted {
		return ""
	}
	return q.request.Header.Get(q.options.JA3Header)
}

// headerHash returns 16 hexadecimal digits over the names of the header fields and some values (rule RL83). It begins with
// "o:" where the order of the names is known, and with "s:" where they are sorted, since net/http does not keep it.
func (q *question) headerHash() string {
	form, names := "o:", q.headerOrder()
	if len(names) == 0 {
		form = "s:"
		for name := range q.request.Header {
			names = append(names, name)
		}
		slices.Sort(names)
	}
	parts := slices.Clone(names)
	for at, name := range parts {
		parts[at] = strings.ToLower(name)
	}
	parts = append(parts, "")
	for _, name := range [...]string{"Accept", "Accept-Charset", "Dnt", "Sec-Ch-Ua", "Sec-Ch-Ua-Mobile", "Sec-Ch-Ua-Platform", "Upgrade-Insecure-Requests"} {
		parts = append(parts, q.request.Header.Get(name))
	}
	sum := sha256.Sum256([]byte(JoinKey(parts...)))
	return form + hex.EncodeToString(sum[:hashDigits/2])
}

func (q *question) headerOrder() []string {
	if q.options.HeaderOrder != nil {
		return q.options.HeaderOrder(q.request)
	}
	names, _ := q.request.Context().Value(orderKey{}).([]string)
	return names
}
