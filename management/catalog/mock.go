package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mockbase/mockbase"
)

// orderStep is the distance between two mocks in creation order. It leaves room for mocks that an apply puts between.
const orderStep = 1 << 10

// WriteOptions say how a mock may be changed.
type WriteOptions struct {
	// By is the id of the user who changes the mock.
	By    string
	Match Match
	// TakeOver changes a mock in spite of the source that it belongs to, and takes it away from the source (rule M-77).
	TakeOver bool
}

// CreateMock adds a mock in front of all others (rule A7). A name that the author gave and that is taken is refused
// with CodeNameTaken (rule Y2); one that was made up gets a suffix. It fails with CodeValidationFailed for what the
// plane does not serve, and with CodeQuotaReached.
func (c *Catalog) CreateMock(ctx context.Context, projectID string, m *mockbase.Mock, by string) (*mockbase.Mock, error) {
	var created *mockbase.Mock
	err := c.change(projectID, func(e *entry, s *mockbase.Snapshot) error {
		taken := func(name string) bool { return indexOf(s, name) >= 0 }
		if m.NameGenerated {
			m = renamed(m, mockbase.UniqueName(m.Name, taken))
		}
		// What is checked is what is published, so that the plane need not compile it twice.
		next := c.newMock(m, s.Project.ID, by)
		if err := mockbase.Invalid(c.checkMock(&s.Project.Config, next)); err != nil {
			return err
		}
		if err := refuseReadOnly(s.Project); err != nil {
			return err
		}
		if taken(m.Name) {
			return mockTaken(m.Name)
		}
		if err := reached("maxMocksPerProject", c.quotas.Load().MaxMocksPerProject, len(s.Mocks)+1); err != nil {
			return err
		}
		created = next
		created.Order = lastOrder(s.Mocks) + orderStep
		// Snapshots share the room behind their mocks: it is written by the next change of the latest alone, and every other
		// kind of change begins with a copy.
		return c.putMock(ctx, e, append(s.Mocks, created), created) //nolint:gocritic // as told
	})
	return created, err
}

func mockTaken(name string) error {
	return mockbase.Errorf(mockbase.CodeNameTaken, "there is a mock with the name %q already", name)
}

// renamed is a mock under another name, the mock itself when the name is its own.
func renamed(m *mockbase.Mock, name string) *mockbase.Mock {
	if m.Name == name {
		return m
	}
	return m.WithName(name)
}

func lastOrder(mocks []*mockbase.Mock) int64 {
	if len(mocks) == 0 {
		return 0
	}
	return mocks[len(mocks)-1].Order
}

// newMock is a mock's first version.
func (c *Catalog) newMock(m *mockbase.Mock, projectID, by string) *mockbase.Mock {
	made := m.Copy()
	made.CreatedAt = c.now()
	made.ID = mockbase.NewID(mockbase.PrefixMock, made.CreatedAt)
	made.UpdatedAt = made.CreatedAt
	made.ProjectID, made.Version, made.UpdatedBy = projectID, 1, by
	made.Owner, made.Edited, made.NameGenerated = "", false, false
	return made
}

// nextMock is the version of a mock that follows the current one, with its identity and place (rule A8).
func (c *Catalog) nextMock(m, current *mockbase.Mock, by string) *mockbase.Mock {
	next := m.Copy()
	next.ID, next.ProjectID, next.Order, next.CreatedAt = current.ID, current.ProjectID, current.Order, current.CreatedAt
	next.Owner, next.Edited, next.Origin = current.Owner, current.Edited, current.Origin
	next.Version, next.UpdatedAt, next.UpdatedBy = current.Version+1, c.now(), by
	next.NameGenerated = false
	return next
}

// putMock stores a mock that is new or changed and publishes the project with these mocks.
func (c *Catalog) putMock(ctx context.Context, e *entry, mocks []*mockbase.Mock, m *mockbase.Mock) error {
	p := e.stored.Load().Project
	set := mockbase.ChangeSet{ProjectID: p.ID, IfRevision: p.Revision, Put: []*mockbase.Mock{m}}
	return c.commit(ctx, e, set, &mockbase.Snapshot{Project: advance(p), Mocks: mocks})
}

// ReplaceMock puts a whole new document in a mock's place. The mock keeps its id, its place in the order and its time
// of creation (rule A8). Another name in the document is refused (rule Y2), no name is the mock's own. The same
// document again changes nothing.
func (c *Catalog) ReplaceMock(
	ctx context.Context, projectID, nameOrID string, m *mockbase.Mock, o WriteOptions,
) (*mockbase.Mock, error) {
	return c.rewrite(ctx, target{projectID, nameOrID}, o, func(s *mockbase.Snapshot, current *mockbase.Mock) (*mockbase.Mock, error) {
		if m.NameGenerated {
			m = renamed(m, current.Name)
		}
		if err := mockbase.Invalid(append(checkIdentity(m, current), c.checkMock(&s.Project.Config, m)...)); err != nil {
			return nil, err
		}
		return m, nil
	})
}

