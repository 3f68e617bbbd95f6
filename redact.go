package mockbase

import (
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
)

// Mask stands in the place of a secret.
const Mask = "***"

// Names of headers that hold credentials.
const (
	headerAuthorization      = "Authorization"
	headerProxyAuthorization = "Proxy-Authorization"
)

// secretHeaders returns the canonical names of the headers whose values are secrets everywhere (rule M-81). The token of a
// project is one of them.
func secretHeaders() [8]string {
	return [...]string{
		headerAuthorization, headerProxyAuthorization, "Cookie", "Set-Cookie", "X-Api-Key", "Api-Key", "X-Auth-Token", "Mockbase-Token",
	}
}

// Redaction masks the secrets of recorded exchanges (rule M-81): the values of headers that hold credentials, those of
// headers that a project names, and those of query parameters that are named like secrets. A nil one knows no headers of a
// project. It is immutable.
type Redaction struct {
	// more are the canonical names of the project's headers.
	more []string
}

// NewRedaction makes a redaction that masks more headers than the usual ones; their names may be written in any case.
func NewRedaction(headers []string) *Redaction {
	r := &Redaction{}
	for _, name := range headers {
		r.more = append(r.more, textproto.CanonicalMIMEHeaderKey(name))
	}
	return r
}

// Extended tells whether a project names headers of its own.
func (r *Redaction) Extended() bool { return r != nil && len(r.more) > 0 }

// Extends tells whether the project names this header.
func (r *Redaction) Extends(name string) bool {
	return r.Extended() && slices.Contains(r.more, textproto.CanonicalMIMEHeaderKey(name))
}

// hides tells whether a header's values are secrets. The name is canonical.
func (r *Redaction) hides(canonical string) bool {
	for _, name := range secretHeaders() {
		if name == canonical {
			return true
		}
	}
	return r.Extended() && slices.Contains(r.more, canonical)
}

// Header returns a copy of a header with its secrets masked, nil if it holds none. Names may be written in any case, unless
// the header is that of a received request.
func (r *Redaction) Header(h http.Header) http.Header {
	masked := r.RequestHeader(h)
	for name, lines := range h {
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		if canonical == name || !r.hides(canonical) {
			continue
		}
		if masked == nil {
			masked = maps.Clone(h)
		}
		masked[name] = maskLines(canonical, lines)
	}
	return masked
}

// RequestHeader does the same for a header whose names are all canonical, as those of received requests are.
func (r *Redaction) RequestHeader(h http.Header) http.Header {
	var masked http.Header
	for _, name := range secretHeaders() {
		masked = maskHeader(masked, h, name)
	}
	if r != nil {
		for _, name := range r.more {
			masked = maskHeader(masked, h, name)
		}
	}
	return masked
}

// maskHeader masks one header in a copy that is made when it is needed.
func maskHeader(masked, h http.Header, name string) http.Header {
	lines, ok := h[name]
	if !ok {
		return masked
	}
	if masked == nil {
		masked = maps.Clone(h)
	}
	masked[name] = maskLines(name, lines)
	return masked
}

func maskLines(canonical string, lines []string) []string {
	hidden := make([]string, len(lines))
	for i, line := range lines {
		hidden[i] = MaskHeader(canonical, line)
	}
	return hidden
}

// MaskHeader hides the value of a header; of credentials the scheme stays. The name is canonical.
func MaskHeader(canonical, value string) string {
	if canonical == headerAuthorization || canonical == headerProxyAuthorization {
		if scheme, rest, ok := strings.Cut(value, " "); ok && rest != "" {
			return scheme + " " + Mask
		}
	}
	return Mask
}

// MaskTarget masks the values of a request target's query parameters that are named like secrets. Without any it returns the
// target itself.
func MaskTarget(target string) string {
	at := strings.IndexByte(target, '?') + 1
	if at == 0 {
		return target
	}
	query := target[at:]
	if masked := MaskQuery(query); masked != query {
		return target[:at] + masked
	}
	return target
}

// MaskQuery does the same for a raw query.
func MaskQuery(raw string) string {
	var masked strings.Builder
	kept := 0
	for at := 0; at < len(raw); {
		end := at + len(raw[at:])
		if next := strings.IndexByte(raw[at:], '&'); next >= 0 {
			end = at + next
		}
		name, value, valued := strings.Cut(raw[at:end], "=")
		if valued && value != Mask && IsSecretName(parameterName(name)) {
			masked.WriteString(raw[kept : at+len(name)+1])
			masked.WriteString(Mask)
			kept = end
		} else if hidden := maskParameter(value); hidden != value {
			masked.WriteString(raw[kept : at+len(name)+1])
			masked.WriteString(hidden)
			kept = end
		}
		at = end + 1
	}
	if kept == 0 {
		return raw
	}
	masked.WriteString(raw[kept:])
	return masked.String()
}

// parameterName is the name that a query states, as far as it can be read.
func parameterName(raw string) string {
	if !strings.ContainsAny(raw, "%+") {
		return raw
	}
	name, err := url.QueryUnescape(raw)
	if err != nil {
		return raw
	}
	return name
}

// longestPlain is the length up to which names are compared without memory of their own.
const longestPlain = 64

// IsSecretName tells whether a header, parameter or cookie is named like something secret (rules M2 and M-81).
func IsSecretName(name string) bool {
	var own [longestPlain]byte
	plain := string(appendLetters(own[:0], name))
	for _, word := range [...]string{
		"token", "secret", "passw", "apikey", "accesskey", "privatekey", "authorization", "credential", "signature",
		"sessionid", "cookie", "jwt",
	} {
		if strings.Contains(plain, word) {
			return true
		}
	}
	return plain == "auth" || plain == "xauth" || plain == "sig" || plain == "key"
}

// appendLetters appends a name in lower case, without the signs between its words.
func appendLetters(to []byte, name string) []byte {
	for i := range len(name) {
		switch b := name[i]; {
		case b == '-' || b == '_' || b == '.':
		case 'A' <= b && b <= 'Z':
			to = append(to, b+'a'-'A')
		default:
			to = append(to, b)
		}
	}
	return to
}

// Exchange returns an exchange without its secrets: itself if it shows none, or a copy.
func (r *Redaction) Exchange(x *Exchange) *Exchange {
	request, response, target := r.RequestHeader(x.Request.Header), r.Header(x.Response.Header), MaskTarget(x.Request.Target)
	if request == nil && response == nil && target == x.Request.Target {
		return x
	}
	masked := *x
	masked.Redacted = true
	if request != nil {
		masked.Request.Header = request
	}
	if response != nil {
		masked.Response.Header = response
	}
	if target != x.Request.Target {
		masked.Request.Target = target
		_, masked.Request.RawQuery, _ = strings.Cut(target, "?")
	}
	return &masked
}

// IsSecretHeader tells whether the values of a header are secrets everywhere. The name is canonical.
func IsSecretHeader(canonical string) bool { return (*Redaction)(nil).hides(canonical) }
