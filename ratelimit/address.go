package ratelimit

import "net/netip"

// wrappedBits is the length of the prefixes that IPv4 addresses are wrapped in.
const wrappedBits = 96

// UnwrapAddress removes the zone of an address and returns the IPv4 address inside a mapped one (::ffff:0:0/96) or one of
// the well-known translation prefix 64:ff9b::/96 (RFC 6052, rule RL74).
func UnwrapAddress(address netip.Addr) netip.Addr {
	address = address.WithZone("").Unmap()
	if !address.Is6() {
		return address
	}
	whole := address.As16()
	if [12]byte(whole[:12]) != [12]byte{0, 0x64, 0xff, 0x9b} {
		return address
	}
	return netip.AddrFrom4([4]byte(whole[12:]))
}

// UnwrapNetwork does the same to a network, and clears the bits behind its length. One that holds more than the wrapped
// addresses stays what it is.
func UnwrapNetwork(p netip.Prefix) netip.Prefix {
	if inner := UnwrapAddress(p.Addr()); p.Addr().Is6() && p.Bits() >= wrappedBits && inner.Is4() {
		p = netip.PrefixFrom(inner, p.Bits()-wrappedBits)
	}
	return p.Masked()
}
