package config

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
)

// ShieldKey says who shares a count of the shield (rule RL78).
type ShieldKey string

// UnmarshalText takes what limits can count by.
func (k *ShieldKey) UnmarshalText(text []byte) error {
	if _, err := httplimit.ParseKey(string(text)); err != nil {
		return fmt.Errorf("%q is no key: %s", text, plainReason(err))
	}
	*k = ShieldKey(text)
	return nil
}

// plainReason is the text of an error without the words that all errors of the limiter's configuration end with.
func plainReason(err error) string {
	return strings.ReplaceAll(err.Error(), ": "+ratelimit.ErrConfig.Error(), "")
}

// Fingerprint is the level of a fingerprint (rule RL82).
type Fingerprint string

// UnmarshalText takes one of the four levels.
func (f *Fingerprint) UnmarshalText(text []byte) error {
	return oneOf((*string)(f), text, "strict", "normal", "relaxed", "custom")
}

// HeaderName is the name of a header field.
type HeaderName string

// UnmarshalText takes letters, digits and hyphens.
func (h *HeaderName) UnmarshalText(text []byte) error {
	name := strings.ToLower(string(text))
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
		return fmt.Errorf("%q is no header name: write letters, digits and hyphens", text)
	}
	*h = HeaderName(text)
	return nil
}

// ProxyPeers are the peers that must speak the PROXY protocol (rule RL76), none where nobody may.
type ProxyPeers struct {
	// Networks are those of the peers.
	Networks []netip.Prefix
}

// UnmarshalText reads off, or addresses and networks with commas between them.
func (p *ProxyPeers) UnmarshalText(text []byte) error {
	p.Networks = nil
	if string(text) == "off" {
		return nil
	}
	for item := range strings.SplitSeq(string(text), ",") {
		var n Network
		if err := n.UnmarshalText([]byte(strings.TrimSpace(item))); err != nil {
			return errors.New(err.Error() + "; or off for none")
		}
		p.Networks = append(p.Networks, netip.Prefix(n))
	}
	return nil
}

// String writes the peers the way they are read.
func (p ProxyPeers) String() string {
	if len(p.Networks) == 0 {
		return "off"
	}
	texts := make([]string, 0, len(p.Networks))
	for _, n := range p.Networks {
		texts = append(texts, Network(n).String())
	}
	return strings.Join(texts, ",")
}

// identity finds a secret that is too short and keys that lack what they are made of.
func (c *checker) identity(s *Settings) {
	o := httplimit.IdentityOptions{FingerprintLevel: httplimit.Level(s.FingerprintLevel), FingerprintParts: s.FingerprintParts}
	if n := len(s.IdentitySecret); n > 0 && n < httplimit.MinIdentitySecret {
		c.add("identity-secret", "make one with: openssl rand -hex 32", "has %d bytes, which is less than %d", n, httplimit.MinIdentitySecret)
	}
	made, err := httplimit.NewIdentity(o)
	if err != nil {
		c.add("fingerprint-parts", "", "%s", plainReason(err))
		return
	}
	if err := made.Check(keyParts(s.ShieldKey)...); err != nil {
		c.add("shield-key", "", "%s", plainReason(err))
	}
}

// fingerprint finds a custom fingerprint that is made of nothing.
func (c *checker) fingerprint(s *Settings) {
	if s.FingerprintLevel == Fingerprint(httplimit.LevelCustom) && len(s.FingerprintParts) == 0 {
		c.add("fingerprint-level", "add "+c.sibling("fingerprint-parts", "fingerprint-level")+", such as address,user-agent", "custom has no parts to be made of")
	}
}

// keyParts are the parts of a key that was read before.
func keyParts(key ShieldKey) []string {
	parts, err := httplimit.ParseKey(string(key))
	if err != nil {
		return nil
	}
	return parts
}

// circuit finds a circuit whose two numbers are about different times.
func (c *checker) circuit(s *Settings) {
	if s.CircuitThreshold.Window != s.CircuitGlobalLimit.Window {
		c.add("circuit-global-limit", "write it for the same time", "counts within another time than %s", c.spell("circuit-threshold"))
	}
	if r := s.CircuitRecovery.Span(); r <= 0 || r > maxRecovery {
		c.add("circuit-recovery", "", "%s is out of bounds: write a time from 1ms to 1h", s.CircuitRecovery)
	}
}

const writeRate = "write a number and a time, as in 10000/60s"
