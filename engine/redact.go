package engine

import (
	"maps"
	"net/http"
	"net/textproto"
	"strings"
)

// mask stands in the place of a secret.
const mask = "***"

// secretHeaders returns the canonical names of the headers whose values are never recorded (rule M-81). The token of a
// project is one of them.
func secretHeaders() [8]string {
	return [...]string{
		headerAuthorization, "Proxy-Authorization", headerCookie, headerSetCookie, "X-Api-Key", "Api-Key", "X-Auth-Token", "Mockbase-Token",
	}
}

func isSecretHeader(canonical string) bool {
	for _, name := range secretHeaders() {
		if name == canonical {
			return true
		}
	}
	return false
}

// maskSecrets returns a copy of the header with its secrets masked, nil if it has none. The names are canonical.
func maskSecrets(h http.Header) http.Header {
	var masked http.Header
	for _, name := range secretHeaders() {
		lines, ok := h[name]
		if !ok {
			continue
		}
		if masked == nil {
			masked = maps.Clone(h)
		}
		masked[name] = maskLines(name, lines)
	}
	return masked
}

// maskAnswer does the same for the header of an answer, whose names are spelled as their author likes.
func maskAnswer(h http.Header) http.Header {
	masked := maskSecrets(h)
	for name, lines := range h {
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		if canonical == name || !isSecretHeader(canonical) {
			continue
		}
		if masked == nil {
			masked = maps.Clone(h)
		}
		masked[name] = maskLines(canonical, lines)
	}
	return masked
}

func maskLines(canonical string, lines []string) []string {
	hidden := make([]string, len(lines))
	for i, line := range lines {
		hidden[i] = maskValue(canonical, line)
	}
	return hidden
}

// maskValue hides a value; of credentials the scheme stays.
func maskValue(canonical, value string) string {
	if canonical == headerAuthorization || canonical == "Proxy-Authorization" {
		if scheme, rest, ok := strings.Cut(value, " "); ok && rest != "" {
			return scheme + " " + mask
		}
	}
	return mask
}

// isSecretName tells whether a header, parameter or cookie is named like something secret, for answers that show values
// (rule M2).
func isSecretName(name string) bool {
	if isSecretHeader(textproto.CanonicalMIMEHeaderKey(name)) {
		return true
	}
	plain := strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(name))
	for _, word := range []string{
		"token", "secret", "passw", "apikey", "accesskey", "privatekey", "authorization", "credential", "signature",
		"sessionid", "cookie", "jwt",
	} {
		if strings.Contains(plain, word) {
			return true
		}
	}
	return plain == "auth" || plain == "xauth" || plain == "sig" || plain == "key"
}
