package main

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/pires/go-proxyproto"
)

// The bounds of a PROXY protocol header (rule RL76).
const (
	proxyHeaderTime  = 3 * time.Second
	proxyHeaderBytes = 536
)

// balanced is a listener whose connections from balancers begin with a PROXY protocol header. Nobody else may send one:
// what they send is HTTP from the first byte on, which no such header is.
type balanced struct{ net.Listener }

// behindBalancers returns the listener as the settings want it.
func (s *server) behindBalancers(l net.Listener) net.Listener {
	peers := s.settings.ProxyProtocol.Networks
	if len(peers) == 0 {
		return l
	}
	return balanced{&proxyproto.Listener{
		Listener: l, ReadHeaderTimeout: proxyHeaderTime, ValidateHeader: validHeader,
		ConnPolicy: func(o proxyproto.ConnPolicyOptions) (proxyproto.Policy, error) {
			if isBalancer(peers, o.Upstream) {
				return proxyproto.REQUIRE, nil
			}
			return proxyproto.SKIP, nil
		},
	}}
}

func isBalancer(peers []netip.Prefix, peer net.Addr) bool {
	at, err := netip.ParseAddrPort(peer.String())
	return err == nil && slices.ContainsFunc(peers, func(p netip.Prefix) bool { return p.Contains(at.Addr().Unmap()) })
}

var errProxyHeader = errors.New("the PROXY protocol header is longer than 536 bytes")

func validHeader(h *proxyproto.Header) error {
	if text, err := h.Format(); err != nil || len(text) > proxyHeaderBytes {
		return errProxyHeader
	}
	return nil
}

// Accept waits for the next connection.
func (b balanced) Accept() (net.Conn, error) {
	c, err := b.Listener.Accept()
	if held, ok := c.(*proxyproto.Conn); ok && err == nil {
		return &balancedConn{Conn: held}, nil
	}
	return c, err
}

// balancedConn is a connection that is closed where its header is missing or wrong.
type balancedConn struct {
	*proxyproto.Conn

	begun bool
}

// Read reads what follows the header.
func (c *balancedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil && !c.begun {
		_ = c.Close() // Nothing is said to who does not speak the protocol.
	}
	c.begun = true
	return n, err //nolint:wrapcheck // It stands in for the connection.
}
