package management

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/catalog"
	"github.com/mockbase/mockbase/openapi"
)

// describedRoutes are those of OpenAPI documents. The parameters of lists are list.
func describedRoutes(list []string) []route {
	const (
		documents = apiPrefix + "/projects/{project}/documents"
		document  = documents + "/{document}"
		text      = document + "/content"
	)
	takeOver := []string{"takeOver"}
	return []route{
		{id: "M-164", method: http.MethodGet, path: documents, access: accessViewer, scope: scopeMocksRead, operation: "listDocuments", handle: (*Server).listDocuments, query: list, patience: definitionPatience},
		{id: "M-165", method: http.MethodPost, path: documents, access: accessEditor, scope: scopeMocksWrite, operation: "createDocument", handle: (*Server).createDocument, query: []string{"name", "root", "limits"}, creates: true, body: maxDefinitionBody, patience: definitionPatience},
		{id: "M-166", method: http.MethodGet, path: document, access: accessViewer, scope: scopeMocksRead, operation: "getDocument", handle: (*Server).getDocument},
		{id: "M-169", method: http.MethodPatch, path: document, access: accessEditor, scope: scopeMocksWrite, operation: "updateDocument", handle: (*Server).updateDocument, versioned: true, query: []string{"takeOver", "limits"}},
		{id: "M-170", method: http.MethodDelete, path: document, access: accessEditor, scope: scopeMocksWrite, operation: "deleteDocument", handle: (*Server).deleteDocument, versioned: true, query: takeOver},
		{id: "M-167", method: http.MethodGet, path: text, access: accessViewer, scope: scopeMocksRead, operation: "getDocumentContent", handle: (*Server).documentContent, offers: []string{typeYAML, typeJSON}},
		{id: "M-168", method: http.MethodPut, path: text, access: accessEditor, scope: scopeMocksWrite, operation: "setDocumentContent", handle: (*Server).setDocumentContent, versioned: true, query: []string{"takeOver", "root"}, body: maxDefinitionBody, patience: definitionPatience},
	}
}

// documentView is an OpenAPI document as the API shows one (M-164).
type documentView struct {
	ID         string          `json:"id"`
	Name       string          `json:"name"`
	Title      string          `json:"title"`
	OpenAPI    string          `json:"openapi"`
	Operations int             `json:"operations"`
	Options    json.RawMessage `json:"options"`
	Warnings   []placedWarning `json:"warnings"`
	Version    int64           `json:"version"`
	Source     *string         `json:"source"`
}

