package httplimit

import (
	"net/http"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/dialect"
)

// Dialect is a way of naming the limit fields (rule RL117). The fields of several dialects may go out together.
type Dialect = dialect.Dialect

// The dialects. DialectDraft is the version of the IETF draft "RateLimit header fields for HTTP" that DraftVersion names;
// it is no standard, and the contract with clients is the status and Retry-After (rule RL118).
const (
	DialectDraft   = dialect.Draft
	DialectSplit   = dialect.Split
	DialectX       = dialect.X
	DialectXGitHub = dialect.XGitHub
	DialectXDelta  = dialect.XDelta
	// DialectCustom writes CustomFields.
	DialectCustom = dialect.Custom
	DialectNone   = dialect.None
)

// DraftVersion is the version of the draft that DialectDraft follows.
const DraftVersion = dialect.DraftVersion

// CustomField is a field of DialectCustom (rules RL117, RL119).
type CustomField = dialect.Field

// The registered problem types of refusals (rules RL65, RL88, RL114).
const (
	ProblemQuotaExceeded   = dialect.ProblemQuotaExceeded
	ProblemReducedCapacity = dialect.ProblemReducedCapacity
	ProblemAbnormalUsage   = dialect.ProblemAbnormalUsage
)

// Problem is the body of a refusal in the form of RFC 9457 (rule RL114).
type Problem = dialect.Problem

// The digest of a partition key: enough to tell quotas apart, and too little to find out who they belong to.
const (
	partitionKind  = "partition"
	partitionBytes = 9
)

// fields writes limit fields where they belong.
type fields struct {
	on     When
	writer *dialect.Writer
	// identity digests partition keys; nil tells none.
	identity *Identity
}

// openFields makes the fields of the options. Without policies, RateLimit-Policy tells of the one that the answer reports.
func openFields(o *Options, policies []ratelimit.Policy) (fields, error) {
	writer, err := dialect.New(dialect.Options{Dialects: o.Headers, Fields: o.CustomFields, Policies: policies})
	return fields{on: o.HeadersOn, writer: writer}, err //nolint:wrapcheck // It says what it made.
}

// set writes the fields of all dialects, except those that are there already (rule RL120).
func (f *fields) set(h http.Header, v *verdict) {
	answer := dialect.Answer{Decision: v.Decision, Now: v.now}
	if f.identity != nil {
		answer.Partition = f.identity.mac(partitionKind, v.Policy.Name, v.reported)[:partitionBytes]
	}
	f.writer.Limit(h, &answer)
}
