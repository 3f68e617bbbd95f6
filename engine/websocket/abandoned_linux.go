package websocket

import (
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/mockbase/mockbase/engine/fault"
)

// abandoned tells whether the client has left, without reading what it sent before.
func (w *wire) abandoned() bool {
	conn, ok := fault.Socket(w.Conn).(syscall.Conn)
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
