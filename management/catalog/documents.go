package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// DocumentText is the text of an OpenAPI document.
type DocumentText struct {
	// Text is the document as it was sent, JSON what the definition holds of it.
	Text []byte
	JSON json.RawMessage
	// Files is an archive of the files that it was joined from, nil for one text.
	Files []byte
	// Limits are the members of the entry that limit a new document.
	Limits []mockbase.Member
}

// DocumentOptions say how a document is changed.
type DocumentOptions struct {
	Match Match
	// TakeOver changes a document of a source and takes it away from the source (rule M-77).
	TakeOver bool
}

// FindDocument finds an OpenAPI document of a project by its name or id; nil when there is none.
func FindDocument(p *mockbase.Project, nameOrID string) *mockbase.Document {
	for i := range p.Config.Documents {
		if d := &p.Config.Documents[i]; d.Name == nameOrID || p.DocumentNoteOf(d.Name).ID == nameOrID {
			return d
		}
	}
	return nil
}

// DocumentEntry is the entry of a document in the definition, as JSON; nil when there is none of that name.
func DocumentEntry(p *mockbase.Project, name string) json.RawMessage {
	parts, err := documentSection().texts(p.Config.Source["documents"])
	if err != nil {
		return nil
	}
	if found := find(parts, name); found != nil {
		return found.text
	}
	return nil
}

func documentSection() section { return section{key: "documents", kind: KindDocument, listed: true} }

// AddDocument attaches an OpenAPI document to a project (rule M-165). It fails with CodeNameTaken.
func (c *Catalog) AddDocument(ctx context.Context, projectID, name string, text DocumentText) (*mockbase.Snapshot, error) {
	return c.editDocuments(ctx, projectID, func(e *documentEdit) error {
		if find(e.parts, name) != nil {
			return documentTaken(name)
		}
		if err := reached("maxDocumentsPerProject", c.quotas.Load().MaxDocumentsPerProject, len(e.parts)+1); err != nil {
			return err
		}
		entry := []mockbase.Member{{Key: "name", Value: &mockbase.Node{Kind: mockbase.NodeText, Text: name}}}
		entry = append(entry, text.Limits...)
		entry = append(entry, mockbase.Member{Key: "inline", Value: rawNode(text.JSON)})
		e.parts = append(e.parts, documentPart(&mockbase.Node{Kind: mockbase.NodeObject, Members: entry}))
		e.at = len(e.parts) - 1
		e.notes[name] = mockbase.DocumentNote{ID: mockbase.NewID(mockbase.PrefixDocument, c.now()), Version: 1, Text: text.apart(), Files: text.Files}
		return nil
	})
}

// apart is the text as it was sent, nil when the definition says the same.
func (t DocumentText) apart() []byte {
	if bytes.Equal(t.Text, t.JSON) {
		return nil
	}
	return t.Text
}

func documentPart(n *mockbase.Node) part {
	name := ""
	if at := n.Find("name"); at != nil {
		name = at.Text
	}
	return part{name: name, node: n, text: n.JSON()}
}

func documentTaken(name string) error {
	return mockbase.Errorf(mockbase.CodeNameTaken, "there is a document with the name %q already", name)
}

// SetDocumentText replaces the text of a document and keeps its options (rule M-168). It fails with CodeNotFound,
// CodeVersionMismatch and CodeManagedBySource.
func (c *Catalog) SetDocumentText(ctx context.Context, projectID, nameOrID string, o DocumentOptions, text DocumentText) (*mockbase.Snapshot, error) {
	return c.editDocuments(ctx, projectID, func(e *documentEdit) error {
		d, err := e.open(nameOrID, o)
		if err != nil {
			return err
		}
		note := e.project.DocumentNoteOf(d.Name)
		if bytes.Equal(d.Inline, text.JSON) && bytes.Equal(note.Text, text.apart()) && bytes.Equal(note.Files, text.Files) {
			return nil
		}
		entry := withoutSource(e.parts[e.at].node)
		entry.Members = append(entry.Members, mockbase.Member{Key: "inline", Value: rawNode(text.JSON)})
		e.parts[e.at] = documentPart(entry)
		note.Version++
		note.Text, note.Files = text.apart(), text.Files
		e.notes[d.Name] = note
		return nil
	})
}

