package store_test

import (
	"errors"
	"testing"

	"github.com/mockbase/mockbase/store"
)

// C-80: what keeps a database from being opened is said with its path, its process or its versions.
func TestC80_errors_name_what_is_in_the_way(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"/data/a.lock is locked by process 42":                                         &store.LockedError{Path: "/data/a.lock", PID: 42},
		"/data/a.lock is locked by another process":                                    &store.LockedError{Path: "/data/a.lock"},
		"/data/a.db has schema version 9, and this binary knows up to version 2":       &store.NewerError{Path: "/data/a.db", Have: 9, Known: 2},
		"/data/a.db is damaged: Tree 5 page 12: btreeInitPage() returns error code 11": &store.DamagedError{Path: "/data/a.db", Result: "Tree 5 page 12: btreeInitPage() returns error code 11"},
	} {
		if got := err.Error(); got != want {
			t.Errorf("error %q, want %q", got, want)
		}
	}
	cause := errors.New("cause")
	if !errors.Is(&store.DamagedError{Err: cause}, cause) {
		t.Error("the cause is hidden")
	}
}
