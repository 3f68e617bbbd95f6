package sqlite

import (
	"errors"
	"strings"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/mockbase/mockbase"
)

// fault makes a failure one that a person may see: a code, a text without SQL, and the private cause. It keeps a
// [*mockbase.Error] as it is, and nil.
func fault(what string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*mockbase.Error](err); ok {
		return e
	}
	e := &mockbase.Error{Code: mockbase.CodeUnavailable, Err: err}
	switch primary(err) {
	case codes.SQLITE_FULL:
		e.Message = "the disk is full: " + what
		e.Hint = "free some space in the data directory"
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		e.Code = mockbase.CodeBusy
		e.Message = "the database is busy: " + what
	case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB:
		e.Message = "the database is damaged: " + what
		e.Hint = "restore a backup of the data directory"
	case codes.SQLITE_IOERR, codes.SQLITE_READONLY, codes.SQLITE_CANTOPEN:
		e.Message = "the data directory can't be read or written: " + what
	case notSQLite:
		e.Message = "the database did not answer: " + what
	default:
		e.Code = mockbase.CodeInternal
		e.Message = "the database refused: " + what
	}
	return e
}

// notSQLite stands for failures that come from before the database: a context that ended, a pool that is closed.
const notSQLite = -1

// primary is the kind of a failure, without its details.
func primary(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code() & 0xff
	}
	return notSQLite
}

func isDamage(err error) bool {
	code := primary(err)
	return code == codes.SQLITE_CORRUPT || code == codes.SQLITE_NOTADB
}

// breaksUnique tells whether a row was refused because another one has the same value in the column.
func breaksUnique(err error, column string) bool {
	e, ok := errors.AsType[*driver.Error](err)
	return ok && e.Code() == codes.SQLITE_CONSTRAINT_UNIQUE && strings.Contains(e.Error(), column)
}

// breaksReference tells whether a row was refused because a row that it points to is missing.
func breaksReference(err error) bool {
	e, ok := errors.AsType[*driver.Error](err)
	return ok && e.Code() == codes.SQLITE_CONSTRAINT_FOREIGNKEY
}

// reason is the text of SQLite's own message.
func reason(err error) string {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Error()
	}
	return err.Error()
}
