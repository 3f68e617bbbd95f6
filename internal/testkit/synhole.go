//go:build unix

package testkit

import (
	"net"
	"net/netip"
	"sync"
	"syscall"
	"testing"
	"time"
)

// SYNBlackHole is an address that answers no SYN, as a host behind a dropping firewall: a listener that nobody accepts
// from, with its queue kept full.
type SYNBlackHole struct {
	// Addr is the loopback address.
	Addr string

	once    sync.Once
	fd      int
	fillers []net.Conn
}

// OpenSYNBlackHole opens one at a loopback address that nobody listens on, or at a free one if addr is empty. It ends with the test.
func OpenSYNBlackHole(tb testing.TB, addr string) *SYNBlackHole {
	tb.Helper()
	if addr == "" {
		addr = net.JoinHostPort("127.0.0.1", FreePort(tb))
	}
	at, err := netip.ParseAddrPort(addr)
	if err != nil {
		tb.Fatalf("open a black hole: %v", err)
	}
	// A child that another test starts at this moment must not inherit the socket, or it would outlive Close.
	syscall.ForkLock.RLock()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		tb.Fatalf("open a socket: %v", err)
	}
	h := &SYNBlackHole{Addr: addr, fd: fd}
	tb.Cleanup(h.Close)
	// Connections of the listener that was here before may still be winding down.
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		tb.Fatalf("set SO_REUSEADDR: %v", err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}); err != nil {
		tb.Fatalf("bind %s: %v", addr, err)
	}
	// net.Listen would ask for the longest queue that the system allows.
	if err := syscall.Listen(fd, 0); err != nil {
		tb.Fatalf("listen: %v", err)
	}
	for range 16 {
		conn, err := dial(tb.Context(), addr, 100*time.Millisecond)
		if err != nil {
			return h
		}
		h.fillers = append(h.fillers, conn)
	}
	tb.Fatal("the listener's queue does not fill up")
	return nil
}

// Close frees the address. It may be called again.
func (h *SYNBlackHole) Close() {
	h.once.Do(func() {
		// Nothing was ever said on these.
		_ = syscall.Close(h.fd)
		for _, conn := range h.fillers {
			_ = conn.Close()
		}
	})
}
