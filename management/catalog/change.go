package catalog

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/mockbase/mockbase"
)

// rereading bounds the time in which a project is read again.
const rereading = 10 * time.Second

// Match is the version that a change was made from (rule M-10). The zero value matches every version.
type Match struct {
	// Version is the version of the object, 0 for any.
	Version int64
}

func (m Match) check(kind string, current int64) error {
	if m.Version == 0 || m.Version == current {
		return nil
	}
	return &mockbase.Error{
		Code: mockbase.CodeVersionMismatch, Version: current,
		Message: "somebody changed the " + kind + " since you read it", Hint: "read it again and repeat the change",
	}
}

// change runs do with the project locked, as it is now. What it changed is on disk and published when change returns.
func (c *Catalog) change(projectID string, do func(e *entry, s *mockbase.Snapshot) error) error {
	e := c.projects.Load().find(projectID)
	if e == nil {
		return noProject(projectID)
	}
	made, err := c.exclusively(e, do)
	if err != nil || made == nil {
		return err
	}
	published, err := c.settle(e)
	if err == nil && published.reread == made.reread || made.lasts == nil {
		return err
	}
	// What was published was read from the store, or was lost with changes that came later: either may be without this one.
	if lost := made.lasts(); lost != nil || err == nil {
		return lost
	}
	return c.republish(e)
}

// republish publishes what is stored of a project. Nobody changes it meanwhile, so that when what others made is found to be
// lost, the second time is without it.
func (c *Catalog) republish(e *entry) (err error) {
	e.changing.Lock()
	defer e.changing.Unlock()
	for range 2 {
		if err := c.makeSure(e); err != nil {
			return err
		}
		if _, err = c.settle(e); err == nil {
			return nil
		}
	}
	return err
}

// exclusively runs do with the project locked, and returns what is to be published then, nil for nothing.
func (c *Catalog) exclusively(e *entry, do func(e *entry, s *mockbase.Snapshot) error) (*draft, error) {
	e.changing.Lock()
	defer e.changing.Unlock()
	if err := c.makeSure(e); err != nil {
		return nil, err
	}
	s := e.stored.Load().Snapshot
	if e.gone {
		return nil, noProject(s.Project.ID)
	}
	if err := do(e, s); err != nil {
		return nil, err
	}
	// A change that found everything as it should be tells of what others made, and waits for them.
	made := e.stored.Load()
	if e.gone || e.snapshot.Load() == made.Snapshot {
		return nil, nil //nolint:nilnil // Nothing is no error.
	}
	return made, nil
}

// makeSure reads again what is stored of a project, if a change may not have been made that others build on.
func (c *Catalog) makeSure(e *entry) error {
	if !e.unsure.Load() || e.gone {
		return nil
	}
	former := e.stored.Load()
	if former.lasts != nil {
		// What others have made since must be in what is read; whether it lasts, they learn themselves.
		_ = former.lasts()
	}
	ctx, cancel := context.WithTimeout(context.Background(), rereading)
	defer cancel()
	all, err := c.store.Snapshots(ctx)
	if err != nil {
		return fmt.Errorf("read project again: %w", err)
	}
	id := former.Project.ID
	i := slices.IndexFunc(all, func(s *mockbase.Snapshot) bool { return s.Project.ID == id })
	if i < 0 {
		return noProject(id)
	}
	e.stored.Store(&draft{Snapshot: all[i], reread: former.reread + 1})
	e.unsure.Store(false)
	return nil
}

// publication is one time that a project's snapshot is brought to the disk and published, for all who changed it before.
type publication struct {
	done  chan struct{}
	draft *draft
	err   error
}

// settle returns when the project's snapshot is on disk and published. Of those who come while another one does that, the
// first does it for all.
func (c *Catalog) settle(e *entry) (*draft, error) {
	own := &publication{done: make(chan struct{})}
	for !e.next.CompareAndSwap(nil, own) {
		if joined := e.next.Load(); joined != nil {
			<-joined.done
			return joined.draft, joined.err
		}
	}
	defer close(own.done)
	e.publishing.Lock()
	defer e.publishing.Unlock()
	// Those who are about to change the project go first where there are more of them than processors: one publication for all is
	// less work than one each, and nobody who came later is done before them.
	runtime.Gosched()
	// Whoever comes from here on may have changed what is read now.
	e.next.Store(nil)
	next := e.stored.Load()
	own.draft = next
	s := next.Snapshot
	prepared := c.prepare(s)
	if next.lasts != nil {
		own.err = next.lasts()
	}
	<-prepared
	if own.err != nil {
		e.unsure.Store(true)
	}
	if own.err == nil && !e.gone {
		// Readers learn of it when it is served, so that nobody asks the plane for a snapshot that it does not have yet.
		own.err = c.publish(s)
		e.snapshot.Store(s)
	}
	return next, own.err
}

