package mockbase

import (
	"encoding/json"
	"time"
)

// Access says who may call a project's mocks.
type Access string

// The kinds of access (rule M-61).
const (
	AccessPublic Access = "public"
	AccessToken  Access = "token"
)

// Project owns mocks and everything else that belongs together. Its slug is part of its mocks' URLs: /m/{slug}/….
type Project struct {
	ID          string
	Slug        string
	Name        string
	Description string
	Access      Access
	// Config is the part of the definition that is not a list of mocks: settings, defaults and the like.
	Config Config
	// PersistTraffic keeps recorded exchanges in the store, so that they outlive a restart (rule M-61).
	PersistTraffic bool
	// RequireIfMatch refuses changes without an If-Match header with 428 (rule M-10).
	RequireIfMatch bool
	// RawTraffic keeps the secrets of recorded exchanges, for editors and owners to see (redaction: raw, rule M-81).
	RawTraffic bool
	// RedactHeaders are headers whose values are secrets beside the usual ones (rule M-81).
	RedactHeaders []string
	// Retention bounds what is kept of recorded exchanges, within the bounds of the server (rule M-61).
	Retention Retention
	// UpstreamAllow narrows what proxies and webhooks may call to these entries, which ParseUpstream reads; it never allows more
	// than the operator does (rule S6). Empty is no list.
	UpstreamAllow []string
	// Origin is the folder that the project was loaded from in file mode; empty otherwise. Such a project is read-only.
	Origin string
	// Owners names the source that wrote an item of the configuration, by "section/name" (rule M-76). An item that is not
	// in it was made by hand. It is no part of a definition.
	Owners map[string]string
	// VariableNotes say of each variable what its definition does not. A variable without one is at its first version and no
	// secret. They hold the versions of named rate limits, too, by "rateLimits/name". They are no part of a definition.
	VariableNotes map[string]VariableNote
	// DocumentNotes say of each OpenAPI document what its definition does not. They are no part of a definition.
	DocumentNotes map[string]DocumentNote
	// Version counts changes of the project's own members, from 1 (rule M-4).
	Version int64
	// Revision counts changes of anything in the project, its mocks included, from 1 (rule M-76).
	Revision  int64
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Redaction masks what the project holds to be secret.
func (p *Project) Redaction() *Redaction { return NewRedaction(p.RedactHeaders) }

// Retention bounds recorded exchanges by their number, their size in bytes and their age; 0 is the bound of the server.
type Retention struct {
	MaxCount int
	MaxBytes int64
	MaxAge   time.Duration
}

// Within is the retention where every bound is at most that of another one, which states them all.
func (r Retention) Within(all Retention) Retention {
	if r.MaxCount <= 0 || r.MaxCount > all.MaxCount {
		r.MaxCount = all.MaxCount
	}
	if r.MaxBytes <= 0 || r.MaxBytes > all.MaxBytes {
		r.MaxBytes = all.MaxBytes
	}
	if r.MaxAge <= 0 || r.MaxAge > all.MaxAge {
		r.MaxAge = all.MaxAge
	}
	return r
}

// Snapshot is a project and its mocks at one revision. It is immutable once made: a change makes a new one that shares
// the mocks that did not change.
type Snapshot struct {
	Project *Project
	// Mocks are in creation order, so that on a full tie the later one wins (rule A7).
	Mocks []*Mock
}

// Config is what a definition says beside its mocks. The zero value is a valid configuration: every default.
type Config struct {
	Variables  []Variable
	Settings   Settings
	Defaults   Defaults
	RateLimits []NamedLimit
	Scenarios  []Scenario
	// Collections and Documents are in the order of the text.
	Collections []Collection
	Documents   []Document
	// Source holds the JSON text of each section as it was given, compact, by its key in the definition.
	Source map[string]json.RawMessage
	// Unread names the sections that were there and could not be read, so that nothing follows from what they lack. There
	// are some beside faults alone.
	Unread []string
}

// Variable is a named value that templates read.
type Variable struct {
	Name string
	// Value is the scalar's JSON text.
	Value json.RawMessage
}

// VariableNote is what is known of a variable beside its value (rule M-195).
type VariableNote struct {
	// Version counts the changes of the value and of Secret, from 1.
	Version int64
	// Secret keeps the value out of everything but templates.
	Secret bool
}

// NoteOf is what is known of a variable that there is.
func (p *Project) NoteOf(name string) VariableNote {
	note := p.VariableNotes[name]
	note.Version = max(note.Version, 1)
	return note
}

// LimitNote is the key of a named rate limit in VariableNotes. No variable can have such a name.
func LimitNote(name string) string { return "rateLimits/" + name }

// LimitVersion counts the changes of a named rate limit that there is, from 1 (rule M-206).
func (p *Project) LimitVersion(name string) int64 { return p.NoteOf(LimitNote(name)).Version }

// DocumentNote is what is known of an OpenAPI document beside its entry in the definition (rule M-164).
type DocumentNote struct {
	ID string
	// Version counts the changes of the entry, from 1.
	Version int64
	// Text is the document as it was sent; nil for one that is known as it stands in the definition alone.
	Text []byte
	// Files is an archive of the files that the document was joined from, nil for one that was sent as one text.
	Files []byte
}

// DocumentNoteOf is what is known of a document that there is.
func (p *Project) DocumentNoteOf(name string) DocumentNote {
	note := p.DocumentNotes[name]
	if note.ID == "" {
		note.ID = PrefixDocument + name
	}
	note.Version = max(note.Version, 1)
	return note
}

// Definition is one whole document: a project as it is written in a file or sent to the API.
type Definition struct {
	// Project is the slug the document names, or "".
	Project string
	Config  Config
	Mocks   []*Mock
	// Warnings are faults that do not block, such as a body that is dropped (mock format, section 5).
	Warnings []FieldError
}

// TrailingSlash says whether a slash at the end of a path is significant (rule B10).
type TrailingSlash string

// The ways to treat a trailing slash. The empty value means the project's setting, and there TrailingSlashStrict.
const (
	TrailingSlashStrict TrailingSlash = "strict"
	TrailingSlashIgnore TrailingSlash = "ignore"
)

// Settings are a project's options (mock format, section 6). The zero value holds the defaults.
type Settings struct {
	TrailingSlash TrailingSlash
	// IgnorePathCase compares paths without regard to letter case (pathCase: ignore, rule B11).
	IgnorePathCase bool
	// MergeEmptySegments joins empty path segments (emptySegments: merge, rule B9).
	MergeEmptySegments bool
	// StrictMethods switches off the HEAD that is derived from GET (rule L1).
	StrictMethods bool
	CORS          CORS
	// NoMatch replaces the 404 and 405 answers; nil keeps them (rule M1).
	NoMatch *PlainResponse
	// Fallback is asked when nothing else answers; nil is none (rule L6).
	Fallback *Proxy
	// HideDecision leaves out the Mockbase-Mock header (decisionHeader: false, rule M7).
	HideDecision bool
	// IgnoreControlHeaders ignores Prefer and Mockbase-Prefer (controlHeaders: false, rule AA24).
	IgnoreControlHeaders bool
	Compress             bool
	// Seed is the JSON text of the seed, nil for a random one (rule AA20).
	Seed json.RawMessage
	// MaxBody is the largest request body in bytes; nil is the server's limit (rule N8).
	MaxBody *int64
	// NoBrowserSandbox is browserSandbox: false (rule Y10).
	NoBrowserSandbox bool
}

// CORS is how the mock plane answers browsers of other origins (rules L9 to L20). The zero value allows every origin
// without credentials.
type CORS struct {
	Disabled      bool
	Origins       []string
	Credentials   bool
	ExposeHeaders []string
	// MaxAge is how long a browser may keep a preflight answer; nil is the server's choice.
	MaxAge         *time.Duration
	PrivateNetwork bool
}

// Defaults apply to mocks that say nothing themselves.
type Defaults struct {
	Template  bool
	Headers   []Header
	Delay     *Delay
	RateLimit *RateLimit
}

// Scenario is a named state machine (rule R4).
type Scenario struct {
	Name         string
	Initial      string
	Keys         []string
	MaxInstances int
}
