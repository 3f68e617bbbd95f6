package mockbase

import (
	"encoding/json"
	"time"
)

// Mock is one request matcher with its responses. It is immutable once decoded: a change makes a new one.
type Mock struct {
	// The identity and history of a stored mock; zero in a document.
	ID        string
	ProjectID string
	// Version counts the mock's changes, from 1.
	Version int64
	// Order is the mock's place in creation order, which survives edits (rule A8).
	Order     int64
	CreatedAt time.Time
	UpdatedAt time.Time
	// UpdatedBy is the id of the user who changed the mock last; empty for a file.
	UpdatedBy string
	// Owner is the source that an apply named, or "" for a mock made by hand (rule M-76).
	Owner string
	// Edited tells that a hand changed the mock since its owner last wrote it (rule M-76).
	Edited bool
	// Origin is "file:line" of a mock loaded in file mode; such a mock is read-only (rule M-77).
	Origin string

	Name string
	// NameGenerated tells that the author gave no name, so that a name that is taken is followed by -2, -3 and so on (mock
	// format, section 4). A stored mock has its name for good.
	NameGenerated bool

	Description string
	Folder      string
	Tags        []string
	Disabled    bool
	Priority    int
	Request     RequestMatcher
	Scenario    string
	// States lists the scenario states in which the mock is a candidate; empty means every one.
	States []string
	// Times is how often the mock answers; 0 is without end (rule A11).
	Times     int
	Responses []Response
	// SingleResponse tells that the author wrote response and not responses, for the pointers of errors.
	SingleResponse bool
	Select         Select
	OnEnd          OnEnd
	Draw           Draw
	RateLimit      *RateLimit
	// HeadIsFree is headCounts: false (rule L2).
	HeadIsFree bool
	// LeaveBody is readBody: false (rule N9).
	LeaveBody bool
	Expect    *Expect

	// Document is the mock as it was given, as compact JSON: number text, member order and letter case unchanged, a
	// generated name added in front when the author gave none.
	Document json.RawMessage
	// Line and Column are the mock's place in the text it was decoded from, from 1; 0 when unknown.
	Line, Column int
}

// Select says how a mock chooses among its responses.
type Select string

// The ways to choose a response. The empty value is SelectRules.
const (
	SelectRules    Select = "rules"
	SelectSequence Select = "sequence"
	SelectWeighted Select = "weighted"
)

// OnEnd says what follows the last response of a sequence (rule R1).
type OnEnd string

// The ends of a sequence. The empty value is OnEndLast.
const (
	OnEndLast      OnEnd = "last"
	OnEndLoop      OnEnd = "loop"
	OnEndUnmatched OnEnd = "unmatched"
)

// Draw says how a weighted choice is drawn (rule R9).
type Draw string

// The kinds of draw. The empty value is DrawSeeded.
const (
	DrawSeeded Draw = "seeded"
	DrawExact  Draw = "exact"
)

// MethodAny is the method of a mock that matches every method.
const MethodAny = "ANY"

// RequestMatcher states what a request must look like. Exactly one of Path, PathMatches and RawTarget is set.
type RequestMatcher struct {
	// Shorthand tells that the author wrote "METHOD /path", for the pointers of errors.
	Shorthand bool
	// Methods holds one or more tokens, compared exactly (rule A13), or MethodAny alone.
	Methods     []string
	Path        string
	PathMatches string
	RawTarget   string
	Host        string
	Query       []NamedMatch
	Headers     []NamedMatch
	Cookies     []NamedMatch
	Matrix      []NamedMatch
	StrictQuery bool
	Auth        *AuthMatch
	Body        *BodyMatch
	// TrailingSlash is "" for the project's setting.
	TrailingSlash TrailingSlash
	AnyOf         []Condition
	AllOf         []Condition
	Not           *Condition
}

// Expect is what `mockbase verify` checks of a mock.
type Expect struct {
	// Calls bounds the number of calls; nil is not checked.
	Calls   *Range
	Backoff *ExpectBackoff
}

// Range bounds a count; a nil end is open.
type Range struct {
	Min, Max *int
}

// ExpectBackoff are the thresholds that a client's back-off is graded by (rules AA32 to AA39). Nil is not judged.
type ExpectBackoff struct {
	Keys          []string
	Tolerance     *time.Duration
	MaxEarly      *int
	MinGrowth     *float64
	MinJitter     *float64
	MaxAttempts   *int
	MaxHerd       *float64
	MaxUnsafe     *int
	GiveUpAfter   *time.Duration
	MinRejections *int
}
