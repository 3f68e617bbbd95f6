package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"hash/crc32"
	"math/big"
	"strings"

	"github.com/mockbase/mockbase"
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// The parts of an API token (rule M-41): 30 characters are 178 bits, six hold every checksum.
const (
	apiPrefixSize   = len("mb_pat_")
	apiSecretSize   = 30
	apiChecksumSize = 6
	apiTokenSize    = apiPrefixSize + apiSecretSize + apiChecksumSize
	// ShownSize is how many characters of a token are shown to tell it from others.
	ShownSize = 12
)

// kindPrefixes are the beginnings of tokens by their kind.
func kindPrefixes() map[string]string {
	return map[string]string{mockbase.TokenPersonal: "mb_pat_", mockbase.TokenService: "mb_svc_", mockbase.TokenPublic: "mb_pub_"}
}

// APIToken is the secret of an API token.
type APIToken struct {
	// Text is what is shown once.
	Text string
	// Kind is one of the kinds of [mockbase.Token].
	Kind string
	// Hash is the SHA-256 digest of Text.
	Hash []byte
}

// Shown is the part of the token that people may see.
func (t APIToken) Shown() string { return t.Text[:ShownSize] }

// NewAPIToken makes a token of a kind that [mockbase.Token] knows.
func NewAPIToken(kind string) APIToken {
	body := kindPrefixes()[kind] + randomBase62(apiSecretSize)
	return apiToken(kind, body+checksum(body))
}

// ReadAPIToken reads a token and tells whether it has the form and the checksum of one. Whether it exists is the store's
// to say: a token that was mistyped or cut costs no look-up.
func ReadAPIToken(text string) (APIToken, bool) {
	if len(text) != apiTokenSize {
		return APIToken{}, false
	}
	body := text[:apiTokenSize-apiChecksumSize]
	if strings.Trim(text[apiPrefixSize:], base62) != "" || checksum(body) != text[len(body):] {
		return APIToken{}, false
	}
	for kind, prefix := range kindPrefixes() {
		if strings.HasPrefix(text, prefix) {
			return apiToken(kind, text), true
		}
	}
	return APIToken{}, false
}

// LooksLikeAPIToken tells whether a credential is meant to be an API token, so that its fault can be named.
func LooksLikeAPIToken(text string) bool { return strings.HasPrefix(text, "mb_") }

func apiToken(kind, text string) APIToken {
	digest := sha256.Sum256([]byte(text))
	return APIToken{Text: text, Kind: kind, Hash: digest[:]}
}

// randomBase62 draws characters that are all equally likely.
func randomBase62(size int) string {
	text := make([]byte, size)
	for i := range text {
		n, _ := rand.Int(rand.Reader, big.NewInt(int64(len(base62)))) // never fails: it ends the process instead
		text[i] = base62[n.Int64()]
	}
	return string(text)
}

// checksum is the CRC-32 of a text in base 62, padded with zeros.
func checksum(text string) string {
	sum := crc32.ChecksumIEEE([]byte(text))
	digits := []byte("000000")
	for i := len(digits) - 1; sum > 0; i-- {
		digits[i] = base62[sum%uint32(len(base62))]
		sum /= uint32(len(base62))
	}
	return string(digits)
}

// linkBits is the size of the secret in a link.
const linkBits = 256

// LinkSecret is the secret in the link of an invitation or a password reset (rule M-42).
type LinkSecret struct {
	// Text stands in the fragment of the link, which no server and no log sees.
	Text string
	// Hash is the SHA-256 digest of Text.
	Hash []byte
}

// NewLinkSecret makes a random secret.
func NewLinkSecret() LinkSecret {
	secret := make([]byte, linkBits/8)
	rand.Read(secret) // never fails: it ends the process instead
	return ReadLinkSecret(base64.RawURLEncoding.EncodeToString(secret))
}

// ReadLinkSecret computes the digest that a secret is looked up by. A text that is none finds nothing.
func ReadLinkSecret(text string) LinkSecret {
	digest := sha256.Sum256([]byte("link " + text))
	return LinkSecret{Text: text, Hash: digest[:]}
}
