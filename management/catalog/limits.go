package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// LimitChange is a named rate limit as it shall be.
type LimitChange struct {
	Name string
	// Policy is the policy's JSON text.
	Policy json.RawMessage
	Match  Match
	// OnlyNew refuses to change a limit that is there.
	OnlyNew bool
}

// limits is the section of named rate limits.
func limits() section { return section{key: "rateLimits", kind: KindPolicy} }

// SetLimit makes a named rate limit or changes one, and tells whether it was made (rule M-207). It fails with
// CodeManagedBySource for one that belongs to files or a source, and with CodeVersionMismatch.
func (c *Catalog) SetLimit(ctx context.Context, projectID string, l LimitChange) (made bool, err error) {
	err = c.change(projectID, func(e *entry, s *mockbase.Snapshot) error {
		version := s.Project.LimitVersion(l.Name)
		known := hasLimit(&s.Project.Config, l.Name)
		made = !known
		if known && l.OnlyNew {
			return Match{Version: -1}.check("rate limit", version)
		}
		if known {
			if err := l.Match.check("rate limit", version); err != nil {
				return err
			}
		}
		next, err := changeProject(s.Project, func(next *mockbase.Project) error {
			return limits().put(next, l.Name, l.Policy)
		})
		if err != nil {
			return err
		}
		if err := mayChangeItem(s.Project, "rate limit", limits().owned(l.Name), l.Name); err != nil {
			return err
		}
		_, err = c.replaceProject(ctx, e, s, next)
		return err
	})
	return made, err
}

// DeleteLimit deletes a named rate limit (rule M-208). It fails with CodeInUse while something uses it, and with
// CodeManagedBySource for one that belongs to files or a source.
func (c *Catalog) DeleteLimit(ctx context.Context, projectID, name string, match Match) error {
	return c.change(projectID, func(e *entry, s *mockbase.Snapshot) error {
		if !hasLimit(&s.Project.Config, name) {
			return mockbase.Errorf(mockbase.CodeNotFound, "the project has no rate limit %q", name)
		}
		if err := match.check("rate limit", s.Project.LimitVersion(name)); err != nil {
			return err
		}
		if err := mayChangeItem(s.Project, "rate limit", limits().owned(name), name); err != nil {
			return err
		}
		if users := limitUsers(s, name); len(users) > 0 {
			return &mockbase.Error{
				Code: mockbase.CodeInUse, Message: fmt.Sprintf("the rate limit %q is in use: %s", name, strings.Join(users, ", ")),
				Hint: "change them first",
			}
		}
		next, err := changeProject(s.Project, func(next *mockbase.Project) error { return limits().drop(next, name) })
		if err != nil {
			return err
		}
		_, err = c.replaceProject(ctx, e, s, next)
		return err
	})
}

func hasLimit(c *mockbase.Config, name string) bool {
	return slices.ContainsFunc(c.RateLimits, func(l mockbase.NamedLimit) bool { return l.Name == name })
}

// limitUsers names what uses a rate limit: the defaults, collections, documents and mocks.
func limitUsers(s *mockbase.Snapshot, name string) []string {
	uses := func(r *mockbase.RateLimit) bool {
		return r != nil && slices.ContainsFunc(r.Limits, func(l mockbase.Limit) bool { return l.Use == name })
	}
	var users []string
	config := &s.Project.Config
	if uses(config.Defaults.RateLimit) {
		users = append(users, "the defaults")
	}
	for i := range config.Collections {
		if uses(config.Collections[i].RateLimit) {
			users = append(users, "the collection "+config.Collections[i].Name)
		}
	}
	for i := range config.Documents {
		d := &config.Documents[i]
		if uses(d.RateLimit) || slices.ContainsFunc(d.Operations, func(op mockbase.DocumentOperation) bool { return uses(op.RateLimit) }) {
			users = append(users, "the document "+d.Name)
		}
	}
	for _, m := range s.Mocks {
		if uses(m.RateLimit) {
			users = append(users, "the mock "+m.Name)
		}
	}
	return users
}

// limitNotes are the notes of the named rate limits of a project whose configuration was another before: a text that
// changed is a new version.
func limitNotes(next *mockbase.Project, before *mockbase.Config) map[string]mockbase.VariableNote {
	notes := make(map[string]mockbase.VariableNote, len(next.Config.Variables)+len(next.Config.RateLimits))
	former, errBefore := limits().parts(before.Source[limits().key])
	now, errNow := limits().parts(next.Config.Source[limits().key])
	if errBefore != nil || errNow != nil {
		return notes
	}
	for _, l := range now {
		note := next.NoteOf(mockbase.LimitNote(l.name))
		switch old := find(former, l.name); {
		case old == nil:
			note = mockbase.VariableNote{Version: 1}
		case !bytes.Equal(old.text, l.text):
			note.Version++
		}
		notes[mockbase.LimitNote(l.name)] = note
	}
	return notes
}
