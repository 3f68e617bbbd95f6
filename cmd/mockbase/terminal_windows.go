package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// hideInput lets a console show nothing of what is typed, until restore is called.
func hideInput(terminal *os.File) (restore func(), err error) {
	handle := windows.Handle(terminal.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(handle, &mode); err != nil {
		return nil, err
	}
	hidden := mode&^windows.ENABLE_ECHO_INPUT | windows.ENABLE_LINE_INPUT | windows.ENABLE_PROCESSED_INPUT
	if err := windows.SetConsoleMode(handle, hidden); err != nil {
		return nil, err
	}
	return func() { _ = windows.SetConsoleMode(handle, mode) }, nil // it was set like this before
}
