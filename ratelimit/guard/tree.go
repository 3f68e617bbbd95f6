package guard

import (
	"math/bits"
	"net/netip"

	"github.com/mockbase/mockbase/ratelimit"
)

const (
	addressBits = 128
	// mappedBits is where the bits of an IPv4 address begin in its 16 bytes.
	mappedBits = 96
)

// tree finds the networks that an address lies in. It is a binary tree over the bits of the networks in which every
// node branches or holds a network, so that n networks need fewer than 2n nodes. IPv4 and IPv6 have a root each.
type tree struct{ roots [2]*node }

// node is a network, or the longest common part of two.
type node struct {
	bytes [16]byte
	// length counts the bits of the network in bytes, those before an IPv4 address included.
	length int
	// below are the nodes whose next bit is 0 and 1.
	below [2]*node
	// values are those of this network.
	values []int
}

// insert adds a network with a value.
func (t *tree) insert(p netip.Prefix, value int) {
	p = ratelimit.UnwrapNetwork(p)
	leaf := &node{bytes: p.Addr().As16(), length: p.Bits(), values: []int{value}}
	if p.Addr().Is4() {
		leaf.length += mappedBits
	}
	at := &t.roots[family(p.Addr())]
	for *at != nil {
		n := *at
		common := commonBits(&n.bytes, &leaf.bytes, min(n.length, leaf.length))
		if common < n.length {
			*at = branch(n, leaf, common)
			return
		}
		if common == leaf.length {
			n.values = append(n.values, value)
			return
		}
		at = &n.below[bitAt(&leaf.bytes, common)]
	}
	*at = leaf
}

// branch returns the node above two that share fewer bits than the first one has.
func branch(n, leaf *node, common int) *node {
	above := leaf
	if leaf.length > common {
		above = &node{bytes: leaf.bytes, length: common}
		above.below[bitAt(&leaf.bytes, common)] = leaf
	}
	above.below[bitAt(&n.bytes, common)] = n
	return above
}

// walk calls visit with the values of every network that holds the address, the widest first.
func (t *tree) walk(a netip.Addr, visit func(value int)) {
	if !a.IsValid() {
		return
	}
	a = ratelimit.UnwrapAddress(a)
	wanted := a.As16()
	for n := t.roots[family(a)]; n != nil && commonBits(&n.bytes, &wanted, n.length) == n.length; {
		for _, value := range n.values {
			visit(value)
		}
		if n.length == addressBits {
			return
		}
		n = n.below[bitAt(&wanted, n.length)]
	}
}

func family(a netip.Addr) int {
	if a.Is4() {
		return 0
	}
	return 1
}

// bitAt returns a bit of an address, the first being that of index 0.
func bitAt(b *[16]byte, i int) int { return int(b[i/8]>>(7-i%8)) & 1 }

// commonBits counts the leading bits that two addresses share, up to the length.
func commonBits(a, b *[16]byte, length int) int {
	for i := range a {
		if diff := a[i] ^ b[i]; diff != 0 {
			return min(length, i*8+bits.LeadingZeros8(diff))
		}
	}
	return length
}
