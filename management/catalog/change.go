package catalog

import (
	"context"

	"github.com/mockbase/mockbase"
)

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
	lasts, changed, err := e.exclusively(do)
	if err != nil || !changed {
		return err
	}
	return c.settle(e, lasts)
}

// exclusively runs do with the project locked, and tells what is left to do for it without the lock.
func (e *entry) exclusively(do func(e *entry, s *mockbase.Snapshot) error) (lasts func() error, changed bool, err error) {
	e.changing.Lock()
	defer e.changing.Unlock()
	s := e.stored.Load()
	if e.gone {
		return nil, false, noProject(s.Project.ID)
	}
	err = do(e, s)
	lasts, changed = e.lasts, e.changed
	e.lasts, e.changed = nil, false
	return lasts, changed, err
}

// publication is one time that a project's snapshot is brought to the disk and published, for all who changed it before.
type publication struct {
	done chan struct{}
	err  error
}

// settle returns when the project's snapshot is on disk and published. Of those who come while another one does that, the
// first does it for all.
func (c *Catalog) settle(e *entry, lasts func() error) error {
	own := &publication{done: make(chan struct{})}
	for !e.next.CompareAndSwap(nil, own) {
		if joined := e.next.Load(); joined != nil {
			<-joined.done
			return joined.err
		}
	}
	defer close(own.done)
	e.publishing.Lock()
	defer e.publishing.Unlock()
	// Whoever comes from here on may have changed what is read now.
	e.next.Store(nil)
	s := e.stored.Load()
	prepared := c.prepare(s)
	if lasts != nil {
		own.err = lasts()
	}
	<-prepared
	if own.err == nil && !e.gone {
		// Readers learn of it when it is served, so that nobody asks the plane for a snapshot that it does not have yet.
		own.err = c.publish(s)
		e.snapshot.Store(s)
	}
	return own.err
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
	noteChange(ctx, e.stored.Load(), set)
	err := mockbase.ReplayOf(ctx).Made(Making{set, next})
	if err != nil {
		return err
	}
	if store, eager := c.store.(Eager); eager && ctx.Err() == nil {
		e.lasts, err = store.ApplySoon(context.WithoutCancel(ctx), set)
	} else {
		err = c.save(ctx, set)
	}
	if err != nil {
		return err
	}
	e.stored.Store(next)
	e.changed = true
	return nil
}

// commitNow stores a change and publishes the snapshot that it makes before the next change may be made.
func (c *Catalog) commitNow(ctx context.Context, e *entry, set mockbase.ChangeSet, next *mockbase.Snapshot) error {
	noteChange(ctx, e.stored.Load(), set)
	if err := mockbase.ReplayOf(ctx).Made(Making{set, next}); err != nil {
		return err
	}
	if err := c.save(ctx, set); err != nil {
		return err
	}
	e.publishing.Lock()
	defer e.publishing.Unlock()
	e.stored.Store(next)
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
