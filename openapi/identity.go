package openapi

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// documentBase is the address of a document that nobody gave one. The files of an upload lie below it.
const (
	schemeOfDocument = "document"
	documentBase     = schemeOfDocument + ":///"
)

// resource is a schema with an $id, which is the base of the references within it (JSON Schema 2020-12, section 8.2.1), or a
// document.
type resource struct {
	base *url.URL
	uri  string
	root place
	// id is the $id, nil for a document. retrieved tells that the base is the address of a file, or relative to one.
	id        *mockbase.Node
	retrieved bool
	// anchors are all that are named so, dynamic those that a $dynamicRef may mean.
	anchors, dynamic map[string]place
}

// part is what a fragment means: a JSON Pointer, an anchor, or nothing for the whole.
func (r *resource) part(fragment string) place {
	if decoded, err := unescape(fragment); err == nil {
		fragment = decoded
	}
	switch {
	case fragment == "" || fragment == "/":
		return r.root
	case fragment[0] == '/':
		return walk(r.root, fragment)
	default:
		return r.anchors[fragment]
	}
}

// anchor names a part.
func (r *resource) anchor(name string, p place) { r.anchors = withFirst(r.anchors, name, p) }

// withFirst adds a name, of which the first one counts.
func withFirst(names map[string]place, name string, p place) map[string]place {
	if names == nil {
		names = map[string]place{}
	}
	if _, met := names[name]; !met {
		names[name] = p
	}
	return names
}

// identities are the resources of a document, and of the files that it is joined from.
type identities struct {
	// apart tells that a schema with an $id has a base of its own, as it has since OpenAPI 3.1.
	apart bool
	byURI map[string]*resource
	// owners are the resources of the objects in schemas with an $id.
	owners map[*mockbase.Node]*resource
	// embedded are the schemas with an $id, loose all that is named, by its name as it is written.
	embedded []*resource
	loose    map[string]place
	scopes
}

func newIdentities(d dialect) *identities {
	return &identities{apart: d == dialect31, byURI: map[string]*resource{}, owners: map[*mockbase.Node]*resource{}, loose: map[string]place{}}
}

// add makes a resource of a document, and of the schemas in it that have an $id.
func (i *identities) add(root place, base *url.URL) *resource {
	r := &resource{base: base, uri: base.String(), root: root, retrieved: true}
	i.byURI[r.uri] = r
	if identifies(root.node) {
		i.collect(root, r, "", "")
	}
	return r
}

// identifies tells whether something in a value has a name of its own.
func identifies(n *mockbase.Node) bool {
	for i := range n.Members {
		m := &n.Members[i]
		if m.Value.Kind == mockbase.NodeText && (m.Key == "$id" || m.Key == "$anchor" || m.Key == "$dynamicAnchor") || identifies(m.Value) {
			return true
		}
	}
	return slices.ContainsFunc(n.Items, identifies)
}

// collect looks for what is named below a place. key is the member that holds it and outer the one that holds that.
func (i *identities) collect(p place, r *resource, key, outer string) {
	if key != "examples" {
		for n, item := range p.items() {
			i.collect(item, r, strconv.Itoa(n), key)
		}
	}
	if !p.is(mockbase.NodeObject) {
		return
	}
	r = i.enter(p, r)
	if r.id != nil {
		i.owners[p.node] = r
	}
	for _, m := range p.members() {
		if !isData(m.name, key, outer) {
			i.collect(m.place, r, m.name, key)
		}
	}
}

// enter notes the names of an object. It returns the resource that the object belongs to.
func (i *identities) enter(p place, r *resource) *resource {
	if at := p.find("$id"); at.is(mockbase.NodeText) {
		r = i.identify(p, at.node, r)
	}
	for _, keyword := range []string{"$anchor", "$dynamicAnchor"} {
		at := p.find(keyword)
		if !at.is(mockbase.NodeText) {
			continue
		}
		r.anchor(at.node.Text, p)
		withFirst(i.loose, "#"+at.node.Text, p)
		if keyword == "$dynamicAnchor" {
			r.dynamic, i.filled = withFirst(r.dynamic, at.node.Text, p), true
		}
	}
	return r
}

// identify notes an $id. It returns the resource that begins there, or the one around it.
func (i *identities) identify(p place, id *mockbase.Node, r *resource) *resource {
	withFirst(i.loose, id.Text, p)
	if anchor, ok := strings.CutPrefix(id.Text, "#"); ok {
		r.anchor(anchor, p) // as in older versions of JSON Schema
		return r
	}
	own := r.embed(p, id)
	if own == nil || id.Text == "" || !i.apart {
		return r
	}
	i.embedded = append(i.embedded, own)
	if i.byURI[own.uri] == nil {
		i.byURI[own.uri] = own
	}
	return own
}

// embed is the resource of a schema with an $id, nil where that is no URI reference.
func (r *resource) embed(p place, id *mockbase.Node) *resource {
	base := r.resolve(id.Text)
	if base == nil {
		return nil
	}
	given, err := url.Parse(id.Text)
	return &resource{base: base, uri: base.String(), root: p, id: id, retrieved: r.retrieved && err == nil && !given.IsAbs()}
}

// resolve is the address that a reference has here, without a fragment; nil where it is none (RFC 3986, section 5.2).
func (r *resource) resolve(ref string) *url.URL {
	text, _, _ := strings.Cut(ref, "#")
	if text == "" {
		return r.base
	}
	to, err := url.Parse(text)
	if err != nil {
		return nil
	}
	return r.base.ResolveReference(to)
}

// named is the resource that a reference names that stands in another, nil for none.
func (i *identities) named(r *resource, ref string) *resource {
	switch base := r.resolve(ref); base {
	case nil:
		return nil
	case r.base:
		return r
	default:
		return i.byURI[base.String()]
	}
}

// find is what a reference means that stands in a resource.
func (i *identities) find(r *resource, ref string) place {
	if r = i.named(r, ref); r == nil {
		return place{}
	}
	return r.part(fragmentOf(ref))
}

func fragmentOf(ref string) string {
	_, fragment, _ := strings.Cut(ref, "#")
	return fragment
}

// baseOfDocument is the parsed [documentBase].
func baseOfDocument() *url.URL { return &url.URL{Scheme: schemeOfDocument, Path: "/"} }
