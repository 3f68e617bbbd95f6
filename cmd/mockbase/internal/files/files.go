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
	"slices"

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
