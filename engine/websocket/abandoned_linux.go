package websocket

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// abandoned tells whether the client has left, without reading what it sent before.
func (w *wire) abandoned() bool {
	conn, ok := socket(w.Conn).(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	left := false
	err = raw.Control(func(fd uintptr) {
		watched := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}} //nolint:gosec // descriptors are small
		n, err := unix.Poll(watched, 0)
		left = err == nil && n > 0
	})
	return left || err != nil
}

// socket returns the connection below all others, such as that of TLS.
func socket(conn net.Conn) net.Conn {
	for {
		var inner net.Conn
		switch outer := conn.(type) {
		case interface{ NetConn() net.Conn }:
			inner = outer.NetConn()
		case interface{ Raw() net.Conn }:
			inner = outer.Raw()
		}
		if inner == nil {
			return conn
		}
		conn = inner
	}
}
