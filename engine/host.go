package engine

import (
	"strings"
)

// hostPattern is a compiled host condition (rule A12).
type hostPattern struct {
	// text is the condition as its author wrote it.
	text string
	name string
	// port is "" when the condition states none.
	port string
	// below tells that name is a domain whose hosts match: *.x.test.
	below bool
}

func compileHost(text string) *hostPattern {
	if text == "" {
		return nil
	}
	h := &hostPattern{text: text}
	h.name, h.port = splitHost(text)
	if domain, ok := strings.CutPrefix(h.name, "*"); ok {
		h.name, h.below = domain, true
	}
	h.name = strings.ToLower(h.name)
	return h
}

// splitHost divides a host into its name, without a dot at the end, and its port. The brackets of an IPv6 address stay.
func splitHost(host string) (name, port string) {
	name = host
	if colon := strings.LastIndexByte(host, ':'); colon > strings.LastIndexByte(host, ']') {
		name, port = host[:colon], host[colon+1:]
	}
	return strings.TrimSuffix(name, "."), port
}

// match compares without regard to letter case; the port counts only if the condition states one.
func (h *hostPattern) match(host string) bool {
	if h == nil {
		return true
	}
	name, port := splitHost(host)
	if h.port != "" && h.port != port {
		return false
	}
	if h.below {
		at := len(name) - len(h.name)
		return at > 0 && strings.EqualFold(name[at:], h.name)
	}
	return strings.EqualFold(name, h.name)
}
