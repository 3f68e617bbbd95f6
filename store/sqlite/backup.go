package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/mockbase/mockbase/store"
)

// Copy writes the definitions and accounts, as they are at one moment, to a new file of mode 0600, while everything else
// goes on reading and writing. The file is whole when Copy returns: it passed an integrity check and reached the disk.
// Recorded exchanges are no part of it. A file that holds something already is refused; after an error there is none.
func (d *DB) Copy(ctx context.Context, path string) error {
	return fault("copy the database", d.definitions.copyTo(ctx, path))
}

func (f *file) copyTo(ctx context.Context, path string) (err error) {
	target, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the path is the operator's own
	if err != nil {
		return fmt.Errorf("make copy: %w", err)
	}
	defer finish(target)
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	if err := f.vacuumInto(ctx, path); err != nil {
		return err
	}
	if findings, err := inspect(ctx, path, "immutable"); err != nil || len(findings) > 0 {
		return errors.Join(err, damaged(path, findings))
	}
	return target.Sync()
}

// vacuumInto copies through a connection of its own, so that neither writers nor readers wait for it. The copy has its
// pages in order and nothing of what was deleted.
func (f *file) vacuumInto(ctx context.Context, path string) error {
	pool := f.write
	if f.path != "" {
		own, err := openPool(f.source(f.pragmas()), 1)
		if err != nil {
			return err
		}
		defer finish(own)
		pool = own
	}
	_, err := pool.ExecContext(ctx, "VACUUM INTO ?", path)
	return wrap("copy database", err)
}

// Vacuum gives the room of what was deleted back to the file system. Writers wait for it.
func (d *DB) Vacuum(ctx context.Context) error {
	for _, f := range []*file{d.definitions, d.traffic} {
		if _, err := f.write.ExecContext(ctx, "VACUUM"); err != nil {
			return fault("vacuum the database", err)
		}
		if _, err := f.write.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			return fault("vacuum the database", err)
		}
	}
	return nil
}

// Files are the paths of a database's files: definitions first, recorded exchanges second.
func Files(path string) []string { return []string{path, trafficPath(path)} }

// Check looks through a whole file and returns what is wrong with it: damaged pages, indexes that do not fit their tables,
// references to what is not there. It changes nothing, and another process may use the file meanwhile. A file that is no
// database at all has one finding that says so.
func Check(ctx context.Context, path string) ([]string, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("check database: %w", err)
	}
	return inspect(ctx, path, "")
}

// inspect checks a file. The file of the kind "immutable" is used by nobody else, and has no journal.
func inspect(ctx context.Context, path, kind string) ([]string, error) {
	pool, err := openReading(path, kind)
	if err != nil {
		return nil, err
	}
	defer finish(pool)
	var findings []string
	for _, question := range []string{"PRAGMA integrity_check(100)", "SELECT 'a row of ' || \"table\" || ' refers to a missing row of ' || parent FROM pragma_foreign_key_check LIMIT 100"} {
		found, err := texts(ctx, pool, question)
		if isDamage(err) {
			return []string{reason(err)}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("check database: %w", err)
		}
		findings = append(findings, found...)
	}
	return findings, nil
}

func openReading(path, kind string) (*sql.DB, error) {
	settings := url.Values{"_pragma": {"query_only(1)", "busy_timeout(5000)", "temp_store(MEMORY)"}}
	if kind != "" {
		settings.Set(kind, "1")
	}
	at, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find database: %w", err)
	}
	return openPool((&url.URL{Scheme: "file", OmitHost: true, Path: at, RawQuery: settings.Encode()}).String(), 1)
}

// texts returns the rows of one column, without "ok".
func texts(ctx context.Context, pool *sql.DB, question string) ([]string, error) {
	rows, err := pool.QueryContext(ctx, question)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			return nil, err
		}
		if one != "ok" {
			all = append(all, one)
		}
	}
	return all, rows.Err()
}

