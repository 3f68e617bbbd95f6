package engine

import (
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
)

// defaultMaxAge is how long a browser may keep a preflight answer where the project does not say: long enough to spare
// most preflights, short enough that a changed mock is seen.
const defaultMaxAge = 10 * time.Minute

// originRules say what browsers of other origins may see (rules L9 to L20).
type originRules struct {
	off bool
	// open tells that the answer is the same for every origin: *.
	open        bool
	credentials bool
	// every allows all origins but null, which must be listed.
	every   bool
	null    bool
	listed  []originPattern
	expose  string
	maxAge  []string
	private bool
}

// originPattern is a listed origin.
type originPattern struct {
	scheme, host, port string
	// below tells that host is a domain whose hosts match: https://*.b.test.
	below bool
}

func compileOrigins(c *mockbase.CORS) (originRules, error) {
	o := originRules{off: c.Disabled, credentials: c.Credentials, private: c.PrivateNetwork}
	o.expose = strings.Join(c.ExposeHeaders, ", ")
	maxAge := defaultMaxAge
	if c.MaxAge != nil {
		maxAge = *c.MaxAge
	}
	o.maxAge = []string{strconv.FormatInt(int64(maxAge/time.Second), 10)}
	o.every = len(c.Origins) == 0
	for _, text := range c.Origins {
		switch text {
		case "*":
			o.every = true
		case "null":
			o.null = true
		default:
			pattern, err := parseOrigin(text)
			if err != nil {
				return o, err
			}
			o.listed = append(o.listed, pattern)
		}
	}
	o.open = o.every && !o.credentials
	return o, nil
}

// parseOrigin reads scheme://host or scheme://host:port. The default port of a scheme is left out, as browsers do.
func parseOrigin(text string) (originPattern, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.User != nil {
		return originPattern{}, fmt.Errorf("%q is no origin; write scheme://host, with a port if it is not the usual one", text)
	}
	p := originPattern{scheme: strings.ToLower(u.Scheme), host: strings.ToLower(u.Hostname()), port: u.Port()}
	if p.scheme == "http" && p.port == "80" || p.scheme == "https" && p.port == "443" {
		p.port = ""
	}
	if domain, ok := strings.CutPrefix(p.host, "*."); ok {
		p.host, p.below = "."+domain, true
	}
	return p, nil
}

func (p originPattern) match(origin originPattern) bool {
	if p.scheme != origin.scheme || p.port != origin.port {
		return false
	}
	if p.below {
		return len(origin.host) > len(p.host) && strings.HasSuffix(origin.host, p.host)
	}
	return p.host == origin.host
}

// allow returns the value that allows a request's origin, nil if it is not allowed (rule L17). The values are those of
// the request's Origin header.
func (o *originRules) allow(origin []string) []string {
	switch {
	case o.off:
		return nil
	case o.open:
		return anyOrigin()
	case len(origin) != 1:
		return nil
	case origin[0] == "null":
		if o.null {
			return origin
		}
		return nil
	case o.every, o.lists(origin[0]):
		return origin
	default:
		return nil
	}
}

func (o *originRules) lists(text string) bool {
	origin, err := parseOrigin(text)
	return err == nil && !origin.below && slices.ContainsFunc(o.listed, func(p originPattern) bool { return p.match(origin) })
}

func anyOrigin() []string { return []string{"*"} }

// decorate adds what a browser of an allowed origin needs to see the answer with this header. What the answer has
// already stays, so that nothing is doubled (rules L15 to L19).
func (o *originRules) decorate(h http.Header, allowed []string) {
	switch {
	case o.off:
		return
	case o.open:
		allowed = anyOrigin()
	default:
		varyBy(h, headerOrigin)
	}
	if allowed == nil {
		return
	}
	addMissing(h, headerAllowOrigin, allowed)
	if o.credentials {
		addMissing(h, headerAllowCredentials, []string{"true"})
	}
	if names := o.exposed(h); names != "" {
		addMissing(h, headerExpose, []string{names})
	}
}

// varyBy adds a name to the Vary header, unless it is there (rule L16).
func varyBy(h http.Header, name string) {
	for key, lines := range h {
		if !strings.EqualFold(key, headerVary) || len(lines) == 0 {
			continue
		}
		for _, line := range lines {
			for item := range strings.SplitSeq(line, ",") {
				if item = strings.Trim(item, " \t"); item == "*" || strings.EqualFold(item, name) {
					return
				}
			}
		}
		h[key] = append([]string{lines[0] + ", " + name}, lines[1:]...)
		return
	}
	h[headerVary] = []string{name}
}

func addMissing(h http.Header, name string, lines []string) {
	if !holdsHeader(h, name) {
		h[name] = lines
	}
}

// holdsHeader tells whether a header is there in any spelling, be it without a line.
func holdsHeader(h http.Header, name string) bool {
	if _, ok := h[name]; ok {
		return true
	}
	for key := range h {
		if strings.EqualFold(key, name) {
			return true
		}
	}
	return false
}

// exposed lists the headers of an answer that a browser would hide otherwise (rule L19).
func (o *originRules) exposed(h http.Header) string {
	if o.expose != "" {
		return o.expose
	}
	names := make([]string, 0, len(h)+1)
	for key, lines := range h {
		if len(lines) > 0 && !alwaysExposed(key) {
			names = append(names, key)
		}
	}
	if !holdsHeader(h, headerDate) {
		names = append(names, headerDate)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// alwaysExposed tells whether listing a header is of no use: it is safelisted by the Fetch standard, or part of the
// protocol itself, or never shown.
func alwaysExposed(name string) bool {
	switch canonical := textproto.CanonicalMIMEHeaderKey(name); canonical {
	case "Cache-Control", "Content-Language", headerContentLength, headerContentType, "Expires", "Last-Modified", "Pragma",
		headerTrailer, headerSetCookie, "Set-Cookie2":
		return true
	default:
		return strings.HasPrefix(canonical, "Access-Control-")
	}
}

// isPreflight tells whether a request is a CORS preflight (rule L9).
func (o *originRules) isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && !o.off && len(r.Header[headerOrigin]) > 0 && len(r.Header[headerRequestMethod]) > 0
}

// preflight returns the header of the automatic answer to a preflight (rules L11 to L15 and L20). The methods are those
// that mocks state for the path.
func (o *originRules) preflight(r *http.Request, methods methodSet, s *settings) http.Header {
	h := http.Header{}
	allowed := o.allow(r.Header[headerOrigin])
	if !o.open {
		h[headerVary] = []string{headerOrigin}
	}
	if allowed == nil {
		return h
	}
	h[headerAllowOrigin] = allowed
	if o.credentials {
		h[headerAllowCredentials] = []string{"true"}
	}
	all := methodSet{names: methods.complete(s)}
	all.add(r.Header[headerRequestMethod][0])
	h[headerAllowMethods] = []string{strings.Join(all.names, ", ")}
	if names := r.Header[headerRequestHeaders]; len(names) > 0 {
		h[headerAllowHeaders] = []string{strings.Join(names, ", ")}
	}
	h[headerMaxAge] = o.maxAge
	if o.private && slices.Equal(r.Header[headerRequestPrivate], []string{"true"}) {
		h[headerAllowPrivate] = []string{"true"}
	}
	return h
}

// cleanHeader drops the names without a line, which only speak to net/http.
func cleanHeader(h http.Header) {
	maps.DeleteFunc(h, func(_ string, lines []string) bool { return len(lines) == 0 })
}
