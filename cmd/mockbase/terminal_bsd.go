//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package main

import "golang.org/x/sys/unix"

// The requests that read and change a terminal's settings, which every family of systems numbers its own way.
const (
	readTermios  = unix.TIOCGETA
	writeTermios = unix.TIOCSETA
)
