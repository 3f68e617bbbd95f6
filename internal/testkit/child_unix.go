//go:build unix && !linux

package testkit

import "syscall"

// dieWithParent has no help from the kernel here: a child is ended by the test's Cleanup alone.
func dieWithParent() *syscall.SysProcAttr { return nil }
