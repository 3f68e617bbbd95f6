package catalog

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mockbase/mockbase"
)

// History is what mocks were before, as the store keeps it.
type History interface {
	MockVersions(ctx context.Context, projectID, mockID string, visit func(*mockbase.MockVersion) error) error
	MockVersion(ctx context.Context, projectID, mockID string, version int64) (*mockbase.MockVersion, error)
	Trash(ctx context.Context, projectID string) ([]mockbase.TrashedMock, error)
	TrashedMock(ctx context.Context, projectID, id string) (*mockbase.TrashedMock, error)
}

// Version is one version of a mock in a list (rule M-147).
type Version struct {
	Version int64
	At      time.Time
	// By is the id of the user who made the version, Source the source that the mock belonged to; both may be empty.
	By, Source string
	// Changes are the differences from the version before, at most maxChanges; the oldest that is kept has none.
	Changes []Change
}

// Versions lists the versions of a mock that are kept, the newest first.
func (c *Catalog) Versions(ctx context.Context, projectID, mockID string) ([]Version, error) {
	var (
		all    []Version
		former *mockbase.MockVersion
	)
	err := c.history.MockVersions(ctx, projectID, mockID, func(v *mockbase.MockVersion) error {
		one := Version{Version: v.Version, At: v.At, By: v.By, Source: v.Owner}
		if former != nil {
			one.Changes = append(differences(former.Document, v.Document), ownerChange(former.Owner, v.Owner)...)
		}
		former = v
		all = append(all, one)
		return nil
	})
	slices.Reverse(all)
	return all, err
}

// VersionOf returns a mock as it was at a version. It fails with CodeNotFound for a version that is not kept.
func (c *Catalog) VersionOf(ctx context.Context, current *mockbase.Mock, version int64) (*mockbase.Mock, error) {
	v, err := c.history.MockVersion(ctx, current.ProjectID, current.ID, version)
	if err != nil {
		return nil, err
	}
	m, err := asItWas(v)
	if err != nil {
		return nil, err
	}
	m.ProjectID, m.Order, m.CreatedAt, m.Origin = current.ProjectID, current.Order, current.CreatedAt, current.Origin
	return m, nil
}

// asItWas is the mock that a version holds.
func asItWas(v *mockbase.MockVersion) (*mockbase.Mock, error) {
	m, err := mockbase.DecodeMock(v.Document, mockbase.FormatJSON)
	if err != nil {
		return nil, &mockbase.Error{Code: mockbase.CodeInternal, Message: fmt.Sprintf("version %d of the mock can't be read any more", v.Version), Err: err}
	}
	m.ID, m.Version, m.UpdatedAt, m.UpdatedBy, m.Owner, m.Edited = v.MockID, v.Version, v.At, v.By, v.Owner, v.Edited
	m.Line, m.Column, m.NameGenerated = 0, 0, false
	return m, nil
}

// RestoreVersion makes a mock what it was at a version, as a new version (rule M-149). It fails with CodeNameTaken when the
// mock had another name then, which belongs to another mock now.
func (c *Catalog) RestoreVersion(ctx context.Context, current *mockbase.Mock, version int64, o WriteOptions) (*mockbase.Mock, error) {
	former, err := c.VersionOf(ctx, current, version)
	if err != nil {
		return nil, err
	}
	return c.PatchMock(ctx, current.ProjectID, current.ID, o, func(*mockbase.Mock) (*mockbase.Mock, error) { return former, nil })
}

// Trash lists the deleted mocks of a project that can be restored, the last deleted first, without their documents.
func (c *Catalog) Trash(ctx context.Context, projectID string) ([]mockbase.TrashedMock, error) {
	return c.history.Trash(ctx, projectID)
}

