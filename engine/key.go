package engine

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/textproto"
	"strconv"
	"strings"
)

// keyMissing is the value of a part that a request has not (rule R6).
const keyMissing = "(none)"

// longestKey bounds what is remembered of a value; longer ones are told apart by their hash.
const longestKey = 256

// key divides something by parts of the request, as the mock format's keys say. Without parts all requests are one.
type key struct {
	parts []keyPart
}

// keyPart finds one part; it reports false when the request has none.
type keyPart func(c *call) (string, bool)

// compileKey compiles the texts of a key, which the decoder has checked.
func compileKey(texts []string) (key, error) {
	var k key
	for _, text := range texts {
		kind, name, _ := strings.Cut(text, ":")
		part := keyPartOf(kind, name)
		switch {
		case part != nil:
			k.parts = append(k.parts, part)
		case kind != "global" && kind != "session":
			return key{}, fmt.Errorf("a key of the kind %q is not known", kind)
		}
	}
	return k, nil
}

// keyPartOf returns nil for what does not divide: sessions share nothing anyway.
func keyPartOf(kind, name string) keyPart {
	switch kind {
	case "ip":
		return func(c *call) (string, bool) {
			if c.errand != nil && c.errand.key != "" {
				return c.errand.key, true
			}
			ip := c.engine.options.ClientAddress(c.request)
			return ip.String(), ip.IsValid()
		}
	case "header":
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		return func(c *call) (string, bool) { return firstValue(c.headerValues(canonical)) }
	case "query":
		return func(c *call) (string, bool) { return firstValue(valuesOf(c.pairs(), name)) }
	case "cookie":
		return func(c *call) (string, bool) { return firstValue(valuesOf(c.cookiePairs(), name)) }
	case "path":
		return func(c *call) (string, bool) { return firstValue(valuesOf(c.pathParameters(), name)) }
	case "jwt":
		return func(c *call) (string, bool) { return c.claim(name) }
	default:
		return nil
	}
}

func firstValue(v texts) (string, bool) {
	if len(v.List) == 0 {
		return "", false
	}
	return v.List[0], true
}

// claim reads a claim of a bearer token. The token is not verified: it only tells clients apart.
func (c *call) claim(name string) (string, bool) {
	scheme, token, _ := strings.Cut(c.header.Get("Authorization"), " ")
	parts := strings.Split(strings.TrimSpace(token), ".")
	if !strings.EqualFold(scheme, "Bearer") || len(parts) != 3 {
		return "", false
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return "", false
	}
	var claims map[string]json.RawMessage
	if json.Unmarshal(payload, &claims) != nil {
		return "", false
	}
	raw, ok := claims[name]
	if !ok || string(raw) == "null" {
		return "", false
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return string(raw), true
	}
	return text, true
}

// none is the value of a request that has none of the parts.
func (k *key) none() string {
	switch len(k.parts) {
	case 0:
		return ""
	case 1:
		return keyMissing
	default:
		return strings.TrimSuffix(strings.Repeat(strconv.Quote(keyMissing)+", ", len(k.parts)), ", ")
	}
}

// of is the value of a request for the mock that is asked. A value of several parts shows each in quotes.
func (k *key) of(c *call) string {
	if len(k.parts) == 0 {
		return ""
	}
	text := k.parts[0].of(c)
	if len(k.parts) > 1 {
		all := make([]string, len(k.parts))
		for i, part := range k.parts {
			all[i] = strconv.Quote(part.of(c))
		}
		text = strings.Join(all, ", ")
	}
	if len(text) > longestKey {
		sum := sha256.Sum256([]byte(text))
		text = "sha256:" + hex.EncodeToString(sum[:])
	}
	return text
}

func (p keyPart) of(c *call) string {
	if text, ok := p(c); ok {
		return text
	}
	return keyMissing
}
