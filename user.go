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

// Token is an API token (rule M-41). Its secret is shown once and kept as a SHA-256 digest only.
type Token struct {
	ID         string
	Kind       string
	Name       string
	Prefix     string
	Hash       []byte
	Scopes     []string
	Projects   []string
	AllowedIPs []string
	CreatedBy  string
	CreatedAt  time.Time
	ExpiresAt  time.Time
	LastUsedAt time.Time
	LastUsedIP string
}
