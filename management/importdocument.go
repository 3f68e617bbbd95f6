package management

import (
	"bytes"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/interchange"
	"github.com/mockbase/mockbase/management/catalog"
	"github.com/mockbase/mockbase/openapi"
)

// guessDocument reads files as an OpenAPI document if they say that they are one; it returns nil if they do not. Documents
// are read more leniently than other files, so they are looked for first.
func guessDocument(files []interchange.File, o *importOptions) (*imported, error) {
	if len(files) != 1 || interchange.IsArchive(files[0].Text) {
		return nil, nil //nolint:nilnil // several files are told apart by their names first
	}
	text := files[0].Text
	if !bytes.Contains(text, []byte("openapi")) && !bytes.Contains(text, []byte("swagger")) {
		return nil, nil //nolint:nilnil // it is something else
	}
	if _, err := openapi.Parse(text); err != nil {
		return nil, nil //nolint:nilnil,nilerr // it is something else, or will be refused as nothing known
	}
	from, err := importDocument(files, o)
	if err != nil {
		return &imported{}, err
	}
	return from, nil
}

// importDocument makes a definition of an OpenAPI document: one with the document in it, or with a mock for each operation
// (rule M-78).
func importDocument(files []interchange.File, o *importOptions) (*imported, error) {
	text, parsed, err := sourceDocument(files, o)
	if err != nil {
		return nil, err
	}
	from := &imported{format: interchange.FormatOpenAPI, title: parsed.Title(), found: 1}
	if len(parsed.Files()) > 0 {
		from.joined = parsed
	}
	if err := interchange.CheckPrefix(o.prefix); err != nil {
		return nil, err //nolint:wrapcheck // it is for the caller as it is
	}
	if o.expand {
		made := parsed.Expand(openapi.ExpandOptions{Prefix: o.prefix, Limits: o.limits})
		from.found, from.expansion = made.Operations, &expansion{mocks: made.Mocks, warnings: made.Warnings}
		if o.limits && !slices.ContainsFunc(made.Mocks, func(m openapi.ExpandedMock) bool { return m.Document.Find("rateLimit") != nil }) {
			from.told = noLimits()
		}
		return from, nil
	}
	if o.prefix != "" {
		var faults mockbase.Faults
		faults.Add(nil, queryPointer("prefix"), mockbase.FieldConflict, "goes with mocks of a document, one for each operation: the document itself answers at the paths of its servers")
		return nil, invalidParameters(&faults)
	}
	if len(files) == 1 && !interchange.IsArchive(files[0].Text) {
		from.sent = content{text: files[0].Text, format: formatOf(files[0].Text)}
	}
	entry, err := o.entryOf(documentName(parsed.Title()))
	if err != nil {
		return nil, err
	}
	entry["inline"] = text.JSON
	if o.limits {
		from.limit(entry, parsed)
	}
	from.definition, err = mockbase.DecodeDefinition(encode(map[string]any{"documents": []any{entry}}), mockbase.FormatJSON)
	return from, err
}

// entryOf is the entry of a document without its text: another text for a document that is there leaves the options that it was given.
func (o *importOptions) entryOf(name string) (map[string]any, error) {
	entry := map[string]any{"name": name}
	known := catalog.DocumentEntry(o.into, name)
	if known == nil {
		return entry, nil
	}
	given, err := stored(known)
	if err != nil {
		return nil, err
	}
	for _, m := range given.Members {
		if !slices.Contains([]string{"name", "inline", "file", "url"}, m.Key) {
			entry[m.Key] = m.Value.JSON()
		}
	}
	return entry, nil
}

// limit gives the entry of a document the limits that it declares.
func (i *imported) limit(entry map[string]any, parsed *openapi.Source) {
	limits, told := parsed.Limits()
	for _, m := range limits {
		entry[m.Key] = m.Value.JSON()
	}
	if i.told = told; limits == nil {
		i.told = noLimits()
	}
}