func checkIdentity(m, current *mockbase.Mock) []mockbase.FieldError {
	var faults []mockbase.FieldError
	if m.Name != current.Name {
		faults = append(faults, mockbase.FieldError{
			Pointer: "#/name", Code: mockbase.FieldConflict,
			Detail: fmt.Sprintf("%q is not the name of this mock, %q; PATCH renames a mock", m.Name, current.Name),
		})
	}
	if m.ID != "" && m.ID != current.ID {
		faults = append(faults, mockbase.FieldError{
			Pointer: "#/id", Code: mockbase.FieldConflict, Detail: fmt.Sprintf("%q is not the id of this mock, %q", m.ID, current.ID),
		})
	}
	return faults
}

// PatchMock changes a mock by a function of what it is now; it may rename the mock.
func (c *Catalog) PatchMock(
	ctx context.Context, projectID, nameOrID string, o WriteOptions, change func(current *mockbase.Mock) (*mockbase.Mock, error),
) (*mockbase.Mock, error) {
	return c.rewrite(ctx, target{projectID, nameOrID}, o, func(s *mockbase.Snapshot, current *mockbase.Mock) (*mockbase.Mock, error) {
		m, err := change(current)
		if err != nil {
			return nil, err
		}
		if m.NameGenerated {
			m = renamed(m, current.Name)
		}
		if err := mockbase.Invalid(c.checkMock(&s.Project.Config, m)); err != nil {
			return nil, err
		}
		if m.Name != current.Name && indexOf(s, m.Name) >= 0 {
			return nil, mockTaken(m.Name)
		}
		return m, nil
	})
}

// target is a mock's address.
type target struct {
	projectID, nameOrID string
}

// rewrite puts what edit makes of a mock in its place. The order of checks is that of rule M-7.
func (c *Catalog) rewrite(
	ctx context.Context, at target, o WriteOptions, edit func(*mockbase.Snapshot, *mockbase.Mock) (*mockbase.Mock, error),
) (*mockbase.Mock, error) {
	var next *mockbase.Mock
	err := c.changeMock(at, o, func(e *entry, s *mockbase.Snapshot, i int) error {
		current := s.Mocks[i]
		m, err := edit(s, current)
		if err != nil {
			return err
		}
		if err := o.mayChange(current); err != nil {
			return err
		}
		taken := o.TakeOver && current.Owner != ""
		if !taken && bytes.Equal(m.Document, current.Document) {
			next = current
			return nil
		}
		next = c.nextMock(m, current, o.By)
		if taken {
			next.Owner, next.Edited = "", true
		}
		mocks := slices.Clone(s.Mocks)
		mocks[i] = next
		return c.putMock(ctx, e, mocks, next)
	})
	return next, err
}

// DeleteMock deletes a mock. The ones that it hid answer again (rule A7).
func (c *Catalog) DeleteMock(ctx context.Context, projectID, nameOrID string, o WriteOptions) error {
	return c.changeMock(target{projectID, nameOrID}, o, func(e *entry, s *mockbase.Snapshot, i int) error {
		current := s.Mocks[i]
		if err := o.mayChange(current); err != nil {
			return err
		}
		set := mockbase.ChangeSet{ProjectID: s.Project.ID, IfRevision: s.Project.Revision, Delete: []string{current.ID}, By: o.By}
		mocks := slices.Delete(slices.Clone(s.Mocks), i, i+1)
		return c.commit(ctx, e, set, &mockbase.Snapshot{Project: advance(s.Project), Mocks: mocks})
	})
}

// changeMock runs do with the place of a mock that is there in the version that the caller saw.
func (c *Catalog) changeMock(at target, o WriteOptions, do func(e *entry, s *mockbase.Snapshot, i int) error) error {
	return c.change(at.projectID, func(e *entry, s *mockbase.Snapshot) error {
		i := indexOf(s, at.nameOrID)
		if i < 0 {
			return mockbase.Errorf(mockbase.CodeNotFound, "there is no mock %q", at.nameOrID)
		}
		if err := o.Match.check("mock", s.Mocks[i].Version); err != nil {
			return err
		}
		return do(e, s, i)
	})
}

// ErrOwned is in the tree of a refusal of CodeManagedBySource where the change would be made with the option TakeOver.
var ErrOwned = errors.New("it belongs to a source")

// mayChange refuses to change a mock that belongs to files or, without TakeOver, to a source (rule M-77).
func (o WriteOptions) mayChange(m *mockbase.Mock) error {
	switch {
	case m.Origin != "":
		return &mockbase.Error{
			Code: mockbase.CodeManagedBySource, Message: fmt.Sprintf("mock %q is loaded from %s and is read-only here", m.Name, m.Origin),
			Hint: "change the file",
		}
	case m.Owner != "" && !o.TakeOver:
		return &mockbase.Error{
			Code: mockbase.CodeManagedBySource, Message: fmt.Sprintf("mock %q belongs to the source %q", m.Name, m.Owner),
			Hint: "change it there and apply it", Err: ErrOwned,
		}
	}
	return nil
}
