package sqlite

import (
	"os"
	"syscall"
)

// syncData brings what a file holds to the disk, and of its metadata what is needed to read it: not the time of the write,
// which would cost the file system a commit of its own.
func syncData(f *os.File) error {
	for {
		if err := syscall.Fdatasync(int(f.Fd())); err != syscall.EINTR {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
