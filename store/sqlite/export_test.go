package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// LatestVersion is the newest version of the definitions' schema.
const LatestVersion = 13

// MigrateTo makes a database file of an older version of the schema.
func MigrateTo(ctx context.Context, path string, version int64) error {
	if err := touch(path); err != nil {
		return err
	}
	f := &file{path: path}
	if err := f.connect(); err != nil {
		return err
	}
	defer f.close()
	provider, err := schemaDefinitions.provider(f.write)
	if err != nil || version == 0 {
		return err
	}
	_, err = provider.UpTo(ctx, version)
	return err
}

// MigrateDown takes the schema back to nothing.
func MigrateDown(ctx context.Context, path string) error {
	for s, path := range map[schema]string{schemaDefinitions: path, schemaTraffic: trafficPath(path)} {
		f := &file{path: path}
		if err := f.connect(); err != nil {
			return err
		}
		defer f.close()
		provider, err := s.provider(f.write)
		if err != nil {
			return err
		}
		if _, err := provider.DownTo(ctx, 0); err != nil {
			return err
		}
	}
	return nil
}

// ExecDefinitions runs statements on the connection that writes definitions, ExecTraffic on the other one.
func (d *DB) ExecDefinitions(ctx context.Context, statement string) error {
	_, err := d.definitions.write.ExecContext(ctx, statement)
	return err
}

// ExecTraffic runs statements on the connection that writes traffic.
func (d *DB) ExecTraffic(ctx context.Context, statement string) error {
	_, err := d.traffic.write.ExecContext(ctx, statement)
	return err
}

// Pragmas reads settings of the four kinds of connection.
func (d *DB) Pragmas(ctx context.Context, names ...string) (map[string]string, error) {
	all := map[string]string{}
	for pool, db := range map[string]*sql.DB{
		"definitions write": d.definitions.write, "definitions read": d.definitions.read,
		"traffic write": d.traffic.write, "traffic read": d.traffic.read,
	} {
		for _, name := range names {
			var value string
			if err := db.QueryRowContext(ctx, "PRAGMA "+name).Scan(&value); err != nil {
				return nil, fmt.Errorf("read %s of %s: %w", name, pool, err)
			}
			all[pool+" "+name] = value
		}
	}
	return all, nil
}

// ChangeSoon runs statements as one change of the definitions that is not waited for, and ends it with err.
func (d *DB) ChangeSoon(ctx context.Context, err error, statements ...string) (lasts func() error, _ error) {
	return d.definitions.changeSoon(ctx, "test", func(ctx context.Context, tx *sql.Tx) error {
		for _, statement := range statements {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return err
	})
}

// ChangePanicking runs a statement as a change, and panics.
func (d *DB) ChangePanicking(ctx context.Context, statement string) (lasts func() error, _ error) {
	return d.definitions.changeSoon(ctx, "test", func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
		panic("in the middle of a change")
	})
}

// Checkpoint moves the log of definitions, and what is written meanwhile if there are so many pages in it. It returns how many there
// are afterwards.
func (d *DB) Checkpoint(ctx context.Context, alone int) (pages int, err error) {
	if err := d.definitions.checkpoint(ctx, alone); err != nil {
		return 0, err
	}
	return d.definitions.log.move(ctx)
}
