package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/pressly/goose/v3"

	"github.com/mockbase/mockbase/store"
)

//go:embed migrations
var migrations embed.FS

// schema is what a file shall hold, named like the folder of its migrations.
type schema string

// The schemas of the two files.
const (
	schemaDefinitions schema = "definitions"
	schemaTraffic     schema = "traffic"
)

// migrate brings the file's schema up to date. A file that a newer binary wrote is left as it is.
func (s schema) migrate(ctx context.Context, f *file) error {
	have, err := f.version(ctx)
	if err != nil {
		return err
	}
	provider, err := s.provider(f.write)
	if err != nil {
		return err
	}
	sources := provider.ListSources()
	if err := s.check(ctx, f); err != nil {
		return err
	}
	switch known := sources[len(sources)-1].Version; {
	case have > known:
		return &store.NewerError{Path: f.path, Have: have, Known: known}
	case have == known:
		return nil
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate database: %w", err)
	}
	return nil
}

// same fails with a NewerError unless the file has exactly the schema of this binary.
func (s schema) same(ctx context.Context, f *file) error {
	have, err := f.version(ctx)
	if err != nil {
		return f.diagnose(err)
	}
	provider, err := s.provider(f.write)
	if err != nil {
		return err
	}
	sources := provider.ListSources()
	if known := sources[len(sources)-1].Version; have != known {
		return &store.NewerError{Path: f.path, Have: have, Known: known}
	}
	return nil
}

func (s schema) provider(pool *sql.DB) (*goose.Provider, error) {
	known, err := s.migrations()
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, pool, nil, goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()), goose.WithGoMigrations(known...))
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	return provider, nil
}

// migrations are the files of the folder. SQLite takes a text of many statements as it is; goose would take it apart with
// buffers of megabytes, which was most of the work of a first start.
func (s schema) migrations() ([]*goose.Migration, error) {
	paths, err := fs.Glob(migrations, "migrations/"+string(s)+"/*.sql")
	if err != nil {
		return nil, err
	}
	known := make([]*goose.Migration, 0, len(paths))
	for _, path := range paths {
		version, err := goose.NumericComponent(path)
		if err != nil {
			return nil, err
		}
		text, err := migrations.ReadFile(path)
		if err != nil {
			return nil, err
		}
		up, down, ok := strings.Cut(string(text), "-- +goose Down\n")
		if !ok {
			return nil, fmt.Errorf("%s has no way down", path)
		}
		known = append(known, goose.NewGoMigration(version, statementsOf(up), statementsOf(down)))
	}
	return known, nil
}

// statementsOf runs a text of statements in the transaction of a migration.
func statementsOf(text string) *goose.GoFunc {
	return &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, text)
		return err
	}}
}

// version is the newest migration that the file has seen; 0 in an empty file.
func (f *file) version(ctx context.Context) (int64, error) {
	var tables int
	row := f.write.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'goose_db_version'")
	if err := row.Scan(&tables); err != nil || tables == 0 {
		return 0, wrap("read schema", err)
	}
	var version int64
	row = f.write.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM goose_db_version")
	return version, wrap("read schema", row.Scan(&version))
}

// check looks for damage. Only definitions are looked through at each start: they are small, and they are read as a
// whole right after; traffic is neither.
func (s schema) check(ctx context.Context, f *file) error {
	if s != schemaDefinitions || f.path == "" {
		return nil
	}
	var result string
	if err := f.write.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&result); err != nil {
		return fmt.Errorf("check database: %w", err)
	}
	if result != "ok" {
		return &store.DamagedError{Path: f.path, Result: result}
	}
	return nil
}

// diagnose names the file that can't be read because it is damaged. Other failures stay what they are.
func (f *file) diagnose(err error) error {
	if !isDamage(err) {
		return err
	}
	return &store.DamagedError{Path: f.path, Result: reason(err), Err: err}
}

func wrap(what string, err error) error {
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return fmt.Errorf("%s: %w", what, err)
}
