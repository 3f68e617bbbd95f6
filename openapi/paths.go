package openapi

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

// errEscape is a percent sign without two hexadecimal digits.
var errEscape = errors.New("a percent sign is not followed by two hexadecimal digits")

// unescape decodes percent-encoding; a plus stays a plus.
func unescape(text string) (string, error) {
	decoded, err := url.PathUnescape(text)
	if err != nil {
		return "", errEscape
	}
	return decoded, nil
}

// segment is one segment of a path template: literals and parameters in turn, beginning with a literal that may be empty.
type segment struct {
	literals []string
	names    []string
}

// template is a path as a document writes it.
type template struct {
	text     string
	segments []segment
	// asks are query parameters that the path itself names behind a question mark.
	asks []pair
}

// parseTemplate reads a path template. A query behind it becomes a condition, as parts of a fragment may (distinguish): both
// are used to list several operations of one path. A slash at the beginning is added where it is missing.
func parseTemplate(text string) template {
	t := template{text: text}
	location, _, _ := strings.Cut(text, "#")
	location, query, asked := strings.Cut(location, "?")
	if asked {
		t.asks = parsePairs(query)
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(location, "/"), "/") {
		t.segments = append(t.segments, parseSegment(part))
	}
	return t
}

// below is the template behind the prefix of a server.
func (t *template) below(prefix string) template {
	own := parseTemplate(prefix + "/" + strings.TrimPrefix(t.text, "/"))
	own.asks = t.asks
	return own
}

// distinguish makes conditions of a fragment by which a document tells operations of one path apart, as those of AWS do:
// /tagging#Operation=Untag. They are the parts of it that name query parameters of the path; the fragment is returned if it has none.
func (t *template) distinguish(name string, made []*operation) (left string) {
	_, fragment, _ := strings.Cut(name, "#")
	left = fragment
	for _, own := range parsePairs(fragment) {
		if slices.ContainsFunc(made, func(op *operation) bool { return op.takes(inQuery, own.name) }) {
			t.asks, left = append(t.asks, own), ""
		}
	}
	return left
}

func parseSegment(text string) segment {
	var s segment
	for {
		open := strings.IndexByte(text, '{')
		length := -1
		if open >= 0 {
			length = strings.IndexByte(text[open:], '}')
		}
		if length < 0 {
			break
		}
		s.literals = append(s.literals, decoded(text[:open]))
		s.names = append(s.names, text[open+1:open+length])
		text = text[open+length+1:]
	}
	s.literals = append(s.literals, decoded(text))
	return s
}

// decoded undoes percent-encoding where it is sound.
func decoded(text string) string {
	if plain, err := unescape(text); err == nil {
		return plain
	}
	return text
}

// literal tells whether the segment has no parameter.
func (s *segment) literal() bool { return len(s.names) == 0 }

// whole tells whether one parameter takes the whole segment.
func (s *segment) whole() bool {
	return len(s.names) == 1 && s.literals[0] == "" && s.literals[1] == ""
}

// shape is the text by which segments that differ only in names are the same.
func (s *segment) shape() string { return strings.Join(s.literals, "\x00") }

// bind matches the raw text of a segment and appends the raw values of its parameters. Each parameter takes at least one
// character and as few as possible.
func (s *segment) bind(raw string, to []pair) ([]pair, bool) {
	if s.literal() {
		return to, decoded(raw) == s.literals[0]
	}
	if bound, ok := s.bindPlain(characters{raw: raw, plain: raw}, to); ok {
		return bound, true
	}
	text := charactersOf(raw)
	if !text.encoded {
		return to, false
	}
	return s.bindPlain(text, to)
}

// bindPlain matches a text by its plain characters: what is encoded divides nothing where the text matches as it was sent.
func (s *segment) bindPlain(text characters, to []pair) ([]pair, bool) {
	rest, ok := strings.CutPrefix(text.plain, s.literals[0])
	if !ok {
		return to, false
	}
	for i, name := range s.names {
		next := s.literals[i+1]
		end := len(rest)
		switch {
		case i < len(s.names)-1 && next != "":
			if end = strings.Index(rest[min(1, len(rest)):], next) + 1; end == 0 {
				return to, false
			}
		case i < len(s.names)-1:
			end = min(1, len(rest))
		default:
			if !strings.HasSuffix(rest, next) {
				return to, false
			}
			end -= len(next)
		}
		if end < 1 {
			return to, false
		}
		from := len(text.plain) - len(rest)
		to = append(to, pair{name: name, value: text.sent(from, from+end)})
		rest = rest[end+len(next):]
	}
	return to, rest == ""
}

