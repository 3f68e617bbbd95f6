package openapi

import (
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// The bounds of a document of several files: how many there may be beside the first, and how long they are together
// (rule M-9).
const (
	maxFiles     = 1000
	maxFileBytes = 32 << 20
)

// membersOfFiles is the member of a bundled document that holds its other files, by their names.
const membersOfFiles = "x-files"

// Opener reads a file that a document refers to. Names are places below the folder of the upload, with slashes, or
// addresses with a scheme.
type Opener func(name string) ([]byte, error)

// Bundle reads a document of several files as one: what references name in other files becomes a part of the document
// (rule W22), and so does what externalValue names (rule W38). name is the place of the document itself. A file that open
// does not give, or that lies outside the folder, leaves its reference broken and a warning at its pointer. It fails like
// [Parse], on the first file alone.
func Bundle(name string, text []byte, open Opener) (*Source, error) {
	first, err := Parse(text)
	if err != nil {
		return nil, err
	}
	b := &bundler{source: first.tree, open: open, root: name, member: membersOfFiles, files: map[string]*mockbase.Node{name: first.tree.root}}
	for i := 2; first.tree.root.Find(b.member) != nil; i++ {
		b.member = membersOfFiles + "-" + strconv.Itoa(i)
	}
	b.follow(name)
	for len(b.waiting) > 0 {
		next := b.waiting[0]
		b.waiting = b.waiting[1:]
		b.follow(next)
	}
	b.attach()
	b.source.cutDeep()
	first.origins, first.others = Origins{member: b.member, files: b.order}, b.others
	return first, nil
}

// bundler joins the files of a document.
type bundler struct {
	source *source
	open   Opener
	// root is the name of the first file, member the one that holds the others.
	root, member string
	files        map[string]*mockbase.Node
	// order are the names of the other files as they were found, waiting those that were not looked through yet.
	order, waiting []string
	// others are the names of files whose text is an example.
	others []string
	bytes  int
	// seen are the nodes that were looked at: aliases of YAML share them.
	seen map[*mockbase.Node]bool
	// file is what is looked through.
	file string
}

// follow looks through a file.
func (b *bundler) follow(name string) {
	b.file, b.seen = name, map[*mockbase.Node]bool{}
	b.walk(place{node: b.files[name], at: b.pointer(name)}, "", "")
}

// pointer is where a file stands in the bundle.
func (b *bundler) pointer(name string) string {
	if name == b.root {
		return "#"
	}
	return "#/" + b.member + "/" + mockbase.PointerToken(name)
}

// walk rewrites the references below a place. key is the member that holds it and outer the one that holds that.
func (b *bundler) walk(p place, key, outer string) {
	if b.seen[p.node] {
		return
	}
	b.seen[p.node] = true
	for i, item := range p.items() {
		b.walk(item, strconv.Itoa(i), key)
	}
	if !p.is(mockbase.NodeObject) {
		return
	}
	b.reference(p)
	b.external(p)
	if key == "discriminator" {
		b.mapping(p.find("mapping"))
	}
	for _, m := range p.members() {
		if !isData(m.name, key, outer) || isReference(m.node) {
			b.walk(m.place, m.name, key)
		}
	}
}

// isData tells whether a member holds a value, in which $ref means nothing, and no part of the description.
func isData(name, parent, outer string) bool {
	switch parent {
	case "properties", "patternProperties", "definitions", "$defs", "schemas", "dependentSchemas", "responses", "parameters", "headers",
		"requestBodies", "examples", "links", "callbacks", "securitySchemes", "pathItems", "webhooks", "content", "encoding":
		// The names below these are the document's own.
		return false
	}
	switch name {
	case "example", "default", "enum", "const":
		return true
	case "value":
		return outer == "examples"
	default:
		return false
	}
}

// isReference tells whether a node is a reference and nothing else.
func isReference(n *mockbase.Node) bool {
	return n.Kind == mockbase.NodeObject && len(n.Members) == 1 && n.Members[0].Key == "$ref"
}

// reference rewrites the reference that an object is.
func (b *bundler) reference(p place) {
	for i := range p.node.Members {
		m := &p.node.Members[i]
		if m.Key != "$ref" || m.Value.Kind != mockbase.NodeText {
			continue
		}
		if to, ok := b.target(p, m.Value.Text); ok {
			m.Value = rewritten(m.Value, to)
		}
	}
}

// rewritten is a text in the place of another.
func rewritten(n *mockbase.Node, text string) *mockbase.Node {
	return &mockbase.Node{Kind: mockbase.NodeText, Text: text, Line: n.Line, Column: n.Column}
}

// mapping rewrites the files that a discriminator names.
func (b *bundler) mapping(p place) {
	if !p.is(mockbase.NodeObject) {
		return
	}
	for i := range p.node.Members {
		m := &p.node.Members[i]
		if m.Value.Kind != mockbase.NodeText || !strings.ContainsAny(m.Value.Text, "#/.") {
			continue
		}
		if to, ok := b.target(p, m.Value.Text); ok {
			m.Value = rewritten(m.Value, to)
		}
	}
}

// external puts the value of an example in the place of the file that holds it (rule W38).
func (b *bundler) external(p place) {
	for i := range p.node.Members {
		m := &p.node.Members[i]
		if m.Key != "externalValue" || m.Value.Kind != mockbase.NodeText || p.node.Find("value") != nil {
			continue
		}
		at := p.find(m.Key)
		name, ok := b.place(at, m.Value.Text)
		if !ok {
			continue
		}
		text, ok := b.read(at, name)
		if !ok {
			continue
		}
		b.others = append(b.others, name)
		value := &mockbase.Node{Kind: mockbase.NodeText, Text: string(text)}
		switch path.Ext(name) {
		case ".json", ".yaml", ".yml":
			if parsed, err := b.source.read(text); err == nil {
				value = parsed
			} else {
				b.source.notes.add(p, mockbase.FieldSyntax, "the file "+quoted(name)+" cannot be read, so that its text is the example: "+err.Error())
			}
		}
		m.Key, m.Value = "value", value
	}
}

// target is what a reference becomes in the bundle. It reports false for one that stays as it is.
func (b *bundler) target(p place, ref string) (string, bool) {
	file, fragment, _ := strings.Cut(ref, "#")
	if file == "" && b.file == b.root {
		return "", false
	}
	name := b.file
	if file != "" {
		found, ok := b.place(p, file)
		if !ok || !b.load(p, found) {
			return "", false
		}
		name = found
	}
	switch {
	case fragment != "" && fragment[0] != '/':
		return "#" + fragment, true
	case name == b.root:
		return "#" + fragment, true
	default:
		return b.pointer(name) + strings.TrimSuffix(fragment, "/"), true
	}
}

// place is the name of the file that a reference names, seen from the file that holds it. One that would lie outside the
// folder is refused with a warning.
func (b *bundler) place(p place, ref string) (string, bool) {
	target, err := url.Parse(ref)
	if err != nil {
		target = &url.URL{Path: ref}
	}
	if base, failed := url.Parse(b.file); failed == nil && base.Scheme != "" {
		return base.ResolveReference(target).String(), true
	}
	if target.Scheme != "" || target.Host != "" {
		if b.identified(ref) {
			return "", false
		}
		return ref, true
	}
	name := path.Join(path.Dir(b.file), target.Path)
	if strings.HasPrefix(target.Path, "/") || !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00") {
		b.source.notes.add(p, mockbase.FieldReference, "the file "+quoted(ref)+" lies outside the folder of the document; it is not read")
		return "", false
	}
	return name, !b.identified(ref)
}

