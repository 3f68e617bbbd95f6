package mockbase

import (
	"encoding/json"
	"time"
)

// The bounds of what is kept of mocks beside what they are now.
const (
	// MaxMockVersions is how many versions of a mock are kept, the one in force among them (rule M-147).
	MaxMockVersions = 50
	// TrashAge is how long a deleted mock can be restored (rule M-145).
	TrashAge = 30 * 24 * time.Hour
	// MaxTrash is how many deleted mocks of a project are kept; the oldest leave first.
	MaxTrash = 10_000
)

// MockVersion is a mock as it was at one of its versions.
type MockVersion struct {
	MockID, Name string
	Version      int64
	// At is when the version began, By the id of the user who made it; empty for a file.
	At time.Time
	By string
	// Owner is the source that the mock belonged to, Edited tells that a hand had changed it since the source wrote it.
	Owner  string
	Edited bool
	// Document is the mock as it was given, like that of [Mock].
	Document json.RawMessage
}

// TrashedMock is a mock that was deleted and can be restored. Its version is the last that it had.
type TrashedMock struct {
	MockVersion

	// Order and CreatedAt are those that the mock had.
	Order     int64
	CreatedAt time.Time
	DeletedAt time.Time
	// DeletedBy is the id of the user who deleted the mock, Source the source whose apply did, or "".
	DeletedBy, Source string
	// ExpiresAt is when the mock is gone for good.
	ExpiresAt time.Time
}
