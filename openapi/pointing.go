package openapi

import (
	"strings"

	"github.com/mockbase/mockbase"
)

// pointing is a reference of a file that is joined with others.
type pointing struct {
	// place is the object that has the reference as its member.
	place

	member int
	// file is the name of the file that holds it, within the resource that is its base.
	file   string
	within *resource
	// to is the name of the file that it leads to, "" for none.
	to string
}

// ref is the text of the reference.
func (t *pointing) ref() string { return t.node.Members[t.member].Value.Text }

// write makes it another reference.
func (t *pointing) write(text string) {
	m := &t.node.Members[t.member]
	m.Value = &mockbase.Node{Kind: mockbase.NodeText, Text: text, Line: m.Value.Line, Column: m.Value.Column}
}

// embedded tells whether the reference stands in a schema with an $id.
func (t *pointing) embedded() bool { return t.within.id != nil }

// references notes the references that an object has, and reads the files that they name: those of a discriminator among them.
func (b *bundler) references(p place) {
	for i := range p.node.Members {
		if m := &p.node.Members[i]; m.Key == "$ref" || m.Key == "$dynamicRef" {
			b.reference(p, p, i)
		}
	}
	mapping := p.find("discriminator").find("mapping")
	if !mapping.is(mockbase.NodeObject) {
		return
	}
	for i := range mapping.node.Members {
		if strings.ContainsAny(mapping.node.Members[i].Value.Text, "#/.") {
			b.reference(p, mapping, i)
		}
	}
}

// reference notes one reference of a schema.
func (b *bundler) reference(schema, at place, member int) {
	if at.node.Members[member].Value.Kind != mockbase.NodeText {
		return
	}
	t := pointing{place: at, member: member, file: b.file, within: b.identities.owners[schema.node]}
	if t.within == nil {
		t.within = b.files[b.file]
	}
	b.readNamed(&t)
	b.pointings = append(b.pointings, t)
}

// readNamed reads the file that a reference names, where that is none of the schemas that are known by their $id.
func (b *bundler) readNamed(t *pointing) {
	name, _, _ := strings.Cut(t.ref(), "#")
	base := t.within.resolve(name)
	if name == "" || base != nil && b.identities.byURI[base.String()] != nil || b.identities.loose[t.ref()].node != nil {
		return
	}
	found, ok := "", false
	if base != nil && b.identified != nil {
		found, ok = b.identified(base.String())
	}
	if !ok {
		found, ok = b.place(t.place, t.within, name)
	}
	if ok && b.load(t.place, found) {
		t.to = found
	}
}

// rewrite makes references to other files lead to their places in the bundle, once all files are known.
func (b *bundler) rewrite() {
	for i := range b.pointings {
		t := &b.pointings[i]
		if text := b.rewritten(t); text != "" {
			t.write(text)
		}
	}
	document := &resource{base: baseOfDocument()}
	for _, own := range b.identities.embedded {
		if base := document.resolve(own.id.Text); base == nil || base.String() != own.uri {
			// It was relative to its file, which has no address in the bundle.
			own.id.Text = own.uri
		}
	}
}

// rewritten is what becomes of a reference, "" for one that stays as it is.
func (b *bundler) rewritten(t *pointing) string {
	name, fragment, _ := strings.Cut(t.ref(), "#")
	to := b.identities.find(t.within, t.ref())
	switch {
	case name == "" && t.file == b.root && (to.node == nil || !t.embedded()):
		return "" // it is the document's own matter
	case to.node == nil:
		return b.rewrittenByFile(t, name, fragment)
	case b.staysNamed(t, name):
		return ""
	default:
		return t.leading(to.at)
	}
}

// rewrittenByFile is what becomes of a reference that names no part of its base: it may be one of a file, found or not.
func (b *bundler) rewrittenByFile(t *pointing, name, fragment string) string {
	file := t.to
	if name == "" {
		file = t.file
	}
	to := b.files[file]
	if to == nil {
		return ""
	}
	at := to.part(fragment)
	switch {
	case at.node != nil:
		b.tellOfFile(t, file)
		return t.leading(at.at)
	case t.embedded():
		return ""
	case fragment != "" && fragment[0] != '/':
		return "#" + fragment
	default:
		return b.pointer(file) + fragment
	}
}

// staysNamed tells whether a reference names a schema by its $id, and leads there in the bundle as it does in its file.
func (b *bundler) staysNamed(t *pointing, name string) bool {
	to := b.identities.named(t.within, name)
	if to.id == nil {
		return false
	}
	in := &resource{base: baseOfDocument()}
	return t.embedded() || in.resolve(name).String() == to.uri
}

// tellOfFile warns of a reference that leads to a file by its name, where its base is the $id of a schema.
func (b *bundler) tellOfFile(t *pointing, name string) {
	if !t.embedded() || t.within.retrieved && t.to != "" {
		return
	}
	meant := t.within.resolve(t.ref()).String()
	if _, fragment, ok := strings.Cut(t.ref(), "#"); ok {
		meant += "#" + fragment
	}
	b.source.notes.add(t.place, mockbase.FieldReference,
		"the file "+quoted(name)+" is taken for what the reference "+quoted(t.ref())+" means: by the $id around it that is "+quoted(meant)+", which is not there")
}

// leading is a reference to a place of the bundle.
func (t *pointing) leading(at string) string {
	if t.embedded() {
		return documentBase + at
	}
	return at
}

// asWritten is a reference as its author may have written it, where bundling made it one to a part of the bundle.
func asWritten(ref string) string {
	rest, found := strings.CutPrefix(strings.TrimPrefix(ref, documentBase), "#/"+membersOfFiles+"/")
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