// withoutSource is the entry of a document without the member that says where its text is.
func withoutSource(n *mockbase.Node) *mockbase.Node {
	entry := *n
	entry.Members = slices.DeleteFunc(slices.Clone(n.Members), func(m mockbase.Member) bool { return isSource(m.Key) })
	return &entry
}

func isSource(key string) bool { return key == "inline" || key == "file" || key == "url" }

// ChangeDocument changes the options of a document, and its name (rule M-169). Edit gets the entry without its source;
// beside faults it gives what it could make. It fails as SetDocumentText does, and with CodeNameTaken.
func (c *Catalog) ChangeDocument(
	ctx context.Context, projectID, nameOrID string, o DocumentOptions, edit func(entry *mockbase.Node) (*mockbase.Node, error),
) (*mockbase.Snapshot, error) {
	return c.editDocuments(ctx, projectID, func(e *documentEdit) error {
		d, err := e.open(nameOrID, o)
		if err != nil {
			return err
		}
		former := e.parts[e.at]
		entry, err := edit(withoutSource(former.node))
		if entry == nil {
			return err
		}
		changed := withSourceOf(former.node, entry)
		next := documentPart(changed)
		if err != nil {
			return mockbase.MoreFaults(err, c.documentFaults(e, next))
		}
		if next.name != d.Name && find(e.parts, next.name) != nil {
			return documentTaken(next.name)
		}
		if bytes.Equal(documentPart(reordered(former.node)).text, documentPart(reordered(changed)).text) {
			return nil
		}
		e.parts[e.at] = next
		note := e.project.DocumentNoteOf(d.Name)
		note.Version++
		e.notes[next.name] = note
		return nil
	})
}

// withSourceOf is an entry with the member of another one that says where the text is.
func withSourceOf(former, entry *mockbase.Node) *mockbase.Node {
	whole := *entry
	for _, m := range former.Members {
		if isSource(m.Key) {
			whole.Members = append(slices.Clone(whole.Members), m)
		}
	}
	return &whole
}

// documentFaults returns what keeps the document that is changed from being served, with pointers relative to its entry.
func (c *Catalog) documentFaults(e *documentEdit, next part) []mockbase.FieldError {
	parts := slices.Clone(e.parts)
	parts[e.at] = next
	source := maps.Clone(e.project.Config.Source)
	source["documents"] = documentSection().join(parts)
	config, _ := mockbase.DecodeConfig(source) // what is wrong with it is known
	return within("#/documents/"+strconv.Itoa(e.at), c.ConfigFaults(&config))
}

// reordered is an entry with its source behind the other members.
func reordered(n *mockbase.Node) *mockbase.Node {
	entry := withoutSource(n)
	for _, m := range n.Members {
		if isSource(m.Key) {
			entry.Members = append(entry.Members, m)
		}
	}
	return entry
}

// DeleteDocument detaches a document from a project (rule M-170). It fails as SetDocumentText does.
func (c *Catalog) DeleteDocument(ctx context.Context, projectID, nameOrID string, o DocumentOptions) error {
	_, err := c.editDocuments(ctx, projectID, func(e *documentEdit) error {
		if _, err := e.open(nameOrID, o); err != nil {
			return err
		}
		e.parts = slices.Delete(e.parts, e.at, e.at+1)
		e.at = -1
		return nil
	})
	return err
}

// documentEdit is a change of the documents of a project.
type documentEdit struct {
	project *mockbase.Project
	parts   []part
	// at is the place of the document that is changed, -1 for none.
	at int
	// notes are those that the change itself makes, by the names after it.
	notes map[string]mockbase.DocumentNote
}

