package proxy

import (
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/textproto"
	"strconv"
	"strings"
)

const (
	headerConnection    = "Connection"
	headerContentLength = "Content-Length"
	headerContentType   = "Content-Type"
	headerExpect        = "Expect"
	headerHost          = "Host"
	headerLocation      = "Location"
	headerTE            = "Te"
	headerTrailer       = "Trailer"
	headerUpgrade       = "Upgrade"
	headerUserAgent     = "User-Agent"
	headerVia           = "Via"
)

// ownPrefix begins the names of the headers that steer this server. They are never forwarded (rule T3).
const ownPrefix = "Mockbase-"

// withoutHops returns a copy of a header without what belongs to one connection alone (rule T3).
func withoutHops(received http.Header) http.Header {
	h := received.Clone()
	if h == nil {
		h = http.Header{}
	}
	for _, line := range received[headerConnection] {
		for name := range strings.SplitSeq(line, ",") {
			delete(h, textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name)))
		}
	}
	for _, name := range [...]string{headerConnection, "Keep-Alive", "Proxy-Connection", headerTE, "Transfer-Encoding", headerUpgrade, "Proxy-Authorization", headerTrailer} {
		delete(h, name)
	}
	if listsToken(received[headerTE], "trailers") {
		h[headerTE] = []string{"trailers"}
	}
	return h
}

// withoutFraming empties a trailer of fields that no trailer may have (RFC 9110, section 6.5.1) and net/http refuses to send. It
// changes the trailer itself, as its values come with the end of the body.
func withoutFraming(trailer http.Header) http.Header {
	for _, name := range [...]string{headerContentLength, "Transfer-Encoding", headerTrailer} {
		delete(trailer, name)
	}
	return trailer
}

// withTrailer is a body whose trailer comes with its end.
type withTrailer struct {
	io.Reader

	of *http.Request
}

// Read reads the body, and takes from the trailer what is not forwarded.
func (b *withTrailer) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil {
		withoutFraming(b.of.Trailer)
	}
	return n, err //nolint:wrapcheck // it stands in for the body
}

// listsToken tells whether a list of tokens, in any number of lines, holds one, in any case and without parameters.
func listsToken(lines []string, token string) bool {
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ",") {
			item, _, _ = strings.Cut(item, ";")
			if strings.EqualFold(strings.TrimSpace(item), token) {
				return true
			}
		}
	}
	return false
}

// upgradeOf returns the protocol that a header asks to change to, "" for none.
func upgradeOf(h http.Header) string {
	if !listsToken(h[headerConnection], headerUpgrade) {
		return ""
	}
	return h.Get(headerUpgrade)
}

// outgoing builds the header of the call.
func (r *Route) outgoing(in *Request, hops string) http.Header {
	h := withoutHops(in.Header)
	for name := range h {
		if strings.HasPrefix(name, ownPrefix) {
			delete(h, name)
		}
	}
	if in.Unread == nil {
		// The body is here already: what the client expected has happened.
		delete(h, headerExpect)
	}
	if r.rule.Forwarded {
		in.forwarded(h)
	}
	if r.rule.Via {
		appendValue(h, headerVia, viaOf(in.In.ProtoMajor, in.In.ProtoMinor))
	}
	if upgrade := upgradeOf(in.Header); upgrade != "" && r.rule.Upgrade {
		h[headerConnection], h[headerUpgrade] = []string{headerUpgrade}, []string{upgrade}
	}
	r.edit(h)
	if _, stated := h[headerUserAgent]; !stated {
		// net/http would add its own.
		h[headerUserAgent] = []string{""}
	}
	h[hopsHeader] = []string{hops}
	return h
}

// edit removes and sets the headers that the author named (rule T6).
func (r *Route) edit(h http.Header) {
	for _, name := range r.remove {
		delete(h, name)
	}
	for _, set := range r.rule.SetHeaders {
		canonical := textproto.CanonicalMIMEHeaderKey(set.Name)
		delete(h, canonical)
		switch {
		case set.Remove:
		case canonical == headerUserAgent, canonical == headerHost:
			// net/http writes these two by itself, and knows them by this spelling.
			h[canonical] = set.Values
		default:
			h[set.Name] = set.Values
		}
	}
}