// identified tells whether a part of the document has this $id.
func (b *bundler) identified(id string) bool {
	p, ok := b.source.resolve(id)
	return ok && p.node != nil
}

// load makes a file a part of the bundle.
func (b *bundler) load(p place, name string) bool {
	if known, met := b.files[name]; met {
		return known != nil
	}
	b.files[name] = nil
	text, ok := b.read(p, name)
	if !ok {
		return false
	}
	tree, err := b.source.read(text)
	if err != nil {
		b.source.notes.add(p, mockbase.FieldSyntax, "the file "+quoted(name)+" cannot be read: "+err.Error())
		return false
	}
	b.files[name] = tree
	b.order, b.waiting = append(b.order, name), append(b.waiting, name)
	return true
}

// read reads a file within the bounds.
func (b *bundler) read(p place, name string) ([]byte, bool) {
	if len(b.order) >= maxFiles {
		b.source.notes.add(p, mockbase.FieldLimit, "the document has more than "+strconv.Itoa(maxFiles)+" files; the others are not read")
		return nil, false
	}
	text, err := b.open(name)
	if err != nil {
		b.source.notes.add(p, mockbase.FieldReference, "the file "+quoted(name)+" cannot be read: "+reasonOf(err))
		return nil, false
	}
	if b.bytes += len(text); b.bytes > maxFileBytes {
		b.source.notes.add(p, mockbase.FieldLimit, "the files of the document are longer than 32 MiB together; the others are not read")
		return nil, false
	}
	return text, true
}

