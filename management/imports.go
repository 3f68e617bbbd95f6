package management

import (
	"cmp"
	"context"
	"errors"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/interchange"
	"github.com/mockbase/mockbase/management/catalog"
	"github.com/mockbase/mockbase/openapi"
)

// maxDropRounds bounds how often an import is planned anew without what the plane refused the time before. Each round tells
// up to a hundred faults.
const maxDropRounds = 20

// importTypes are the media types that files of other tools come in.
func importTypes() []string {
	return append([]string{typeJSON, typeYAML, typeZip, typeOldZip, typeMultipart, typeBytes, typeText, "application/har+json", "application/x-sh"}, describedTypes()...)
}

// importPlan is the plan of an import, with what was found (M-162).
type importPlan struct {
	*catalog.Plan

	Format interchange.Format `json:"format"`
	// Found counts the entries of the source.
	Found int `json:"found"`
}

// imported is a source on its way into a project.
type imported struct {
	format interchange.Format
	title  string
	found  int
	// result is nil for what needs no translation.
	result *interchange.Result
	// expansion is nil for what is no OpenAPI document of which mocks are made.
	expansion  *expansion
	definition *mockbase.Definition
	// joined is an OpenAPI document of several files, nil for any other.
	joined *openapi.Source
	// told are warnings about the source as a whole.
	told []mockbase.FieldError
	// sent is the text of a definition of our own.
	sent content
}

// importOptions are the parameters of an import.
type importOptions struct {
	format                  interchange.Format
	prefix, address, source string
	expand, limits          bool
	root                    string
	// open reads the files that a document refers to, where it was fetched; nil where it was sent.
	open openapi.Opener
	// into is the project that is imported into.
	into  *mockbase.Project
	apply catalog.ApplyOptions
}

// importSource reads a file of another tool, plans what it would make, and makes it (M-162, rule M-78).
func (s *Server) importSource(c *call) error {
	o, err := c.importOptions()
	if err != nil {
		return err
	}
	if err := c.compareRevision(&o.apply); err != nil {
		return err
	}
	files, err := s.importFiles(c, o.address)
	if err != nil {
		return err
	}
	if o.address != "" {
		o.open = func(name string) ([]byte, error) { return s.Fetch(c.ctx(), name, c.allowedAddresses()) }
	}
	from, err := translateSource(c.ctx(), files, o)
	if err != nil && from != nil && from.definition != nil {
		sent := content{text: files[0].Text, format: formatOf(files[0].Text)}
		return sent.judged(err, func() []mockbase.FieldError { return s.definitionFaults(c, from.definition) })
	}
	if err != nil {
		return err
	}
	if from.definition != nil {
		if err := s.fetchDocuments(c.ctx(), from.definition, c.allowedAddresses()); err != nil {
			return err
		}
	}
	o.apply.Source = cmp.Or(o.source, defaultSource(from))
	return s.applyImport(c, from, o.apply)
}

// importOptions reads the query.
func (c *call) importOptions() (*importOptions, error) {
	p := c.params()
	formats := make([]string, 0, len(interchange.Formats()))
	for _, f := range interchange.Formats() {
		formats = append(formats, string(f))
	}
	o := &importOptions{
		format: interchange.Format(p.choice("format", formats)), prefix: p.text("prefix"), address: p.text("url"), source: p.slug("source"), expand: p.flag("expand"),
		limits: p.flag("limits"), root: p.text("root"), into: c.project.Project,
		apply: catalog.ApplyOptions{DryRun: p.flag("dryRun"), By: c.caller.user.ID, OwnerID: c.caller.user.ID},
	}
	switch p.choice("onConflict", []string{"skip", "replace", "fail"}) {
	case "replace":
		o.apply.Adopt = true
	case "fail":
	default:
		o.apply.Keep = true
	}
	return o, p.err()
}

// defaultSource names the source of an import by its format and title, so that the next import of the same is an update.
func defaultSource(from *imported) string {
	name := mockbase.DefaultMockName(string(from.format), from.title)
	if from.title == "" {
		return string(from.format)
	}
	return name
}

// importFiles reads the files of the body, or fetches the one that the query names.
func (s *Server) importFiles(c *call, address string) ([]interchange.File, error) {
	if address != "" {
		return s.fetchFile(c, address)
	}
	body, err := c.read(importTypes()...)
	if err != nil {
		return nil, err
	}
	c.body = content{} // places are those of the source already
	c.noteAudit(func(e *mockbase.AuditEntry) { e.After = nil })
	// A type that cannot be read was refused before.
	kind, parameters, _ := mime.ParseMediaType(c.Request().Header.Get("Content-Type"))
	if kind != typeMultipart {
		return []interchange.File{{Text: body.text}}, nil
	}
	return formFiles(body.text, parameters["boundary"])
}

