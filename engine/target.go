package engine

import (
	"errors"
	"net/url"
	"strings"

	"github.com/mockbase/mockbase/engine/operator"
)

// errEscape is a percent sign without two hexadecimal digits in a path (rule B6).
var errEscape = errors.New("a percent sign is not followed by two hexadecimal digits")

// target is a request target taken apart, everything still as it was sent.
type target struct {
	slug string
	// path is what follows the project's base path; it begins with a slash.
	path string
	// query is what follows the first question mark; asked tells that there is one (rule C13).
	query string
	asked bool
}

// parseTarget reads a request target below prefix, which ends with a slash. It reports false when the target lies
// elsewhere. The authority of an absolute-form target is passed over: net/http has made it the request's host (rule
// A12). Two slashes at the beginning are a path and no authority (rule B9).
func parseTarget(raw, prefix string) (target, bool) {
	location, query, asked := strings.Cut(originForm(raw), "?")
	below, ok := strings.CutPrefix(location, prefix)
	if !ok {
		return target{}, false
	}
	t := target{slug: below, path: "/", query: query, asked: asked}
	if slash := strings.IndexByte(below, '/'); slash >= 0 {
		t.slug, t.path = below[:slash], below[slash:]
	}
	if decoded, err := unescape(t.slug); err == nil {
		t.slug = decoded
	}
	return t, true
}

// originForm cuts scheme and authority off an absolute-form target.
func originForm(raw string) string {
	if strings.HasPrefix(raw, "/") {
		return raw
	}
	_, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return raw
	}
	end := strings.IndexAny(rest, "/?")
	switch {
	case end < 0:
		return "/"
	case rest[end] == '?':
		return "/" + rest[end:]
	default:
		return rest[end:]
	}
}

// pathRules are the settings that change how paths compare.
type pathRules struct {
	// ignoreCase is pathCase: ignore (rule B11), mergeEmpty is emptySegments: merge (rule B9).
	ignoreCase, mergeEmpty bool
}

// requestPath is the path of a request as the mocks see it.
type requestPath struct {
	// segments are decoded once (rules B1 to B5), without dot segments (rule B8).
	segments []string
	// keys are the segments in the form in which literals compare; the same slice unless letter case is ignored.
	keys []string
	// sent is the path as it was sent, asSent that decoding changed nothing.
	sent   string
	asSent bool
}

// text is the path with its segments decoded.
func (p *requestPath) text() string {
	if p.asSent {
		return p.sent
	}
	return "/" + strings.Join(p.segments, "/")
}

// split takes a raw path, which begins with a slash, apart. It appends the segments to buf, to keep them off the heap.
func (o pathRules) split(raw string, buf []string) (requestPath, error) {
	p := requestPath{sent: raw, asSent: true, segments: buf}
	escaped := strings.IndexByte(raw, '%') >= 0
	for rest, more := raw[1:], true; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		if escaped {
			decoded, err := unescape(segment)
			if err != nil {
				return p, err
			}
			p.asSent = p.asSent && len(decoded) == len(segment)
			segment = decoded
		}
		o.add(&p, segment, more)
	}
	p.keys = p.segments
	if o.ignoreCase {
		p.keys = operator.FoldAll(p.segments)
	}
	return p, nil
}

// add appends one decoded segment; more tells that others follow. Removing a dot segment at the end leaves the slash
// before it (RFC 3986, section 5.2.4).
func (o pathRules) add(p *requestPath, segment string, more bool) { //nolint:revive // more is a fact about the segment and selects no other behaviour
	switch {
	case segment == "" && o.mergeEmpty && more:
		p.asSent = false
		return
	case segment == ".":
	case segment == "..":
		p.segments = p.segments[:max(0, len(p.segments)-1)]
	default:
		p.segments = append(p.segments, segment)
		return
	}
	p.asSent = false
	if !more {
		p.segments = append(p.segments, "")
	}
}

// unescape decodes a segment once; a plus stays a plus (rules B4 to B6).
func unescape(segment string) (string, error) {
	decoded, err := url.PathUnescape(segment)
	if err != nil {
		return "", errEscape
	}
	return decoded, nil
}
