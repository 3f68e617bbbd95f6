package main

import (
	"fmt"
	"io/fs"
	"syscall"
)

// networkFileSystem names the kind of file system below a path when it is one that other machines write to as well, else
// "".
func networkFileSystem(path string) string {
	var s syscall.Statfs_t
	if path == "" || syscall.Statfs(path, &s) != nil {
		return ""
	}
	return networkKind(uint32(s.Type)) //nolint:gosec // the numbers have 32 bits, and some of them are negative in 32 signed ones
}

// networkKind knows the numbers that Linux gives to file systems (statfs(2)).
func networkKind(number uint32) string {
	switch number {
	case 0x6969:
		return "nfs"
	case 0x517b, 0xff534d42, 0xfe534d42:
		return "smb"
	case 0x01021997:
		return "9p"
	case 0x00c36400:
		return "ceph"
	case 0x5346414f:
		return "afs"
	case 0x0bd00bd0:
		return "lustre"
	}
	return ""
}

// freeSpace is the room that is left below a path, for people.
func freeSpace(path string) string {
	var s syscall.Statfs_t
	if syscall.Statfs(path, &s) != nil {
		return "an unknown number of bytes"
	}
	return fmt.Sprintf("%d bytes", s.Bavail*uint64(s.Bsize)) //nolint:gosec // a block is never of negative size
}

// ownerOf is "uid:gid " of a file.
func ownerOf(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d:%d ", s.Uid, s.Gid)
	}
	return ""
}
