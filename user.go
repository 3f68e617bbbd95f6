package mockbase

import "time"

// InstanceRole is what a user may do on the whole server (rule M-50).
type InstanceRole string

// The roles on the server.
const (
	InstanceAdmin  InstanceRole = "admin"
	InstanceMember InstanceRole = "member"
)

// ProjectRole is what a user may do in a project (rule M-50).
type ProjectRole string

// The roles in a project, from the least to the most; "" is none.
const (
	RoleNone   ProjectRole = ""
	RoleViewer ProjectRole = "viewer"
	RoleEditor ProjectRole = "editor"
	RoleOwner  ProjectRole = "owner"
)

// User is a person with an account.
type User struct {
	ID    string
	Email string
	Name  string
	Role  InstanceRole
	// PasswordHash is an argon2id PHC string. It is never sent or logged.
	PasswordHash string
	Disabled     bool
	// Epoch rises whenever the user's access tokens must end (rule M-39).
	Epoch      int64
	LastSeenAt time.Time
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// SignIn is one family of refresh tokens: a user's sign-in in one place (rule M-34).
type SignIn struct {
	ID     string
	UserID string
	// CurrentHash and PreviousHash are SHA-256 digests of the current refresh token and of its predecessor.
	CurrentHash, PreviousHash []byte
	// RotatedAt is when CurrentHash replaced PreviousHash.
	RotatedAt  time.Time
	CreatedAt  time.Time
	LastUsedAt time.Time
	// AuthTime is when the password was last given.
	AuthTime  time.Time
	ExpiresAt time.Time
	RevokedAt time.Time
	IP        string
	UserAgent string
}

// ProjectMember is a user's role in a project (rule M-50).
type ProjectMember struct {
	User    User
	Role    ProjectRole
	AddedAt time.Time
}

// Grant is a role in a project that an invitation gives.
type Grant struct {
	ProjectID string      `json:"project"`
	Role      ProjectRole `json:"role"`
}

// Invitation lets the owner of one e-mail address make an account (rule M-42). Its secret is shown once and kept as a
// SHA-256 digest only.
type Invitation struct {
	ID     string
	Email  string
	Role   InstanceRole
	Grants []Grant
	Hash   []byte
	// CreatedBy is the id of the user who invited, "" for whoever runs the machine.
	CreatedBy string
	CreatedAt time.Time
	ExpiresAt time.Time
	// AcceptedAt is the zero time until the account is made.
	AcceptedAt time.Time
}

// PasswordReset lets a user choose a new password once, without the old one (rule M-42). Its secret is kept as a SHA-256
// digest only. A user has one at most: a new one ends the one before.
type PasswordReset struct {
	UserID string
	Hash   []byte
	// CreatedBy is the id of the administrator who made it, "" for whoever runs the machine.
	CreatedBy string
	CreatedAt time.Time
	ExpiresAt time.Time
}

// Identity ties a user to what an identity provider calls them (rule M-43).
type Identity struct {
	Issuer, Subject, UserID string
	CreatedAt               time.Time
}

// UserChange is one change of a user, with what ends because of it, in one step (rule M-39).
type UserChange struct {
	ID string
	// Change changes the user as stored now. An error of it is returned as it is, and nothing is changed.
	Change func(*User) error
	// EndSignIns ends every sign-in of the user but the one with the id KeepSignIn.
	EndSignIns bool
	KeepSignIn string
	// EndTokens deletes the user's personal tokens.
	EndTokens bool
	// At is when all of it happens.
	At time.Time
}

// The kinds of API tokens (rule M-41).
const (
	// TokenPersonal acts for its owner, within its scopes.
	TokenPersonal = "personal"
	// TokenService belongs to its projects and outlives its maker.
	TokenService = "service"
	// TokenPublic calls mocks of projects that ask for a token, and nothing else.
	TokenPublic = "public"
)

// AllProjects stands in a personal token's projects for all that its owner sees (rule M-51).
const AllProjects = "*"

// Token is an API token (rule M-41). Its secret is shown once and kept as a SHA-256 digest only.
type Token struct {
	ID string
	// Kind is TokenPersonal, TokenService or TokenPublic.
	Kind string
	Name string
	// Prefix is the beginning of the secret, by which people tell tokens apart.
	Prefix string
	Hash   []byte
	Scopes []string
	// Projects holds project ids, or AllProjects alone.
	Projects []string
	// AllowedIPs holds addresses and networks; empty is any.
	AllowedIPs []string
	// CreatedBy is the id of the user who made the token, and the owner of a personal one.
	CreatedBy string
	CreatedAt time.Time
	// ExpiresAt is the zero time for a token without an end.
	ExpiresAt  time.Time
	LastUsedAt time.Time
	LastUsedIP string
}