func damaged(path string, findings []string) error {
	if len(findings) == 0 {
		return nil
	}
	return &store.DamagedError{Path: path, Result: strings.Join(findings, "; ")}
}

// Restore puts a copy of a database in the place of the one at path, which no process may have open. The old one is kept
// under the path kept, with what it had not merged yet. At no moment is there no database at path. It fails, before anything
// is changed, with a [*store.LockedError] when a process uses the database, with a [*store.DamagedError] when the copy is
// damaged or no database of ours, and with a [*store.NewerError] when a newer binary wrote it.
func Restore(ctx context.Context, path, from, kept string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("find database: %w", err)
	}
	if err := makeDirectory(filepath.Dir(path)); err != nil {
		return fmt.Errorf("make data directory: %w", err)
	}
	lock, err := acquireLock(path + ".lock")
	if err != nil {
		return err
	}
	fresh := path + ".restoring"
	err = restore(ctx, path, from, fresh, kept)
	return errors.Join(err, removeIfThere(fresh), releaseLock(lock))
}

func restore(ctx context.Context, path, from, fresh, kept string) error {
	if err := removeIfThere(fresh); err != nil {
		return err
	}
	if err := copyFile(from, fresh); err != nil {
		return err
	}
	if err := examine(ctx, fresh, from); err != nil {
		return err
	}
	if err := keep(ctx, path, kept); err != nil {
		return err
	}
	if err := os.Rename(fresh, path); err != nil {
		return fmt.Errorf("restore database: %w", err)
	}
	return syncDirectory(filepath.Dir(path))
}

// examine looks whether a copy, which came from another path, can be served.
func examine(ctx context.Context, path, from string) error {
	findings, err := inspect(ctx, path, "immutable")
	if err != nil {
		return err
	}
	if err := damaged(from, findings); err != nil {
		return err
	}
	pool, err := openReading(path, "immutable")
	if err != nil {
		return err
	}
	defer finish(pool)
	have, err := (&file{write: pool}).version(ctx)
	if err != nil {
		return err
	}
	known, err := schemaDefinitions.newest(pool)
	switch {
	case err != nil:
		return err
	case have == 0:
		return &store.DamagedError{Path: from, Result: "it is not a database of MockBase"}
	case have > known:
		return &store.NewerError{Path: from, Have: have, Known: known}
	}
	return nil
}

// newest is the version of the last migration.
func (s schema) newest(pool *sql.DB) (int64, error) {
	provider, err := s.provider(pool)
	if err != nil {
		return 0, err
	}
	sources := provider.ListSources()
	return sources[len(sources)-1].Version, nil
}

// keep gives the database at path a second name. Its journal is merged first; where it is too damaged for that, the journal
// goes along, as the next database of that name must not meet it.
func keep(ctx context.Context, path, kept string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if pool, err := openPool((&file{path: path}).source((&file{}).pragmas()), 1); err == nil {
		_, _ = pool.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)") // what cannot be merged is moved below
		finish(pool)
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Rename(path+suffix, kept+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("keep database: %w", err)
		}
	}
	if err := os.Link(path, kept); err == nil {
		return nil
	}
	return copyFile(path, kept) // a file system without links
}

// copyFile copies to a new file of mode 0600 and sees it reach the disk.
func copyFile(from, to string) error {
	in, err := os.Open(from) //nolint:gosec // the path is the operator's own
	if err != nil {
		return fmt.Errorf("copy database: %w", err)
	}
	defer finish(in)
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the path is the operator's own
	if err != nil {
		return fmt.Errorf("copy database: %w", err)
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		return fmt.Errorf("copy database: %w", err)
	}
	return nil
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// syncDirectory sees to it that a loss of power does not undo a change of names.
func syncDirectory(path string) error {
	folder, err := os.Open(path) //nolint:gosec // the path is the operator's own
	if err != nil {
		return fmt.Errorf("keep names: %w", err)
	}
	defer finish(folder)
	_ = folder.Sync() // some systems can't do this with directories
	return nil
}
