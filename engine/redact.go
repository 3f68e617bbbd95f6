package engine

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/mockbase/mockbase"
)

// mask stands in the place of a secret.
const mask = mockbase.Mask

func isSecretHeader(canonical string) bool { return mockbase.IsSecretHeader(canonical) }

// maskValue hides a value; of credentials the scheme stays.
func maskValue(canonical, value string) string { return mockbase.MaskHeader(canonical, value) }

// redact masks the secrets of an exchange before it is kept, unless its project keeps them (rule M-81).
func (c *call) redact(x *mockbase.Exchange) {
	if c.program.project.RawTraffic {
		return
	}
	hiding := c.program.redaction
	if masked := hiding.RequestHeader(x.Request.Header); masked != nil {
		c.digestKeys(x)
		x.Request.Header, x.Redacted = masked, true
	}
	if !c.outcome.plain || hiding.Extended() {
		if masked := hiding.Header(x.Response.Header); masked != nil {
			x.Response.Header, x.Redacted = masked, true
		}
	}
	if x.Request.RawQuery == "" {
		return
	}
	if target := mockbase.MaskTarget(x.Request.Target); target != x.Request.Target {
		x.Request.Target, x.Redacted = target, true
		_, x.Request.RawQuery, _ = strings.Cut(target, "?")
	}
}

// digestKeys replaces keys of limits that hold the value of a header which the project hides.
func (c *call) digestKeys(x *mockbase.Exchange) {
	if len(x.Limits) == 0 && x.ClientKey == "" || !c.program.redaction.Extended() {
		return
	}
	for name, lines := range x.Request.Header {
		if !c.program.redaction.Extends(name) {
			continue
		}
		for i := range x.Limits {
			if holdsAny(x.Limits[i].Key, lines) {
				x.Limits[i].Key = c.engine.digest(x.Limits[i].Key)
			}
		}
		if holdsAny(x.ClientKey, lines) {
			x.ClientKey = c.engine.digest(x.ClientKey)
		}
	}
}

func holdsAny(text string, values []string) bool {
	for _, value := range values {
		if value != "" && strings.Contains(text, value) {
			return true
		}
	}
	return false
}

// digest stands for a secret where secrets must be told apart. It is keyed, so that nobody who sees it can try out which
// secret it is (rule M-81).
func (e *Engine) digest(secret string) string {
	const kept = 8
	sum := hmac.New(sha256.New, e.options.KeySecret)
	sum.Write([]byte(secret))
	return "hmac:" + hex.EncodeToString(sum.Sum(nil)[:kept])
}

// hideFindings marks what was compared with headers that the project hides, so that no answer shows their values.
func (c *call) hideFindings(near []likeness) {
	if !c.program.redaction.Extended() {
		return
	}
	for i := range near {
		findings := near[i].findings
		for j := range findings {
			f := &findings[j]
			f.hidden = f.part == partHeaders && c.program.redaction.Extends(f.name)
		}
	}
}
