package guard

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase/ratelimit"
)

// Matcher selects requests. All that it states must hold; the zero matcher selects every request.
type Matcher struct {
	// Places are those of the attempts.
	Places []string
	// Methods are exact.
	Methods []string
	// Paths are exact, or a prefix that ends in *. They are compared with the path and with the route pattern.
	Paths []string
	// Predicate looks at the rest; nil is true. It must be safe for concurrent use and must not keep the attempt.
	Predicate func(*ratelimit.Attempt) bool
}

func (m *Matcher) matches(a *ratelimit.Attempt) bool {
	if len(m.Places) > 0 && !slices.Contains(m.Places, a.Place) {
		return false
	}
	if len(m.Methods) > 0 && !slices.Contains(m.Methods, a.Method) {
		return false
	}
	if len(m.Paths) > 0 && !m.matchesPath(a) {
		return false
	}
	return m.Predicate == nil || m.Predicate(a)
}

func (m *Matcher) matchesPath(a *ratelimit.Attempt) bool {
	return slices.ContainsFunc(m.Paths, func(pattern string) bool {
		return inOneReading(pattern, a) || a.Pattern != "" && covers(pattern, a.Pattern, a.IgnoreCase)
	})
}

// excludes says whether one of the patterns spares the attempt.
func excludes(patterns []string, a *ratelimit.Attempt) bool {
	for _, pattern := range patterns {
		if inEachReading(pattern, a) {
			return true
		}
	}
	return false
}

// covers says whether a pattern is the path, or a prefix of it if it ends in *, with or without regard to letter case.
func covers(pattern, path string, ignoreCase bool) bool { //nolint:revive // that is a fact about the request
	if ignoreCase {
		pattern, path = ratelimit.FoldPath(pattern), ratelimit.FoldPath(path)
	}
	prefix, open := strings.CutSuffix(pattern, "*")
	return path == pattern || open && strings.HasPrefix(path, prefix)
}

// inOneReading says whether a pattern covers the path or its alias, which is what refuses wants.
func inOneReading(pattern string, a *ratelimit.Attempt) bool {
	return covers(pattern, a.Path, a.IgnoreCase) || a.Alias != "" && covers(pattern, a.Alias, a.IgnoreCase)
}

// inEachReading says whether a pattern covers the path and its alias, which is what spares wants. A slash that was left
// out at the end makes no other path of it.
func inEachReading(pattern string, a *ratelimit.Attempt) bool {
	return covers(pattern, a.Path, a.IgnoreCase) && (a.Alias == "" || a.Alias == a.Path+"/" || covers(pattern, a.Alias, a.IgnoreCase))
}

// The parts of a key that a guard knows by itself. Any other is asked of the attempt's Parts (rule RL78).
const (
	// PartIP is the identifier of the client's address.
	PartIP = "ip"
	// PartGlobal is the same for all.
	PartGlobal = "global"
	// PartPath is the path; PartEndpoint is method and route pattern, or the path where no route is known (rule RL80).
	PartPath     = "path"
	PartEndpoint = "endpoint"
	// PartUser is who is asking if that is known, and else the address.
	PartUser = "user"
)

// Missing says what becomes of a check whose key lacks a part (rule RL79).
type Missing string

// MissingIP takes the client's address for the whole key and is the default; MissingSkip skips the rule; MissingDeny
// refuses the request.
const (
	MissingIP   Missing = "ip"
	MissingSkip Missing = "skip"
	MissingDeny Missing = "deny"
)

// noAddress is the identifier of a client without an address.
const noAddress = "unix"

// Key says who shares a counter or a ban. The zero key is the client's address.
type Key struct {
	// Parts are joined so that they cannot run together; none is PartIP.
	Parts []string
	// OnMissing is MissingIP, MissingSkip or MissingDeny; "" is MissingIP.
	OnMissing Missing
}

func (k *Key) validate(rule string) error {
	if slices.Contains(k.Parts, "") {
		return fault("rule %q: a part of the key is empty", rule)
	}
	switch k.OnMissing {
	case "", MissingIP, MissingSkip, MissingDeny:
		return nil
	default:
		return fault("rule %q: missing keys %q are not ip, skip or deny", rule, k.OnMissing)
	}
}

// global says that everybody shares the key.
func (k *Key) global() bool { return len(k.Parts) == 1 && k.Parts[0] == PartGlobal }

// identifier returns the key of an attempt, and false if it lacks a part and the address may not stand in for it.
func (k *Key) identifier(a *ratelimit.Attempt) (key string, ok bool) {
	if len(k.Parts) == 0 {
		return addressOf(a), true
	}
	if len(k.Parts) == 1 {
		if own, known := ownPart(k.Parts[0], a); known {
			return own, true
		}
	}
	var joined []byte
	for _, part := range k.Parts {
		value, known := ownPart(part, a)
		if !known {
			value, known = askedPart(part, a)
		}
		if !known {
			return addressOf(a), k.OnMissing == "" || k.OnMissing == MissingIP
		}
		joined = appendPart(joined, value)
	}
	return string(joined), true
}

// ownPart returns a part that every attempt has.
func ownPart(part string, a *ratelimit.Attempt) (string, bool) {
	switch part {
	case PartIP:
		return addressOf(a), true
	case PartGlobal:
		return PartGlobal, true
	case PartPath:
		return keyPath(a), true
	case PartEndpoint:
		if a.Pattern == "" {
			return a.Method + " " + keyPath(a), true
		}
		return a.Method + " " + a.Pattern, true
	default:
		return "", false
	}
}

// keyPath is the path as it stands in keys: one for each spelling that is the same to the handler.
func keyPath(a *ratelimit.Attempt) string {
	if a.IgnoreCase {
		return ratelimit.FoldPath(a.Path)
	}
	return a.Path
}

func askedPart(part string, a *ratelimit.Attempt) (string, bool) {
	if a.Parts != nil {
		if value, ok := a.Parts.Part(part); ok {
			return value, true
		}
	}
	return addressOf(a), part == PartUser
}

// appendPart writes a part with its length before it, so that the parts of two keys cannot run together.
func appendPart(joined []byte, value string) []byte {
	joined = strconv.AppendInt(joined, int64(len(value)), 10)
	joined = append(joined, '~') // No address contains it, so that no part poses as one.
	return append(joined, value...)
}

func addressOf(a *ratelimit.Attempt) string {
	if a.Identifier == "" {
		return noAddress
	}
	return a.Identifier
}
