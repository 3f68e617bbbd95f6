// Package sqlite keeps everything in an embedded SQLite database; it is the default [store.Store].
//
// # Files
//
// Definitions and accounts live in the file that [Options] names, recorded exchanges in a second one beside it
// (mockbase.db, mockbase-traffic.db). Definitions are few and precious: each write reaches the disk before it returns.
// Exchanges are many and replaceable: they are written in batches that the system may keep in memory for a moment, and
// no batch delays the write of a definition. A third file holds the lock that keeps a second process away.
//
// # Connections
//
// Each file has one connection that writes, and every transaction on it takes the write lock at once. A transaction
// that reads first and asks for the lock later would be refused whenever another one came between, however long it is
// willing to wait. Readers have a small pool of their own which can't write. A database in memory is one connection,
// because in SQLite the connection is the database.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mockbase/mockbase/store"
)

var _ store.Store = (*DB)(nil)

// Options are the settings of a database.
type Options struct {
	// Path is the database file. It is made with mode 0600, its directory with mode 0700, when they are missing. The
	// empty path is a database in memory that touches no file.
	Path string
	// Beside opens the definitions alone, and beside the process that has them open: without the lock, and only when they
	// are there and of this binary's schema. It is for short changes of accounts while a server runs; what a server keeps in
	// memory, as mocks, must not be changed this way.
	Beside bool
	// Clock tells the time; nil is the system's clock.
	Clock func() time.Time
	// Logger takes what is worth knowing; nil is silence.
	Logger *slog.Logger
}

// DB is an open database.
type DB struct {
	definitions, traffic *file
	lock                 *os.File
	clock                func() time.Time
	logger               *slog.Logger
}

// Open opens a database, makes it when it is missing, and brings its schema up to date. It fails with a
// [*store.LockedError] when another process has it open, with a [*store.NewerError] when a newer binary wrote it (and
// changes nothing then), with a [*store.DamagedError] when it can't be read, and with an [*os.PathError] when the
// directory or a file can't be made or opened.
func Open(ctx context.Context, o Options) (*DB, error) {
	d := &DB{clock: o.Clock, logger: o.Logger}
	if d.clock == nil {
		d.clock = time.Now
	}
	if d.logger == nil {
		d.logger = slog.New(slog.DiscardHandler)
	}
	open := d.open
	if o.Beside {
		open = d.openBeside
	}
	if err := open(ctx, o.Path); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// openBeside opens definitions that another process has open, and changes nothing of them.
func (d *DB) openBeside(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("find database: %w", err)
	}
	f := &file{path: path, schema: schemaDefinitions, groups: newGroups()}
	d.definitions = f
	if err := f.connect(); err != nil {
		return err
	}
	return f.schema.same(ctx, f)
}

func (d *DB) open(ctx context.Context, path string) (err error) {
	if path != "" {
		if path, err = filepath.Abs(path); err != nil {
			return fmt.Errorf("find database: %w", err)
		}
		if err := makeDirectory(filepath.Dir(path)); err != nil {
			return fmt.Errorf("make data directory: %w", err)
		}
		if d.lock, err = acquireLock(path + ".lock"); err != nil {
			return err
		}
	}
	if d.definitions, err = openFile(ctx, path, schemaDefinitions); err != nil {
		return err
	}
	d.traffic, err = openFile(ctx, trafficPath(path), schemaTraffic)
	return err
}

// makeDirectory makes a directory that is missing, and sees to it that a loss of power does not unmake it.
func makeDirectory(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	parent, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil // a parent that we may not read keeps its entries without us
	}
	defer finish(parent)
	_ = parent.Sync() // some systems can't do this with directories
	return nil
}

// trafficPath is the file beside the definitions that holds recorded exchanges.
func trafficPath(path string) string {
	if path == "" {
		return ""
	}
	extension := filepath.Ext(path)
	return strings.TrimSuffix(path, extension) + "-traffic" + extension
}

// Ping asks the database for an answer. It is a [*store.WriteError] from a write that the disk did not take, for want of space
// or another reason, until a write works again, which Ping tries every few seconds.
func (d *DB) Ping(ctx context.Context) error {
	if err := errors.Join(d.definitions.ping(ctx), d.traffic.ping(ctx)); err != nil {
		return err
	}
	now := d.clock()
	if err := d.definitions.writable(ctx, now); err != nil {
		return err
	}
	return d.traffic.writable(ctx, now)
}

// Close closes the files and gives up the lock. Closing again does nothing.
func (d *DB) Close() error {
	err := errors.Join(d.traffic.close(), d.definitions.close())
	if d.lock != nil {
		err = errors.Join(err, releaseLock(d.lock))
	}
	return err
}
