package interchange

import (
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// sampleOf is a text that a condition on a text takes. It is not ok when none is found, or when nothing must be sent.
func sampleOf(v value) (string, bool) {
	switch {
	case v.scalar():
		return v.text(), true
	case v.is(mockbase.NodeList):
		return firstSample(v.items())
	}
	for _, e := range v.entries() {
		if text, ok := sampleOfOperator(e); ok {
			return text, true
		}
	}
	return "", false
}

func firstSample(items []value) (string, bool) {
	for _, item := range items {
		if text, ok := sampleOf(item); ok {
			return text, true
		}
	}
	return "", false
}

func sampleOfOperator(e entry) (string, bool) {
	switch e.key {
	case "equals":
		if e.scalar() {
			return e.text(), true
		}
		return string(e.node.JSON()), e.ok()
	case "contains", "startsWith", "endsWith", "mediaType", "hasItem", "gte", "lte":
		return e.text(), true
	case "matches", "search":
		return sampleOfExpression(e.text())
	case "in", "anyOf", "allOf", "all", "exactly", "ordered":
		return firstSample(e.items())
	case "every":
		return sampleOf(e.value)
	}
	return "", false
}

// sampleOfExpression is a short text that a regular expression takes as a whole.
func sampleOfExpression(pattern string) (string, bool) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	writeSample(&b, parsed.Simplify())
	const longest = 200
	text := b.String()
	if len(text) > longest {
		return "", false
	}
	compiled, err := syntax.Compile(parsed.Simplify())
	return text, err == nil && compiled != nil
}

// writeSample writes the shortest text that an expression takes, save that any character is a letter.
func writeSample(b *strings.Builder, re *syntax.Regexp) {
	const longest = 200
	if b.Len() > longest {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(runeOf(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('x')
	case syntax.OpCapture, syntax.OpPlus, syntax.OpAlternate:
		writeSample(b, re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			writeSample(b, sub)
		}
	case syntax.OpRepeat:
		for range re.Min {
			writeSample(b, re.Sub[0])
		}
	default: // what takes nothing, or may take nothing
	}
}

// runeOf is a rune of a class: a letter or a digit if it has one.
func runeOf(class []rune) rune {
	for _, wanted := range []rune{'a', '1', 'A', '-', '_'} {
		for i := 0; i+1 < len(class); i += 2 {
			if class[i] <= wanted && wanted <= class[i+1] {
				return wanted
			}
		}
	}
	if len(class) == 0 {
		return 'x'
	}
	return class[0]
}

// samples are what a request has to hold so that the conditions of a branch hold.
type samples struct {
	path, query, headers, cookies, form []sampled
	body                                *mockbase.Node
	bodyType                            string
	basic                               value
	bearer                              string
	unknown                             []atom
	// filled tells that there has to be some body.
	filled bool
}

// sampled is a name with a value that fits.
type sampled struct{ name, text string }

// samplesOf finds values for the conditions of a branch. Conditions that something is not there ask for nothing.
func samplesOf(b branch) *samples {
	s := &samples{}
	for _, a := range b {
		text, ok := sampleOf(a.at)
		missing := a.at.has("exists")
		if missing && a.at.member("exists").isTrue() && !ok {
			text, ok = "x", true
		}
		switch {
		case a.not || missing && !ok || a.place == "state" || a.place == "call":
		case !s.take(a, text, ok):
			s.unknown = append(s.unknown, a)
		}
	}
	s.fill()
	return s
}

// fill finds a body where there has to be some, and nothing says which.
func (s *samples) fill() {
	if s.filled && s.body == nil && len(s.form) == 0 {
		s.body, s.bodyType = textNode("x"), "text/plain"
	}
}

// take takes a condition; it reports false when no value for it is known.
func (s *samples) take(a atom, text string, ok bool) bool { //nolint:revive // the sample may be missing
	lists := map[string]*[]sampled{"path": &s.path, "query": &s.query, "headers": &s.headers, "cookies": &s.cookies, "body/form": &s.form}
	if list := lists[a.place]; list != nil {
		texts := eachSample(a, text, ok)
		for _, one := range texts {
			*list = append(*list, sampled{a.name, one})
		}
		return len(texts) > 0
	}
	switch a.place {
	case "auth":
		s.basic = a.at.member("basic")
		if bearer, found := sampleOf(a.at.member("bearer")); found {
			s.bearer = bearer
		}
	case "body/json", "body/jsonExact":
		s.body, s.bodyType = sampleJSON(a.at.node), "application/json"
	case "body/xml":
		s.body, s.bodyType = textNode(a.at.text()), "application/xml"
	case "body/text":
		if ok && s.body == nil {
			s.body, s.bodyType = textNode(text), "text/plain"
		}
		return ok
	case "body/empty":
		s.filled = !a.at.isTrue()
	default:
		return false
	}
	return true
}

// eachSample are the values that a request holds for a condition: the one that fits, or several for a parameter that has to
// come several times. There are none where none is known.
func eachSample(a atom, text string, known bool) []string { //nolint:revive // the sample may be missing
	var list []string
	for _, e := range a.at.entries() {
		if e.key != "all" && e.key != "exactly" && e.key != "ordered" || a.place != "query" && a.place != "body/form" {
			continue
		}
		for _, item := range e.items() {
			if one, ok := sampleOf(item); ok {
				list = append(list, one)
			}
		}
	}
	if len(list) == 0 && known {
		return []string{text}
	}
	return list
}

// sampleJSON is an expected value with samples in place of operators.
func sampleJSON(n *mockbase.Node) *mockbase.Node {
	if n.Kind == mockbase.NodeObject && len(n.Members) == 1 {
		switch inner := n.Members[0].Value; n.Members[0].Key {
		case "$literal":
			return inner
		case "$match":
			return sampleMatch(value{node: inner})
		}
	}
	copied := *n
	copied.Items, copied.Members = nil, nil
	for _, item := range n.Items {
		copied.Items = append(copied.Items, sampleJSON(item))
	}
	for _, m := range n.Members {
		m.Value = sampleJSON(m.Value)
		copied.Members = append(copied.Members, m)
	}
	return &copied
}

func sampleMatch(v value) *mockbase.Node {
	if equal := v.member("equals"); equal.node != nil {
		return equal.node
	}
	if slices.Contains([]string{"number", "integer"}, v.member("type").text()) {
		return numberNode(1)
	}
	for _, bound := range []string{"gte", "lte", "gt", "lt"} {
		if n := v.member(bound); n.is(mockbase.NodeNumber) {
			return n.node
		}
	}
	switch v.member("type").text() {
	case "boolean":
		return trueNode()
	case "object":
		return (&doc{}).node()
	case "array":
		return listNode()
	case "null":
		return nullNode()
	}
	if text, ok := sampleOf(v); ok {
		return textNode(text)
	}
	return textNode("x")
}
