//go:build unix

package testkit

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// portFloor and portSpan keep the servers' ports below the range from which the kernel takes the ports of outgoing
// connections: a port from there could be taken while a server is down for a moment, and a connection to one can even
// meet itself. Cluster buses, at port + 10,000, are no port of another server.
const portFloor, portSpan = 20_000, 10_000

// FreePort picks a loopback port that nobody listens on at the moment, and that the kernel gives to no outgoing connection.
// The port is the test's own until its end, though its server may be down for a while: no other test is given it, in this
// process or in another.
func FreePort(tb testing.TB) string {
	tb.Helper()
	for range 500 {
		port := strconv.Itoa(portFloor + rand.IntN(portSpan)) // #nosec G404 -- no secret
		if reserve(tb, port) {
			return port
		}
	}
	tb.Fatal("no free loopback port")
	return ""
}

// reserve takes the UDP port of this number, which tells other tests that the TCP port is taken.
func reserve(tb testing.TB, port string) bool {
	tb.Helper()
	var config net.ListenConfig
	address := net.JoinHostPort("127.0.0.1", port)
	mark, err := config.ListenPacket(lasting(tb), "udp", address)
	if err != nil {
		return false
	}
	server, err := listen(tb.Context(), address)
	if err != nil {
		_ = mark.Close()
		return false
	}
	_ = server.Close()
	tb.Cleanup(func() { _ = mark.Close() })
	return true
}
