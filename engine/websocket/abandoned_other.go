//go:build !linux

package websocket

// abandoned tells whether the client has left. Here that shows when something is sent to it, or read from it.
func (w *wire) abandoned() bool { return false }
