package mockbase

import (
	"fmt"
	"net/netip"
	"strings"
)

// Upstream is one entry of a list of what may be called (rule S6): a prefix of addresses, a word that stands for some, or a
// host by its name. One of the members is set.
type Upstream struct {
	Prefix netip.Prefix
	// Word is one of those that stand for a kind of address.
	Word UpstreamWord
	// Host is a name in lower case; one that begins with "*." stands for every name below the rest.
	Host string
}

// UpstreamWord stands for a kind of address in a list of what may be called.
type UpstreamWord string

// The words of such lists.
const (
	UpstreamLoopback  UpstreamWord = "loopback"
	UpstreamPrivate   UpstreamWord = "private"
	UpstreamLinkLocal UpstreamWord = "link-local"
)

// longestHost is the length of the longest name that the domain name system knows, longestLabel that of its parts (RFC 1035).
const (
	longestHost  = 253
	longestLabel = 63
)

// ParseUpstream reads an entry of a project's list of what may be called: an address, a prefix such as 10.0.0.0/8, one of
// the words loopback, private and link-local, or a host such as api.example.com or *.example.com. The error says what may be
// written.
func ParseUpstream(text string) (Upstream, error) {
	entry := strings.TrimSpace(text)
	switch word := UpstreamWord(entry); word {
	case UpstreamLoopback, UpstreamPrivate, UpstreamLinkLocal:
		return Upstream{Word: word}, nil
	}
	if address, err := netip.ParseAddr(entry); err == nil {
		address = address.Unmap().WithZone("")
		return Upstream{Prefix: netip.PrefixFrom(address, address.BitLen())}, nil
	}
	if prefix, err := netip.ParsePrefix(entry); err == nil {
		return Upstream{Prefix: prefix}, nil
	}
	if host := strings.ToLower(strings.TrimSuffix(entry, ".")); isHost(host) {
		return Upstream{Host: host}, nil
	}
	return Upstream{}, fmt.Errorf("%q is no address, no prefix such as 10.0.0.0/8, no host such as api.example.com or *.example.com, and none of "+
		"loopback, private and link-local", text)
}

// isHost tells whether a text in lower case is the name of a host. A last part of digits alone would be an address that is
// written wrongly.
func isHost(host string) bool {
	host = strings.TrimPrefix(host, "*.")
	if host == "" || len(host) > longestHost {
		return false
	}
	last := ""
	for label := range strings.SplitSeq(host, ".") {
		if !isLabel(label) {
			return false
		}
		last = label
	}
	return strings.Trim(last, "0123456789") != ""
}

func isLabel(label string) bool {
	return label != "" && len(label) <= longestLabel && label[0] != '-' && label[len(label)-1] != '-' &&
		strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}
