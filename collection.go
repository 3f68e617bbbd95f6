package mockbase

import (
	"encoding/json"
	"time"
)

// Collection is working create, read, update and delete over sample data (group V).
type Collection struct {
	Name     string
	Path     string
	IDMember string
	Singular bool
	// Seed is the JSON text of a list or, for a singular collection, an object.
	Seed        json.RawMessage
	SeedFile    string
	Schema      json.RawMessage
	Relations   []Relation
	PageSize    int
	MaxPageSize int
	Envelope    bool
	Upsert      bool
	Bulk        bool
	Persist     bool
	Priority    int
	RateLimit   *RateLimit
	Delay       *Delay
}

// CollectionState says how a collection stands in a session (rule M-198).
type CollectionState struct {
	Name string
	// Items is the number of items, 1 for a singular collection.
	Items int
	// ChangedAt is the session's time of the last write; the zero time tells that the sample data is as it was.
	ChangedAt time.Time
	// Persist tells that the data of the default session is kept in the store (rule V16).
	Persist bool
}

// CollectionItem is an item of a collection.
type CollectionItem struct {
	// ID is the id as text, "" for the object of a singular collection.
	ID string
	// Text is the item's JSON.
	Text json.RawMessage
}

// CollectionData is everything that a collection holds in a session, as it is kept (rule V16).
type CollectionData struct {
	Name string
	// NextID is the next counted id, Drawn the number of ids that were made up: neither ever goes back (rule V3).
	NextID, Drawn int64
	// Items are the JSON texts of the items in the order of their creation.
	Items []json.RawMessage
}

// Relation ties a member of a collection's items to the items of another collection.
type Relation struct {
	Member   string
	To       string
	OnDelete string
}

// Document is an OpenAPI description attached to a project. Exactly one of File, URL and Inline is set.
type Document struct {
	Name         string
	File, URL    string
	Inline       json.RawMessage
	ValidateOnly bool
	BasePath     string
	Requests     string
	Responses    string
	Strict       bool
	Dynamic      bool
	Credentials  []Credential
	Callbacks    bool
	RateLimit    *RateLimit
	Delay        *Delay
	// Operations are the options of single operations.
	Operations []DocumentOperation
}

// DocumentOperation holds the options of one operation of a document.
type DocumentOperation struct {
	// Name is the operation's id, or method and path where it has none, as the traffic shows it.
	Name string
	// RateLimit replaces that of the document, nil does not.
	RateLimit *RateLimit
}

// LimitOf is the limit that the options of an operation state; nil where they state none.
func (d *Document) LimitOf(operation string) *RateLimit {
	for i := range d.Operations {
		if d.Operations[i].Name == operation {
			return d.Operations[i].RateLimit
		}
	}
	return nil
}

// Credential is a value that a document's security scheme accepts (rule W46).
type Credential struct {
	Scheme, Value string
	Scopes        []string
}

// WithSeed returns a copy whose sample data a text holds, as the member seed would. The error is a *[Error] of what is wrong
// with the text.
func (c *Collection) WithSeed(text []byte, format Format) (Collection, error) {
	seeded := *c
	node, err := ParseNode(text, format, ParseLimits{})
	if err != nil {
		return seeded, err
	}
	var faults Faults
	decodeSeedData(NewFields(&Node{Kind: NodeObject, Members: []Member{{Key: "seed", Value: node}}}, "#", &faults), &seeded)
	return seeded, faults.Err()
}