// characters is a text without percent-encoding that knows what each of its bytes was sent as: literals are compared by what they
// say, and parameters keep what was sent.
type characters struct {
	raw, plain string
	// encoded tells that the two differ.
	encoded bool
}

// charactersOf decodes a segment, where its encoding is sound.
func charactersOf(raw string) characters {
	plain := decoded(raw)
	return characters{raw: raw, plain: plain, encoded: plain != raw}
}

// sent is what was sent for a part of the plain text.
func (c *characters) sent(from, to int) string {
	if !c.encoded {
		return c.raw[from:to]
	}
	const escape = len("%00")
	at, start := 0, 0
	for i := range to {
		if i == from {
			start = at
		}
		if c.raw[at] == '%' {
			at += escape
		} else {
			at++
		}
	}
	return c.raw[start:at]
}

// index finds the operations of a path.
type index struct {
	root branch
}

// branch is where paths with the same beginning go on.
type branch struct {
	literals map[string]*branch
	shaped   []shapedBranch
	any      *branch
	entries  []*entry
}

type shapedBranch struct {
	segment segment
	*branch
}

// entry is a path of a document, with or without the prefix of a server.
type entry struct {
	template template
	// prefix is that of the server.
	prefix     string
	operations []*operation
}

// insert adds an entry and returns those that its path had before.
func (x *index) insert(e *entry) []*entry {
	b := &x.root
	for i := range e.template.segments {
		b = b.next(&e.template.segments[i])
	}
	before := b.entries
	b.entries = append(slices.Clone(b.entries), e)
	// What asks for more of the query is tried earlier.
	slices.SortStableFunc(b.entries, func(a, b *entry) int { return len(b.template.asks) - len(a.template.asks) })
	return before
}

func (b *branch) next(s *segment) *branch {
	switch {
	case s.literal():
		if b.literals == nil {
			b.literals = map[string]*branch{}
		}
		if b.literals[s.literals[0]] == nil {
			b.literals[s.literals[0]] = &branch{}
		}
		return b.literals[s.literals[0]]
	case s.whole():
		if b.any == nil {
			b.any = &branch{}
		}
		return b.any
	}
	for _, known := range b.shaped {
		if known.segment.shape() == s.shape() {
			return known.branch
		}
	}
	next := shapedBranch{segment: *s, branch: &branch{}}
	b.shaped = append(b.shaped, next)
	// The more a segment states, the earlier it is tried.
	slices.SortStableFunc(b.shaped, func(a, b shapedBranch) int { return len(b.segment.shape()) - len(a.segment.shape()) })
	return next.branch
}

// find returns the entries that match a raw path, the most specific first (rule W2).
func (x *index) find(raw string) []*entry {
	return x.root.find(strings.Split(strings.TrimPrefix(raw, "/"), "/"), nil)
}

func (b *branch) find(rest []string, found []*entry) []*entry {
	if len(rest) == 0 {
		return append(found, b.entries...)
	}
	if len(b.literals) > 0 {
		if next := b.literals[decoded(rest[0])]; next != nil {
			found = next.find(rest[1:], found)
		}
	}
	for i := range b.shaped {
		if _, ok := b.shaped[i].segment.bind(rest[0], nil); ok {
			found = b.shaped[i].find(rest[1:], found)
		}
	}
	if b.any != nil && rest[0] != "" {
		found = b.any.find(rest[1:], found)
	}
	return found
}

// bind returns the raw values of the parameters in a path that the entry matches.
func (e *entry) bind(raw string) []pair {
	var values []pair
	for i, part := range strings.Split(strings.TrimPrefix(raw, "/"), "/") {
		if i < len(e.template.segments) {
			values, _ = e.template.segments[i].bind(part, values)
		}
	}
	return values
}

// pair is a name and a value.
type pair struct{ name, value string }

// parsePairs splits a query on its raw text. Names are decoded, values are left as they are (rule W7).
func parsePairs(raw string) []pair {
	var pairs []pair
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		pairs = append(pairs, pair{name: decodedForm(name), value: value})
	}
	return pairs
}

// decodedForm undoes the encoding of forms, where a plus is a blank.
func decodedForm(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}

// escapedForm is the opposite of decodedForm.
func escapedForm(text string) string { return url.QueryEscape(text) }
