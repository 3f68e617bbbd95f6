package interchange

import (
	"slices"
	"strconv"

	"github.com/mockbase/mockbase"
)

// Other tools know conditions that must all hold, and rarely such of which one has to. A condition with alternatives becomes
// several branches: each is a list of single conditions, and the whole holds when those of one branch hold.

// maxBranches bounds the branches of one answer.
const maxBranches = 64

// atom is a single condition.
type atom struct {
	// place is where the condition looks: path, query, headers, cookies, matrix, auth, state, call, or body and a kind of its
	// conditions, such as body/jsonPath.
	place string
	// name is the parameter, header, cookie, field or expression.
	name string
	// at is the expected value.
	at value
	// beside is the object that the condition stands in, whose other members may change it.
	beside value
	// not tells that the condition must not hold.
	not bool
}

// branch is a list of conditions that must all hold.
type branch []atom

// brancher takes conditions apart.
type brancher struct {
	// tooMany tells that there are more branches than are made.
	tooMany bool
}

// both joins two lists of branches, both of which must hold.
func (b *brancher) both(left, right []branch) []branch {
	if len(left)*len(right) > maxBranches {
		b.tooMany = true
		return left
	}
	joined := make([]branch, 0, len(left)*len(right))
	for _, l := range left {
		for _, r := range right {
			joined = append(joined, slices.Concat(l, r))
		}
	}
	return joined
}

// either joins two lists of branches of which one must hold.
func (b *brancher) either(left, right []branch) []branch {
	if len(left)+len(right) > maxBranches {
		b.tooMany = true
		return left
	}
	return append(slices.Clip(left), right...)
}

// always is the list of branches that holds for every request, never the one that holds for none.
func always() []branch { return []branch{nil} }

func never() []branch { return nil }

// sense tells whether a condition must hold or must not.
type sense int

const (
	holds sense = iota
	fails
)

func (s sense) turned() sense { return fails - s }

// joining is how the parts of a condition are put together: all of those that must hold, one of those that must not.
type joining struct {
	made []branch
	join func(left, right []branch) []branch
}

func (b *brancher) joining(s sense) *joining {
	if s == holds {
		return &joining{always(), b.both}
	}
	return &joining{never(), b.either}
}

func (j *joining) add(list []branch) { j.made = j.join(j.made, list) }

// of takes a condition apart.
func (b *brancher) of(v value, s sense) []branch {
	whole := b.joining(s)
	for _, e := range v.entries() {
		if list, says := b.member(v, e, s); says && !b.tooMany {
			whole.add(list)
		}
	}
	return whole.made
}

// member takes a member of a condition apart; not every member is a condition.
func (b *brancher) member(v value, e entry, s sense) (list []branch, says bool) {
	switch e.key {
	case "anyOf":
		return b.several(e.value, s, s.turned()), true
	case "allOf":
		return b.several(e.value, s, s), true
	case "not":
		return b.of(e.value, s.turned()), true
	case "path", "query", "headers", "cookies", "matrix":
		return b.named(e.key, e.value, e.value, s), true
	case "body":
		return b.body(e.value, s), true
	case "state":
		return b.states(v, e.value, s), true
	case "auth", "call":
		return []branch{{{place: e.key, at: e.value, beside: v, not: s == fails}}}, true
	}
	return nil, false
}

// states takes a list of states apart, of which a scenario must be in one.
func (b *brancher) states(beside, v value, s sense) []branch {
	items := v.items()
	if !v.is(mockbase.NodeList) {
		items = []value{v}
	}
	whole := b.joining(s.turned())
	for _, item := range items {
		whole.add([]branch{{{place: "state", at: item, beside: beside, not: s == fails}}})
	}
	return whole.made
}

// several takes a list of conditions apart, which are joined as together says.
func (b *brancher) several(v value, s, together sense) []branch {
	whole := b.joining(together)
	for _, item := range v.items() {
		whole.add(b.of(item, s))
	}
	return whole.made
}

// named takes conditions by name apart. A condition that is a negation alone is turned around. A cookie that must not be
// something is either not there or something else, as other tools ask a cookie that is not there for nothing else.
func (b *brancher) named(place string, v, beside value, s sense) []branch {
	whole := b.joining(s)
	for _, e := range v.entries() {
		one := atom{place: place, name: e.key, at: e.value, beside: beside, not: s == fails}
		for one.at.is(mockbase.NodeObject) && len(one.at.node.Members) == 1 && one.at.has("not") {
			one.at, one.not = one.at.member("not"), !one.not
		}
		list := []branch{{one}}
		if place == "cookies" && one.not && !one.at.has("exists") {
			gone := one
			gone.at.node, gone.not = with("exists", falseNode()).node(), false
			list = []branch{{gone}, {one}}
		}
		whole.add(list)
	}
	return whole.made
}

// body takes the conditions on a body apart.
func (b *brancher) body(v value, s sense) []branch {
	whole := b.joining(s)
	for _, e := range v.entries() {
		switch e.key {
		case "jsonOptions", "xmlOptions", "namespaces":
		case "jsonPath", "xpath", "form":
			whole.add(b.named("body/"+e.key, e.value, v, s))
		default:
			whole.add([]branch{{{place: "body/" + e.key, at: e.value, beside: v, not: s == fails}}})
		}
	}
	return whole.made
}

// branches are those of a mock's request together with those of an answer's condition.
func (x *exportedMock) branches(r *exportedResponse) []branch {
	b := &brancher{}
	x.request.skip("query", "headers", "cookies", "matrix", "auth", "body", "anyOf", "allOf", "not")
	list := b.of(withoutTarget(x.request.value), holds)
	if r != nil {
		list = b.both(list, b.of(r.doc.get("when"), holds))
	}
	if b.tooMany {
		at := x.request.value
		if r != nil {
			at = r.doc.value
		}
		x.exporter.lost(at, "the conditions have more than %s alternatives: the answer is left out", strconv.Itoa(maxBranches))
		return nil
	}
	return list
}

// withoutTarget is a request without what says where it answers, of which path reads like conditions on parameters.
func withoutTarget(v value) value {
	if v.node == nil {
		return v
	}
	kept := *v.node
	kept.Members = slices.DeleteFunc(slices.Clone(v.node.Members), func(m mockbase.Member) bool {
		return m.Key == "path" || m.Key == "method" || m.Key == "host" || m.Key == "pathMatches" || m.Key == "rawTarget"
	})
	v.node = &kept
	return v
}
