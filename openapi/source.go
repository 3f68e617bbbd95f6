package openapi

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mockbase/mockbase"
)

// dialect is a version of OpenAPI as far as it matters here.
type dialect uint8

const (
	dialect20 dialect = iota
	dialect30
	dialect31
)

// longestChain is how many references may lead to one another; unseenChain how many are followed before it is looked
// whether they go round.
const (
	longestChain = 10_000
	unseenChain  = 16
)

// source is the tree of a document. It is not changed once loaded.
type source struct {
	root    *mockbase.Node
	dialect dialect
	// version is the text of the document's own version field.
	version string
	notes   *notes
	// spelled is how numbers are written that JSON writes otherwise.
	spelled map[*mockbase.Node]string

	mu         sync.Mutex
	resolved   map[meant]target
	identities *identities
	patterns   patterns
}

// meant is a reference in the resource that it stands in, nil for the document itself; target is what it leads to.
type meant struct {
	owner *resource
	ref   string
	// dynamic tells that it is a $dynamicRef.
	dynamic bool
}

type target struct {
	place

	// loose tells that the rules of $id lead nowhere, and a part of that name was taken.
	loose bool
	// anchor is the dynamic anchor that a $dynamicRef names, "" for none.
	anchor string
}

// place is a node and the pointer that leads to it.
type place struct {
	node *mockbase.Node
	at   string
	// scope are the dynamic anchors that count here, nil for none.
	scope *scope
}

// below is the place of a member or an item; token is its name as pointers write it.
func (p place) below(token string, n *mockbase.Node) place {
	return place{node: n, at: p.at + "/" + token, scope: p.scope}
}

// is tells whether there is a node of this kind.
func (p place) is(kind mockbase.NodeKind) bool { return p.node != nil && p.node.Kind == kind }

// find returns a member; its node is nil if there is none, or it is null.
func (p place) find(name string) place {
	if !p.is(mockbase.NodeObject) {
		return place{}
	}
	n := p.node.Find(name)
	if n == nil || n.Kind == mockbase.NodeNull {
		return place{}
	}
	return p.below(mockbase.PointerToken(name), n)
}

// text returns the text of a member, "" if it is none. Numbers count as text: versions and names are written like that.
func (p place) text(name string) string {
	n := p.find(name).node
	if n == nil || n.Kind != mockbase.NodeText && n.Kind != mockbase.NodeNumber {
		return ""
	}
	return n.Text
}

// holds tells whether a member is true.
func (p place) holds(name string) bool {
	n := p.find(name).node
	return n != nil && n.Kind == mockbase.NodeBool && n.Text == "true"
}

// denies tells whether a member is false.
func (p place) denies(name string) bool {
	n := p.find(name).node
	return n != nil && n.Kind == mockbase.NodeBool && n.Text == "false"
}

// items returns the items of a list, none for anything else.
func (p place) items() []place {
	if !p.is(mockbase.NodeList) {
		return nil
	}
	list := make([]place, len(p.node.Items))
	for i, item := range p.node.Items {
		list[i] = p.below(strconv.Itoa(i), item)
	}
	return list
}

// member is a named place.
type member struct {
	name string
	place
}

// members returns the members of an object in their order, none for anything else.
func (p place) members() []member {
	if !p.is(mockbase.NodeObject) {
		return nil
	}
	list := make([]member, 0, len(p.node.Members))
	for _, m := range p.node.Members {
		list = append(list, member{name: m.Key, place: p.below(mockbase.PointerToken(m.Key), m.Value)})
	}
	return list
}

func (s *source) top() place { return place{node: s.root, at: "#"} }

// reference returns the text of $ref or else $dynamicRef, "" if the node is no reference.
func (p place) reference() string {
	if !p.is(mockbase.NodeObject) {
		return ""
	}
	n := p.node.Find("$ref")
	if n == nil {
		n = p.node.Find("$dynamicRef")
	}
	if n == nil || n.Kind != mockbase.NodeText {
		return ""
	}
	return n.Text
}

// follow goes from a reference to what it means; anything else is returned as it is. It reports false, and notes a
// warning, for a reference that leads nowhere or round in a circle (rule W22).
func (s *source) follow(p place) (place, bool) {
	start := p
	var met map[*mockbase.Node]bool
	for i := range longestChain {
		ref := p.reference()
		if ref == "" {
			return p, p.node != nil
		}
		if met[p.node] {
			s.notes.add(start, mockbase.FieldReference, "the references lead round in a circle")
			return place{}, false
		}
		if i == unseenChain {
			met = map[*mockbase.Node]bool{}
		}
		if met != nil {
			met[p.node] = true
		}
		next := s.resolve(p, ref)
		switch {
		case next.node == nil:
			s.notes.add(p, mockbase.FieldReference, "the reference "+quoted(asWritten(ref))+" leads nowhere within the document")
			return place{}, false
		case next.loose:
			s.notes.add(p, mockbase.FieldReference, "the reference "+quoted(asWritten(ref))+" leads nowhere by the $id that is its base: "+next.at+" is taken, which has that name elsewhere in the document")
		}
		p = next.place
	}
	s.notes.add(start, mockbase.FieldReference, "more than "+strconv.Itoa(longestChain)+" references lead to one another: they are not followed")
	return place{}, false
}

