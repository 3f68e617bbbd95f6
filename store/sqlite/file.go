package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"time"

	driver "modernc.org/sqlite"

	"github.com/mockbase/mockbase"
)

const (
	// busyTimeout is how long a statement waits for a lock. Only a checkpoint or a tool of the operator's can hold one,
	// because every write of this process goes through one connection.
	busyTimeout = 5 * time.Second
	// readers is the size of the pool that reads: what sign-ins and lists need, while mocks are served from memory.
	readers = 4
	// readerCache is how many KiB of pages a reader keeps. Start reads every mock once and never again, so that a larger cache
	// would only hold what is in memory anyway; the system's own cache is behind it.
	readerCache = 400
)

// file is one database file, or one database in memory.
type file struct {
	// path is "" in memory.
	path   string
	schema schema
	// write and read are the same pool in memory.
	write, read *sql.DB
	// writes and reads are the statements of both that are kept.
	writes, reads statements
	disk          flusher
	groups        groups
	// log is nil where SQLite makes the checkpoints itself.
	log     *checkpoints
	replays keptReplays
	trouble trouble
}

// openFile opens a file and brings its schema up to date.
func openFile(ctx context.Context, path string, s schema) (*file, error) {
	f := &file{path: path, schema: s, groups: newGroups()}
	if path != "" {
		if err := touch(path); err != nil {
			return nil, err
		}
	}
	if err := f.connect(); err != nil {
		return nil, errors.Join(err, f.close())
	}
	if err := s.migrate(ctx, f); err != nil {
		return nil, errors.Join(f.diagnose(err), f.close())
	}
	if s == schemaDefinitions {
		if err := f.writes.prepare(ctx, changeStatements()...); err != nil {
			return nil, errors.Join(err, f.close())
		}
	}
	f.disk.path = walPath(path, s)
	if f.disk.path != "" {
		if err := f.beginCheckpoints(); err != nil {
			return nil, errors.Join(err, f.close())
		}
	}
	return f, f.disk.flush()
}

// touch makes the file with narrow rights before SQLite does it with wide ones, and explains by a path error what
// SQLite would only call unable to open.
func touch(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the path is the operator's own
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	return nil
}

func (f *file) connect() error {
	err := f.openPools()
	f.writes.pool, f.reads.pool = f.write, f.read
	return err
}

func (f *file) openPools() error {
	var err error
	if f.path == "" {
		f.write, err = openPool("file::memory:?"+f.pragmas().Encode(), 1)
		f.read = f.write
		return err
	}
	writing := f.pragmas("journal_mode(WAL)", "synchronous(NORMAL)")
	if f.schema == schemaDefinitions {
		writing.Add("_pragma", "wal_autocheckpoint(0)")
	}
	if f.write, err = openPool(f.source(writing), 1); err != nil {
		return err
	}
	reading := f.pragmas("query_only(1)", "cache_size(-"+strconv.Itoa(readerCache)+")")
	reading.Del("_txlock")
	f.read, err = openPool(f.source(reading), readers)
	return err
}

func openPool(source string, size int) (*sql.DB, error) {
	connector, err := driver.NewConnector(source)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(size)
	pool.SetMaxIdleConns(size)
	return pool, nil
}

// pragmas are the settings of a connection. Temporary tables stay in memory: a container's file system is read-only.
func (*file) pragmas(more ...string) url.Values {
	values := url.Values{"_txlock": {"immediate"}}
	values["_pragma"] = append([]string{
		"busy_timeout(" + strconv.FormatInt(busyTimeout.Milliseconds(), 10) + ")",
		"foreign_keys(1)",
		"temp_store(MEMORY)",
	}, more...)
	return values
}

// source is the file's URI; as a URL it survives spaces, percent and question marks in the path.
func (f *file) source(settings url.Values) string {
	return (&url.URL{Scheme: "file", OmitHost: true, Path: f.path, RawQuery: settings.Encode()}).String()
}

// change makes one change, and returns when it is on disk as far as the schema asks for that.
func (f *file) change(ctx context.Context, what string, do func(context.Context, *sql.Tx) error) error {
	lasts, err := f.changeSoon(ctx, what, do)
	if err != nil {
		return err
	}
	return lasts()
}

// changeSoon makes one change; lasts commits it, with all that were made meanwhile, and returns when it is on disk.
func (f *file) changeSoon(ctx context.Context, what string, do func(context.Context, *sql.Tx) error) (lasts func() error, err error) {
	g, err := f.join(ctx, do)
	if err != nil {
		f.trouble.note(err)
		return nil, fault(what, err)
	}
	return func() error {
		err := f.settle(g)
		f.trouble.note(err)
		return fault(what, err)
	}, nil
}

// alone is a context that carries nothing to be written along.
func alone(ctx context.Context) context.Context {
	return mockbase.WithReplay(mockbase.WithAudit(ctx, nil), nil)
}

// finish closes what has done its work; there is nothing left to fail.
func finish(c io.Closer) { c.Close() }

func (f *file) ping(ctx context.Context) error {
	var one int
	return fault("ask database", f.read.QueryRowContext(ctx, "SELECT 1").Scan(&one))
}

// close closes both pools. A file that was never opened, or is closed, is fine.
func (f *file) close() error {
	if f == nil {
		return nil
	}
	f.endOpen()
	errs := []error{f.log.close(), f.reads.close(), f.writes.close()}
	for _, pool := range []*sql.DB{f.read, f.write} {
		if pool != nil {
			errs = append(errs, pool.Close())
		}
	}
	return errors.Join(errs...)
}
