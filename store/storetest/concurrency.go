package storetest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store"
)

func concurrencyPromises() []promise {
	return []promise{
		{"M-15: sixteen writers and two readers all succeed", writersAndReaders},
		{"M-10: of several changes of one revision one succeeds", changesOnce},
		{"a write whose caller is gone is refused whole or done whole", cancelledWrites},
	}
}

func writersAndReaders(t *testing.T, s store.Store) {
	t.Helper()
	const writers, each = 16, 6
	ok(t, "create user", s.CreateUser(t.Context(), user("ada")))
	var writing, reading sync.WaitGroup
	done := make(chan struct{})
	for w := range writers {
		slug := fmt.Sprintf("w%02d", w)
		mocks := make([]*mockbase.Mock, each)
		for i := range mocks {
			mocks[i] = mock(t, slug, fmt.Sprintf("m%d", i), int64(i))
		}
		writing.Go(func() {
			if err := writeProject(t.Context(), s, slug, mocks); err != nil {
				t.Errorf("writer %d: %v", w, err)
			}
		})
	}
	for range 2 {
		reading.Go(func() { readUntil(t, s, done) })
	}
	writing.Wait()
	close(done)
	reading.Wait()
	for w := range writers {
		same(t, "number of mocks", len(names(t, s, fmt.Sprintf("w%02d", w))), each)
	}
}

// writeProject creates a project and adds the mocks one by one, with traffic between.
func writeProject(ctx context.Context, s store.Store, slug string, mocks []*mockbase.Mock) error {
	if err := s.Apply(ctx, creation(slug, "usr_ada")); err != nil {
		return err
	}
	for i, m := range mocks {
		if err := s.Apply(ctx, mockbase.ChangeSet{ProjectID: "prj_" + slug, IfRevision: int64(i + 1), Put: []*mockbase.Mock{m}}); err != nil {
			return err
		}
		if err := s.AppendExchanges(ctx, []*mockbase.Exchange{exchange(slug, i)}); err != nil {
			return err
		}
	}
	return nil
}

func readUntil(t *testing.T, s store.Store, done <-chan struct{}) {
	t.Helper()
	const reads = 40
	for range reads {
		select {
		case <-done:
			return
		default:
		}
		all, err := s.Snapshots(t.Context())
		if err != nil {
			t.Errorf("read: %v", err)
			return
		}
		for _, snapshot := range all {
			if got := int64(len(snapshot.Mocks)); snapshot.Project.Revision != got+1 {
				t.Errorf("%s: revision %d with %d mocks was seen: a snapshot is of one moment", snapshot.Project.Slug, snapshot.Project.Revision, got)
			}
		}
	}
}

func changesOnce(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create", s.Apply(t.Context(), creation("shop", "")))
	var done, refused atomic.Int32
	var group sync.WaitGroup
	for i := range 8 {
		m := mock(t, "shop", fmt.Sprintf("m%d", i), int64(i))
		group.Go(func() {
			err := s.Apply(t.Context(), mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: 1, Put: []*mockbase.Mock{m}})
			switch {
			case err == nil:
				done.Add(1)
			case mockbase.ErrorCode(err) == mockbase.CodeVersionMismatch:
				refused.Add(1)
			default:
				t.Errorf("change: %v", err)
			}
		})
	}
	group.Wait()
	same(t, "changes done and refused", [2]int32{done.Load(), refused.Load()}, [2]int32{1, 7})
	same(t, "number of mocks", len(names(t, s, "shop")), 1)
}

func cancelledWrites(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create", s.Apply(t.Context(), creation("shop", "")))
	acknowledged := int64(1)
	for i := range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		m := mock(t, "shop", fmt.Sprintf("m%d", i), int64(i))
		var group sync.WaitGroup
		group.Go(cancel)
		err := s.Apply(ctx, mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: acknowledged, Put: []*mockbase.Mock{m}})
		group.Wait()
		if err == nil {
			acknowledged++
		}
		got := snapshots(t, s)[0]
		if got.Project.Revision != acknowledged || int64(len(got.Mocks)) != acknowledged-1 {
			t.Fatalf("revision %d with %d mocks after %d acknowledged changes", got.Project.Revision, len(got.Mocks), acknowledged-1)
		}
	}
}
