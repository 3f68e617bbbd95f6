package bench

import (
	"os"
	"syscall"
)

// syncData brings what a file holds to the disk, as the server does.
func syncData(f *os.File) error {
	return os.NewSyscallError("fdatasync", syscall.Fdatasync(int(f.Fd())))
}