// placedWarning is a warning with its place in the text as it was sent.
type placedWarning struct {
	Code   mockbase.Code `json:"code"`
	Detail string        `json:"detail"`
	// File is the one of several that the place is in.
	File    string `json:"file,omitempty"`
	Pointer string `json:"pointer,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
}

func (s *Server) viewOfDocument(p *mockbase.Project, d *mockbase.Document) documentView {
	note := p.DocumentNoteOf(d.Name)
	entry := catalog.DocumentEntry(p, d.Name)
	facts := s.facts.of(d, &note)
	return documentView{
		ID: note.ID, Name: d.Name, Title: facts.title, OpenAPI: facts.version, Operations: facts.operations,
		Options: documentOptions(entry, d), Warnings: facts.warnings, Version: note.Version, Source: maybeText(p.Owners["documents/"+d.Name]),
	}
}

// documentOptions are the members of a document's entry but its name and source, with the defaults of those that have one.
func documentOptions(entry json.RawMessage, d *mockbase.Document) json.RawMessage {
	given, err := stored(entry)
	if err != nil {
		given = &mockbase.Node{Kind: mockbase.NodeObject}
	}
	flag := func(on bool) *mockbase.Node {
		n := &mockbase.Node{Kind: mockbase.NodeBool, Text: "false"}
		if on {
			n.Text = "true"
		}
		return n
	}
	text := func(s string) *mockbase.Node { return &mockbase.Node{Kind: mockbase.NodeText, Text: s} }
	options := &mockbase.Node{Kind: mockbase.NodeObject, Members: []mockbase.Member{
		{Key: "serve", Value: flag(!d.ValidateOnly)},
		{Key: "basePath", Value: text(d.BasePath)},
		{Key: "requests", Value: text(d.Requests)},
		{Key: "responses", Value: text(d.Responses)},
		{Key: "strict", Value: flag(d.Strict)},
		{Key: "dynamic", Value: flag(d.Dynamic)},
		{Key: "callbacks", Value: flag(d.Callbacks)},
	}}
	for _, m := range given.Members {
		if !slices.Contains([]string{"name", "inline", "file", "url"}, m.Key) && options.Find(m.Key) == nil {
			options.Members = append(options.Members, m)
		}
	}
	return options.JSON()
}

// listDocuments lists the OpenAPI documents of a project (M-164).
func (s *Server) listDocuments(c *call) error {
	p := c.project.Project
	return listNamed(c, p.Config.Documents, func(d *mockbase.Document) string { return d.Name },
		func(d *mockbase.Document) documentView { return s.viewOfDocument(p, d) })
}

// described is the document that the path names, with its name.
func (c *call) described() (*mockbase.Document, error) {
	name, err := pathParam(c, "document")
	if err != nil {
		return nil, err
	}
	if d := catalog.FindDocument(c.project.Project, name); d != nil {
		return d, nil
	}
	return nil, mockbase.Errorf(mockbase.CodeNotFound, "the project has no document %s", shown(name))
}

// getDocument shows a document (M-166).
func (s *Server) getDocument(c *call) error {
	d, err := c.described()
	if err != nil {
		return err
	}
	if version := c.project.Project.DocumentNoteOf(d.Name).Version; c.notModified(version) {
		return c.unchanged(version)
	}
	return s.answerDocument(c, c.project, d.Name)
}

func (s *Server) answerDocument(c *call, snapshot *mockbase.Snapshot, name string) error {
	view, err := s.documentWithDrift(snapshot, name)
	if err != nil {
		return err
	}
	setETag(c.header(), view.Version)
	return c.json(http.StatusOK, view)
}

// documentWithDrift shows a document with what mocks say otherwise.
func (s *Server) documentWithDrift(snapshot *mockbase.Snapshot, name string) (documentView, error) {
	d := catalog.FindDocument(snapshot.Project, name)
	if d == nil {
		return documentView{}, mockbase.Errorf(mockbase.CodeNotFound, "the document %s was deleted meanwhile", shown(name))
	}
	view := s.viewOfDocument(snapshot.Project, d)
	if s.Drift != nil {
		view.Warnings = slices.Clip(view.Warnings)
		for _, w := range s.Drift(snapshot, d.Name) {
			view.Warnings = append(view.Warnings, placedWarning{Code: w.Code, Detail: w.Detail})
		}
	}
	return view, nil
}

// documentContent gives the bytes of a document as they were sent, whatever the client prefers (M-167). One that came with
// a definition is given as the definition holds it.
func (*Server) documentContent(c *call) error {
	d, err := c.described()
	if err != nil {
		return err
	}
	note := c.project.Project.DocumentNoteOf(d.Name)
	if c.notModified(note.Version) {
		return c.unchanged(note.Version)
	}
	text := note.Text
	if text == nil {
		text = d.Inline
	}
	if text == nil {
		return mockbase.Errorf(mockbase.CodeNotFound, "the text of the document %s is not kept here: its entry names where it is", shown(d.Name))
	}
	kind := typeYAML
	if formatOf(text) == mockbase.FormatJSON {
		kind = typeJSON
	}
	setETag(c.header(), note.Version)
	c.bytes(http.StatusOK, kind, text)
	return nil
}

// createDocument attaches an OpenAPI document (M-165). Its name is that of the query, or made of its title.
func (s *Server) createDocument(c *call) error {
	p := c.params()
	name, root, limits := p.slug("name"), p.text("root"), p.flag("limits")
	text, parsed, err := c.readDocument(root)
	if err != nil {
		return err
	}
	if err := p.err(); err != nil {
		return err
	}
	if name == "" {
		name = documentName(parsed.Title())
	}
	var told []mockbase.FieldError
	if limits {
		text.Limits, told = parsed.Limits()
	}
	c.foretellMade(func(made catalog.Making) (*answer, error) { return s.createdDocument(made.Next, name, told) })
	next, err := s.Catalog.AddDocument(c.ctx(), c.project.Project.ID, name, text)
	if err != nil {
		return err
	}
	if c.foretold != nil {
		return c.give(c.foretold)
	}
	a, err := s.createdDocument(next, name, told)
	if err != nil {
		return err
	}
	return c.give(a)
}

// createdDocument is the answer that tells of a new document, and of what its limits leave open.
func (s *Server) createdDocument(in *mockbase.Snapshot, name string, told []mockbase.FieldError) (*answer, error) {
	view, err := s.documentWithDrift(in, name)
	if err != nil {
		return nil, err
	}
	for i := range told {
		view.Warnings = append(slices.Clip(view.Warnings), placedWarningOf(&told[i]))
	}
	at := apiPrefix + "/projects/" + url.PathEscape(in.Project.Slug) + "/documents/" + url.PathEscape(name)
	return created(at, view).versioned(view.Version), nil
}

// documentName makes a name of a document's title.
func documentName(title string) string {
	const none = "mock"
	name := mockbase.DefaultMockName("", title)
	if name == none && !strings.EqualFold(title, none) {
		return "document"
	}
	return name
}

// documentChange reads how the document of the path is to be changed.
func (c *call) documentChange() (*mockbase.Document, catalog.DocumentOptions, error) {
	d, err := c.described()
	if err != nil {
		return nil, catalog.DocumentOptions{}, err
	}
	match, err := c.ifMatch(c.project.Project.DocumentNoteOf(d.Name).Version)
	if err != nil {
		return nil, catalog.DocumentOptions{}, err
	}
	p := c.params()
	o := catalog.DocumentOptions{Match: match, TakeOver: p.flag("takeOver")}
	return d, o, p.err()
}

// setDocumentContent replaces the text of a document (M-168).
func (s *Server) setDocumentContent(c *call) error {
	d, o, err := c.documentChange()
	if err != nil {
		return err
	}
	text, _, err := c.readDocument(c.QueryParam("root"))
	if err != nil {
		return err
	}
	next, err := s.Catalog.SetDocumentText(c.ctx(), c.project.Project.ID, d.Name, o, text)
	if err != nil {
		return err
	}
	return s.answerDocument(c, next, d.Name)
}

// updateDocument changes the options of a document, and its name, by a merge patch (M-169).
func (s *Server) updateDocument(c *call) error {
	d, o, err := c.documentChange()
	if err != nil {
		return err
	}
	id := c.project.Project.DocumentNoteOf(d.Name).ID
	body, err := c.read(typeMergePatch)
	if err != nil {
		return err
	}
	patch, err := parse(body, c.route.body)
	if err != nil {
		return err
	}
	if patch, err = documentPatch(patch, id); err != nil {
		return err
	}
	limits, err := c.declaredLimits(d)
	if err != nil {
		return err
	}
	next, err := s.Catalog.ChangeDocument(c.ctx(), c.project.Project.ID, d.Name, o, func(entry *mockbase.Node) (*mockbase.Node, error) {
		patched, err := patchDocument(unplaced(entry), patch)
		if err != nil || limits == nil {
			return patched, err
		}
		return withLimits(patched, limits), nil
	})
	if err != nil {
		return err
	}
	return s.answerDocument(c, next, id)
}

// declaredLimits are the members that give a document the limits that it declares, where the query asks for them.
func (c *call) declaredLimits(d *mockbase.Document) ([]mockbase.Member, error) {
	p := c.params()
	if wanted := p.flag("limits"); !wanted || p.err() != nil {
		return nil, p.err()
	}
	if d.Inline == nil {
		return nil, mockbase.Errorf(mockbase.CodeValidationFailed, "the text of the document %s is not kept here: its entry names where it is", shown(d.Name))
	}
	parsed, err := openapi.Parse(d.Inline)
	if err != nil {
		return nil, err //nolint:wrapcheck // it is for the caller as it is
	}
	limits, _ := parsed.Limits()
	if limits == nil {
		return nil, mockbase.Errorf(mockbase.CodeValidationFailed, "no operation of the document %s declares a 429", shown(d.Name))
	}
	return limits, nil
}

// withLimits is an entry with other limits than it has.
func withLimits(entry *mockbase.Node, limits []mockbase.Member) *mockbase.Node {
	limited := *entry
	limited.Members = slices.DeleteFunc(slices.Clone(entry.Members), func(m mockbase.Member) bool { return m.Key == "rateLimit" || m.Key == "operations" })
	for _, m := range limits {
		limited.Members = append(limited.Members, mockbase.Member{Key: m.Key, Value: unplaced(m.Value)})
	}
	return &limited
}

// documentPatch is a patch without the members that are read only. One that would move the text, or is for another document
// than that with the id, is refused.
func documentPatch(patch *mockbase.Node, id string) (*mockbase.Node, error) {
	if patch.Kind != mockbase.NodeObject {
		return nil, mockbase.Invalid([]mockbase.FieldError{{
			Pointer: "#", Code: mockbase.FieldType, Detail: "must be an object", Line: patch.Line, Column: patch.Column,
		}})
	}
	if err := checkID(patch, id); err != nil {
		return nil, err
	}
	var faults []mockbase.FieldError
	bare := *patch
	bare.Members = nil
	for _, m := range patch.Members {
		switch m.Key {
		case "inline", "file", "url":
			faults = append(faults, mockbase.FieldError{
				Pointer: "#/" + m.Key, Code: mockbase.FieldConflict, Line: m.Line, Column: m.Column,
				Detail: "a patch changes the options of a document and not its text",
			})
		case "id", "title", "openapi", "operations", "warnings", "version", "source":
		default:
			bare.Members = append(bare.Members, m)
		}
	}
	if len(faults) > 0 {
		return nil, &mockbase.Error{
			Code: mockbase.CodePatchNotAllowed, Message: faults[0].Detail, Hint: "send the text with PUT to …/content", Fields: faults,
		}
	}
	return &bare, nil
}

// patchDocument is the entry that a patch makes of another. Beside faults comes what could be made.
func patchDocument(entry, patch *mockbase.Node) (*mockbase.Node, error) {
	faults := unknownNulls(entry, patch, checkEntry)
	if name := patch.Find("name"); name != nil && name.Kind == mockbase.NodeNull {
		faults = append(faults, mockbase.FieldError{
			Pointer: "#/name", Code: mockbase.FieldRequired, Detail: "a document always has a name", Line: name.Line, Column: name.Column,
		})
	}
	merged := merge(entry, patch)
	err := unplacedFaults(checkEntry(merged))
	if known, ok := errors.AsType[*mockbase.Error](err); ok && len(faults) > 0 {
		return merged, mockbase.MoreFaults(mockbase.Invalid(faults), known.Fields)
	}
	return merged, cmp.Or(mockbase.Invalid(faults), err)
}

// checkEntry returns what is wrong with the options of a document, with pointers relative to its entry.
func checkEntry(entry *mockbase.Node) error {
	whole := *entry
	whole.Members = append(slices.Clone(entry.Members), mockbase.Member{Key: "inline", Value: &mockbase.Node{Kind: mockbase.NodeObject}})
	list := &mockbase.Node{Kind: mockbase.NodeList, Items: []*mockbase.Node{&whole}}
	_, err := mockbase.DecodeConfigPart(map[string]json.RawMessage{"documents": list.JSON()})
	return catalog.Relative(err, "#/documents/0")
}

// deleteDocument detaches a document (M-170).
func (s *Server) deleteDocument(c *call) error {
	d, o, err := c.documentChange()
	if err != nil {
		return err
	}
	if err := s.Catalog.DeleteDocument(c.ctx(), c.project.Project.ID, d.Name, o); err != nil {
		return err
	}
	return c.nothing()
}
