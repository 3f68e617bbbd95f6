package httplimit

import (
	"net/http"
	"net/url"
	"strings"
)

// ResolvePath returns the path of a request as its handler finds it, so that no spelling of a path evades a list (rules
// RL87 and RL88): segments are decoded once, with a slash in one as %2F, and dot segments are resolved. A path that begins
// with base, which ends with a slash, keeps base and the segment behind it whatever dot segments follow; base may be
// empty. The alias is the path as it reads for a handler that makes nothing of empty segments or of a missing slash behind
// what is kept; it is empty where that is no other path.
func ResolvePath(r *http.Request, base string) (resolved, alias string) {
	raw := r.URL.RawPath
	if raw == "" { // The decoded path says it all.
		raw = r.URL.Path
		if plainPath(raw) && !endsInRoot(raw, base) {
			return raw, ""
		}
		raw = strings.ReplaceAll(raw, "%", "%25")
	}
	if !strings.HasPrefix(raw, "/") {
		return r.URL.Path, ""
	}
	root, rest := cutRoot(raw, base)
	if rest == "" {
		return root, root + "/"
	}
	resolved, alias = root+resolve(rest, keepEmpty), root+resolve(rest, mergeEmpty)
	if alias == resolved {
		alias = ""
	}
	return resolved, alias
}

// CleanPath returns a path that somebody wrote in the form that [ResolvePath] gives to those of requests.
func CleanPath(raw string) string {
	if !strings.HasPrefix(raw, "/") {
		return raw
	}
	return resolve(raw, keepEmpty)
}

// plainPath says that a path has neither dot segments nor empty ones.
func plainPath(path string) bool {
	return !strings.Contains(path, "/.") && !strings.Contains(path, "//")
}

// endsInRoot says that nothing stands behind what cutRoot cuts off.
func endsInRoot(path, base string) bool {
	return base != "" && len(path) > len(base) && strings.HasPrefix(path, base) && strings.IndexByte(path[len(base):], '/') < 0
}

// cutRoot cuts off what dot segments cannot leave.
func cutRoot(raw, base string) (root, rest string) {
	if base == "" || len(raw) == len(base) || !strings.HasPrefix(raw, base) {
		return "", raw
	}
	end := len(base) + strings.IndexByte(raw[len(base):], '/')
	if end < len(base) {
		end = len(raw)
	}
	return base + decode(raw[len(base):end]), raw[end:]
}

// emptiness says what becomes of empty segments.
type emptiness int

const (
	keepEmpty emptiness = iota
	mergeEmpty
)

// resolve removes the dot segments of a path that begins with a slash, and decodes the others. One that is removed at the
// end leaves the slash before it (RFC 3986, section 5.2.4).
func resolve(raw string, empty emptiness) string {
	var segments []string
	for rest, more := raw[1:], true; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		segment = decode(segment)
		dots := segment == "." || segment == ".."
		switch {
		case segment == ".." && len(segments) > 0:
			segments = segments[:len(segments)-1]
		case !dots && (segment != "" || !more || empty == keepEmpty):
			segments = append(segments, segment)
		}
		if dots && !more {
			segments = append(segments, "")
		}
	}
	return "/" + strings.Join(segments, "/")
}

// decode decodes a segment once. A slash in it stays encoded, so that one segment does not read as two.
func decode(segment string) string {
	if strings.IndexByte(segment, '%') < 0 {
		return segment
	}
	decoded, err := url.PathUnescape(segment)
	if err != nil {
		return segment
	}
	return strings.ReplaceAll(decoded, "/", "%2F")
}
