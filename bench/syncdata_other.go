//go:build !linux

package bench

import "os"

// syncData brings what a file holds to the disk, as the server does.
func syncData(f *os.File) error { return f.Sync() }
