package outbound

import (
	"fmt"
	"net/url"
	"strings"
)

// ParseURL reads the URL of a call, whose parts may come from a request (rule S5). Bytes of its path and query that no URL
// may hold, such as blanks and text beyond ASCII, are percent-encoded, so that none of them reaches the request line;
// escapes that are there stay as they are written. The error is a *[BlockedError] when the text is no URL that can be
// called.
func ParseURL(text string) (*url.URL, error) {
	authority := authorityEnd(text)
	u, err := url.Parse(text[:authority] + EscapeTarget(text[authority:], illegal))
	if err != nil {
		return nil, &BlockedError{Reason: ReasonURL, Detail: fmt.Sprintf("%q is no URL", text)}
	}
	if err := CheckURL(u); err != nil {
		return nil, err
	}
	return u, nil
}

// authorityEnd is where the path, the query or the fragment of a URL begins. Nothing before it is escaped: a host that holds
// a blank is none.
func authorityEnd(text string) int {
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		return len(text)
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		return len(scheme) + len("://") + end
	}
	return len(text)
}

// EscapeTarget percent-encodes those bytes of a raw path and query of which must says so.
func EscapeTarget(raw string, must func(byte) bool) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	kept := 0
	for i := range len(raw) {
		if c := raw[i]; must(c) {
			b.WriteString(raw[kept:i])
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
			kept = i + 1
		}
	}
	if kept == 0 {
		return raw
	}
	b.WriteString(raw[kept:])
	return b.String()
}

// Breaking tells whether a byte would end a request target, or the line that it is on.
func Breaking(c byte) bool { return c <= ' ' || c == 0x7f }

// illegal tells whether RFC 3986 knows no place for a byte in a path or query. A percent sign has one.
func illegal(c byte) bool {
	return Breaking(c) || c >= 0x80 || strings.IndexByte("\"<>\\^`{|}", c) >= 0
}
