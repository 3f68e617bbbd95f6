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

	mu       sync.Mutex
	resolved map[string]place
	anchors  map[string]place
	patterns patterns
}

// place is a node and the pointer that leads to it.
type place struct {
	node *mockbase.Node
	at   string
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
	return place{node: n, at: p.at + "/" + mockbase.PointerToken(name)}
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
		list[i] = place{node: item, at: p.at + "/" + strconv.Itoa(i)}
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
		list = append(list, member{name: m.Key, place: place{node: m.Value, at: p.at + "/" + mockbase.PointerToken(m.Key)}})
	}
	return list
}

func (s *source) top() place { return place{node: s.root, at: "#"} }

// reference returns the text of $ref, "" if the node is no reference. $dynamicRef is read like it: schemas that another
// document overrides are not known here.
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
		next, ok := s.resolve(ref)
		if !ok {
			s.notes.add(p, mockbase.FieldReference, "the reference "+quoted(asWritten(ref))+" leads nowhere within the document")
			return place{}, false
		}
		p = next
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

// resolve finds what a reference names within the document.
func (s *source) resolve(ref string) (place, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, met := s.resolved[ref]; met {
		return p, p.node != nil
	}
	p := s.lookUp(ref)
	if s.resolved == nil {
		s.resolved = map[string]place{}
	}
	s.resolved[ref] = p
	return p, p.node != nil
}

func (s *source) lookUp(ref string) place {
	fragment, local := strings.CutPrefix(ref, "#")
	switch {
	case !local:
		return s.identified(ref)
	case fragment == "" || fragment == "/":
		return s.top()
	case fragment[0] != '/':
		return s.anchored(fragment)
	}
	if decoded, err := unescape(fragment); err == nil {
		fragment = decoded
	}
	return walk(s.top(), fragment)
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
			p = place{node: p.node.Items[i], at: p.at + "/" + token}
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

// anchored finds $anchor and $dynamicAnchor, identified $id. All of them are looked for once.
func (s *source) anchored(name string) place { return s.named("#" + name) }

func (s *source) identified(id string) place { return s.named(id) }

func (s *source) named(name string) place {
	if s.anchors == nil {
		s.anchors = map[string]place{}
		s.collectAnchors(s.top(), 0)
	}
	return s.anchors[name]
}

func (s *source) collectAnchors(p place, depth int) {
	if depth > maxDepth {
		return
	}
	for _, item := range p.items() {
		s.collectAnchors(item, depth+1)
	}
	for _, m := range p.members() {
		if m.is(mockbase.NodeText) {
			switch m.name {
			case "$anchor", "$dynamicAnchor":
				s.anchors["#"+m.node.Text] = p
			case "$id":
				s.anchors[m.node.Text] = p
			}
			continue
		}
		s.collectAnchors(m.place, depth+1)
	}
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
