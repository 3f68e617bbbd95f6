package mockbase

import (
	"strconv"
	"strings"
)

// maxSlug is the most characters of a slug: that of a DNS label, give or take one, and short enough for a table column.
const maxSlug = 64

// ValidSlug tells whether s may name a project, mock, response, policy or the like: 1 to 64 lower-case letters, digits
// and hyphens, without a hyphen at either end. No slug begins with the prefix of an id, as those hold an underscore
// (rule M-3).
func ValidSlug(s string) bool {
	if s == "" || len(s) > maxSlug || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if !slugByte(s[i]) && s[i] != '-' {
			return false
		}
	}
	return true
}

func slugByte(c byte) bool { return 'a' <= c && c <= 'z' || digitByte(c) }

func digitByte(c byte) bool { return '0' <= c && c <= '9' }

func letterByte(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// wordByte tells whether c is an ASCII letter or digit.
func wordByte(c byte) bool { return letterByte(c) || digitByte(c) }

// DefaultMockName makes the name of a mock whose author gave none, from its method and path: get-users-id for GET
// /users/{id} (mock format, section 4). A parameter counts with its name alone. The result is a valid slug; two mocks
// may get the same one, see [UniqueName].
func DefaultMockName(method, path string) string {
	name := slugOf(method + "-" + nameablePath(path))
	if name == "" {
		return "mock"
	}
	return name
}

// nameablePath leaves the constraints out of a path pattern, so that {id:\d+} gives the same name as {id}.
func nameablePath(text string) string {
	pattern, err := ParsePath(text)
	if err != nil {
		return text
	}
	var b strings.Builder
	for _, segment := range pattern.Segments {
		b.WriteByte('/')
		for _, part := range segment.Parts {
			b.WriteString(part.Literal)
			b.WriteString("-" + part.Name)
		}
	}
	return b.String()
}

// slugOf turns any text into a slug, "" if nothing of it can stay.
func slugOf(text string) string {
	b := make([]byte, 0, maxSlug)
	for _, c := range []byte(strings.ToLower(text)) {
		if len(b) == maxSlug {
			break
		}
		switch {
		case slugByte(c):
			b = append(b, c)
		case len(b) > 0 && b[len(b)-1] != '-':
			b = append(b, '-')
		}
	}
	return strings.Trim(string(b), "-")
}

// UniqueName returns base, or base with the smallest suffix -2, -3, … that is not taken (mock format, section 4). The
// result is never longer than a slug may be.
func UniqueName(base string, taken func(name string) bool) string {
	name := base
	for n := 2; taken(name); n++ {
		name = suffixed(base, n)
	}
	return name
}

func suffixed(base string, n int) string {
	suffix := "-" + strconv.Itoa(n)
	stem := base[:min(len(base), maxSlug-len(suffix))]
	return strings.TrimRight(stem, "-") + suffix
}

// Names gives out names that are all different. The zero value is ready; it is not safe for concurrent use.
type Names struct {
	taken map[string]bool
	// next are the smallest suffixes that may be free, so that many of one name do not ask for the same ones again.
	next map[string]int
}

// Unique returns base, or base with the smallest suffix that is free, as [UniqueName] does, and takes it.
func (n *Names) Unique(base string) string {
	if n.taken == nil {
		n.taken, n.next = map[string]bool{}, map[string]int{}
	}
	name, at := base, max(n.next[base], 2)
	for ; n.taken[name]; at++ {
		name = suffixed(base, at)
	}
	n.taken[name], n.next[base] = true, at
	return name
}

// Taken tells whether a name was given out.
func (n *Names) Taken(name string) bool { return n.taken[name] }

// IsMockBase tells whether a path is one below which a project's mocks answer, such as /m/shop, or /tools/m/shop behind a
// proxy. What was exported names it as its server, and what is imported leaves it out: the next project has its own.
func IsMockBase(path string) bool {
	const mark = "/m/"
	trimmed := strings.TrimSuffix(path, "/")
	i := strings.LastIndex(trimmed, mark)
	return i >= 0 && ValidSlug(trimmed[i+len(mark):])
}
