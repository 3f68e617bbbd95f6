package mockbase

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

const maxChunks = 1000

// decodeStream reads how a body is written over time.
func decodeStream(at place) *Stream {
	s := &Stream{}
	if at.Kind == NodeBool && at.Text == "true" {
		s.Chunked = true
		return s
	}
	if at.Kind != NodeObject {
		at.fault(FieldType, "must be true or an object, found %s", at.describe())
		return s
	}
	f := at.fields()
	w := waitFields{f, maxAfter}
	f.Int("chunks", &s.Chunks, 1, maxChunks)
	w.wait("over", &s.Over)
	f.Int64("bytesPerSecond", &s.BytesPerSecond, 1, math.MaxInt64)
	w.wait("slowHeaders", &s.SlowHeaders)
	f.Bool("chunked", &s.Chunked)
	f.Done()
	f.needsAny("member")
	if f.Has("chunks") != f.Has("over") {
		f.needs("chunks", "over")
		f.needs("over", "chunks")
	}
	f.atMostOne("chunks", "bytesPerSecond")
	return s
}

// decodeFault reads a failure on the wire: its kind, or an object.
func decodeFault(at place) *Fault {
	kinds := []string{"reset", "reset_connection", "empty", "garbage", "malformed_chunk", "truncate", "hang", "tls_abort"}
	fault := &Fault{}
	if at.Kind == NodeText {
		enumerated(at, at.Text, &fault.Kind, kinds...)
		return fault
	}
	if at.Kind != NodeObject {
		at.fault(FieldType, "must be a kind of fault or an object, found %s", at.describe())
		return fault
	}
	f := at.fields()
	oneOf(f, "kind", &fault.Kind, append(kinds, "raw")...)
	fault.AfterBytes = f.optionalInt64("afterBytes", 0, math.MaxInt64)
	fault.Probability = f.optionalFloat("probability", 1)
	// What is there and cannot be read must not change what else is allowed.
	if fault.AfterBytes == nil && f.Has("afterBytes") {
		fault.AfterBytes = new(int64(0))
	}
	if fault.Probability == nil && f.Has("probability") {
		fault.Probability = new(0.0)
	}
	f.Duration("for", &fault.For)
	f.base64("raw", &fault.Raw)
	f.Required("kind")
	f.Done()
	checkFault(f, fault)
	return fault
}

func checkFault(f *Fields, fault *Fault) {
	if fault.Kind == "" {
		return
	}
	if fault.Kind == "raw" {
		f.Required("raw")
	}
	f.onlyFor(fault.Kind, "afterBytes", "reset", "truncate")
	f.onlyFor(fault.Kind, "for", "hang")
	f.onlyFor(fault.Kind, "raw", "raw")
}

// onlyFor notes a member that has no meaning for a kind of fault.
func (f *Fields) onlyFor(kind, name string, allowed ...string) {
	if f.Has(name) && !slices.Contains(allowed, kind) {
		f.Fault(name, FieldConflict, "has no meaning for %s: it needs kind: %s", kind, alternatives(allowed))
	}
}

// decodeProxy reads how a request is passed on.
func decodeProxy(at place) *Proxy {
	f := at.fields()
	p := &Proxy{Timeout: 30 * time.Second, Record: "never", RecordHeaders: []string{"Accept", "Content-Type"}}
	if f.Text("to", &p.To) {
		checkURL(f, "to", p.To)
	}
	if f.Text("stripPrefix", &p.StripPrefix) && !strings.HasPrefix(p.StripPrefix, "/") {
		f.Fault("stripPrefix", FieldPattern, "must start with a slash, found %s", quote(p.StripPrefix))
	}
	decodePreserveHost(f, p)
	p.SetHeaders = decodeHeaders(f, "setHeaders")
	f.Texts("removeHeaders", &p.RemoveHeaders)
	f.Duration("timeout", &p.Timeout)
	f.Bool("insecureTLS", &p.InsecureTLS)
	f.Bool("forwarded", &p.Forwarded)
	f.Bool("via", &p.Via)
	f.Bool("rewriteLocation", &p.RewriteLocation)
	f.Bool("upgrade", &p.Upgrade)
	oneOf(f, "record", &p.Record, "never", "new", "all")
	f.Texts("recordHeaders", &p.RecordHeaders)
	f.Required("to")
	f.Done()
	return p
}

// decodePreserveHost reads true, false or the host to send.
func decodePreserveHost(f *Fields, p *Proxy) {
	switch n := f.node.Find("preserveHost"); {
	case n != nil && n.Kind == NodeText:
		f.Text("preserveHost", &p.HostText)
	case n != nil && n.Kind != NodeBool:
		f.Node("preserveHost")
		f.Fault("preserveHost", FieldType, "must be true, false or a host, found %s", n.describe())
	default:
		f.Bool("preserveHost", &p.PreserveHost)
	}
}

// checkURL notes an outbound URL that can never be called (rule S5). A template is checked when it is rendered.
func checkURL(f *Fields, name, text string) {
	if isTemplate(text) {
		return
	}
	rest, isHTTPS := strings.CutPrefix(text, "https://")
	rest, isHTTP := strings.CutPrefix(rest, "http://")
	switch {
	case isHTTP == isHTTPS, rest == "":
		f.Fault(name, FieldPattern, "must begin with http:// or https:// and a host, found %s", quote(text))
	case strings.Contains(rest, "@"):
		f.Fault(name, FieldPattern, "holds @: a URL takes no user and password here, send them in a header")
	case strings.ContainsFunc(rest, isBlank):
		f.Fault(name, FieldPattern, "holds a blank, found %s", quote(text))
	default:
		checkPort(f, name, rest)
	}
}

// checkPort notes a port that is none. The text begins with the authority of a URL.
func checkPort(f *Fields, name, text string) {
	authority := text
	if end := strings.IndexAny(text, "/?#"); end >= 0 {
		authority = text[:end]
	}
	colon := strings.LastIndexByte(authority, ':')
	if colon < 0 || strings.HasSuffix(authority, "]") || colon == len(authority)-1 {
		return
	}
	if port, err := strconv.ParseUint(authority[colon+1:], 10, 16); err != nil || port == 0 {
		f.Fault(name, FieldRange, "has the port %s: ports are from 1 to 65535", quote(authority[colon+1:]))
	}
}

func isBlank(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }
