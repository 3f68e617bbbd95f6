package engine

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// collectionWarnings tells of collections at one path: one of them answers there, and the other never does.
func (e *Engine) collectionWarnings(c *mockbase.Config) []mockbase.FieldError {
	if len(c.Collections) < 2 {
		return nil
	}
	bare := *c
	// The paths alone are of interest.
	bare.Documents, bare.Collections = nil, slices.Clone(c.Collections)
	for i := range bare.Collections {
		one := &bare.Collections[i]
		one.SeedFile, one.Seed, one.Schema, one.RateLimit, one.Delay = "", json.RawMessage("[]"), nil, nil, nil
		if one.Singular {
			one.Seed = json.RawMessage("{}")
		}
	}
	project := &mockbase.Project{Config: bare}
	p, err := e.compile(&mockbase.Snapshot{Project: project}, nil)
	if err != nil {
		// What is wrong is a fault, and told with its place.
		return nil
	}
	var found []mockbase.FieldError
	warned := map[string]bool{}
	for i := range p.entries {
		own := &p.entries[i]
		name := collectionName(own)
		other := p.before(own, sharesCollection)
		if other == nil || warned[name] {
			continue
		}
		warned[name] = true
		found = append(found, mockbase.FieldError{
			Pointer: "#/collections/" + mockbase.PointerToken(name), Code: mockbase.WarningUnreachable,
			Detail: "collection " + quoted(collectionName(other)) + " has the same path " + quoted(own.mock.Request.Path) + " and comes first: it answers " +
				strings.Join(sharedMethods(other, own), ", ") + " there",
		})
	}
	return found
}

func collectionName(e *entry) string { return strings.TrimPrefix(e.mock.Name, "collection/") }

// sharesCollection tells whether two routes are of different collections and answer a method both.
func sharesCollection(other, own *entry) bool {
	return other.mock.Name != own.mock.Name && len(sharedMethods(other, own)) > 0 && takesSlash(other.pattern, own.pattern)
}

func sharedMethods(other, own *entry) []string {
	var shared []string
	for _, name := range own.mock.Request.Methods {
		if other.accepts(&method{name: name}) {
			shared = append(shared, name)
		}
	}
	return shared
}
