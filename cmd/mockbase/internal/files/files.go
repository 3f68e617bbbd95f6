// Package files loads mocks from folders (rules C-22, C-41): it finds the definition files, replaces variables, decodes
// each file, and joins the files of a project into one definition. [Watcher] tells when they change (rule C-23).
//
// Nothing is loaded by halves: a set with a fault lists every fault of every file and is not to be served.
package files

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// DefaultProject is the project of files that name none.
const DefaultProject = "default"

// Options say what to load.
type Options struct {
	// Paths are folders and files, in the order they apply.
	Paths []string
	// Project is the slug that all files belong to; "" leaves the choice to each file.
	Project string
	// Lookup finds the value of a variable; nil knows none.
	Lookup func(name string) (string, bool)
	// Input is read for the path "-"; nil is empty.
	Input io.Reader
	// Partial tells that a project may hold more than the files: what they name need not be among them.
	Partial bool
}

// inputName is how messages name what is read from Options.Input.
const inputName = "standard input"

// Set is everything that was found.
type Set struct {
	// Projects are joined definitions by slug. When there are Faults, they hold what could be read: they are good for finding
	// more faults and for nothing else.
	Projects []*Project
	// Faults and Warnings are in the order of the files and of their text.
	Faults, Warnings []Finding
	// Folders are all folders that were looked into.
	Folders []string
	// Named are the files that definitions and documents name, whether they could be read or not.
	Named States
	// Files is the number of definition files.
	Files int
}