// RestoreMock brings a deleted mock back to its place, with its id and as a new version (rule M-155). It belongs to no source
// any more. It fails with CodeNotFound, CodeNameTaken and CodeQuotaReached, and with CodeValidationFailed when the mock
// could not be served any more.
func (c *Catalog) RestoreMock(ctx context.Context, projectID, id, by string) (*mockbase.Mock, error) {
	var restored *mockbase.Mock
	err := c.change(projectID, func(e *entry, s *mockbase.Snapshot) error {
		trashed, err := c.history.TrashedMock(ctx, s.Project.ID, id)
		if err != nil {
			return err
		}
		if restored, err = c.revived(s.Project, trashed, by); err != nil {
			return err
		}
		restored.Owner, restored.Edited = "", false
		if indexOf(s, restored.Name) >= 0 {
			return mockTaken(restored.Name)
		}
		if err := reached("maxMocksPerProject", c.quotas.Load().MaxMocksPerProject, len(s.Mocks)+1); err != nil {
			return err
		}
		return c.putMock(ctx, e, inserted(s.Mocks, restored), restored)
	})
	return restored, err
}

// revived is the next version of a deleted mock, checked.
func (c *Catalog) revived(p *mockbase.Project, trashed *mockbase.TrashedMock, by string) (*mockbase.Mock, error) {
	if err := refuseReadOnly(p); err != nil {
		return nil, err
	}
	m, err := asItWas(&trashed.MockVersion)
	if err != nil {
		return nil, err
	}
	m.ProjectID, m.Order, m.CreatedAt = p.ID, trashed.Order, trashed.CreatedAt
	if err := mockbase.Invalid(c.checkMock(&p.Config, m)); err != nil {
		return nil, err
	}
	return c.nextMock(m, m, by), nil
}

// inserted is a list of mocks with one more at the place that its order gives it.
func inserted(mocks []*mockbase.Mock, m *mockbase.Mock) []*mockbase.Mock {
	at := slices.IndexFunc(mocks, func(other *mockbase.Mock) bool { return other.Order > m.Order })
	if at < 0 {
		at = len(mocks)
	}
	return slices.Insert(slices.Clone(mocks), at, m)
}

// PurgeMock deletes a mock in the trash for good (rule M-156).
func (c *Catalog) PurgeMock(ctx context.Context, projectID, id string) error {
	return c.change(projectID, func(e *entry, s *mockbase.Snapshot) error {
		trashed, err := c.history.TrashedMock(ctx, s.Project.ID, id)
		if err != nil {
			return err
		}
		if err := refuseReadOnly(s.Project); err != nil {
			return err
		}
		mockbase.AuditOf(ctx).Note(func(e *mockbase.AuditEntry) {
			e.Target.ID, e.Target.Name, e.Before = id, trashed.Name, mockbase.MaskSecrets(trashed.Document)
		})
		set := mockbase.ChangeSet{ProjectID: s.Project.ID, IfRevision: s.Project.Revision, Purge: []string{id}}
		return c.commit(ctx, e, set, &mockbase.Snapshot{Project: advance(s.Project), Mocks: s.Mocks})
	})
}

// ResetMocks takes the mocks of sources back to what those wrote last: what was edited by hand since, and what was deleted
// by hand (rule R7). Mocks that were always made by hand stay as they are, and what files hold cannot have changed. All of
// it is one change. It fails with CodeNameTaken when a mock by hand has the name of one to bring back.
func (c *Catalog) ResetMocks(ctx context.Context, projectID, by string) error {
	return c.change(projectID, func(e *entry, s *mockbase.Snapshot) error {
		if s.Project.Origin != "" {
			return nil
		}
		b := takingBack{catalog: c, from: s, by: by, mocks: slices.Clone(s.Mocks)}
		if err := b.edited(ctx); err != nil {
			return err
		}
		if err := b.deleted(ctx); err != nil {
			return err
		}
		if len(b.put) == 0 {
			return nil
		}
		set := mockbase.ChangeSet{ProjectID: s.Project.ID, IfRevision: s.Project.Revision, Put: b.put, By: by}
		return c.commit(ctx, e, set, &mockbase.Snapshot{Project: advance(s.Project), Mocks: b.mocks})
	})
}

