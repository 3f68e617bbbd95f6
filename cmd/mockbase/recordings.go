package main

import (
	"context"
	"errors"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/engine/tape"
	"github.com/mockbase/mockbase/management/catalog"
)

var (
	_ engine.MockRecorder = (*tape.Recorder)(nil)
	_ tape.Keeper         = (*mockKeeper)(nil)
)

// mockKeeper keeps recorded mocks in the catalog, like those that people make.
type mockKeeper struct {
	catalog func() *catalog.Catalog
}

// keepTries is how often a change is tried while somebody else makes or deletes the same mock.
const keepTries = 3

// Keep changes the mock of a name, or makes it.
func (k *mockKeeper) Keep(ctx context.Context, projectID, name string, compose func(*mockbase.Mock) (*mockbase.Mock, error)) error {
	for range keepTries {
		_, err := k.catalog().PatchMock(ctx, projectID, name, catalog.WriteOptions{}, compose)
		if !hasCode(err, mockbase.CodeNotFound) {
			return err
		}
		made, err := compose(nil)
		if err != nil {
			return err
		}
		if _, err = k.catalog().CreateMock(ctx, projectID, made, ""); !hasCode(err, mockbase.CodeNameTaken) {
			return err
		}
	}
	return mockbase.Errorf(mockbase.CodeNameTaken, "the mock %q is changed all the time", name)
}

func hasCode(err error, code mockbase.Code) bool {
	coded, ok := errors.AsType[*mockbase.Error](err)
	return ok && coded.Code == code
}