// forwarded appends who asked, and how, to what came (rule T5).
func (in *Request) forwarded(h http.Header) {
	peer := in.Peer.Unmap().WithZone("").String()
	appendValue(h, "X-Forwarded-For", peer)
	appendValue(h, "X-Forwarded-Host", in.In.Host)
	appendValue(h, "X-Forwarded-Proto", in.scheme())
	appendValue(h, "Forwarded", "for="+forwardedNode(in.Peer)+";host="+quotedString(in.In.Host)+";proto="+in.scheme())
}

// forwardedNode spells an address as RFC 7239, section 6, wants it.
func forwardedNode(peer netip.Addr) string {
	peer = peer.Unmap().WithZone("")
	if peer.Is4() {
		return peer.String()
	}
	return `"[` + peer.String() + `]"`
}

func quotedString(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

func (in *Request) scheme() string {
	if in.In.TLS != nil {
		return "https"
	}
	return "http"
}

// appendValue adds an item to a comma list, which it makes one line.
func appendValue(h http.Header, name, value string) {
	if former := h[name]; len(former) > 0 {
		value = strings.Join(former, ", ") + ", " + value
	}
	h[name] = []string{value}
}

// viaOf names the protocol that a message came by (RFC 9110, section 7.6.3).
func viaOf(major, minor int) string {
	version := strconv.Itoa(major)
	if major < 2 {
		version += "." + strconv.Itoa(minor)
	}
	return version + " mockbase"
}

// answerHeader builds the header of the answer from the upstream's.
func (r *Route) answerHeader(in *Request, answer *http.Response) http.Header {
	h := withoutHops(answer.Header)
	// What another server says of its mocks would be taken for a word of this one (rule M7).
	delete(h, ownPrefix+"Mock")
	if r.rule.Via {
		appendValue(h, headerVia, viaOf(answer.ProtoMajor, answer.ProtoMinor))
	}
	if r.rule.RewriteLocation {
		for i, location := range h[headerLocation] {
			h[headerLocation][i] = r.location(in, location)
		}
	}
	if _, typed := h[headerContentType]; !typed {
		// Nothing is sniffed.
		h[headerContentType] = nil
	}
	if answer.StatusCode == http.StatusNotModified {
		keepNotModified(h)
	}
	return h
}

// keepNotModified spells length and type so that net/http does not drop them from a 304.
func keepNotModified(h http.Header) {
	for canonical, spelled := range map[string]string{headerContentLength: "content-length", headerContentType: "content-type"} {
		if lines := h[canonical]; len(lines) > 0 {
			h[spelled], h[canonical] = lines, nil
		}
	}
}

// location turns a place at the upstream into the place of the same resource here. What lies elsewhere stays (rule T9).
func (r *Route) location(in *Request, location string) string {
	path := location
	if absolute, ok := cutOrigin(location, r.base.Scheme, r.base.Host); ok {
		path = absolute
	} else if !strings.HasPrefix(location, "/") || strings.HasPrefix(location, "//") {
		return location
	}
	rest, below := strings.CutPrefix(path, r.basePath)
	if !below || rest != "" && !strings.ContainsAny(rest[:1], "/?#") {
		return location
	}
	requested, _, _ := strings.Cut(in.Target, "?")
	if _, cut := r.stripped(requested); cut {
		rest = r.strip + rest
	}
	return in.OwnBase + rest
}

// cutOrigin cuts scheme and authority off an absolute URL of the upstream. Default ports may be there or not.
func cutOrigin(location, scheme, host string) (string, bool) {
	rest, ok := strings.CutPrefix(location, scheme+"://")
	if !ok {
		return "", false
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if !strings.EqualFold(withPort(rest[:end], scheme), withPort(host, scheme)) {
		return "", false
	}
	if rest = rest[end:]; rest == "" || rest[0] != '/' {
		rest = "/" + rest
	}
	return rest, true
}

func withPort(host, scheme string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	if scheme == "https" {
		return host + ":443"
	}
	return host + ":80"
}
