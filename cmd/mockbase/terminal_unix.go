//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// hideInput lets a terminal show nothing of what is typed, until restore is called.
func hideInput(terminal *os.File) (restore func(), err error) {
	fd := int(terminal.Fd())
	state, err := unix.IoctlGetTermios(fd, readTermios)
	if err != nil {
		return nil, err
	}
	hidden := *state
	hidden.Lflag &^= unix.ECHO
	hidden.Lflag |= unix.ICANON | unix.ISIG
	if err := unix.IoctlSetTermios(fd, writeTermios, &hidden); err != nil {
		return nil, err
	}
	return func() { _ = unix.IoctlSetTermios(fd, writeTermios, state) }, nil // it was set like this before
}
