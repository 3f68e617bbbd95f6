package mockbase

import (
	"errors"
	"fmt"
	"strings"
)

// Code names a kind of failure. Codes are stable: clients may compare them, and each has a page at
// /docs/problems/{code} (rule M-6).
type Code string

// The codes of the management plane and the mock plane.
const (
	CodeMalformedBody        Code = "malformed-body"
	CodeInvalidParameter     Code = "invalid-parameter"
	CodeInvalidCursor        Code = "invalid-cursor"
	CodeUnauthenticated      Code = "unauthenticated"
	CodeInvalidCredentials   Code = "invalid-credentials" //nolint:gosec // The name of an error, not a credential.
	CodeTokenExpired         Code = "token-expired"
	CodeTokenRevoked         Code = "token-revoked"
	CodeRefreshReused        Code = "refresh-reused"
	CodeForbidden            Code = "forbidden"
	CodeInsufficientScope    Code = "insufficient-scope"
	CodeSessionRequired      Code = "session-required"
	CodeReauthenticate       Code = "reauthentication-required"
	CodeSetupCodeInvalid     Code = "setup-code-invalid"
	CodeOriginRefused        Code = "origin-refused"
	CodeHostRefused          Code = "host-refused"
	CodeAddressBlocked       Code = "address-blocked"
	CodeNotFound             Code = "not-found"
	CodeMethodNotAllowed     Code = "method-not-allowed"
	CodeNotAcceptable        Code = "not-acceptable"
	CodeNameTaken            Code = "name-taken"
	CodeSetupRequired        Code = "setup-required"
	CodeAlreadySetUp         Code = "already-set-up"
	CodeManagedBySource      Code = "managed-by-source"
	CodePinnedByConfig       Code = "pinned-by-config"
	CodeWouldLockOut         Code = "would-lock-out"
	CodeApplyConflict        Code = "apply-conflict"
	CodeQuotaReached         Code = "quota-reached"
	CodeIdempotencyRunning   Code = "idempotency-in-progress"
	CodeIdempotencyMismatch  Code = "idempotency-mismatch"
	CodeInUse                Code = "in-use"
	CodeLastOwner            Code = "last-owner"
	CodeLastAdmin            Code = "last-admin"
	CodeSignInRefused        Code = "sign-in-refused"
	CodePasswordsHidden      Code = "password-sign-in-off"
	CodeProviderFailed       Code = "identity-provider-failed"
	CodePatchFailed          Code = "patch-failed"
	CodeVersionMismatch      Code = "version-mismatch"
	CodePreconditionRequired Code = "precondition-required"
	CodeBodyTooLarge         Code = "body-too-large"
	CodeBodyTooSlow          Code = "body-too-slow"
	CodeTargetTooLong        Code = "target-too-long"
	CodeUnsupportedMediaType Code = "unsupported-media-type"
	CodeHeadersTooLarge      Code = "headers-too-large"
	CodeValidationFailed     Code = "validation-failed"
	CodePatchNotAllowed      Code = "patch-not-allowed"
	CodeConfirmationRequired Code = "confirmation-required"
	CodeWeakPassword         Code = "weak-password"
	CodeRateLimited          Code = "rate-limited"
	CodeLoginBanned          Code = "login-banned"
	CodeInternal             Code = "internal"
	CodeUnavailable          Code = "unavailable"
	CodeLoginUnavailable     Code = "login-unavailable"
	CodeBusy                 Code = "busy"
	CodeNoMatch              Code = "no-match"
	CodeNoProject            Code = "no-project"
	CodeBadRequest           Code = "bad-request"
	CodeUpstreamFailed       Code = "upstream-failed"
	CodeUpgradeRequired      Code = "upgrade-required"
	CodeAnswerFailed         Code = "answer-failed"
	CodeTooManySessions      Code = "too-many-sessions"
	CodeTooManyStreams       Code = "too-many-streams"
	CodeBadPreference        Code = "bad-preference"
	CodeCodeNotDefined       Code = "code-not-defined"
	CodeExampleNotDefined    Code = "example-not-defined"
	CodeFormatNotRecognised  Code = "format-not-recognised"
	CodeUpstreamRefused      Code = "upstream-refused"
)