// open finds the document that is to be changed, and tells whether it may be.
func (e *documentEdit) open(nameOrID string, o DocumentOptions) (*mockbase.Document, error) {
	d := FindDocument(e.project, nameOrID)
	if d == nil {
		return nil, mockbase.Errorf(mockbase.CodeNotFound, "the project has no document %q", nameOrID)
	}
	if err := o.Match.check("document", e.project.DocumentNoteOf(d.Name).Version); err != nil {
		return nil, err
	}
	if owner := e.project.Owners["documents/"+d.Name]; owner != "" && !o.TakeOver {
		return nil, &mockbase.Error{
			Code: mockbase.CodeManagedBySource, Message: fmt.Sprintf("document %q belongs to the source %q", d.Name, owner),
			Hint: "change it there and apply it", Err: ErrOwned,
		}
	}
	e.at = slices.IndexFunc(e.parts, func(p part) bool { return p.name == d.Name })
	return d, nil
}

// editDocuments changes the documents of a project. Faults of the document that is changed have pointers relative to it.
func (c *Catalog) editDocuments(ctx context.Context, projectID string, edit func(*documentEdit) error) (next *mockbase.Snapshot, err error) {
	err = c.change(projectID, func(e *entry, s *mockbase.Snapshot) error {
		if err := refuseReadOnly(s.Project); err != nil {
			return err
		}
		parts, err := documentSection().parts(s.Project.Config.Source["documents"])
		if err != nil {
			return err
		}
		change := &documentEdit{project: s.Project, parts: parts, at: -1, notes: map[string]mockbase.DocumentNote{}}
		if err := edit(change); err != nil {
			return err
		}
		p, err := change.apply()
		if err == nil {
			next, err = c.replaceProject(ctx, e, s, p)
		}
		return Relative(err, "#/documents/"+strconv.Itoa(change.at))
	})
	return next, err
}

// apply is the project after the change.
func (e *documentEdit) apply() (*mockbase.Project, error) {
	p, err := changeProject(e.project, func(next *mockbase.Project) error {
		if next.Config.Source == nil {
			next.Config.Source = map[string]json.RawMessage{}
		}
		if text := documentSection().join(e.parts); text != nil {
			next.Config.Source["documents"] = text
		} else {
			delete(next.Config.Source, "documents")
		}
		return nil
	})
	if err != nil || len(e.notes) == 0 {
		return p, err
	}
	notes := make(map[string]mockbase.DocumentNote, len(p.DocumentNotes)+1)
	maps.Copy(notes, p.DocumentNotes)
	maps.Copy(notes, e.notes)
	p.DocumentNotes = notes
	return p, nil
}

// Relative turns the pointers of faults below an item into such that are relative to it.
func Relative(err error, at string) error {
	known, ok := errors.AsType[*mockbase.Error](err)
	if !ok || len(known.Fields) == 0 {
		return err
	}
	moved := *known
	moved.Fields = slices.Clone(known.Fields)
	for i, f := range moved.Fields {
		if rest, below := strings.CutPrefix(f.Pointer, at); below && (rest == "" || rest[0] == '/') {
			moved.Fields[i].Pointer = "#" + rest
		}
	}
	return moved.Retold()
}

// documentNotes are the notes of a project after a change: an entry that changed is a new version, and a text that was
// sent is forgotten with the entry that it was sent for. What the change itself noted stands.
func (c *Catalog) documentNotes(next, before *mockbase.Project) map[string]mockbase.DocumentNote {
	if len(next.Config.Documents) == 0 {
		return nil
	}
	notes := make(map[string]mockbase.DocumentNote, len(next.Config.Documents))
	for i := range next.Config.Documents {
		d := &next.Config.Documents[i]
		note, noted := next.DocumentNotes[d.Name]
		former := FindDocument(before, d.Name)
		switch {
		case former == nil && !noted:
			note = mockbase.DocumentNote{ID: mockbase.NewID(mockbase.PrefixDocument, c.now()), Version: 1}
		case former == nil || !sameNote(note, before.DocumentNotes[d.Name]):
		case !reflect.DeepEqual(former, d):
			note = next.DocumentNoteOf(d.Name)
			note.Version++
			if !bytes.Equal(former.Inline, d.Inline) {
				note.Text, note.Files = nil, nil
			}
		}
		notes[d.Name] = note
	}
	return notes
}

func sameNote(a, b mockbase.DocumentNote) bool {
	return a.ID == b.ID && a.Version == b.Version && bytes.Equal(a.Text, b.Text) && bytes.Equal(a.Files, b.Files)
}