// takingBack is a reset of mocks in the making.
type takingBack struct {
	catalog *Catalog
	from    *mockbase.Snapshot
	by      string
	mocks   []*mockbase.Mock
	put     []*mockbase.Mock
}

// lastOwned is the last version of a mock that a source wrote, nil when there is none.
func (b *takingBack) lastOwned(ctx context.Context, mockID string) (*mockbase.MockVersion, error) {
	var last *mockbase.MockVersion
	err := b.catalog.history.MockVersions(ctx, b.from.Project.ID, mockID, func(v *mockbase.MockVersion) error {
		if v.Owner != "" && !v.Edited {
			last = v
		}
		return nil
	})
	return last, err
}

// edited takes the mocks back that a hand edited.
func (b *takingBack) edited(ctx context.Context) error {
	for i, m := range b.mocks {
		if !m.Edited {
			continue
		}
		last, err := b.lastOwned(ctx, m.ID)
		if err != nil {
			return err
		}
		if last == nil {
			continue
		}
		former, err := asItWas(last)
		if err != nil {
			return err
		}
		next := b.catalog.nextMock(former, m, b.by)
		next.Owner, next.Edited = last.Owner, false
		b.mocks[i] = next
		b.put = append(b.put, next)
	}
	return b.check()
}

// deleted brings the mocks back that a hand deleted, unless there are new ones of their names.
func (b *takingBack) deleted(ctx context.Context) error {
	trash, err := b.catalog.history.Trash(ctx, b.from.Project.ID)
	if err != nil {
		return err
	}
	for i := range trash {
		t := &trash[i]
		if t.Source != "" || t.Owner == "" && !t.Edited || b.has(t.Name) {
			continue
		}
		last, err := b.lastOwned(ctx, t.MockID)
		if err != nil {
			return err
		}
		if last == nil || b.has(last.Name) {
			continue
		}
		owned := *t
		owned.Document, owned.Name, owned.Owner, owned.Edited = last.Document, last.Name, last.Owner, false
		m, err := b.catalog.revived(b.from.Project, &owned, b.by)
		if err != nil {
			return err
		}
		b.mocks = inserted(b.mocks, m)
		b.put = append(b.put, m)
	}
	return reached("maxMocksPerProject", b.catalog.quotas.Load().MaxMocksPerProject, len(b.mocks))
}

func (b *takingBack) has(name string) bool {
	return slices.ContainsFunc(b.mocks, func(m *mockbase.Mock) bool { return m.Name == name })
}

// check refuses names that are taken, and what could not be served any more.
func (b *takingBack) check() error {
	names := make(map[string]bool, len(b.mocks))
	for _, m := range b.mocks {
		if names[m.Name] {
			return mockTaken(m.Name)
		}
		names[m.Name] = true
	}
	for _, m := range b.put {
		if err := mockbase.Invalid(b.catalog.checkMock(&b.from.Project.Config, m)); err != nil {
			return err
		}
	}
	return nil
}

// forgetful is the history of a store that keeps none.
type forgetful struct{}

var _ History = forgetful{}

// MockVersions has none to hand to visit.
func (forgetful) MockVersions(context.Context, string, string, func(*mockbase.MockVersion) error) error {
	return nil
}

// MockVersion finds nothing.
func (forgetful) MockVersion(context.Context, string, string, int64) (*mockbase.MockVersion, error) {
	return nil, mockbase.Errorf(mockbase.CodeNotFound, "no versions are kept")
}

// Trash is empty.
func (forgetful) Trash(context.Context, string) ([]mockbase.TrashedMock, error) { return nil, nil }

// TrashedMock finds nothing.
func (forgetful) TrashedMock(context.Context, string, string) (*mockbase.TrashedMock, error) {
	return nil, mockbase.Errorf(mockbase.CodeNotFound, "no deleted mocks are kept")
}
