package interchange

import (
	"mime"
	"net/url"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// tellApart gives the saved answers of one request conditions where they were saved for requests that differ: in variables of
// the path, in headers or in their bodies. The first of those with the same address answers what no other does.
func (p *postmanFile) tellApart(list []*savedRequest) {
	for len(list) > 1 {
		first := list[0]
		same := func(x *savedRequest) bool {
			return x.method == first.method && x.path == first.path && slices.Equal(x.query, first.query) && sameCondition(x.body.condition, first.body.condition)
		}
		var alike, others []*savedRequest
		for _, x := range list {
			if same(x) {
				alike = append(alike, x)
			} else {
				others = append(others, x)
			}
		}
		p.apart(alike)
		list = others
	}
}

func sameCondition(a, b *doc) bool {
	if a.empty() || b.empty() {
		return a.empty() == b.empty()
	}
	return string(a.node().JSON()) == string(b.node().JSON())
}

// apart tells answers apart whose requests have the same address.
func (p *postmanFile) apart(list []*savedRequest) {
	paths, headers := differingValues(list), differingHeaders(list)
	first := list[0]
	bodies := string(bodyCondition(first.body).node().JSON())
	for _, x := range list[1:] {
		x.literalValues(first, paths)
		p.valuesUnknown(x, first, paths)
		x.headers = p.headerConditions(x, first, headers)
		if condition := bodyCondition(x.body); string(condition.node().JSON()) != bodies {
			x.body.condition = bothConditions(x.body.condition, condition)
			x.headers.removeFold("Content-Type")
			x.body.text = "" // it is told apart already
		} else {
			x.body = first.body
		}
	}
}

// bothConditions puts two conditions on a body into one, of which the second counts where they speak of the same.
func bothConditions(a, b *doc) *doc {
	if a.empty() {
		return b
	}
	both := &doc{members: slices.Clone(a.members)}
	for _, m := range b.members {
		if old := both.get(m.Key); old != nil && old.Kind == mockbase.NodeObject && m.Value.Kind == mockbase.NodeObject {
			m.Value = &mockbase.Node{Kind: mockbase.NodeObject, Members: slices.Concat(old.Members, m.Value.Members)}
		}
		both.set(m.Key, m.Value)
	}
	return both
}

// known is the value of a variable of the path, where it has one.
func (x *savedRequest) known(name string) (string, bool) {
	text, ok := x.values[name]
	return text, ok && !strings.Contains(text, "{{")
}

// differingValues names the variables of the path of which requests have values that are not all the same.
func differingValues(list []*savedRequest) []string {
	var names []string
	for segment := range strings.SplitSeq(list[0].raw, "/") {
		name, variable := strings.CutPrefix(segment, ":")
		if !variable {
			continue
		}
		if slices.ContainsFunc(list, func(x *savedRequest) bool { return x.values[name] != list[0].values[name] }) {
			names = append(names, name)
		}
	}
	return names
}

// literalValues puts the values of variables that differ into the path, where one of them is another than that of the first
// request.
func (x *savedRequest) literalValues(first *savedRequest, names []string) {
	other := func(name string) bool {
		text, ok := x.known(name)
		return ok && text != first.values[name]
	}
	if !slices.ContainsFunc(names, other) {
		return
	}
	segments := strings.Split(x.raw, "/")
	for i, segment := range segments {
		name, variable := strings.CutPrefix(segment, ":")
		if text, ok := x.known(name); ok && variable && slices.Contains(names, name) {
			segments[i] = url.PathEscape(text)
		}
	}
	x.path = savedPattern(strings.Join(segments, "/"))
}

// valuesUnknown tells of the variables of the path that cannot tell an answer from the first one.
func (p *postmanFile) valuesUnknown(x, first *savedRequest, names []string) {
	for _, name := range names {
		if text := x.values[name]; strings.Contains(text, "{{") && text != first.values[name] {
			p.out.lost(x.from, "the value %s of the variable %s is not known: any value fits", quoted(text), quoted(name))
		}
	}
}

// header returns a header that is sent, in whatever case its name is written.
func (x *savedRequest) header(name string) (string, bool) {
	for _, h := range x.sent {
		if strings.EqualFold(h.name, name) {
			return h.text, true
		}
	}
	return "", false
}

// differingHeaders names the headers that requests were not all sent with, or with other values. Those that every client sends
// on its own say nothing.
func differingHeaders(list []*savedRequest) []string {
	var names []string
	for _, x := range list {
		for _, h := range x.sent {
			known := func(name string) bool { return strings.EqualFold(name, h.name) }
			if ofClient(h) || slices.ContainsFunc(names, known) {
				continue
			}
			if slices.ContainsFunc(list, func(other *savedRequest) bool {
				text, sent := other.header(h.name)
				return !sent || text != h.text
			}) {
				names = append(names, h.name)
			}
		}
	}
	return names
}

// ofClient tells whether a header is one that a client sends on its own.
func ofClient(h pair) bool {
	lower := strings.ToLower(h.name)
	return framingHeader(h.name) || lower == "accept" && h.text == "*/*" || slices.Contains([]string{
		"host", "user-agent", "accept-encoding", "cache-control", "pragma", "postman-token", "dnt", "origin", "referer",
	}, lower)
}

// headerConditions are those headers of a request in which it differs from the first one.
func (p *postmanFile) headerConditions(x, first *savedRequest, names []string) *doc {
	d := &doc{}
	for _, name := range names {
		text, sent := x.header(name)
		before, had := first.header(name)
		switch unknown := strings.Contains(text, "{{"); {
		case sent == had && text == before:
		case !sent:
			d.set(name, with("exists", falseNode()).node())
		case had && unknown:
			p.out.lost(x.from, "the value %s of the header %s is not known: any value fits", quoted(text), quoted(name))
		case had && mockbase.IsSecretName(name):
			p.out.lost(x.from, "the header %s is a secret, whose value is no condition: any value fits", quoted(name))
		case unknown, mockbase.IsSecretName(name):
			d.set(name, with("exists", trueNode()).node())
		default:
			d.set(name, headerCondition(name, text))
		}
	}
	return d
}

// headerCondition is the condition that a header is like this one. Lists of media types may have others beside it.
func headerCondition(name, text string) *mockbase.Node {
	media, _, err := mime.ParseMediaType(text)
	switch {
	case strings.EqualFold(name, "Content-Type") && err == nil:
		return with("mediaType", textNode(media)).node()
	case strings.EqualFold(name, "Accept"):
		return with("contains", textNode(text)).node()
	}
	return textNode(text)
}

// removeFold deletes a member, in whatever case its name is written.
func (d *doc) removeFold(name string) {
	d.members = slices.DeleteFunc(d.members, func(m mockbase.Member) bool { return strings.EqualFold(m.Key, name) })
}