// noLimits is the warning of limits that a document says nothing of.
func noLimits() []mockbase.FieldError {
	return []mockbase.FieldError{{Pointer: "#/paths", Code: mockbase.WarningUnused, Detail: "no operation declares a 429, so that there is no limit to make"}}
}

// sourceDocument reads the document that files hold.
func sourceDocument(files []interchange.File, o *importOptions) (catalog.DocumentText, *openapi.Source, error) {
	upload := openapi.Files{}
	for _, file := range files {
		upload[file.Name] = file.Text
	}
	upload, err := unpackedFiles(upload)
	if err != nil {
		return catalog.DocumentText{}, nil, err
	}
	text := upload.Text()
	switch {
	case text == nil:
		return bundledText(upload, o.root)
	case o.root != "" && (o.open != nil || upload[o.root] == nil):
		var faults mockbase.Faults
		faults.Add(nil, queryPointer("root"), mockbase.FieldConflict, "names a file of an archive or a form, and the document is one file: leave it out")
		return catalog.DocumentText{}, nil, invalidParameters(&faults)
	case o.open == nil:
		return documentText(text)
	}
	place, _, _ := strings.Cut(o.address, "#")
	source, err := openapi.Bundle(place, text, o.open)
	if err != nil {
		return catalog.DocumentText{}, nil, err //nolint:wrapcheck // it is for the caller as it is
	}
	bundled, _, err := documentText(source.JSON())
	return bundled, source, err
}

// expansion are the mocks of an OpenAPI document on their way into a project.
type expansion struct {
	mocks    []openapi.ExpandedMock
	warnings []mockbase.FieldError
}

func (e *expansion) definition() (*mockbase.Definition, error) {
	list := &mockbase.Node{Kind: mockbase.NodeList}
	for _, m := range e.mocks {
		list.Items = append(list.Items, m.Document)
	}
	root := &mockbase.Node{Kind: mockbase.NodeObject, Members: []mockbase.Member{{Key: "mocks", Value: list}}}
	return mockbase.DecodeDefinition(root.JSON(), mockbase.FormatJSON)
}

// drop leaves out the mocks that faults are about, and warns of each.
func (e *expansion) drop(faults []mockbase.FieldError) bool {
	gone := map[int]bool{}
	for _, f := range faults {
		index, rest, ok := mockOfPointer(f.Pointer)
		if !ok || index >= len(e.mocks) {
			return false
		}
		gone[index] = true
		e.warnings = append(e.warnings, e.mocks[index].Fault(f.Code, "the operation became no mock: "+rest+": "+f.Detail))
	}
	var stay []openapi.ExpandedMock
	for i := range e.mocks {
		if !gone[i] {
			stay = append(stay, e.mocks[i])
		}
	}
	e.mocks = stay
	return len(gone) > 0
}

// tell puts the warnings of the document before those of the plan, whose places become those of the operations.
func (e *expansion) tell(plan *catalog.Plan) {
	list := make([]catalog.Warning, 0, len(e.warnings)+len(plan.Warnings))
	for i := range e.warnings {
		list = append(list, warningOf(&e.warnings[i]))
	}
	for _, w := range plan.Warnings {
		index, rest, ok := mockOfPointer(w.Pointer)
		if !ok || index >= len(e.mocks) {
			list = append(list, w)
			continue
		}
		if rest != "" {
			w.Detail = rest + ": " + w.Detail
		}
		at := e.mocks[index].Fault(w.Code, w.Detail)
		list = append(list, warningOf(&at))
	}
	plan.Warnings = slices.Clip(list)
}

// warningOf is the warning of a plan about a fault of an OpenAPI document, which may have several files.
func warningOf(f *mockbase.FieldError) catalog.Warning {
	w := catalog.Warning{Severity: "warning", Code: f.Code, Detail: f.Detail, Pointer: f.Pointer, Line: f.Line, Column: f.Column}
	if at := f.Elsewhere; at != nil {
		w.File, w.Pointer, w.Line, w.Column = at.File, at.File+at.Pointer, at.Line, at.Column
	}
	return w
}
