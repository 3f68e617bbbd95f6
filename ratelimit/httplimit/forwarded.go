package httplimit

import (
	"net/netip"
	"strings"

	"github.com/mockbase/mockbase/ratelimit"
)

const (
	// maxHops and maxForwardedBytes bound how far a walk goes to the left (rule RL72).
	maxHops           = 32
	maxForwardedBytes = 4096
)

// chain is the syntax of a header that lists hops, the newest at the right.
type chain struct {
	// separator finds the last separator of a text, or -1.
	separator func(text string, c byte) int
	// read returns the address of an entry, or false if it cannot be read.
	read func(entry string) (netip.Addr, bool)
}

// forwardedForChain is the syntax of X-Forwarded-For (rule RL72).
func forwardedForChain() *chain { return &chain{separator: strings.LastIndexByte, read: readEntry} }

// forwardedChain is the syntax of Forwarded (RFC 7239, rule RL73).
func forwardedChain() *chain { return &chain{separator: lastUnquoted, read: readElement} }

// walk goes from the peer to the left over the trusted hops; all lines are one list. The first hop that is not trusted is
// the client. An entry that cannot be read ends the walk at the last hop that was accepted, because everything to its
// left is the client's to choose.
func (a *addressing) walk(lines []string, peer netip.Addr) netip.Addr {
	hops := hopReader{lines: lines, room: maxForwardedBytes, separator: a.chain.separator}
	last := peer
	for range maxHops {
		entry, ok := hops.next()
		if !ok {
			return last
		}
		address, ok := a.chain.read(entry)
		if !ok {
			return last
		}
		if last = address; !a.trusts(address) {
			return last
		}
	}
	return last
}

// hopReader takes the entries of a list from its right end, where our own proxies write.
type hopReader struct {
	// lines are those not yet begun; line is the rest of the one that is.
	lines []string
	line  string
	begun bool
	// room is the number of bytes that may still be read.
	room      int
	separator func(text string, c byte) int
}

// next returns the entry to the left of those already taken and passes over empty ones. It returns false at the left end
// and where the room ends within an entry.
func (h *hopReader) next() (string, bool) {
	for h.begun || len(h.lines) > 0 {
		if !h.begun {
			h.line, h.lines, h.begun = h.lines[len(h.lines)-1], h.lines[:len(h.lines)-1], true
		}
		seen := h.line[max(0, len(h.line)-h.room):]
		at := h.separator(seen, ',')
		if at < 0 && len(seen) < len(h.line) {
			return "", false
		}
		entry := seen[at+1:]
		h.room -= len(entry)
		if at < 0 {
			h.begun = false
		} else {
			h.line = h.line[:len(h.line)-len(entry)-1]
			h.room--
		}
		if entry = trim(entry); entry != "" {
			return entry, true
		}
	}
	return "", false
}

func trim(text string) string { return strings.Trim(text, " \t") }

// lastUnquoted returns the place of the last c outside quoted strings, read from the right, or -1. What stands to the left
// of an entry cannot change how the entry is read, even if it leaves a quotation open.
func lastUnquoted(text string, c byte) int {
	quoted := false
	for i := len(text) - 1; i >= 0; i-- {
		switch {
		case text[i] == '"' && !escaped(text, i):
			quoted = !quoted
		case text[i] == c && !quoted:
			return i
		}
	}
	return -1
}

// escaped says whether an odd number of backslashes stands before the byte.
func escaped(text string, at int) bool {
	before := strings.TrimRight(text[:at], `\`)
	return (at-len(before))%2 == 1
}

// readElement reads one element of Forwarded: the address of its only for parameter.
func readElement(element string) (netip.Addr, bool) {
	node, found := "", false
	for element != "" {
		at := lastUnquoted(element, ';')
		name, value, ok := strings.Cut(element[at+1:], "=")
		if ok && strings.EqualFold(trim(name), "for") {
			if found {
				return netip.Addr{}, false
			}
			node, found = trim(value), true
		}
		element = element[:max(0, at)]
	}
	node, ok := unquote(node)
	if !ok {
		return netip.Addr{}, false
	}
	return readEntry(withoutHiddenPort(node))
}

// unquote returns a token as it is and the content of a quoted string.
func unquote(text string) (string, bool) {
	if !strings.HasPrefix(text, `"`) {
		return text, true
	}
	if len(text) < 2 || !strings.HasSuffix(text, `"`) || escaped(text, len(text)-1) {
		return "", false
	}
	text = text[1 : len(text)-1]
	if !strings.Contains(text, `\`) {
		return text, true
	}
	plain := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			i++
		}
		plain = append(plain, text[i])
	}
	return string(plain), true
}

// withoutHiddenPort removes an obfuscated port such as ":_web".
func withoutHiddenPort(node string) string {
	if at := strings.LastIndex(node, ":_"); at > 0 {
		return node[:at]
	}
	return node
}

// readEntry reads one hop: an address with or without a port, brackets and zone (rule RL74).
func readEntry(entry string) (netip.Addr, bool) {
	entry = trim(entry)
	bracketed := strings.HasPrefix(entry, "[")
	host, port := entry, ""
	switch {
	case bracketed:
		var closed bool
		if host, port, closed = strings.Cut(entry[1:], "]"); !closed {
			return netip.Addr{}, false
		}
	case strings.Count(entry, ":") == 1:
		at := strings.IndexByte(entry, ':')
		host, port = entry[:at], entry[at:]
	}
	if port != "" && !isPort(port) {
		return netip.Addr{}, false
	}
	host, zone, zoned := strings.Cut(host, "%")
	six := strings.Contains(host, ":")
	if zoned && (zone == "" || !six) || bracketed && !six {
		return netip.Addr{}, false
	}
	address, err := netip.ParseAddr(host)
	return ratelimit.UnwrapAddress(address), err == nil
}

// isPort says whether a text is a colon and a port number.
func isPort(text string) bool {
	const longest = 5
	digits, ok := strings.CutPrefix(text, ":")
	if !ok || digits == "" || len(digits) > longest {
		return false
	}
	return strings.Trim(digits, "0123456789") == ""
}
