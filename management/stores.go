package management

import (
	"context"
	"math"
	"time"

	"github.com/mockbase/mockbase"
)

// Users keeps accounts. Errors are those of a store: CodeNotFound, CodeAlreadySetUp, CodeUnavailable.
type Users interface {
	CreateFirstAdmin(ctx context.Context, u *mockbase.User) error
	UserByEmail(ctx context.Context, email string) (*mockbase.User, error)
	UserByID(ctx context.Context, id string) (*mockbase.User, error)
	UpdateUser(ctx context.Context, u *mockbase.User) error
	UserCount(ctx context.Context) (int, error)
	AllUsers(ctx context.Context) ([]*mockbase.User, error)
	CreateUser(ctx context.Context, u *mockbase.User) error
	// ChangeUser fails with CodeLastAdmin where nobody would administer the server any more.
	ChangeUser(ctx context.Context, c mockbase.UserChange) (*mockbase.User, error)
	// DeleteUser fails with CodeLastAdmin and CodeLastOwner.
	DeleteUser(ctx context.Context, id string) error
}

// Identities ties users to what an identity provider calls them.
type Identities interface {
	// UserByIdentity fails with CodeNotFound where nobody is tied to the subject.
	UserByIdentity(ctx context.Context, issuer, subject string) (*mockbase.User, error)
	// LinkIdentity ties a user to a subject. It fails with CodeNameTaken where the subject is somebody else's, or the user
	// is tied to another subject of the issuer.
	LinkIdentity(ctx context.Context, i mockbase.Identity) error
	// FederatedAdmins counts the administrators who are not disabled and are tied to a subject of an issuer.
	FederatedAdmins(ctx context.Context, issuer string) (int, error)
}

// Roles tells what users may do in projects.
type Roles interface {
	// ProjectRole is RoleNone for whatever does not exist.
	ProjectRole(ctx context.Context, projectID, userID string) (mockbase.ProjectRole, error)
	Memberships(ctx context.Context, userID string) (map[string]mockbase.ProjectRole, error)
	Members(ctx context.Context, projectID string) ([]mockbase.ProjectMember, error)
	// PutMember and DeleteMember fail with CodeLastOwner where nobody would own the project any more.
	PutMember(ctx context.Context, projectID, userID string, role mockbase.ProjectRole, now time.Time) (added bool, err error)
	DeleteMember(ctx context.Context, projectID, userID string) error
}

// SignIns keeps the families of refresh tokens.
type SignIns interface {
	CreateSignIn(ctx context.Context, s *mockbase.SignIn) error
	SignIn(ctx context.Context, id string) (*mockbase.SignIn, error)
	// SignedIn finds a sign-in with its user.
	SignedIn(ctx context.Context, id string) (*mockbase.SignIn, *mockbase.User, error)
	// SignInByRefreshHash finds a sign-in by its current hash, and by those that it used up lately.
	SignInByRefreshHash(ctx context.Context, hash []byte) (*mockbase.SignIn, error)
	// RefreshRotatedAt tells when a used hash was replaced. It fails with CodeNotFound for one that is not remembered.
	RefreshRotatedAt(ctx context.Context, id string, hash []byte) (time.Time, error)
	// RotateSignIn replaces the current hash if it is still from, and tells whether it was.
	RotateSignIn(ctx context.Context, id string, from, to []byte, now time.Time) (rotated bool, err error)
	RevokeSignIn(ctx context.Context, id string, now time.Time) error
	// SignInsOf returns those that go on, RenewSignIn notes that the password was given again.
	SignInsOf(ctx context.Context, userID string, now time.Time) ([]*mockbase.SignIn, error)
	RenewSignIn(ctx context.Context, id string, now time.Time) error
	EndAllSignIns(ctx context.Context, now time.Time) error
}