// prepare has the plane get a snapshot ready while the disk is busy, and tells when that is done.
func (c *Catalog) prepare(s *mockbase.Snapshot) <-chan struct{} {
	done := make(chan struct{})
	plane, prepares := c.plane.(Preparer)
	if !prepares {
		close(done)
		return done
	}
	go func() {
		defer close(done)
		plane.Prepare(s)
	}()
	return done
}

func noProject(idOrSlug string) error {
	return mockbase.Errorf(mockbase.CodeNotFound, "there is no project %q", idOrSlug)
}

// Making is a change that is about to be stored, as [mockbase.ReplayDraft.Made] tells of it.
type Making struct {
	Set mockbase.ChangeSet
	// Next is the project with the change.
	Next *mockbase.Snapshot
}

// commit stores a change. The snapshot that it makes is published when the lock is free for the next.
func (c *Catalog) commit(ctx context.Context, e *entry, set mockbase.ChangeSet, next *mockbase.Snapshot) error {
	noteChange(ctx, e.stored.Load().Snapshot, set)
	err := mockbase.ReplayOf(ctx).Made(Making{set, next})
	if err != nil {
		return err
	}
	made := &draft{Snapshot: next, reread: e.stored.Load().reread}
	if store, eager := c.store.(Eager); eager && ctx.Err() == nil {
		made.lasts, err = store.ApplySoon(context.WithoutCancel(ctx), set)
	} else {
		err = c.save(ctx, set)
	}
	if err != nil {
		return e.doubt(err)
	}
	e.stored.Store(made)
	return nil
}

// doubt notes that the store has another revision than the one that a change was made from: the change before was not made
// after all, and its caller learns of it at this moment.
func (e *entry) doubt(err error) error {
	if mockbase.ErrorCode(err) != mockbase.CodeVersionMismatch {
		return err
	}
	e.unsure.Store(true)
	return &mockbase.Error{
		Code: mockbase.CodeUnavailable, Message: "a change that was made just before could not be stored", Hint: "repeat the change", Err: err,
	}
}

// commitNow stores a change and publishes the snapshot that it makes before the next change may be made.
func (c *Catalog) commitNow(ctx context.Context, e *entry, set mockbase.ChangeSet, next *mockbase.Snapshot) error {
	noteChange(ctx, e.stored.Load().Snapshot, set)
	if err := mockbase.ReplayOf(ctx).Made(Making{set, next}); err != nil {
		return err
	}
	if err := c.save(ctx, set); err != nil {
		return e.doubt(err)
	}
	e.publishing.Lock()
	defer e.publishing.Unlock()
	e.stored.Store(&draft{Snapshot: next, reread: e.stored.Load().reread})
	e.snapshot.Store(next)
	return c.publish(next)
}

// save stores a change. From the moment that it begins, the caller's going away stops nothing.
func (c *Catalog) save(ctx context.Context, set mockbase.ChangeSet) error {
	if err := ctx.Err(); err != nil {
		return &mockbase.Error{Code: mockbase.CodeUnavailable, Message: "the request ended before the change began", Err: err}
	}
	return c.store.Apply(context.WithoutCancel(ctx), set)
}

// publish serves a snapshot that is stored. Everything in it passed the plane's checks, so that a refusal is a defect.
func (c *Catalog) publish(s *mockbase.Snapshot) error {
	err := c.plane.Publish(s)
	if err == nil {
		return nil
	}
	c.logger.Error("stored project can't be served", "project", s.Project.Slug, "revision", s.Project.Revision, "error", err)
	return &mockbase.Error{Code: mockbase.CodeInternal, Message: "the change is stored, but the server can't serve it", Err: err}
}

// advance is the project one revision later.
func advance(p *mockbase.Project) *mockbase.Project {
	next := *p
	next.Revision++
	return &next
}