// Further returns the warnings that were not told before. A reference that leads nowhere is told once: as the file that cannot be
// read, or as the place that has nothing.
func Further(before, list []Finding) []Finding {
	type spot struct{ path, pointer string }
	told := map[spot]bool{}
	for _, w := range before {
		if w.Code == mockbase.FieldReference {
			told[spot{w.Path, w.Pointer}] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(list), func(w Finding) bool {
		return w.Code == mockbase.FieldReference && told[spot{w.Path, w.Pointer}]
	})
}

// Project is one project, joined from all files that name it.
type Project struct {
	Slug       string
	Definition *mockbase.Definition
	// Origin is the path that the project came from.
	Origin string
	// Unnamed tells that no file and no option named the project, so that it is called DefaultProject.
	Unnamed bool
	parts   []*part
}

// Partial tells that a file of the project could not be read as a whole.
func (p *Project) Partial() bool {
	return slices.ContainsFunc(p.parts, func(part *part) bool { return len(part.faults) > 0 })
}

// part is a file's share of a project.
type part struct {
	source     *source
	definition *mockbase.Definition
	// faults are what could not be read of the file.
	faults []mockbase.FieldError
	// first is the index of the file's first mock in the joined definition.
	first int
	// attached are the OpenAPI documents of the definition that are files, by the indexes of their entries.
	attached map[int]*attached
	// shapes are what the sections hold, as far as somebody asked.
	shapes map[string]sectionShape
}

// reading is what was read of a file.
type reading struct {
	definition *mockbase.Definition
	// names are the files that it names, as places below the folder.
	names    []string
	attached map[int]*attached
	err      error
}

// Finding is a fault or a warning about a place in a file.
type Finding struct {
	Path         string
	Line, Column int
	// Pointer is the place in the file as a JSON Pointer fragment, "" for one that is not known.
	Pointer string
	Code    mockbase.Code
	Message string
}

// String reads "path:line:column: message [code]" (rule C-8); the place is left out as far as it is not known.
func (f Finding) String() string {
	place := f.Path
	if f.Line > 0 {
		place += fmt.Sprintf(":%d:%d", f.Line, max(f.Column, 1))
	}
	return fmt.Sprintf("%s: %s [%s]", place, f.Message, f.Code)
}

// Load reads the definition files at the paths. The error is about a path that cannot be read; what is wrong inside a
// file is among the set's faults.
func Load(o Options) (*Set, error) {
	set := &Set{Named: States{}}
	l := loader{options: o, set: set, projects: map[string]*Project{}}
	for _, p := range o.Paths {
		sources, folders, err := o.open(p, set.Named)
		if err != nil {
			return nil, err
		}
		set.Folders = append(set.Folders, folders...)
		l.origin = p
		l.take(sources)
	}
	l.join()
	return set, nil
}

// LoadFS reads the definition files of a file system that is not on disk. Findings name them below prefix.
func LoadFS(fsys fs.FS, prefix string, o Options) (*Set, error) {
	sources, err := openFS(fsys, prefix)
	if err != nil {
		return nil, err
	}
	set := &Set{}
	l := loader{options: o, set: set, projects: map[string]*Project{}, origin: prefix}
	l.take(sources)
	l.join()
	return set, nil
}

type loader struct {
	options  Options
	set      *Set
	origin   string
	projects map[string]*Project
	// lost tells that nothing could be read of a file, so that nobody knows what it defines.
	lost bool
}

// take adds the definitions that files hold. A file that another one names is a part of that one, and no definition.
func (l *loader) take(sources []*source) {
	results := make([]reading, len(sources))
	named := map[string]bool{}
	for i, s := range sources {
		results[i] = l.read(s)
		for _, name := range results[i].names {
			named[name] = true
		}
	}
	for i, s := range sources {
		if named[s.name] {
			continue
		}
		l.set.Files++
		if err := results[i].err; err != nil {
			if tool := foreign(s); tool != "" {
				l.set.Faults, l.lost = append(l.set.Faults, foreignFinding(s, tool)), true
				continue
			}
			l.set.Faults = append(l.set.Faults, s.findings(err)...)
		}
		if results[i].definition == nil {
			l.lost = true
			continue
		}
		l.add(s, &results[i])
	}
}

// faultsOf are the faults that an error is about.
func faultsOf(err error) []mockbase.FieldError {
	if failure, ok := errors.AsType[*mockbase.Error](err); ok {
		return failure.Fields
	}
	return nil
}

// pointed returns faults with the pointers of their places, where they were found without.
func (s *source) pointed(faults []mockbase.FieldError) []mockbase.FieldError {
	if !slices.ContainsFunc(faults, func(f mockbase.FieldError) bool { return f.Pointer == "#" && f.Line > 0 }) {
		return faults
	}
	root, err := mockbase.ParseNode(s.text, s.format, mockbase.ParseLimits{Bytes: maxFileSize})
	if err != nil {
		return faults
	}
	pointed := slices.Clone(faults)
	for i := range pointed {
		if f := &pointed[i]; f.Pointer == "#" && f.Line > 0 {
			f.Pointer = cmp.Or(pointerAt(root, f.Line, f.Column, "#"), "#")
		}
	}
	return pointed
}

// pointerAt is the pointer of the innermost value at a place of the text, "" if none is there.
func pointerAt(n *mockbase.Node, line, column int, pointer string) string {
	for i, item := range n.Items {
		if found := pointerAt(item, line, column, pointer+"/"+strconv.Itoa(i)); found != "" {
			return found
		}
	}
	for _, m := range n.Members {
		if found := pointerAt(m.Value, line, column, pointer+"/"+mockbase.PointerToken(m.Key)); found != "" {
			return found
		}
	}
	if n.Line == line && n.Column == column {
		return pointer
	}
	return ""
}

func (l *loader) add(s *source, r *reading) {
	definition := r.definition
	for _, w := range definition.Warnings {
		l.set.Warnings = append(l.set.Warnings, s.finding(w))
	}
	slug := cmp.Or(l.options.Project, definition.Project, DefaultProject)
	p := l.projects[slug]
	if p == nil {
		p = &Project{Slug: slug, Origin: l.origin, Unnamed: true}
		l.projects[slug] = p
	}
	p.Unnamed = p.Unnamed && l.options.Project == "" && definition.Project == ""
	p.parts = append(p.parts, &part{source: s, definition: definition, faults: s.pointed(faultsOf(r.err)), attached: r.attached})
}

// read reads one file. A file without variables and other files in it is decoded as it stands; otherwise the places of
// faults are looked up in the text that was written.
func (l *loader) read(s *source) reading {
	if isDocument(s) {
		return definitionOf(s)
	}
	if len(s.text) > maxFileSize {
		return reading{err: mockbase.Invalid([]mockbase.FieldError{{
			Pointer: "#", Code: mockbase.FieldLimit, Detail: fmt.Sprintf("the file has %d bytes, at most %d are read", len(s.text), maxFileSize),
		}})}
	}
	if len(bytes.TrimSpace(s.text)) == 0 {
		return reading{err: mockbase.Invalid([]mockbase.FieldError{{Pointer: "#", Code: mockbase.FieldRequired, Detail: "the file is empty", Line: 1, Column: 1}})}
	}
	if !needsExpansion(s.text) && !mayInline(s.text) {
		return s.decoded()
	}
	root, err := mockbase.ParseNode(s.text, s.format, mockbase.ParseLimits{Bytes: maxFileSize})
	if err != nil {
		return reading{err: err}
	}
	whole, i, faults := l.complete(s, root)
	if whole == nil {
		return s.decoded()
	}
	r := reading{names: i.names, attached: i.attached}
	r.definition, r.err = decodeWhole(s, whole)
	if len(faults) > 0 {
		r.err = mockbase.Invalid(mockbase.InOrder(append(faults, elsewhere(faultsOf(r.err), faults)...)))
	}
	if r.definition != nil {
		r.err = cmp.Or(r.err, r.fill())
	}
	return r
}

// decoded is a file as it stands.
func (s *source) decoded() reading {
	definition, err := mockbase.DecodePart(s.text, s.format)
	return reading{definition: definition, err: err}
}

// elsewhere returns the faults that are not at the place of one of others, which is their reason.
func elsewhere(faults, others []mockbase.FieldError) []mockbase.FieldError {
	return slices.DeleteFunc(faults, func(f mockbase.FieldError) bool {
		return slices.ContainsFunc(others, func(o mockbase.FieldError) bool { return o.Line == f.Line && o.Column == f.Column })
	})
}

// complete replaces variables and the names of files. It returns nil when there is nothing to replace.
func (l *loader) complete(s *source, root *mockbase.Node) (whole *mockbase.Node, i *inliner, faults []mockbase.FieldError) {
	whole = root
	if needsExpansion(s.text) {
		lookup := l.options.Lookup
		if lookup == nil {
			lookup = func(string) (string, bool) { return "", false }
		}
		whole, faults = expand(s, root, lookup)
	}
	i = &inliner{source: s}
	if inside := i.definition(whole); len(i.names) > 0 {
		whole = inside
	}
	faults = append(faults, i.faults...)
	if whole == root && len(faults) == 0 {
		return nil, nil, nil
	}
	return whole, i, faults
}

// decodeWhole decodes a definition that differs from the text of its file.
func decodeWhole(s *source, whole *mockbase.Node) (*mockbase.Definition, error) {
	definition, err := mockbase.DecodePart(whole.JSON(), mockbase.FormatJSON)
	if failure, ok := errors.AsType[*mockbase.Error](err); ok {
		failure.Fields = s.relocated(failure.Fields)
		err = failure
	}
	if definition == nil {
		return nil, err
	}
	definition.Warnings = s.relocated(definition.Warnings)
	places := make([]mockbase.FieldError, len(definition.Mocks))
	for i := range places {
		places[i].Pointer = fmt.Sprintf("#/mocks/%d", i)
	}
	for i, at := range s.relocated(places) {
		definition.Mocks[i].Line, definition.Mocks[i].Column = at.Line, at.Column
	}
	return definition, err
}

// relocated looks up places that were found in another text.
func (s *source) relocated(fields []mockbase.FieldError) []mockbase.FieldError {
	for i := range fields {
		fields[i].Line, fields[i].Column = 0, 0
	}
	return mockbase.Locate(s.text, s.format, fields)
}

// findings turns the error of a file into findings.
func (s *source) findings(err error) []Finding {
	failure, ok := errors.AsType[*mockbase.Error](err)
	if !ok {
		return []Finding{{Path: s.path, Code: mockbase.CodeInternal, Message: err.Error()}}
	}
	if len(failure.Fields) == 0 {
		return []Finding{{Path: s.path, Code: failure.Code, Message: failure.Message}}
	}
	found := make([]Finding, 0, len(failure.Fields))
	for _, f := range failure.Fields {
		found = append(found, s.finding(f))
	}
	return found
}

func (s *source) finding(f mockbase.FieldError) Finding {
	found := Finding{Path: s.path, Line: f.Line, Column: f.Column, Pointer: f.Pointer, Code: f.Code, Message: f.Detail}
	if at := f.Elsewhere; at != nil {
		found.Path, found.Line, found.Column, found.Pointer = s.shown(at.File), at.Line, at.Column, at.Pointer
	}
	if name := memberName(found.Pointer); name != "" {
		found.Message = name + ": " + found.Message
	}
	return found
}

// shown is how messages name a file below the folder that is loaded.
func (s *source) shown(name string) string {
	if folder, ok := strings.CutSuffix(filepath.ToSlash(s.path), s.name); ok {
		return filepath.FromSlash(folder + name)
	}
	return name
}

// memberName writes a JSON Pointer the way people do: #/mocks/1/request becomes mocks[1].request.
func memberName(pointer string) string {
	var b strings.Builder
	for i, token := range strings.Split(strings.TrimPrefix(pointer, "#"), "/") {
		if i == 0 {
			continue
		}
		if plain, err := url.PathUnescape(token); err == nil {
			token = plain
		}
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch {
		case token != "" && strings.Trim(token, "0123456789") == "":
			b.WriteString("[" + token + "]")
		case b.Len() > 0:
			b.WriteString("." + token)
		default:
			b.WriteString(token)
		}
	}
	return b.String()
}

// join makes one definition of each project's files.
func (l *loader) join() {
	whole := len(l.set.Faults) == 0 && !l.options.Partial
	for _, slug := range slices.Sorted(maps.Keys(l.projects)) {
		p := l.projects[slug]
		l.set.Projects = append(l.set.Projects, p)
		faults := p.join()
		if whole && len(faults) == 0 {
			faults = p.references()
		}
		l.set.Faults = append(l.set.Faults, faults...)
		l.set.Warnings = append(l.set.Warnings, p.warnings()...)
	}
}
