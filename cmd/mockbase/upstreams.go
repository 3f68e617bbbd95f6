package main

import (
	"net"
	"net/netip"
	"slices"

	"github.com/mockbase/mockbase/engine/outbound"
)

// upstreams says which addresses proxies and webhooks may call (rules S5, S6 and T13).
func (s *server) upstreams() outbound.Options {
	o := outbound.Options{Loopback: true, Own: s.owns}
	for _, n := range s.settings.AllowUpstream {
		o.Allow = append(o.Allow, netip.Prefix(n))
	}
	for _, l := range s.listeners() {
		at, ok := l.Addr().(*net.TCPAddr)
		o.Loopback = o.Loopback && ok && at.IP.IsLoopback()
	}
	return o
}

// owns tells whether an address is one that this server listens on.
func (s *server) owns(target netip.AddrPort) bool {
	return slices.ContainsFunc(s.listeners(), func(l net.Listener) bool {
		at, ok := l.Addr().(*net.TCPAddr)
		if !ok || at.AddrPort().Port() != target.Port() {
			return false
		}
		own := at.AddrPort().Addr().Unmap()
		return own == target.Addr() || own.IsUnspecified() && isOurs(target.Addr())
	})
}

// isOurs tells whether this machine has an address.
func isOurs(target netip.Addr) bool {
	if target.IsLoopback() || target.IsUnspecified() {
		return true
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(addresses, func(a net.Addr) bool {
		network, ok := a.(*net.IPNet)
		if !ok {
			return false
		}
		own, ok := netip.AddrFromSlice(network.IP)
		return ok && own.Unmap() == target
	})
}
