//go:build unix

package testkit

import (
	"net"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// SYNBlackHole returns a loopback address that answers no SYN, as a host behind a dropping firewall: a listener that
// nobody accepts from, its queue kept full until the test ends.
func SYNBlackHole(tb testing.TB) string {
	tb.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		tb.Fatalf("open a socket: %v", err)
	}
	tb.Cleanup(func() { _ = syscall.Close(fd) })
	text := freePort(tb)
	port, err := strconv.Atoi(text)
	if err != nil {
		tb.Fatal(err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		tb.Fatalf("bind: %v", err)
	}
	// net.Listen would ask for the longest queue that the system allows.
	if err := syscall.Listen(fd, 0); err != nil {
		tb.Fatalf("listen: %v", err)
	}
	addr := net.JoinHostPort("127.0.0.1", text)
	for range 16 {
		conn, err := dial(tb.Context(), addr, 100*time.Millisecond)
		if err != nil {
			return addr
		}
		tb.Cleanup(func() { _ = conn.Close() })
	}
	tb.Fatal("the listener's queue does not fill up")
	return ""
}
