package store

import (
	"context"

	"github.com/mockbase/mockbase"
)

// History keeps what mocks were before. [Definitions] writes it: each mock that a change puts is a version, each that it
// deletes goes to the trash, unless it came from a file.
type History interface {
	// MockVersions hands the last versions of a mock to visit, the oldest first, one at a time. It ends with visit's error.
	// Visit must not call the store.
	MockVersions(ctx context.Context, projectID, mockID string, visit func(*mockbase.MockVersion) error) error
	// MockVersion fails with CodeNotFound when the mock has no such version, or none any more.
	MockVersion(ctx context.Context, projectID, mockID string, version int64) (*mockbase.MockVersion, error)
	// Trash returns the deleted mocks of a project, the last deleted first, without their documents.
	Trash(ctx context.Context, projectID string) ([]mockbase.TrashedMock, error)
	// TrashedMock fails with CodeNotFound for a mock that is not in the trash, or no more.
	TrashedMock(ctx context.Context, projectID, id string) (*mockbase.TrashedMock, error)
}