// fetchFile reads the file at an address, within the bounds of what this server may call.
func (s *Server) fetchFile(c *call, address string) ([]interchange.File, error) {
	if c.Request().ContentLength > 0 {
		return nil, mockbase.Errorf(mockbase.CodeInvalidParameter, "url and a body exclude each other: send one of the two")
	}
	if s.Fetch == nil {
		return nil, mockbase.Errorf(mockbase.CodeUpstreamRefused, "this server fetches nothing: send the file itself")
	}
	text, err := s.Fetch(c.ctx(), address, c.allowedAddresses())
	if err != nil {
		return nil, &mockbase.Error{
			Code: mockbase.CodeUpstreamRefused, Message: "the address " + shown(address) + " gave no file: " + err.Error(),
			Hint: "send the file itself, or allow the address with --allow-upstream", Err: err,
		}
	}
	return []interchange.File{{Text: text}}, nil
}

// formFiles reads the files of a form. A file is called as the form says, with its folders.
func formFiles(body []byte, boundary string) ([]interchange.File, error) {
	var files []interchange.File
	err := eachPart(body, boundary, func(part *multipart.Part, disposition map[string]string) error {
		if disposition["filename"] == "" && disposition["name"] != "file" {
			return nil
		}
		name, ok := interchange.CleanName(cmp.Or(disposition["filename"], "file"))
		if !ok || len(files) >= interchange.MaxFiles {
			return mockbase.Errorf(mockbase.CodeMalformedBody, "the file %s leads out of the upload, or is one too many", shown(disposition["filename"]))
		}
		text, err := readPart(part, name)
		if err != nil {
			return err
		}
		files = append(files, interchange.File{Name: name, Text: text})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, mockbase.Errorf(mockbase.CodeMalformedBody, "the form has no file: send a part called file")
	}
	return files, nil
}

// translateSource makes a definition of what was sent.
func translateSource(ctx context.Context, files []interchange.File, o *importOptions) (*imported, error) {
	format := o.format
	if format == "" || format == interchange.FormatAuto {
		if from, err := guessDocument(files, o); from != nil {
			return from, err
		}
		found, err := interchange.Detect(files)
		if err != nil {
			return nil, err //nolint:wrapcheck // it is for the caller as it is
		}
		format = found
	}
	if err := o.checkFor(format); err != nil {
		return nil, err
	}
	switch format {
	case interchange.FormatMockBase:
		return importDefinition(files)
	case interchange.FormatOpenAPI:
		return importDocument(files, o)
	default:
		r, err := interchange.Import(ctx, files, interchange.Options{Format: format, Prefix: o.prefix})
		if err != nil {
			return nil, err //nolint:wrapcheck // it is for the caller as it is
		}
		return &imported{format: r.Format, title: r.Title, found: r.Found, result: r}, nil
	}
}

// checkFor refuses the parameters that say nothing of a format, instead of passing over them.
func (o *importOptions) checkFor(format interchange.Format) error {
	var faults mockbase.Faults
	if format != interchange.FormatOpenAPI {
		for _, p := range []struct {
			name  string
			given bool
		}{{"expand", o.expand}, {"limits", o.limits}, {"root", o.root != ""}} {
			if p.given {
				faults.Add(nil, queryPointer(p.name), mockbase.FieldConflict, "is about OpenAPI documents, and the source is read as %s: leave it out", format)
			}
		}
	}
	if format == interchange.FormatMockBase && o.prefix != "" {
		faults.Add(nil, queryPointer("prefix"), mockbase.FieldConflict, "the prefix is for files of other tools, and the paths of a definition are final: leave it out")
	}
	if len(faults.Fields()) == 0 {
		return nil
	}
	return invalidParameters(&faults)
}

// importDefinition reads a definition of our own.
func importDefinition(files []interchange.File) (*imported, error) {
	if len(files) != 1 {
		return nil, mockbase.Errorf(mockbase.CodeMalformedBody, "a definition is one file: several are applied with mockbase apply")
	}
	definition, err := mockbase.DecodePart(files[0].Text, formatOf(files[0].Text))
	if definition == nil {
		return nil, err
	}
	return &imported{
		format: interchange.FormatMockBase, title: definition.Project, found: len(definition.Mocks), definition: definition,
		sent: content{text: files[0].Text, format: formatOf(files[0].Text)},
	}, err
}

// applyImport applies what was translated. A mock that the plane refuses is left out, with a warning, and the rest is planned
// anew: one entry never spoils the others.
func (s *Server) applyImport(c *call, from *imported, o catalog.ApplyOptions) error {
	for range maxDropRounds {
		definition, err := from.decoded()
		if err != nil {
			return err
		}
		o.Permit = c.permitPlan(definition)
		plan, err := s.Catalog.Apply(c.ctx(), c.project.Project.ID, definition, o)
		known, invalid := errors.AsType[*mockbase.Error](err)
		if invalid && known.Code == mockbase.CodeValidationFailed && from.drop(known.Fields) {
			continue
		}
		if err != nil && (mockbase.ErrorCode(err) != mockbase.CodeApplyConflict || plan == nil) {
			return err
		}
		from.tell(plan)
		if err != nil {
			return &failure{err: err, plan: plan}
		}
		if plan.Revision > 0 {
			setETag(c.header(), plan.Revision)
		}
		return c.json(http.StatusOK, importPlan{plan, from.format, from.found})
	}
	return mockbase.Errorf(mockbase.CodeValidationFailed, "too many entries cannot be served: split the source and import its parts one by one")
}

// drop leaves out what the plane refuses; it reports false where nothing can be left out.
func (i *imported) drop(faults []mockbase.FieldError) bool {
	if i.expansion != nil {
		return i.expansion.drop(faults)
	}
	return i.result != nil && i.result.Drop(faults)
}

func (i *imported) decoded() (*mockbase.Definition, error) {
	switch {
	case i.expansion != nil:
		return i.expansion.definition()
	case i.result == nil:
		return i.definition, nil
	}
	return i.result.Definition() //nolint:wrapcheck // it is for the caller as it is
}

// tell puts the warnings of the translation before those of the plan, whose places become those of the source.
func (i *imported) tell(plan *catalog.Plan) {
	defer func() {
		for n := range i.told {
			plan.Warnings = append([]catalog.Warning{warningOf(&i.told[n])}, plan.Warnings...)
		}
	}()
	if i.expansion != nil {
		i.expansion.tell(plan)
		return
	}
	if i.result == nil {
		i.tellWhole(plan)
		return
	}
	warnings := make([]catalog.Warning, 0, len(i.result.Warnings)+len(plan.Warnings))
	for _, w := range i.result.Warnings {
		warnings = append(warnings, catalog.Warning{
			Severity: "warning", Code: w.Code, Detail: w.Detail, File: w.File, Pointer: w.File + w.Pointer, Line: w.Line, Column: w.Column,
		})
	}
	for _, w := range plan.Warnings {
		index, rest, ok := mockOfPointer(w.Pointer)
		if ok {
			at := i.result.Place(index)
			w.File, w.Pointer, w.Line, w.Column = at.File, at.File+at.Pointer, at.Line, at.Column
			if rest != "" {
				w.Detail = rest + ": " + w.Detail
			}
		}
		warnings = append(warnings, w)
	}
	plan.Warnings = warnings
}

// tellWhole gives the warnings of what needed no translation their places in the source.
func (i *imported) tellWhole(plan *catalog.Plan) {
	if i.format == interchange.FormatOpenAPI {
		i.tellDocument(plan)
	}
	plan.Warnings = i.sent.place(plan.Warnings)
}

// tellDocument makes the warnings about an attached OpenAPI document such about the files that were sent.
func (i *imported) tellDocument(plan *catalog.Plan) {
	var found []mockbase.FieldError
	others := slices.DeleteFunc(slices.Clone(plan.Warnings), func(w catalog.Warning) bool {
		rest, ok := strings.CutPrefix(w.Pointer, "#/documents/0/inline")
		if ok {
			found = append(found, mockbase.FieldError{Pointer: "#" + rest, Code: w.Code, Detail: w.Detail})
		}
		return ok
	})
	if i.joined != nil {
		found = i.joined.Findings(found)
	}
	plan.Warnings = make([]catalog.Warning, 0, len(found)+len(others))
	for n := range found {
		plan.Warnings = append(plan.Warnings, warningOf(&found[n]))
	}
	plan.Warnings = append(plan.Warnings, others...)
}

// mockOfPointer takes a pointer below #/mocks apart.
func mockOfPointer(pointer string) (index int, rest string, ok bool) {
	after, found := strings.CutPrefix(pointer, "#/mocks/")
	if !found {
		return 0, "", false
	}
	number, rest, _ := strings.Cut(after, "/")
	index, err := strconv.Atoi(number)
	return index, rest, err == nil
}
