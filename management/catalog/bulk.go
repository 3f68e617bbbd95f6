package catalog

import (
	"bytes"
	"context"
	"slices"

	"github.com/mockbase/mockbase"
)

// Bulk is one change of many mocks (rule M-153).
type Bulk struct {
	// By is the id of the user who changes the mocks.
	By string
	// Selects says which mocks are meant.
	Selects func(*mockbase.Mock) bool
	// Change makes the new mock of one; nil deletes all that are meant. The name may not change.
	Change func(current *mockbase.Mock) (*mockbase.Mock, error)
}

// ChangeMocks changes or deletes all mocks that are meant, or none. It returns the mocks that were meant as they are then,
// deleted ones as they were, and how many of them changed. It fails with CodeManagedBySource when one of them belongs to
// files or a source, and with CodeValidationFailed when one could not be served.
func (c *Catalog) ChangeMocks(ctx context.Context, projectID string, b Bulk) (matched []*mockbase.Mock, changed int, err error) {
	err = c.change(projectID, func(e *entry, s *mockbase.Snapshot) error {
		if b.Change == nil {
			matched, err = c.deleteMocks(ctx, e, s, b)
			changed = len(matched)
			return err
		}
		matched, changed, err = c.changeMocks(ctx, e, s, b)
		return err
	})
	return matched, changed, err
}

// meant are the mocks of a snapshot that a bulk means, all of which it may change.
func (b Bulk) meant(s *mockbase.Snapshot) ([]*mockbase.Mock, error) {
	var meant []*mockbase.Mock
	for _, m := range s.Mocks {
		if !b.Selects(m) {
			continue
		}
		if err := (WriteOptions{By: b.By}).mayChange(m); err != nil {
			return nil, err
		}
		meant = append(meant, m)
	}
	return meant, nil
}

func (c *Catalog) deleteMocks(ctx context.Context, e *entry, s *mockbase.Snapshot, b Bulk) ([]*mockbase.Mock, error) {
	meant, err := b.meant(s)
	if err != nil || len(meant) == 0 {
		return nil, err
	}
	set := mockbase.ChangeSet{ProjectID: s.Project.ID, IfRevision: s.Project.Revision, By: b.By}
	gone := make(map[string]bool, len(meant))
	for _, m := range meant {
		set.Delete = append(set.Delete, m.ID)
		gone[m.ID] = true
	}
	mocks := slices.DeleteFunc(slices.Clone(s.Mocks), func(m *mockbase.Mock) bool { return gone[m.ID] })
	return meant, c.commit(ctx, e, set, &mockbase.Snapshot{Project: advance(s.Project), Mocks: mocks})
}

func (c *Catalog) changeMocks(ctx context.Context, e *entry, s *mockbase.Snapshot, b Bulk) ([]*mockbase.Mock, int, error) {
	meant, err := b.meant(s)
	if err != nil {
		return nil, 0, err
	}
	set := mockbase.ChangeSet{ProjectID: s.Project.ID, IfRevision: s.Project.Revision, By: b.By}
	next := make(map[string]*mockbase.Mock, len(meant))
	for i, m := range meant {
		made, err := b.Change(m)
		if err != nil {
			return nil, 0, err
		}
		if bytes.Equal(made.Document, m.Document) {
			continue
		}
		if err := mockbase.Invalid(c.checkMock(&s.Project.Config, made)); err != nil {
			return nil, 0, err
		}
		made = c.nextMock(made, m, b.By)
		meant[i], next[m.ID] = made, made
		set.Put = append(set.Put, made)
	}
	if len(set.Put) == 0 {
		return meant, 0, nil
	}
	mocks := slices.Clone(s.Mocks)
	for i, m := range mocks {
		if made := next[m.ID]; made != nil {
			mocks[i] = made
		}
	}
	return meant, len(set.Put), c.commit(ctx, e, set, &mockbase.Snapshot{Project: advance(s.Project), Mocks: mocks})
}
