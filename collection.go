package mockbase

import "encoding/json"

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
}

// Credential is a value that a document's security scheme accepts (rule W46).
type Credential struct {
	Scheme, Value string
	Scopes        []string
}