// The codes of field errors (mock format, section 5).
const (
	FieldUnknownKey   Code = "unknown_key"
	FieldType         Code = "type"
	FieldEnum         Code = "enum"
	FieldRange        Code = "range"
	FieldPattern      Code = "pattern"
	FieldRequired     Code = "required"
	FieldConflict     Code = "conflict"
	FieldUnique       Code = "unique"
	FieldDuplicateKey Code = "duplicate_key"
	FieldReference    Code = "reference"
	FieldSyntax       Code = "syntax"
	FieldLimit        Code = "limit"
	// FieldNotServed marks a field that the format knows and this server does not act on yet. It is refused when a
	// definition is saved, so that nothing is accepted and ignored.
	FieldNotServed Code = "not_served"
)

// MaxFieldErrors is the most field errors one answer reports (rule M-5); a document with more is broken as a whole, and
// the first hundred say so.
const MaxFieldErrors = 100

// FieldError is one fault of a document.
type FieldError struct {
	// Pointer is a JSON Pointer fragment (RFC 6901, section 6), such as "#/mocks/0/response/status".
	Pointer string `json:"pointer"`
	Code    Code   `json:"code"`
	// Detail names the value and the fix, in a sentence without a capital or a full stop.
	Detail string `json:"detail"`
	// Line and Column count from 1; 0 means that the input was not text.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Suggestion is the nearest known name, for an unknown key or value.
	Suggestion string `json:"suggestion,omitempty"`
	// Inside is where in the text that the pointer leads to the fault is; [Locate] makes it a line and a column of the whole.
	Inside TextPlace `json:"-"`
	// Elsewhere is the place of the fault where that is in another file, which the document names; nil for one in the document.
	Elsewhere *FilePlace `json:"-"`
}

// FilePlace is a place in a file.
type FilePlace struct {
	File, Pointer string
	Line, Column  int
}

// Within describes the fault of a file that a document names: its place in the file, and the pointer below root, which is
// where the file's text would stand.
func (f *FieldError) Within(root string) string {
	text := f.Detail
	if below := strings.TrimPrefix(strings.TrimPrefix(f.Pointer, "#"), strings.TrimPrefix(root, "#")); below != "" {
		text = below + ": " + text
	}
	if f.Line > 0 {
		text = fmt.Sprintf("line %d, column %d: %s", f.Line, max(f.Column, 1), text)
	}
	return text
}

// Error is a failure that a person may see: a stable code, a public message and a private cause.
type Error struct {
	Code Code
	// Message is public: it names the field, the value and the fix, and holds no secret, SQL or stack.
	Message string
	// Hint says what to do next, where there is something to do.
	Hint string
	// Fields are the faults of a document, in the order of the text.
	Fields []FieldError
	// Version is the current version of the object when Code is CodeVersionMismatch.
	Version int64
	// Quota is the bound that was reached when Code is CodeQuotaReached.
	Quota *QuotaUse
	// Err is the private cause; it is logged and never sent.
	Err error
}

// QuotaUse is how much of a quota is used (rule M-6).
type QuotaUse struct {
	// Name is the quota's setting, such as maxProjects.
	Name  string `json:"name"`
	Limit int    `json:"limit"`
	Used  int    `json:"used"`
}

// Errorf makes an *Error with a formatted public message. A %w verb keeps its operand as the private cause.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Err: errors.Unwrap(err)}
}

// Invalid makes the CodeValidationFailed error of a document with these faults. It returns nil when there are none.
func Invalid(fields []FieldError) error {
	if len(fields) == 0 {
		return nil
	}
	return &Error{Code: CodeValidationFailed, Message: describeFields(fields), Fields: fields}
}

func describeFields(fields []FieldError) string {
	text := fields[0].Detail
	if place := strings.TrimPrefix(fields[0].Pointer, "#"); place != "" {
		text = place + ": " + text
	}
	if len(fields) == 1 {
		return text
	}
	return fmt.Sprintf("%d faults, the first: %s", len(fields), text)
}

// Error returns the code and the public message.
func (e *Error) Error() string {
	return string(e.Code) + ": " + e.Message
}

// Unwrap returns the private cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrorCode returns the code of the first *Error in err's tree, CodeInternal if there is none, and "" for nil.
func ErrorCode(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}
