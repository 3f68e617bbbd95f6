package interchange

import (
	"maps"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// kinds is a set of kinds of values.
type kinds uint8

const (
	aText kinds = 1 << iota
	aNumber
	aBool
	aList
	anObject

	aScalar = aText | aNumber | aBool
	anyKind = aScalar | aList | anObject
)

// has tells whether a value is of one of the kinds.
func (k kinds) has(v value) bool {
	of := map[mockbase.NodeKind]kinds{
		mockbase.NodeText: aText, mockbase.NodeNumber: aNumber, mockbase.NodeBool: aBool, mockbase.NodeList: aList, mockbase.NodeObject: anObject,
	}
	return k&of[v.node.Kind] != 0
}

// String names the kinds for a person.
func (k kinds) String() string {
	var names []string
	for _, one := range []struct {
		kind kinds
		name string
	}{{aText, "a text"}, {aNumber, "a number"}, {aBool, "true or false"}, {aList, "a list"}, {anObject, "an object"}} {
		if k&one.kind != 0 {
			names = append(names, one.name)
		}
	}
	return strings.Join(names, " or ")
}

// conditionShape says which members the request part of an entry may have, and of which kinds they are.
type conditionShape struct {
	members map[string]kinds
	// places are the members that say where the entry answers: null is no way to say "everywhere".
	places []string
}

// entry reads an entry of a list as an object. One that is none, null included, is left out with a warning.
func (o *output) entry(v value) (*object, bool) {
	if !v.is(mockbase.NodeObject) {
		kind := mockbase.NodeNull
		if v.node != nil {
			kind = v.node.Kind
		}
		o.warn(v, mockbase.FieldType, "must be an object, found %s: it is left out", kind)
		return nil, false
	}
	return o.object(v), true
}

// judge reads the request part of an entry (rule M-78). What cannot be read in it disables the mock: a part that is
// missing or no object, a member that nobody knows, one of another kind than it has to be. It returns the members that can be
// read. Until their [object.done], everything that is wrong inside of them disables the mock too.
func (m *mock) judge(entry *object, name string, shape conditionShape) *object {
	part := entry.get(name)
	readable := value{&mockbase.Node{Kind: mockbase.NodeObject}, entry.pointer + "/" + name, entry.file}
	if part.is(mockbase.NodeObject) {
		readable.node.Line, readable.node.Column = part.node.Line, part.node.Column
		m.sort(part, shape, readable.node)
	} else {
		at := part
		if at.node == nil {
			at = entry.value
		}
		m.unmet(at, "the entry has no %s that is an object", name)
	}
	if part.is(mockbase.NodeObject) && len(part.node.Members) > 0 && len(readable.node.Members) == 0 && !m.unreadable() {
		m.unmet(part, "the %s says nothing about what it answers", name)
	}
	m.out.judged = m
	return &object{value: readable, out: m.out, read: map[string]bool{}, last: true}
}

// sort keeps the members of a request part that can be read.
func (m *mock) sort(part value, shape conditionShape, readable *mockbase.Node) {
	for _, e := range part.entries() {
		allowed, known := shape.members[e.key]
		switch {
		case !e.ok() && slices.Contains(shape.places, e.key):
			m.unmet(e.value, "%s is null, which says nothing about where the entry answers", e.key)
		case !e.ok(), !known && e.silent():
		case !known:
			m.unmet(e.value, "%s is no condition that is known", quoted(e.key))
		case !allowed.has(e.value):
			m.unmet(e.value, "%s must be %s, found %s", e.key, allowed, e.node.Kind)
		default:
			readable.Members = append(readable.Members, mockbase.Member{Key: e.key, Value: e.node, Line: e.node.Line, Column: e.node.Column})
		}
	}
}

// unreadable tells whether something of the mock was without equivalent.
func (m *mock) unreadable() bool { return len(m.unmetOnes) > 0 }

// wrong warns of a value that cannot be read. Inside of conditions it disables the mock.
func (o *output) wrong(v value, code mockbase.Code, format string, args ...any) {
	if o.judged != nil {
		o.judged.unmet(v, format, args...)
		return
	}
	o.warn(v, code, format+": it is left out", args...)
}

// stated checks the members of an entry that say where it answers, in a format without a request part of its own. A place
// that is missing, null or of another kind than it has to be disables the mock.
func (m *mock) stated(entry *object, shape conditionShape) {
	for _, name := range slices.Sorted(maps.Keys(shape.members)) {
		v := entry.member(name)
		switch place := slices.Contains(shape.places, name); {
		case v.ok() && !shape.members[name].has(v):
			m.unmet(v, "%s must be %s, found %s", name, shape.members[name], v.node.Kind)
		case !v.ok() && place && v.node != nil:
			m.unmet(v, "%s is null, which says nothing about where the entry answers", name)
		case !v.ok() && place:
			m.unmet(entry.value, "the entry has no %s", name)
		}
	}
}

// literalMatch keeps what looks like an operator in an expected value from being one.
func literalMatch(n *mockbase.Node) *mockbase.Node {
	return expectedNode(n, func(leaf *mockbase.Node) *mockbase.Node { return leaf })
}

// expectedNode makes an expected value of one, in which nothing is an operator but what leaf makes of what is no list and no
// object.
func expectedNode(n *mockbase.Node, leaf func(*mockbase.Node) *mockbase.Node) *mockbase.Node {
	switch n.Kind {
	case mockbase.NodeList:
		items := make([]*mockbase.Node, len(n.Items))
		for i, item := range n.Items {
			items[i] = expectedNode(item, leaf)
		}
		return listNode(items...)
	case mockbase.NodeObject:
		if len(n.Members) == 1 && (n.Members[0].Key == "$match" || n.Members[0].Key == "$literal") {
			return with("$literal", n).node()
		}
		d := &doc{}
		for _, m := range n.Members {
			d.set(m.Key, expectedNode(m.Value, leaf))
		}
		return d.node()
	default:
		return leaf(n)
	}
}
