package mockbase

// ChangeSet is one atomic change of a project: all of it is stored, or none.
type ChangeSet struct {
	// ProjectID is the project that changes.
	ProjectID string
	// IfRevision is the revision that the change was made from; a store refuses the set with CodeVersionMismatch when
	// the project has moved on. It is 0 exactly when the set creates the project.
	IfRevision int64
	// Project is the project as it shall be, nil when its own members do not change. Its Revision is IfRevision+1.
	Project *Project
	// OwnerID is the user who owns the project that the set creates; empty for a project without an owner.
	OwnerID string
	// Put holds mocks to create or replace, whole, told apart by their id.
	Put []*Mock
	// Delete holds the ids of mocks to delete.
	Delete []string
	// By is the id of the user who makes the change, Source the source whose definition it applies; both may be empty. A
	// store notes them with the mocks that go to the trash.
	By, Source string
	// Purge holds the ids of mocks that leave the trash for good.
	Purge []string
	// DeleteProject deletes the project with everything in it.
	DeleteProject bool
}