// object goes from a reference to the object that it means. It reports false for what is none, with a warning that begins as what
// says; that of a reference that leads nowhere is enough.
func (s *source) object(p place, what string) (place, bool) {
	if p.node == nil {
		return place{}, false
	}
	at, ok := s.follow(p)
	if ok && !at.is(mockbase.NodeObject) {
		s.notes.add(p, mockbase.FieldType, what+" "+at.node.Kind.String()+" and no object")
	}
	return at, ok && at.is(mockbase.NodeObject)
}

// resolve finds what a reference of a place names within the document. Its node is nil if that is nothing.
func (s *source) resolve(p place, ref string) target {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name()
	to := s.known(meant{s.identities.owners[p.node], ref, p.dynamic()})
	if to.node != nil && s.identities.filled {
		s.enter(p, &to)
	}
	return to
}

// known looks a reference up, once.
func (s *source) known(m meant) target {
	to, met := s.resolved[m]
	if !met {
		to = s.lookUp(m)
		if s.resolved == nil {
			s.resolved = map[meant]target{}
		}
		s.resolved[m] = to
	}
	return to
}

// name reads what has a name of its own in the document, once. The source is locked.
func (s *source) name() {
	if s.identities == nil {
		s.identities = newIdentities(s.dialect)
		s.identities.add(s.top(), baseOfDocument())
	}
}

// identified is the resource of a schema with an $id, nil where that names none, and the first one of that name.
func (s *source) identified(p place) (own, first *resource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name()
	own = s.identities.owners[p.node]
	if own == nil || own.root.node != p.node {
		return nil, nil
	}
	return own, s.identities.byURI[own.uri]
}

// lookUp goes by the rules of $id and, where they lead nowhere, by the places and names of the whole document, as documents do whose
// authors know nothing of a base.
func (s *source) lookUp(m meant) target {
	document := s.identities.byURI[documentBase]
	if m.owner == nil {
		m.owner = document
	}
	if r := s.identities.named(m.owner, m.ref); r != nil {
		if p := r.part(fragmentOf(m.ref)); p.node != nil {
			to := target{place: p}
			if anchor := fragmentOf(m.ref); m.dynamic && r.dynamic[anchor].node != nil {
				to.anchor = anchor
			}
			return to
		}
	}
	p := s.identities.loose[m.ref]
	if p.node == nil {
		p = s.identities.find(document, m.ref)
	}
	return target{place: p, loose: s.dialect == dialect31}
}

// walk follows a JSON Pointer from a place.
func walk(p place, pointer string) place {
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		if p.is(mockbase.NodeList) {
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(p.node.Items) {
				return place{}
			}
			p = p.below(token, p.node.Items[i])
			continue
		}
		next := p.find(token)
		if next.node == nil {
			return place{}
		}
		p = next
	}
	return p
}

// notes collects warnings. Operations are compiled when they are first called, so it may be told at any time.
type notes struct {
	mu    sync.Mutex
	list  []mockbase.FieldError
	known map[string]bool
	// left counts those that there was no room for.
	left int
}

// mostNotes bounds the warnings of one document, the last of which says how many more there are; mostKnown is how many of them
// are told apart.
const (
	mostNotes = 1000
	mostKnown = 100_000
)

func (n *notes) add(p place, code mockbase.Code, detail string) {
	fault := mockbase.FieldError{Pointer: p.at, Code: code, Detail: detail}
	if p.node != nil {
		fault.Line, fault.Column = p.node.Line, p.node.Column
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	key := fault.Pointer + "\x00" + detail
	if len(n.known) >= mostKnown || n.known[key] {
		return
	}
	if n.known == nil {
		n.known = map[string]bool{}
	}
	n.known[key] = true
	if len(n.list) >= mostNotes-1 {
		n.left++
		return
	}
	n.list = append(n.list, fault)
}

func (n *notes) all() []mockbase.FieldError {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := slices.Clone(n.list)
	if n.left == 0 {
		return list
	}
	count := strconv.Itoa(n.left)
	if len(n.known) >= mostKnown {
		count += " or more"
	}
	return append(list, mockbase.FieldError{Pointer: "#", Code: mockbase.FieldLimit, Detail: "there are " + count + " more warnings, which are not listed"})
}

// maxShown is how many bytes of a value a message shows.
const maxShown = 80

// quoted shows a text in a message, shortened.
func quoted(text string) string {
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return strconv.Quote(text)
}
