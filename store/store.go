// Package store says what every store must do. A store keeps everything that has to outlive a restart: projects with
// their mocks, accounts, sign-ins and, where a project asks for it, recorded exchanges.
//
// # What every store must do
//
//   - A write that returned nil survives the end of the process, also by kill -9 and by loss of power. Recorded
//     exchanges are the one exception: they survive the end of the process, and a loss of power may take the last ones.
//   - A write is atomic: when it returns an error, nothing of it is stored.
//   - Concurrent writes all succeed. Waiting for each other is the store's business and never the caller's.
//   - A failure that a person may see is a [*mockbase.Error] with the code that the method names. A store without room,
//     without its disk or without its server answers CodeUnavailable, one that stayed busy for too long CodeBusy.
//     Messages hold no SQL and no secret.
//   - Times come back in UTC, to the nanosecond. The zero time comes back as the zero time.
//   - What is handed in is never changed or kept, what comes back belongs to the caller.
//
// The package storetest holds these promises as tests that any store can run.
//
// # Interfaces
//
// A consumer declares the few methods that it needs; the interfaces here group them by subject, and [Store] is all of
// them.
package store

import (
	"context"
	"time"

	"github.com/mockbase/mockbase"
)

// Store is everything that is kept.
type Store interface {
	Definitions
	History
	Collections
	Accounts
	Users
	Roles
	Members
	SignIns
	Invitations
	PasswordResets
	Tokens
	Audit
	Replays
	Settings
	Bans
	Exchanges
	Lifecycle
}

// Definitions keeps projects and their mocks.
type Definitions interface {
	// Apply stores one change of a project, all of it or nothing. It fails with CodeVersionMismatch and the current
	// revision when the project has moved on from IfRevision, with CodeNameTaken when the project's slug or a mock's
	// name belongs to another one, and with CodeNotFound when the project, its owner or a mock to delete is not there.
	// Names are compared after the whole set is done, so that a mock may take the name of one that the same set deletes.
	Apply(ctx context.Context, set mockbase.ChangeSet) error
	// Snapshots returns every project by slug, its mocks by their order.
	Snapshots(ctx context.Context) ([]*mockbase.Snapshot, error)
}

// Accounts creates and changes users.
type Accounts interface {
	// CreateFirstAdmin creates a user if there is none, else it fails with CodeAlreadySetUp. Of several calls at the same
	// time exactly one succeeds (rule M-38).
	CreateFirstAdmin(ctx context.Context, u *mockbase.User) error
	// CreateUser fails with CodeNameTaken when another user has the e-mail address, in any letter case.
	CreateUser(ctx context.Context, u *mockbase.User) error
	// UpdateUser replaces the user with u's id. It fails with CodeNotFound, CodeNameTaken or CodeLastAdmin.
	UpdateUser(ctx context.Context, u *mockbase.User) error
	// ChangeUser changes a user as stored now, and ends what the change says, in one transaction. It returns the user as
	// changed, and fails with CodeNotFound, with CodeNameTaken, with CodeLastAdmin when the server would be left without an
	// administrator who is not disabled, and with the error of the change.
	ChangeUser(ctx context.Context, c mockbase.UserChange) (*mockbase.User, error)
	// DeleteUser deletes a user with their roles, sign-ins, personal tokens and password resets; what they made stays. It
	// fails with CodeNotFound, CodeLastAdmin, and CodeLastOwner when a project would be left without an owner.
	DeleteUser(ctx context.Context, id string) error
	// UserByIdentity finds the user that is tied to a subject of an issuer. It fails with CodeNotFound.
	UserByIdentity(ctx context.Context, issuer, subject string) (*mockbase.User, error)
	// LinkIdentity ties a user to a subject of an issuer. It fails with CodeNameTaken where either is tied already.
	LinkIdentity(ctx context.Context, i mockbase.Identity) error
	// FederatedAdmins counts the administrators who are not disabled and are tied to a subject of an issuer.
	FederatedAdmins(ctx context.Context, issuer string) (int, error)
	// UserCount counts all users, disabled ones too.
	UserCount(ctx context.Context) (int, error)
}

// Users finds users.
type Users interface {
	// UserByEmail finds a user by e-mail address without regard to letter case, or fails with CodeNotFound.
	UserByEmail(ctx context.Context, email string) (*mockbase.User, error)
	// UserByID fails with CodeNotFound when there is no such user.
	UserByID(ctx context.Context, id string) (*mockbase.User, error)
	// AllUsers returns every user by e-mail address.
	AllUsers(ctx context.Context) ([]*mockbase.User, error)
}

// Roles tells what users may do in projects (rule M-50).
type Roles interface {
	// ProjectRole returns RoleNone for a user without a role and for a project or user that does not exist.
	ProjectRole(ctx context.Context, projectID, userID string) (mockbase.ProjectRole, error)
	// Memberships returns a user's roles by project id.
	Memberships(ctx context.Context, userID string) (map[string]mockbase.ProjectRole, error)
}

// Members keeps who may do what in projects (rule M-50).
type Members interface {
	// Members returns the members of a project by e-mail address.
	Members(ctx context.Context, projectID string) ([]mockbase.ProjectMember, error)
	// PutMember gives a user a role and reports whether they had none. It fails with CodeNotFound when the project or the
	// user is not there, and with CodeLastOwner when the project would be left without an owner.
	PutMember(ctx context.Context, projectID, userID string, role mockbase.ProjectRole, now time.Time) (added bool, err error)
	// DeleteMember takes a user's role away. It fails with CodeNotFound when they have none, and with CodeLastOwner.
	DeleteMember(ctx context.Context, projectID, userID string) error
}

