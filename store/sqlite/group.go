package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/mockbase/mockbase"
)

// The statements that fence one change of a group off from the others.
const (
	fence        = "SAVEPOINT change"
	unfence      = "RELEASE change"
	undoToFence  = "ROLLBACK TO change"
	undoAllOfOne = "ROLLBACK"
)

// group is one transaction of all changes that come before its end. A transaction writes every page that it touches once,
// and most changes touch the same ones: the ends of the tables and of their indexes. What they write to the log together is
// hardly more than what each would write alone. A change that fails is undone to its savepoint, without harm to the others.
type group struct {
	conn *sql.Conn
	tx   *sql.Tx
	// size is the number of changes, written is called for each when they are done.
	size    int
	written []func()
	// ended tells that nobody can join any more, err how it ended.
	ended bool
	err   error
}

// groups lets changes join the group that is open. Whoever has the turn has the open group to itself.
type groups struct {
	turn chan struct{}
	open *group
}

func newGroups() groups { return groups{turn: make(chan struct{}, 1)} }

// take waits for the turn; the context bounds that.
func (g *groups) take(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case g.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *groups) leave() { <-g.turn }

// join makes one change in the group that is open, or opens one. The context bounds the wait for the connection alone: a change
// that has begun is done to its end, because one that is cut off has an unknown outcome. The audit entry and the answer to
// a repetition that the context carries are part of the change (rules M-20 and M-12).
func (f *file) join(ctx context.Context, do func(context.Context, *sql.Tx) error) (*group, error) {
	if err := f.groups.take(ctx); err != nil {
		return nil, err
	}
	defer f.groups.leave()
	g, err := f.opened(ctx)
	if err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	if err := f.enter(ctx, g, do); err != nil {
		return nil, err
	}
	if f.path == "" {
		// The connection is the database: whoever reads must not wait for the end of a group.
		f.end(ctx, g)
	}
	return g, g.err
}

// opened is the group that is open.
func (f *file) opened(ctx context.Context) (*group, error) {
	if f.groups.open != nil {
		return f.groups.open, nil
	}
	conn, err := f.write.Conn(ctx)
	if err != nil {
		return nil, err
	}
	tx, err := conn.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		finish(conn)
		return nil, err
	}
	f.groups.open = &group{conn: conn, tx: tx}
	return f.groups.open, nil
}

// enter makes a change in a group. The first one needs no savepoint: it is undone with the whole.
func (f *file) enter(ctx context.Context, g *group, do func(context.Context, *sql.Tx) error) (err error) {
	done := false
	defer func() {
		if !done { // It failed, or panicked.
			f.undo(ctx, g, err)
		}
	}()
	if g.size > 0 {
		if _, err := f.writes.exec(ctx, g.tx, fence); err != nil {
			return err
		}
	}
	if err := do(ctx, g.tx); err != nil {
		return err
	}
	written, err := f.attach(ctx, g.tx)
	if err != nil {
		return err
	}
	if g.size > 0 {
		if _, err := f.writes.exec(ctx, g.tx, unfence); err != nil {
			return err
		}
	}
	g.size, g.written, done = g.size+1, append(g.written, written), true
	return nil
}

// undo takes back a change that failed. Where SQLite itself took back the whole transaction, as on a full disk, the
// others are lost with it.
func (f *file) undo(ctx context.Context, g *group, cause error) {
	f.replays.forget()
	if g.size > 0 {
		_, err := g.tx.ExecContext(ctx, undoToFence)
		if err == nil {
			_, err = g.tx.ExecContext(ctx, unfence)
		}
		if err == nil {
			return
		}
		cause = errors.Join(cause, err)
	}
	g.err = errors.Join(cause, g.tx.Rollback())
	f.retire(g)
}

// end commits a group, for all who are in it.
func (f *file) end(ctx context.Context, g *group) {
	if g.ended {
		return
	}
	if g.err = g.tx.Commit(); g.err != nil {
		f.replays.forget()
		// A commit that was refused may have left the transaction open. What is undone already is no error to tell.
		_, _ = g.conn.ExecContext(ctx, undoAllOfOne)
	} else {
		for _, written := range g.written {
			written()
		}
		f.log.count(g.conn)
	}
	f.retire(g)
}

// retire lets the next change open a group.
func (f *file) retire(g *group) {
	g.ended, g.written, f.groups.open = true, nil, nil
	finish(g.conn)
}

// settle returns when a group is committed and on disk as far as the schema asks for that.
func (f *file) settle(g *group) error {
	ctx := context.Background()
	if err := f.groups.take(ctx); err != nil {
		return err
	}
	f.end(ctx, g)
	f.groups.leave()
	if g.err != nil {
		return g.err
	}
	return f.disk.flush()
}

// endOpen commits what was made and not waited for.
func (f *file) endOpen() {
	ctx := context.Background()
	if f.groups.turn == nil || f.groups.take(ctx) != nil {
		return
	}
	defer f.groups.leave()
	if f.groups.open != nil {
		f.end(ctx, f.groups.open)
	}
}

// attach adds to a change of definitions what its context carries: the audit entry and the answer to a repetition. Written
// tells them that the transaction is done.
func (f *file) attach(ctx context.Context, tx *sql.Tx) (written func(), err error) {
	written = func() {}
	if f.schema != schemaDefinitions {
		return written, nil
	}
	draft, answer := mockbase.AuditOf(ctx), mockbase.ReplayOf(ctx)
	if entry := draft.Pending(); entry != nil {
		if err := f.appendAudit(ctx, tx, entry); err != nil {
			return nil, err
		}
		written = draft.Written
	}
	replay := answer.Pending()
	if replay == nil {
		return written, nil
	}
	if err := f.replays.put(ctx, tx, replay); err != nil {
		return nil, err
	}
	audited := written
	return func() { audited(); answer.Written() }, nil
}
