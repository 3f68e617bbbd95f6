package proxy

import (
	"net/textproto"
	"net/url"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/outbound"
)

// Route is a compiled rule for passing requests on. It is immutable.
type Route struct {
	rule *mockbase.Proxy
	// base is the upstream: scheme and host. basePath is its raw path without a slash at the end.
	base     *url.URL
	basePath string
	strip    string
	timeout  time.Duration
	// remove holds canonical names.
	remove []string
}

// Compile prepares a rule. The upstream's URL stays open when it is a template; [Route.To] fills it in then. The error is an
// *[outbound.BlockedError] when the URL can never be called.
func Compile(rule *mockbase.Proxy, templated Upstream) (*Route, error) {
	r := &Route{rule: rule, strip: strings.TrimRight(rule.StripPrefix, "/"), timeout: rule.Timeout}
	for _, name := range rule.RemoveHeaders {
		r.remove = append(r.remove, textproto.CanonicalMIMEHeaderKey(name))
	}
	if templated == TemplatedUpstream {
		return r, nil
	}
	return r.To(rule.To)
}

// Upstream says whether the upstream's URL is known before a request comes.
type Upstream int

// The URL of a TemplatedUpstream is rendered for each request.
const (
	FixedUpstream Upstream = iota
	TemplatedUpstream
)

// To returns the route to an upstream whose URL was just rendered.
func (r *Route) To(upstream string) (*Route, error) {
	u, err := outbound.ParseURL(upstream)
	if err != nil {
		return nil, err
	}
	if u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, &outbound.BlockedError{Reason: outbound.ReasonURL, Detail: "the upstream's URL takes no query and no fragment: those of the request are passed on"}
	}
	to := *r
	to.base, to.basePath = &url.URL{Scheme: u.Scheme, Host: u.Host}, strings.TrimRight(u.EscapedPath(), "/")
	return &to, nil
}

// target returns the URL for a raw request target, whose bytes it keeps (rule T1). A blank, which HTTP/2 lets pass, would
// end the target on HTTP/1 and is escaped.
func (r *Route) target(raw string) *url.URL {
	raw = outbound.EscapeTarget(raw, outbound.Breaking)
	path, query, asked := strings.Cut(raw, "?")
	path, _ = r.stripped(path)
	if path = r.basePath + path; path == "" {
		path = "/"
	}
	to := &url.URL{Scheme: r.base.Scheme, Host: r.base.Host, Opaque: path, RawQuery: query, ForceQuery: asked && query == ""}
	if !strings.HasPrefix(path, "//") {
		return to
	}
	// net/url takes an opaque part that begins with two slashes for an authority.
	to.Opaque = "//" + to.Host + path
	if decoded, err := url.PathUnescape(path); err == nil {
		plain := *to
		plain.Opaque, plain.Path, plain.RawPath = "", decoded, path
		if plain.EscapedPath() == path {
			return &plain
		}
	}
	return to
}

// stripped takes the prefix off a raw path, at the border of a segment.
func (r *Route) stripped(path string) (rest string, cut bool) {
	rest, cut = strings.CutPrefix(path, r.strip)
	if r.strip == "" || !cut || rest != "" && rest[0] != '/' {
		return path, false
	}
	return rest, true
}

// host is the Host header of the call (rule T4).
func (r *Route) host(received string) string {
	switch {
	case r.rule.HostText != "":
		return r.rule.HostText
	case r.rule.PreserveHost:
		return received
	default:
		return r.base.Host
	}
}