// MaxRotations is how many used tokens of each sign-in are remembered with their times: more than a client with many tabs
// uses up while the first of them is still good (rule M-34).
const MaxRotations = 32

// SignIns keeps families of refresh tokens (rule M-34). That one begins or is used raises its user's LastSeenAt.
type SignIns interface {
	// CreateSignIn fails with CodeNotFound when the user does not exist.
	CreateSignIn(ctx context.Context, s *mockbase.SignIn) error
	// SignIn fails with CodeNotFound when there is no such sign-in.
	SignIn(ctx context.Context, id string) (*mockbase.SignIn, error)
	// SignedIn finds a sign-in with its user, or fails with CodeNotFound.
	SignedIn(ctx context.Context, id string) (*mockbase.SignIn, *mockbase.User, error)
	// SignInByRefreshHash finds the sign-in whose current token, or one of the last MaxRotations before it, has the
	// digest, or fails with CodeNotFound.
	SignInByRefreshHash(ctx context.Context, hash []byte) (*mockbase.SignIn, error)
	// RefreshRotatedAt tells when a token of a sign-in got its successor. It fails with CodeNotFound for the current token
	// and for one that is not among the last MaxRotations before it.
	RefreshRotatedAt(ctx context.Context, id string, hash []byte) (time.Time, error)
	// RotateSignIn makes to the current digest and from the previous one, if from is the current digest of a sign-in
	// that is not revoked, and remembers when. It reports whether it did: of several calls at the same time exactly one does.
	RotateSignIn(ctx context.Context, id string, from, to []byte, now time.Time) (rotated bool, err error)
	// RevokeSignIn ends a sign-in. A second call keeps the time of the first; an unknown id is no error.
	RevokeSignIn(ctx context.Context, id string, now time.Time) error
	// SignInsOf returns the sign-ins of a user that have not been ended or expired, the latest used first.
	SignInsOf(ctx context.Context, userID string, now time.Time) ([]*mockbase.SignIn, error)
	// RenewSignIn notes that the password was given again. It fails with CodeNotFound when the sign-in has ended.
	RenewSignIn(ctx context.Context, id string, now time.Time) error
	// EndAllSignIns ends the sign-ins of everybody.
	EndAllSignIns(ctx context.Context, now time.Time) error
	// DeleteExpiredSignIns deletes the sign-ins whose end has come and returns their number.
	DeleteExpiredSignIns(ctx context.Context, now time.Time) (int, error)
}

// Settings keeps documents that administrators set for the whole server.
type Settings interface {
	// Setting fails with CodeNotFound when nothing is stored under the name.
	Setting(ctx context.Context, name string) (*mockbase.Setting, error)
	// PutSetting stores a document whose version, from 1, is above that of the stored one. It fails with CodeVersionMismatch
	// and the stored version otherwise: of several calls that change the same version one succeeds.
	PutSetting(ctx context.Context, s *mockbase.Setting) error
}

// Bans keeps the bans by administrators, those that have ended too. Rule and Hits are not kept.
type Bans interface {
	// Bans returns all of them, the newest first.
	Bans(ctx context.Context) ([]mockbase.Ban, error)
	// PutBan stores a ban in the place of the one with its id.
	PutBan(ctx context.Context, b *mockbase.Ban) error
	// DeleteBans deletes the bans with these ids; an unknown id is no error.
	DeleteBans(ctx context.Context, ids ...string) error
	// BanNotes returns what is noted of the register of bans, by rule, key and kind.
	BanNotes(ctx context.Context) ([]mockbase.BanNote, error)
	// ChangeBanNotes stores notes in the place of those of the same rule, key and kind, and deletes others, all at once.
	// It is no error if one that is to be deleted is not there.
	ChangeBanNotes(ctx context.Context, put, drop []mockbase.BanNote) error
}

// Exchanges keeps recorded traffic.
type Exchanges interface {
	// AppendExchanges stores a batch, oldest first.
	AppendExchanges(ctx context.Context, batch []*mockbase.Exchange) error
	// AmendExchanges replaces stored exchanges by those of the same id, project and time of arrival; what is not stored is passed over.
	AmendExchanges(ctx context.Context, batch []*mockbase.Exchange) error
	// RecentExchanges returns a project's latest exchanges, newest first.
	RecentExchanges(ctx context.Context, projectID string, limit int) ([]*mockbase.Exchange, error)
	// DeleteExchanges deletes all exchanges of a project.
	DeleteExchanges(ctx context.Context, projectID string) error
	// TrimExchanges deletes what lies beyond the retention, the oldest first, in every project, and returns its number.
	TrimExchanges(ctx context.Context, keep Retention) (int, error)
}

// Retention bounds the recorded exchanges of each project. A zero member is no bound.
type Retention struct {
	// ProjectID is the one project that is meant; empty is every project.
	ProjectID string
	// Count is the number of exchanges to keep.
	Count int
	// Bytes is the size of the exchanges to keep, as they are stored.
	Bytes int64
	// Since is the time of the oldest exchange to keep.
	Since time.Time
}

// Lifecycle watches and ends a store.
type Lifecycle interface {
	// Ping fails with CodeUnavailable when the store cannot answer, and is a [*WriteError] when it answers and takes no writes.
	Ping(ctx context.Context) error
	// Close ends the store. Closing it again does nothing.
	Close() error
}
