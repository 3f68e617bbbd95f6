package store

import (
	"context"
	"time"

	"github.com/mockbase/mockbase"
)

// Invitations keeps invitations (rule M-42). One is found by the digest of its secret.
//
// An invitation is open until it is accepted, its end has come, or its maker could not make it any more: an administrator may
// invite anybody, somebody else members into projects that they own, of those that are still there. Changes of users and
// members that take such a right away delete the open invitations that it was needed for, and write an entry endInvitation of
// each where their context carries one.
type Invitations interface {
	// CreateInvitation fails with CodeNameTaken when a user has the e-mail address, and with CodeForbidden when its maker has
	// no right to make it.
	CreateInvitation(ctx context.Context, i *mockbase.Invitation) error
	// Invitations returns all of them, those that were accepted or have expired too, the newest first.
	Invitations(ctx context.Context) ([]*mockbase.Invitation, error)
	// InvitationByHash fails with CodeNotFound when there is no such invitation that is open at now.
	InvitationByHash(ctx context.Context, hash []byte, now time.Time) (*mockbase.Invitation, error)
	// AcceptInvitation uses an open invitation up and creates the user with its roles, in one transaction. Projects that
	// are gone are left out. It fails with CodeNotFound and CodeNameTaken: of several calls at the same time one succeeds.
	AcceptInvitation(ctx context.Context, hash []byte, u *mockbase.User, now time.Time) error
	// DeleteInvitation fails with CodeNotFound.
	DeleteInvitation(ctx context.Context, id string) error
	// DeleteExpiredInvitations deletes invitations that ended before a time, and returns their number.
	DeleteExpiredInvitations(ctx context.Context, before time.Time) (int, error)
}

// PasswordResets keeps one-use links to a new password (rule M-42).
//
// A reset is open until it is used, its end has come, or its maker is no administrator any more who is not disabled. It ends too
// when its user gets another address or password or is disabled. The change that ends one deletes it, and writes an entry
// endPasswordReset where its context carries one.
type PasswordResets interface {
	// CreatePasswordReset puts the reset in the place of the user's former one. It fails with CodeNotFound, and with CodeForbidden
	// when its maker has no right to make it.
	CreatePasswordReset(ctx context.Context, r *mockbase.PasswordReset) error
	// PasswordResetByHash fails with CodeNotFound when there is no such reset that is open at now.
	PasswordResetByHash(ctx context.Context, hash []byte, now time.Time) (*mockbase.PasswordReset, error)
	// UsePasswordReset uses an open reset up and changes its user, in one transaction; the change's ID is ignored. It fails
	// with CodeNotFound: of several calls at the same time one succeeds.
	UsePasswordReset(ctx context.Context, hash []byte, c mockbase.UserChange) (*mockbase.User, error)
}

// Tokens keeps API tokens (rule M-41).
type Tokens interface {
	// CreateToken stores a token. It fails with CodeQuotaReached when its maker has as many as most already, and with
	// CodeNotFound when there is no such user.
	CreateToken(ctx context.Context, t *mockbase.Token, most int) error
	// Tokens returns all tokens, the newest first.
	Tokens(ctx context.Context) ([]*mockbase.Token, error)
	// TokenByID and TokenByHash fail with CodeNotFound.
	TokenByID(ctx context.Context, id string) (*mockbase.Token, error)
	TokenByHash(ctx context.Context, hash []byte) (*mockbase.Token, error)
	// DeleteToken fails with CodeNotFound.
	DeleteToken(ctx context.Context, id string) error
	// TouchToken notes when and from where a token was used. An unknown id is no error.
	TouchToken(ctx context.Context, id string, at time.Time, ip string) error
}

// Audit keeps the audit log. Entries are added and, when they are old enough, deleted; they are never changed.
//
// Every method of a store that changes what is not an audit entry, a recorded exchange or a kept answer writes the draft
// that its context carries ([mockbase.WithAudit]) in the transaction of the change: the two are stored together or not at
// all (rule M-20).
type Audit interface {
	// AppendAudit stores one entry.
	AppendAudit(ctx context.Context, e *mockbase.AuditEntry) error
	// FailAudit notes that what an entry tells of failed after it was written: its outcome reads failed where it was success.
	// There may be no such entry.
	FailAudit(ctx context.Context, id string) error
	// AuditEntries returns at most limit entries that the filter selects, the newest first.
	AuditEntries(ctx context.Context, f mockbase.AuditFilter, limit int) ([]*mockbase.AuditEntry, error)
	// AuditCount returns how many entries the filter selects.
	AuditCount(ctx context.Context, f mockbase.AuditFilter) (int, error)
	// TrimAudit deletes the entries before a time and returns their number.
	TrimAudit(ctx context.Context, before time.Time) (int, error)
}

// The bounds of what is kept of answers to repeated requests; the oldest go first.
const (
	MaxReplays     = 10_000
	MaxReplayBytes = 32 << 20
)

// Replays keeps the answers to requests that carried an Idempotency-Key (rule M-12).
//
// Every method of a store that changes what is not an audit entry, a recorded exchange or a kept answer writes the answer
// that its context carries ([mockbase.WithReplay]) in the transaction of the change, if it is known by then: after a crash
// there are both or neither.
type Replays interface {
	// Replay finds the answer to the request that r names and that was made after since, or fails with CodeNotFound. What it
	// finds is on disk.
	Replay(ctx context.Context, r *mockbase.Replay, since time.Time) (*mockbase.Replay, error)
	// PutReplay keeps an answer in the place of an older one, and forgets what goes beyond the bounds.
	PutReplay(ctx context.Context, r *mockbase.Replay) error
	// DeleteReplays forgets the answers to requests before a time, and returns their number.
	DeleteReplays(ctx context.Context, before time.Time) (int, error)
}
