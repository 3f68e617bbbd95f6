package outbound

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// Reason says why a call is not made.
type Reason string

// The reasons for refusing a call (rules S5 to S7 and T13).
const (
	ReasonLoopback    Reason = "loopback"
	ReasonPrivate     Reason = "private"
	ReasonLinkLocal   Reason = "link-local"
	ReasonMetadata    Reason = "metadata"
	ReasonMulticast   Reason = "multicast"
	ReasonUnspecified Reason = "unspecified"
	ReasonReserved    Reason = "reserved"
	// ReasonProject is that of an address which the project's own list leaves out.
	ReasonProject Reason = "project"
	// ReasonSelf is that of a proxy whose target is this server.
	ReasonSelf Reason = "self"
	// ReasonLoop is that of a call which would be one more than MaxHops.
	ReasonLoop Reason = "loop"
	// ReasonURL is that of a URL that is not http or https, or that carries a user and password.
	ReasonURL Reason = "url"
)

// addressClass is a block of addresses that no call reaches unless it is allowed.
type addressClass struct {
	reason Reason
	within []netip.Prefix
}

// classes returns the blocks in the order in which they are looked up: the narrower one names the reason. The registries
// are those of RFC 6890 and its updates; metadata addresses are those that clouds document.
func classes() []addressClass {
	return []addressClass{
		{ReasonMetadata, prefixes("169.254.169.254/32", "169.254.170.2/32", "169.254.170.23/32", "100.100.100.200/32", "192.0.0.192/32",
			"168.63.129.16/32", "fd00:ec2::254/128", "fd00:ec2::23/128", "fd20:ce::254/128")},
		{ReasonUnspecified, prefixes("0.0.0.0/8", "::/128")},
		{ReasonLoopback, loopback()},
		{ReasonPrivate, private()},
		{ReasonLinkLocal, linkLocal()},
		{ReasonMulticast, prefixes("224.0.0.0/4", "ff00::/8")},
		{ReasonReserved, prefixes("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
			"2001::/23", "2001:db8::/32", "3fff::/20")},
	}
}

func loopback() []netip.Prefix { return prefixes("127.0.0.0/8", "::1/128") }

// private are the addresses of networks behind a router, those of carriers and of benchmark networks among them.
func private() []netip.Prefix {
	return prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "198.18.0.0/15", "fc00::/7", "fec0::/10", "64:ff9b:1::/48")
}

func linkLocal() []netip.Prefix { return prefixes("169.254.0.0/16", "fe80::/10") }

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}

func holds(list []netip.Prefix, address netip.Addr) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(address) })
}

// carrier is a block of IPv6 addresses that reach an IPv4 address, which begins at a byte of theirs.
type carrier struct {
	block netip.Prefix
	at    int
}

// carriers are NAT64 (RFC 6052), IPv4-translated (RFC 2765), IPv4-compatible (RFC 4291) and 6to4 (RFC 3056).
func carriers() []carrier {
	return []carrier{
		{netip.MustParsePrefix("64:ff9b::/96"), 12},
		{netip.MustParsePrefix("::ffff:0:0:0/96"), 12},
		{netip.MustParsePrefix("::/96"), 12},
		{netip.MustParsePrefix("2002::/16"), 2},
	}
}

// carried returns the IPv4 address that an IPv6 address reaches, or the address itself.
func carried(list []carrier, address netip.Addr) netip.Addr {
	if address == netip.IPv6Loopback() || address == netip.IPv6Unspecified() {
		return address
	}
	for _, c := range list {
		if c.block.Contains(address) {
			bytes := address.As16()
			return netip.AddrFrom4([4]byte(bytes[c.at : c.at+4]))
		}
	}
	return address
}

// ParseAllow reads a list of addresses that may be called: addresses, prefixes such as 10.0.0.0/8, and the words
// loopback, private and link-local. Hosts have no place in it: a name resolves to what its owner likes.
func ParseAllow(entries []string) ([]netip.Prefix, error) {
	list, err := ParseList(entries)
	if err != nil {
		return nil, err
	}
	if len(list.hosts) > 0 {
		return nil, fmt.Errorf("read allowed address %q: it is no address, no prefix such as 10.0.0.0/8, and none of loopback, private and link-local",
			list.hosts[0])
	}
	return list.prefixes, nil
}

// List is what a project may call of what the operator allows.
type List struct {
	prefixes []netip.Prefix
	hosts    []string
}

// ParseList reads the entries of a list, as [mockbase.ParseUpstream] does. Empty ones are passed over.
func ParseList(entries []string) (List, error) {
	var list List
	for _, text := range entries {
		if strings.TrimSpace(text) == "" {
			continue
		}
		entry, err := mockbase.ParseUpstream(text)
		if err != nil {
			return List{}, fmt.Errorf("read what may be called: %w", err)
		}
		list.add(entry)
	}
	return list, nil
}

func (l *List) add(entry mockbase.Upstream) {
	switch {
	case entry.Host != "":
		l.hosts = append(l.hosts, entry.Host)
	case entry.Word == mockbase.UpstreamLoopback:
		l.prefixes = append(l.prefixes, loopback()...)
	case entry.Word == mockbase.UpstreamPrivate:
		l.prefixes = append(l.prefixes, private()...)
	case entry.Word == mockbase.UpstreamLinkLocal:
		l.prefixes = append(l.prefixes, linkLocal()...)
	default:
		l.prefixes = append(l.prefixes, unmapPrefix(entry.Prefix))
	}
}

// names tells whether the list holds a host by its name.
func (l *List) names(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return slices.ContainsFunc(l.hosts, func(entry string) bool {
		if below, all := strings.CutPrefix(entry, "*"); all {
			return strings.HasSuffix(host, below) && len(host) > len(below)
		}
		return host == entry
	})
}

// unmapPrefix turns a prefix of IPv4 addresses within IPv6 into one of IPv4.
func unmapPrefix(p netip.Prefix) netip.Prefix {
	const mapped = 96
	if p.Addr().Is4In6() && p.Bits() >= mapped {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mapped)
	}
	return p.Masked()
}
