package httplimit

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/mockbase/mockbase/ratelimit"
)

// The keys that take no name (rule RL78). A key is one of them, one that takes a name, such as KeyHeader + "X-Tenant", a
// list of these joined with "+", or a template.
const (
	// KeyIP is the identifier of the client's address.
	KeyIP = "ip"
	// KeyGlobal is the same for all.
	KeyGlobal = "global"
	// KeyToken is the bearer token, or else the API key.
	KeyToken = "token"
	// KeyUser is who is asking, as far as this server has verified it.
	KeyUser = "user"
	// KeySession is the session that the options of an Identity find.
	KeySession = "session"
	// KeyPath is the path; KeyEndpoint is method and route pattern, so that ids in paths do not multiply keys, or method
	// and path where no route is known (rule RL80).
	KeyPath     = "path"
	KeyEndpoint = "endpoint"
	// KeyFingerprint is the fingerprint of the level in IdentityOptions; KeyFingerprint + ":" + level is that of another.
	KeyFingerprint = "fingerprint"
)

// The keys that take a name.
const (
	KeyHeader = "header:"
	KeyCookie = "cookie:"
	KeyQuery  = "query:"
	// KeyClaim takes the name of a claim at the top of a verified JWT.
	KeyClaim = "jwt:"
)

// Missing says what becomes of a check whose key lacks a part (rule RL79).
type Missing string

// MissingIP takes the client's address for the whole key, so that callers without one do not share a counter, and is the
// default; MissingSkip skips the policies; MissingDeny refuses the request with 403.
const (
	MissingIP   Missing = "ip"
	MissingSkip Missing = "skip"
	MissingDeny Missing = "deny"
)

// The bounds of a key as it is written.
const (
	maxKeyText  = 4096
	maxKeyParts = 16
)

// ParseKey splits a key into its parts and says what is wrong with it in an error that wraps ratelimit.ErrConfig. A
// template is one part.
func ParseKey(text string) ([]string, error) {
	if len(text) > maxKeyText {
		return nil, fmt.Errorf("read key: longer than %d bytes: %w", maxKeyText, ratelimit.ErrConfig)
	}
	if strings.Contains(text, templateOpen) {
		_, err := compileTemplate(text)
		return []string{text}, err
	}
	parts := strings.Split(text, "+")
	if len(parts) > maxKeyParts {
		return nil, fmt.Errorf("read key: more than %d parts: %w", maxKeyParts, ratelimit.ErrConfig)
	}
	for _, part := range parts {
		if _, err := sourceOf(part); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// source finds one part of a key in a request, and returns false if the request lacks it. What it returns may stand in a
// key: secrets are digests (rule RL81).
type source func(q *question) (value string, ok bool)

// sourceOf returns the source of a part that is no template.
func sourceOf(part string) (source, error) {
	if found, ok := plainSources()[part]; ok {
		return found, nil
	}
	kind, name, named := strings.Cut(part, ":")
	switch {
	case kind == KeyFingerprint:
		if !named {
			return func(q *question) (string, bool) { return q.fingerprint(q.options.FingerprintLevel), true }, nil
		}
		level := Level(name)
		if err := oneOf("fingerprint level", level, LevelStrict, LevelNormal, LevelRelaxed, LevelCustom); err != nil {
			return nil, fmt.Errorf("read key %q: %w", part, err)
		}
		return func(q *question) (string, bool) { return q.fingerprint(level), true }, nil
	case !named:
		return nil, unknownKey(part)
	}
	found, fits := namedSource(kind+":", name)
	if found == nil {
		return nil, unknownKey(part)
	}
	if !fits(name) {
		return nil, fmt.Errorf("read key %q: %q is no name for %s: %w", part, name, kind, ratelimit.ErrConfig)
	}
	return found, nil
}

func unknownKey(part string) error {
	return fmt.Errorf("key %q is not served: want ip, global, token, user, session, path, endpoint, header:Name, cookie:name, query:name, "+
		"jwt:claim, fingerprint:level, a list of these joined with +, or a template: %w", part, ratelimit.ErrConfig)
}

// plainSources are the parts that take no name.
func plainSources() map[string]source {
	return map[string]source{
		KeyIP:       func(q *question) (string, bool) { return q.address(), true },
		KeyGlobal:   func(*question) (string, bool) { return KeyGlobal, true },
		KeyToken:    func(q *question) (string, bool) { return q.secret(KeyToken, tokenOf) },
		KeyUser:     func(q *question) (string, bool) { return q.readable(KeyUser, q.user) },
		KeySession:  func(q *question) (string, bool) { return q.secret(KeySession, q.session) },
		KeyPath:     func(q *question) (string, bool) { return q.bounded(KeyPath, q.path()), true },
		KeyEndpoint: func(q *question) (string, bool) { return q.bounded(KeyEndpoint, q.endpoint()), true },
	}
}

// namedSource returns the source of a part that takes a name, and what names it takes.
func namedSource(kind, name string) (source, func(string) bool) {
	part := kind + name
	switch kind {
	case KeyHeader:
		name = http.CanonicalHeaderKey(name)
		return func(q *question) (string, bool) { return q.named(part, name, headerOf) }, token
	case KeyCookie:
		return func(q *question) (string, bool) {
			return q.secret(part, func(q *question) (string, bool) { return cookieOf(q, name) })
		}, token
	case KeyQuery:
		return func(q *question) (string, bool) { return q.named(part, name, queryOf) }, printable
	case KeyClaim:
		return func(q *question) (string, bool) {
			return q.readable(part, func() (string, bool) { return q.claim(name) })
		}, printable
	default:
		return nil, nil
	}
}

// printable says whether a name is of visible ASCII.
func printable(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}
