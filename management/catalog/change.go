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

// change runs do with the project locked, as it is now.
func (c *Catalog) change(projectID string, do func(e *entry, s *mockbase.Snapshot) error) error {
	e := c.projects.Load().find(projectID)
	if e == nil {
		return noProject(projectID)
	}
	e.changing.Lock()
	defer e.changing.Unlock()
	if e.gone {
		return noProject(projectID)
	}
	return do(e, e.snapshot.Load())
}

func noProject(idOrSlug string) error {
	return mockbase.Errorf(mockbase.CodeNotFound, "there is no project %q", idOrSlug)
}

// commit stores a change and publishes the snapshot that it makes, in this order.
func (c *Catalog) commit(ctx context.Context, e *entry, set mockbase.ChangeSet, next *mockbase.Snapshot) error {
	noteChange(ctx, e.snapshot.Load(), set)
	if err := c.save(ctx, set); err != nil {
		return err
	}
	e.snapshot.Store(next)
	return c.publish(ctx, next)
}

// save stores a change. From the moment that it begins, the caller's going away stops nothing.
func (c *Catalog) save(ctx context.Context, set mockbase.ChangeSet) error {
	if err := ctx.Err(); err != nil {
		return &mockbase.Error{Code: mockbase.CodeUnavailable, Message: "the request ended before the change began", Err: err}
	}
	return c.store.Apply(context.WithoutCancel(ctx), set)
}

// publish serves a snapshot that is stored. Everything in it passed the plane's checks, so that a refusal is a defect.
func (c *Catalog) publish(ctx context.Context, s *mockbase.Snapshot) error {
	err := c.plane.Publish(s)
	if err == nil {
		return nil
	}
	c.logger.ErrorContext(ctx, "stored project can't be served", "project", s.Project.Slug, "revision", s.Project.Revision, "error", err)
	return &mockbase.Error{Code: mockbase.CodeInternal, Message: "the change is stored, but the server can't serve it", Err: err}
}

// advance is the project one revision later.
func advance(p *mockbase.Project) *mockbase.Project {
	next := *p
	next.Revision++
	return &next
}
