package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	driver "modernc.org/sqlite"
)

const (
	// checkpointAfter is the number of pages in the log that are worth moving to the database.
	checkpointAfter = 1000
	// checkpointAlone is the number of pages at which writers wait for a moment, so that the log can begin anew: as long as
	// somebody writes, there is always a page that was not moved yet.
	checkpointAlone = 8 * checkpointAfter
)

// checkpoints moves what is in the log to the database, on a connection of its own. SQLite would do that at the end of the
// transaction that makes the log too long, and bring the log and the database to the disk: all who wait for that transaction,
// and for the next one, would wait for both.
type checkpoints struct {
	pool *sql.DB
	// written is the number of pages since the last time. It belongs to whoever has the turn of the groups.
	written int
	wake    chan struct{}
	stop    context.CancelFunc
	stopped chan struct{}
}

// beginCheckpoints makes checkpoints from now on until the file is closed.
func (f *file) beginCheckpoints() error {
	pool, err := openPool(f.source(f.pragmas("synchronous(NORMAL)", "wal_autocheckpoint(0)")), 1)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	f.log = &checkpoints{pool: pool, wake: make(chan struct{}, 1), stop: stop, stopped: make(chan struct{})}
	go func() {
		defer close(f.log.stopped)
		for {
			select {
			case <-f.log.wake:
			case <-ctx.Done():
				return
			}
			if err := f.checkpoint(ctx, checkpointAlone); err != nil {
				f.trouble.note(err)
			}
		}
	}()
	return nil
}

// count notes the pages that a connection has written since the last time, and has them moved when they are many.
func (c *checkpoints) count(conn *sql.Conn) {
	if c == nil {
		return
	}
	_ = conn.Raw(func(own any) error {
		if status, ok := own.(driver.DBStatus); ok {
			pages, _, _ := status.Status(driver.DBStatusCacheWrite, true)
			c.written += pages
		}
		return nil
	})
	if c.written < checkpointAfter {
		return
	}
	c.written = 0
	select {
	case c.wake <- struct{}{}:
	default: // It is about to.
	}
}

// checkpoint moves what can be moved while others write, and what was written meanwhile if there are alone pages in the log.
func (f *file) checkpoint(ctx context.Context, alone int) error {
	pages, err := f.log.move(ctx)
	if err != nil || pages < alone {
		return err
	}
	if f.groups.take(ctx) != nil {
		return nil // The file is being closed, which moves all.
	}
	defer f.groups.leave()
	if f.groups.open != nil {
		f.end(ctx, f.groups.open)
	}
	_, err = f.log.move(ctx)
	return err
}

// move moves all pages that no reader needs where they are, and returns how many there are in the log. When none is left,
// the next writer begins it anew.
func (c *checkpoints) move(ctx context.Context) (pages int, err error) {
	var busy, moved int
	err = c.pool.QueryRowContext(context.WithoutCancel(ctx), "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &pages, &moved)
	if err != nil {
		return 0, fmt.Errorf("move log: %w", err)
	}
	return pages, nil
}

// close ends the checkpoints.
func (c *checkpoints) close() error {
	if c == nil {
		return nil
	}
	c.stop()
	<-c.stopped
	return c.pool.Close()
}
