package mockbase

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// AuditOutcome says how an audited attempt ended (rule M-20).
type AuditOutcome string

// The outcomes. Denied is a right that was missing or a secret that was wrong. Failed is what was begun and ended with an
// error, so that it was not done, or not all of it.
const (
	AuditSuccess AuditOutcome = "success"
	AuditDenied  AuditOutcome = "denied"
	AuditFailed  AuditOutcome = "failed"
)

// AuditActor is who did something.
type AuditActor struct {
	// Type is user, token, system or anonymous.
	Type string `json:"type"`
	ID   string `json:"id,omitempty"`
	// Label is what people know the actor by: an e-mail address or a token's name.
	Label string `json:"label,omitempty"`
	// TokenPrefix is the beginning of the API token that was used.
	TokenPrefix string `json:"tokenPrefix,omitempty"`
}

// AuditTarget is what something was done to.
type AuditTarget struct {
	Type string `json:"type"`
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
	// Project is the id of the project that the target belongs to.
	Project string `json:"project,omitempty"`
}

// AuditEntry is one line of the audit log (rule M-20). It is never changed once it is written. Of one that was written before
// what it tells of, because no transaction can hold both, the log may say later that this failed.
type AuditEntry struct {
	ID        string
	At        time.Time
	Actor     AuditActor
	Action    string
	Target    AuditTarget
	Outcome   AuditOutcome
	IP        string
	UserAgent string
	RequestID string
	// Before and After are what changed, nil where there is nothing to show. Secrets in them are masked.
	Before, After json.RawMessage
}

// AuditFilter selects entries of the audit log. An empty member selects everything.
type AuditFilter struct {
	Since, Until time.Time
	// Actor is an id or a label, Target an id or a name.
	Actor, Action, Target string
	Outcome               AuditOutcome
	IP, RequestID         string
	Project               string
	// Before is the id of an entry; those that are older follow.
	Before string
}

// AuditDraft is the entry of the change that a request is about to make. A store writes it in the transaction that makes
// the change, so that there is no change without its entry (rule M-20). Only the first transaction writes it.
type AuditDraft struct {
	mu      sync.Mutex
	entry   AuditEntry
	written bool
}

// NewAuditDraft makes a draft of an entry.
func NewAuditDraft(e AuditEntry) *AuditDraft { return &AuditDraft{entry: e} }

// Note completes the entry, before the change is made.
func (d *AuditDraft) Note(complete func(*AuditEntry)) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.written {
		complete(&d.entry)
	}
}

// Pending returns the entry that is still to be written, or nil.
func (d *AuditDraft) Pending() *AuditEntry {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.written {
		return nil
	}
	entry := d.entry
	return &entry
}

// Besides makes the entry of something else that the change brings about: by the same actor, in the same request, with an id of
// its own. It returns nil without a draft.
func (d *AuditDraft) Besides(action string, target AuditTarget) *AuditEntry {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.entry
	e.ID, e.Action, e.Target, e.Before, e.After = NewID(PrefixAudit, e.At), action, target, nil, nil
	return &e
}

// ID is the id of the entry, "" without a draft.
func (d *AuditDraft) ID() string {
	if d == nil {
		return ""
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.entry.ID
}

// Written is called when the transaction that holds the entry is done.
func (d *AuditDraft) Written() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.written = true
}

type auditKey struct{}

// WithAudit returns a context whose first change writes the draft's entry. A nil draft writes none.
func WithAudit(ctx context.Context, d *AuditDraft) context.Context {
	return context.WithValue(ctx, auditKey{}, d)
}

// AuditOf returns the draft of a context, nil when it has none.
func AuditOf(ctx context.Context) *AuditDraft {
	d, _ := ctx.Value(auditKey{}).(*AuditDraft)
	return d
}
