package store

import "fmt"

// LockedError tells that another process uses the data.
type LockedError struct {
	// Path is the lock file.
	Path string
	// PID is the other process; 0 when it is unknown.
	PID int
}

// Error names the file and the process.
func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s is locked by another process", e.Path)
	}
	return fmt.Sprintf("%s is locked by process %d", e.Path, e.PID)
}

// NewerError tells that the data were written by a newer binary. Nothing was changed.
type NewerError struct {
	Path string
	// Have is the version of the data's schema, Known the newest one that this binary knows.
	Have, Known int64
}

// Error names both versions.
func (e *NewerError) Error() string {
	return fmt.Sprintf("%s has schema version %d, and this binary knows up to version %d", e.Path, e.Have, e.Known)
}

// DamagedError tells that the data can't be read.
type DamagedError struct {
	Path string
	// Result is the outcome of the check: what is damaged.
	Result string
	// Err is the failure that led to the check.
	Err error
}

// Error names the file and the outcome of the check.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s is damaged: %s", e.Path, e.Result)
}

// Unwrap returns the failure that led to the check.
func (e *DamagedError) Unwrap() error { return e.Err }

// WriteError tells that the store answers and takes no writes, as with a full disk.
type WriteError struct {
	// Err is the failure of the last write.
	Err error
}

// Error says why writes fail.
func (e *WriteError) Error() string { return "writes fail: " + e.Err.Error() }

// Unwrap returns the failure of the last write.
func (e *WriteError) Unwrap() error { return e.Err }