// asWritten is a reference as its author may have written it, where bundling made it one to a part of the bundle.
func asWritten(ref string) string {
	rest, found := strings.CutPrefix(ref, "#/"+membersOfFiles+"/")
	if !found {
		return ref
	}
	name, fragment, _ := strings.Cut(rest, "/")
	name = strings.ReplaceAll(strings.ReplaceAll(decoded(name), "~1", "/"), "~0", "~")
	if fragment == "" {
		return name
	}
	return name + "#/" + fragment
}

// attach makes the other files members of the document.
func (b *bundler) attach() {
	if len(b.order) == 0 {
		return
	}
	held := &mockbase.Node{Kind: mockbase.NodeObject}
	for _, name := range b.order {
		held.Members = append(held.Members, mockbase.Member{Key: name, Value: b.files[name]})
	}
	root := *b.source.root
	root.Members = append(slices.Clone(root.Members), mockbase.Member{Key: b.member, Value: held})
	b.source.root = &root
	// What was looked up before the files were there may be found now.
	b.source.resolved, b.source.anchors = nil, nil
}

// Files are the names of the files that a bundled document was joined from, those of examples among them, without the first.
func (s *Source) Files() []string {
	return slices.Concat(s.origins.files, s.others)
}

// Repairs are the warnings that only the texts of the files give rise to: what is compiled of the document does not tell them again.
func (s *Source) Repairs() []mockbase.FieldError {
	return slices.DeleteFunc(s.Warnings(), func(w mockbase.FieldError) bool {
		switch w.Code {
		case mockbase.FieldSyntax, mockbase.FieldDuplicateKey, mockbase.FieldLimit:
			return false
		default:
			return !strings.HasPrefix(w.Detail, "the file ")
		}
	})
}

// Place finds out where in its own file a fault of the document is. name is that of the first file.
func (s *Source) Place(name string, f mockbase.FieldError) mockbase.FilePlace {
	if f.Line == 0 {
		f = mockbase.LocateIn(s.tree.root, []mockbase.FieldError{f})[0]
	}
	at := mockbase.FilePlace{Line: f.Line, Column: f.Column}
	if at.File, at.Pointer = s.origins.Of(f.Pointer); at.File == "" {
		at.File = name
	}
	return at
}

// Origins tell which files the parts of a bundled document come from. The zero value is a document of one file.
type Origins struct {
	// member is the one that holds the other files.
	member string
	files  []string
}

// Origins are those of the document.
func (s *Source) Origins() Origins { return s.origins }

// Of is the file that a place comes from, "" for the first one, and the place's pointer there. The value of an example that is a
// file of its own belongs to the file that names it.
func (o Origins) Of(pointer string) (file, within string) {
	rest, found := strings.CutPrefix(pointer, "#/"+o.member+"/")
	if !found || o.member == "" {
		return "", pointer
	}
	for _, name := range o.files {
		if below, ok := strings.CutPrefix(rest, mockbase.PointerToken(name)); ok && (below == "" || below[0] == '/') {
			return name, "#" + below
		}
	}
	return "", pointer
}
