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
	return bundle(name, text, &bundler{open: open})
}

// bundle is [Bundle] by a bundler that knows how to find files.
func bundle(name string, text []byte, b *bundler) (*Source, error) {
	first, err := Parse(text)
	if err != nil {
		return nil, err
	}
	b.source, b.root, b.member, b.files, b.identities = first.tree, name, membersOfFiles, map[string]*resource{}, newIdentities(first.tree.dialect)
	for i := 2; first.tree.root.Find(b.member) != nil; i++ {
		b.member = membersOfFiles + "-" + strconv.Itoa(i)
	}
	b.add(name, first.tree.root)
	b.follow(name)
	for len(b.waiting) > 0 {
		next := b.waiting[0]
		b.waiting = b.waiting[1:]
		b.follow(next)
	}
	b.rewrite()
	b.attach()
	b.source.cutDeep()
	first.name, first.origins, first.others = name, Origins{member: b.member, files: b.order}, b.others
	return first, nil
}

// bundler joins the files of a document.
type bundler struct {
	source *source
	open   Opener
	// identified finds the file whose schema has an $id; nil finds none.
	identified func(id string) (name string, ok bool)
	// root is the name of the first file, member the one that holds the others.
	root, member string
	// files are nil where there is none, or none that can be read.
	files      map[string]*resource
	identities *identities
	// pointings are the references of all files.
	pointings []pointing
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

// add makes a file a part of the bundle.
func (b *bundler) add(name string, tree *mockbase.Node) {
	b.files[name] = b.identities.add(place{node: tree, at: b.pointer(name)}, baseOfFile(name))
}

// baseOfFile is the address of a file.
func baseOfFile(name string) *url.URL {
	if address, err := url.Parse(name); err == nil && address.Scheme != "" {
		return address
	}
	base := baseOfDocument()
	base.Path += name
	return base
}

// follow looks through a file.
func (b *bundler) follow(name string) {
	b.file, b.seen = name, map[*mockbase.Node]bool{}
	b.walk(b.files[name].root, "", "")
}

// pointer is where a file stands in the bundle.
func (b *bundler) pointer(name string) string {
	if name == b.root {
		return "#"
	}
	return "#/" + b.member + "/" + mockbase.PointerToken(name)
}

// walk reads the files that are referred to below a place. key is the member that holds it and outer the one that holds that.
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
	b.references(p)
	b.external(p)
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

// external puts the value of an example in the place of the file that holds it (rule W38).
func (b *bundler) external(p place) {
	for i := range p.node.Members {
		m := &p.node.Members[i]
		if m.Key != "externalValue" || m.Value.Kind != mockbase.NodeText || p.node.Find("value") != nil {
			continue
		}
		at := p.find(m.Key)
		name, ok := b.place(at, b.files[b.file], m.Value.Text)
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
			if parsed, err := b.parse(at.at, text); err == nil {
				value = parsed
			} else {
				b.source.notes.add(p, mockbase.FieldSyntax, "the file "+quoted(name)+" cannot be read, so that its text is the example: "+err.Error())
			}
		}
		m.Key, m.Value = "value", value
	}
}

// place is the name of the file that a reference of a resource names. One that would lie outside the folder is refused with a
// warning.
func (b *bundler) place(p place, r *resource, ref string) (string, bool) {
	target, err := url.Parse(ref)
	if err != nil {
		target = &url.URL{Path: ref}
	}
	base := b.files[b.file].base
	if r.retrieved {
		base = r.base
	}
	if base.Scheme != schemeOfDocument {
		return base.ResolveReference(target).String(), true
	}
	if target.Scheme != "" || target.Host != "" {
		return ref, true
	}
	name := path.Join(path.Dir(base.Path[1:]), target.Path)
	if strings.HasPrefix(target.Path, "/") || !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00") {
		b.source.notes.add(p, mockbase.FieldReference, "the file "+quoted(ref)+" lies outside the folder of the document; it is not read")
		return "", false
	}
	return name, true
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
	tree, err := b.parse(b.pointer(name), text)
	if err != nil {
		b.source.notes.add(p, mockbase.FieldSyntax, "the file "+quoted(name)+" cannot be read: "+err.Error())
		return false
	}
	b.add(name, tree)
	b.order, b.waiting = append(b.order, name), append(b.waiting, name)
	return true
}

// parse reads the text of a file that stands at a place of the bundle.
func (b *bundler) parse(at string, text []byte) (*mockbase.Node, error) {
	own := &source{notes: &notes{}}
	tree, err := own.read(text)
	for _, w := range own.notes.all() {
		p := place{node: &mockbase.Node{Line: w.Line, Column: w.Column}, at: at + strings.TrimPrefix(w.Pointer, "#")}
		b.source.notes.add(p, w.Code, w.Detail)
	}
	return tree, err
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

// attach makes the other files members of the document.
func (b *bundler) attach() {
	if len(b.order) == 0 {
		return
	}
	held := &mockbase.Node{Kind: mockbase.NodeObject}
	for _, name := range b.order {
		held.Members = append(held.Members, mockbase.Member{Key: name, Value: b.files[name].root.node})
	}
	root := *b.source.root
	root.Members = append(slices.Clone(root.Members), mockbase.Member{Key: b.member, Value: held})
	b.source.root = &root
	// What was looked up before the files were there may be found now.
	b.source.resolved, b.source.identities = nil, nil
}
