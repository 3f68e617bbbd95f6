package store

import (
	"context"

	"github.com/mockbase/mockbase"
)

// Collections keeps the data of collections that persist, for the default session of each project (rule V16). It goes with
// the project, and is no part of its definition.
type Collections interface {
	// KeptCollections returns what is kept of a project, by name.
	KeptCollections(ctx context.Context, projectID string) ([]mockbase.CollectionData, error)
	// KeepCollection stores what a collection holds in the place of what was kept of it. It fails with CodeNotFound when
	// there is no such project. Items are compact JSON.
	KeepCollection(ctx context.Context, projectID string, data *mockbase.CollectionData) error
	// ForgetCollection lets go of what is kept of a collection; it is no error when there is nothing.
	ForgetCollection(ctx context.Context, projectID, name string) error
}
