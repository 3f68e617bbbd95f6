package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// Mask stands in place of the value of a secret.
const Mask = "********"

// VariableChange is a variable as it shall be.
type VariableChange struct {
	Name string
	// Value is the scalar's JSON text.
	Value json.RawMessage
	// Secret is nil for a variable that stays as secret as it is; a new one is no secret then.
	Secret *bool
	Match  Match
	// OnlyNew refuses to change a variable that is there.
	OnlyNew bool
}

// SetVariable makes a variable or changes one, and tells whether it was made (rule M-196). It fails with
// CodeManagedBySource for one that belongs to files or a source, and with CodeVersionMismatch.
func (c *Catalog) SetVariable(ctx context.Context, projectID string, v VariableChange) (made bool, err error) {
	err = c.change(projectID, func(e *entry, s *mockbase.Snapshot) error {
		_, known := variable(&s.Project.Config, v.Name)
		made = !known
		if known && v.OnlyNew {
			return Match{Version: -1}.check("variable", s.Project.NoteOf(v.Name).Version)
		}
		if known {
			if err := v.Match.check("variable", s.Project.NoteOf(v.Name).Version); err != nil {
				return err
			}
		}
		if err := v.unmask(s.Project); err != nil {
			return err
		}
		next, err := withVariable(s.Project, &v)
		if err != nil {
			return err
		}
		if err := mayChangeVariable(s.Project, v.Name); err != nil {
			return err
		}
		_, err = c.replaceProject(ctx, e, s, next)
		return err
	})
	return made, err
}

// unmask puts the stored value of a secret in the place of the mask, which is what a client got that sends back what it read.
// Nothing else can be meant by a mask.
func (v *VariableChange) unmask(p *mockbase.Project) error {
	if string(v.Value) != `"`+Mask+`"` {
		return nil
	}
	stored, known := variable(&p.Config, v.Name)
	if known && p.NoteOf(v.Name).Secret && (v.Secret == nil || *v.Secret) {
		v.Value = stored
		return nil
	}
	detail := fmt.Sprintf("%s stands for a secret that is not shown, and the project has no secret %q: send the value itself", Mask, v.Name)
	if known && p.NoteOf(v.Name).Secret {
		detail = Mask + " stands for the secret that is not shown: send the value itself when it shall be no secret any more"
	}
	return mockbase.Invalid([]mockbase.FieldError{{Pointer: "#/value", Code: mockbase.FieldConflict, Detail: detail}})
}

// withVariable is a project with a variable as it shall be.
func withVariable(p *mockbase.Project, v *VariableChange) (*mockbase.Project, error) {
	next, err := changeProject(p, func(next *mockbase.Project) error {
		return variables().put(next, v.Name, v.Value)
	})
	if err != nil || v.Secret == nil || p.NoteOf(v.Name).Secret == *v.Secret {
		return next, err
	}
	notes := make(map[string]mockbase.VariableNote, len(next.VariableNotes)+1)
	maps.Copy(notes, next.VariableNotes)
	note := next.NoteOf(v.Name)
	if _, known := variable(&p.Config, v.Name); known && note.Version == p.NoteOf(v.Name).Version {
		note.Version++
	}
	note.Secret = *v.Secret
	notes[v.Name] = note
	next.VariableNotes = notes
	return next, nil
}

// DeleteVariable deletes a variable (rule M-197). It fails with CodeInUse when a template names it, and with
// CodeManagedBySource for one that belongs to files or a source.
func (c *Catalog) DeleteVariable(ctx context.Context, projectID, name string, match Match) error {
	return c.change(projectID, func(e *entry, s *mockbase.Snapshot) error {
		if _, known := variable(&s.Project.Config, name); !known {
			return noVariable(name)
		}
		if err := match.check("variable", s.Project.NoteOf(name).Version); err != nil {
			return err
		}
		if err := mayChangeVariable(s.Project, name); err != nil {
			return err
		}
		if users := variableUsers(s, name); len(users) > 0 {
			return &mockbase.Error{
				Code: mockbase.CodeInUse, Message: fmt.Sprintf("templates name the variable %q: %s", name, strings.Join(users, ", ")),
				Hint: "change them first",
			}
		}
		next, err := changeProject(s.Project, func(next *mockbase.Project) error {
			return variables().drop(next, name)
		})
		if err != nil {
			return err
		}
		_, err = c.replaceProject(ctx, e, s, next)
		return err
	})
}

func noVariable(name string) error {
	return mockbase.Errorf(mockbase.CodeNotFound, "the project has no variable %q", name)
}

// variables is the section of variables.
func variables() section { return section{key: "variables", kind: KindVariable} }

// variable finds a variable by its name.
func variable(c *mockbase.Config, name string) (json.RawMessage, bool) {
	at := slices.IndexFunc(c.Variables, func(v mockbase.Variable) bool { return v.Name == name })
	if at < 0 {
		return nil, false
	}
	return c.Variables[at].Value, true
}

// mayChangeVariable refuses to change a variable that belongs to files or a source (rule M-77).
func mayChangeVariable(p *mockbase.Project, name string) error {
	return mayChangeItem(p, "variable", variables().owned(name), name)
}

// notesAfter are the notes of a project whose configuration was another before: a value that changed is a new version.
func notesAfter(next *mockbase.Project, before *mockbase.Config) map[string]mockbase.VariableNote {
	notes := limitNotes(next, before)
	for _, v := range next.Config.Variables {
		note := next.NoteOf(v.Name)
		switch former, known := variable(before, v.Name); {
		case !known:
			note = mockbase.VariableNote{Version: 1}
		case !bytes.Equal(former, v.Value):
			note.Version++
		}
		notes[v.Name] = note
	}
	return notes
}

// masked is a list of changes without the values.
func masked(changes []Change) []Change {
	hidden := json.RawMessage(`"` + Mask + `"`)
	for i := range changes {
		if changes[i].From != nil {
			changes[i].From = hidden
		}
		if changes[i].To != nil {
			changes[i].To = hidden
		}
	}
	return changes
}

// variableUsers names what holds templates that name a variable: mocks, and the defaults.
func variableUsers(s *mockbase.Snapshot, name string) []string {
	quoted := regexp.QuoteMeta(name)
	// Documents are JSON, so that the quotes of a template are escaped in them.
	named := regexp.MustCompile(`\{\{.*\b(?:var\)?\s*\.` + quoted + `\b|index\s+var\s+(?:\\?"|` + "`" + `)` + quoted + `(?:\\?"|` + "`" + `))`)
	var users []string
	if named.Match(s.Project.Config.Source["defaults"]) {
		users = append(users, "defaults")
	}
	for _, m := range s.Mocks {
		if named.Match(m.Document) {
			users = append(users, m.Name)
		}
	}
	return users
}