// Invitations keeps invitations and password resets. One is found by the digest of its secret while it is open.
type Invitations interface {
	CreateInvitation(ctx context.Context, i *mockbase.Invitation) error
	Invitations(ctx context.Context) ([]*mockbase.Invitation, error)
	InvitationByHash(ctx context.Context, hash []byte, now time.Time) (*mockbase.Invitation, error)
	AcceptInvitation(ctx context.Context, hash []byte, u *mockbase.User, now time.Time) error
	DeleteInvitation(ctx context.Context, id string) error
	CreatePasswordReset(ctx context.Context, r *mockbase.PasswordReset) error
	PasswordResetByHash(ctx context.Context, hash []byte, now time.Time) (*mockbase.PasswordReset, error)
	UsePasswordReset(ctx context.Context, hash []byte, c mockbase.UserChange) (*mockbase.User, error)
}

// Tokens keeps API tokens.
type Tokens interface {
	CreateToken(ctx context.Context, t *mockbase.Token, most int) error
	Tokens(ctx context.Context) ([]*mockbase.Token, error)
	TokenByID(ctx context.Context, id string) (*mockbase.Token, error)
	TokenByHash(ctx context.Context, hash []byte) (*mockbase.Token, error)
	DeleteToken(ctx context.Context, id string) error
	TouchToken(ctx context.Context, id string, at time.Time, ip string) error
}

// Records keeps the audit log, and the answers to requests that may be repeated. Whatever else is changed in a store
// writes the entry that its context carries ([mockbase.WithAudit]).
type Records interface {
	AppendAudit(ctx context.Context, e *mockbase.AuditEntry) error
	// FailAudit notes that what an entry tells of failed: its outcome reads failed where it was success.
	FailAudit(ctx context.Context, id string) error
	AuditEntries(ctx context.Context, f mockbase.AuditFilter, limit int) ([]*mockbase.AuditEntry, error)
	AuditCount(ctx context.Context, f mockbase.AuditFilter) (int, error)
	Replay(ctx context.Context, r *mockbase.Replay, since time.Time) (*mockbase.Replay, error)
	PutReplay(ctx context.Context, r *mockbase.Replay) error
}

// Accounts is what this plane needs to know of people.
type Accounts interface {
	Users
	Roles
	SignIns
	Identities
	Invitations
	Tokens
	Records
}

// Traffic is what was recorded on the mock plane.
type Traffic interface {
	// Traffic returns at most limit exchanges that f selects, newest first, after the one whose id is before.
	Traffic(projectID string, f mockbase.TrafficFilter, before string, limit int) mockbase.TrafficPage
	Exchange(projectID, id string) (*mockbase.Exchange, bool)
	// Clear forgets a project's exchanges and returns their number, ClearSelected those that f selects.
	Clear(projectID string) int
	ClearSelected(projectID string, f mockbase.TrafficFilter) int
	// Position is the place of an exchange for News, that of now for an empty id; it reports false for one that is not kept.
	Position(projectID, id string) (int64, bool)
	// News returns what came after a place, oldest first and at most most, and counts what was lost meanwhile.
	News(projectID string, after int64, f mockbase.TrafficFilter, most int) mockbase.TrafficNews
}

// nothing is the traffic of a server that records none.
type nothing struct{}

var _ Traffic = nothing{}

// Traffic is an empty page, of which everything is missing.
func (nothing) Traffic(string, mockbase.TrafficFilter, string, int) mockbase.TrafficPage {
	return mockbase.TrafficPage{LostUntil: time.Unix(math.MaxInt32, 0)}
}

// Exchange finds nothing.
func (nothing) Exchange(string, string) (*mockbase.Exchange, bool) { return nil, false }

// Clear forgets nothing.
func (nothing) Clear(string) int { return 0 }

// ClearSelected forgets nothing.
func (nothing) ClearSelected(string, mockbase.TrafficFilter) int { return 0 }

// Position is the only one there is.
func (nothing) Position(_, id string) (int64, bool) { return 0, id == "" }

// News are none.
func (nothing) News(string, int64, mockbase.TrafficFilter, int) mockbase.TrafficNews {
	return mockbase.TrafficNews{}
}
