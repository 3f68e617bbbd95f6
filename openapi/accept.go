package openapi

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// acceptance writes conditions on the Accept header by which a mock picks among media types as the document does (rule W31).
// Qualities are told apart by tenths down to a half; a type that is named with less than a range that covers it counts like that.
type acceptance struct {
	// offers are the media types that can be told apart, usual is the one that answers everything else.
	offers []*mediaType
	usual  *mediaType
	// levels are the qualities that are told apart.
	levels []level
}

// mostFine is how many media types beside the usual ones a document may have whose qualities are told apart by tenths: each takes
// patterns that are compiled with its mock.
const mostFine = 100

// levelsOf are the qualities that the mocks of a document tell apart.
func levelsOf(operations []*operation) []level {
	count := 0
	for _, op := range operations {
		usual, _ := op.usual()
		count += max(len(usual.content)-1, 0)
	}
	if count > mostFine {
		return []level{levelFull, levelAny}
	}
	return []level{levelFull, 9, 8, 7, levelHalf, levelAny}
}

// acceptanceOf is about the contents of a response. Ranges, and what differs from another in parameters alone, are no offers.
func acceptanceOf(content []*mediaType, levels []level) *acceptance {
	a := &acceptance{usual: byDefault(content), levels: levels}
	for _, t := range content {
		same := func(o *mediaType) bool { return o.parsed.String() == t.parsed.String() }
		if !t.parsed.isRange() && !slices.ContainsFunc(a.offers, same) {
			a.offers = append(a.offers, t)
		}
	}
	return a
}

// level is how much a media type is wanted at least.
type level int

const (
	levelAny  level = 0
	levelHalf level = 5
	levelFull level = 10
)

// accepted matches an entry of an Accept header, up to its quality: parameters of other names may stand before that.
func accepted(types ...string) string {
	return `(?i)(?:^|,)\s*(?:` + strings.Join(types, "|") + `)\s*(?:;\s*[^q\s,;][^,;]*)*`
}

// atLeast matches an entry of a quality.
func atLeast(least level, types ...string) string {
	lower := `1|0?\.\d*[1-9]`
	if least > levelAny {
		lower = `1|0?\.[` + strconv.Itoa(int(least)) + `-9]`
	}
	if least == levelFull {
		lower = "1"
	}
	return accepted(types...) + `(?:;\s*q=(?:` + lower + `)[^,]*)?(?:,|$)`
}

// unwanted matches an entry of the quality 0, named one of any.
func unwanted(name string) string { return accepted(name) + `;\s*q=0(?:\.0*)?\s*(?:[;,]|$)` }

func mentioned(name string) string { return `(?i)(?:^|,)\s*` + name + `\s*(?:[;,]|$)` }

// names are how an Accept header calls a media type: by itself, and by the ranges around it.
func (m media) names() (own string, ranges []string) {
	return regexp.QuoteMeta(m.String()), []string{regexp.QuoteMeta(m.kind) + `/\*`, `\*/\*`}
}

// everyName are the names of a media type and of the ranges around it.
func everyName(m media) []string {
	own, ranges := m.names()
	return append([]string{own}, ranges...)
}

// wants is the condition that a media type is picked and not the usual one: no other is wanted more, and none before it in the
// document as much. It is named, or a range stands for it.
func (a *acceptance) wants(t *mediaType) *mockbase.Node {
	own, _ := t.parsed.names()
	var list []*mockbase.Node
	for _, l := range a.levels {
		list = append(list, accepts(matching(atLeast(l, own), a.better(t, l, everyName)...)))
	}
	ranged := []level{levelFull, levelAny}
	if a.coarse() {
		ranged = nil
		list = append(list, a.byRange(t, levelAny))
	}
	for _, l := range ranged {
		list = append(list, a.byRange(t, l))
		if a.usualIsBefore(t) && a.usual.parsed.kind != t.parsed.kind {
			_, ranges := t.parsed.names()
			list = append(list, accepts(matching(atLeast(l, ranges[0]), append(a.better(t, l, everyName), mentioned(own))...)))
		}
	}
	when := &object{}
	when.list("anyOf", list)
	return when.node()
}

// coarse tells that the document has too many media types for more conditions than are needed.
func (a *acceptance) coarse() bool { return !slices.Contains(a.levels, levelHalf) }

// byRange is the condition that a media type is picked which is not named but by a range, while the usual one is named with less
// where it comes first.
func (a *acceptance) byRange(t *mediaType, l level) *mockbase.Node {
	own, ranges := t.parsed.names()
	beyond := append(a.better(t, l, func(other media) []string {
		name, around := other.names()
		if other.kind == t.parsed.kind {
			return []string{name} // the same range stands for both
		}
		return []string{name, around[0]}
	}), mentioned(own))
	m := matching(atLeast(l, ranges...), beyond...)
	if a.usualIsBefore(t) {
		name, _ := a.usual.parsed.names()
		m.list("allOf", []*mockbase.Node{matching(mentioned(name)).node()})
	}
	return accepts(m)
}

func (a *acceptance) usualIsBefore(t *mediaType) bool {
	return slices.Index(a.offers, a.usual) < slices.Index(a.offers, t) && slices.Contains(a.offers, a.usual)
}

// better matches what is picked before a media type of a quality: of equal ones the first response, while the usual one is the last
// of them wherever it stands in the document. names tells what stands for another type.
func (a *acceptance) better(t *mediaType, l level, names func(other media) []string) []string {
	var first, others, list []string
	for _, other := range a.offers {
		switch {
		case other == t:
		case other == a.usual && a.usualIsBefore(t):
			first = names(other.parsed)
		default:
			others = append(others, names(other.parsed)...)
		}
	}
	if len(first) > 0 {
		list = append(list, atLeast(l, first...))
	}
	if more := a.above(l); len(others) > 0 && more <= levelFull {
		slices.Sort(others)
		list = append(list, atLeast(more, slices.Compact(others)...))
	}
	return list
}

// above is the next quality that is told apart, beyond the full one for none.
func (a *acceptance) above(l level) level {
	if at := slices.Index(a.levels, l); at > 0 {
		return a.levels[at-1]
	}
	return levelFull + 1
}

// noneAcceptable is the condition that no media type is acceptable, nil where each is.
func noneAcceptable(content []*mediaType) *mockbase.Node {
	acceptable, refused := []string{`\*/\*`}, []*mockbase.Node(nil)
	for _, t := range content {
		if t.parsed.kind == "*" {
			return nil
		}
		own, ranges := t.parsed.names()
		if t.parsed.isRange() {
			own = regexp.QuoteMeta(t.parsed.kind) + `/[^\s,;]+`
		}
		acceptable = append(acceptable, own, ranges[0])
		refused = append(refused, accepts(matching(unwanted(own), atLeast(levelAny, own))))
	}
	all := &object{}
	all.list("allOf", refused)
	when := &object{}
	when.list("anyOf", []*mockbase.Node{accepts(matching(`[^\s,;]/[^\s,;]`, atLeast(levelAny, acceptable...))), all.node()})
	return when.node()
}

// matching is a match of a header that holds one thing and nothing of others.
func matching(pattern string, others ...string) *object {
	m := &object{}
	m.text("search", pattern)
	if len(others) > 0 {
		not := &object{}
		for i := range others {
			others[i] = strings.TrimPrefix(others[i], "(?i)")
		}
		not.text("search", "(?i)"+strings.Join(others, "|"))
		m.set("not", not.node())
	}
	return m
}

// accepts is a condition on the Accept header.
func accepts(match *object) *mockbase.Node {
	accept, headers := &object{}, &object{}
	accept.set("Accept", match.node())
	headers.set("headers", accept.node())
	return headers.node()
}

// refuse adds what answers where no media type is acceptable: the document's own 406, or a problem.
func (w *responseWriter) refuse(usual *response, status int) {
	if len(usual.content) == 0 || status >= http.StatusBadRequest {
		return
	}
	when := noneAcceptable(usual.content)
	if when == nil {
		return
	}
	v := variant{status: http.StatusNotAcceptable, key: string(mockbase.CodeNotAcceptable), condition: when}
	if own := w.operation.find(statusText(http.StatusNotAcceptable)); own != nil && len(own.content) > 0 {
		v.media = byDefault(own.content)
		v.body = w.operation.bodyOf(v.media)
		w.put(own, &v)
		return
	}
	keys := make([]string, len(usual.content))
	for i, t := range usual.content {
		keys[i] = t.key
	}
	page, _ := mockbase.ProblemOf(mockbase.CodeNotAcceptable)
	problem := &object{}
	problem.text("title", page.Title)
	problem.set("status", &mockbase.Node{Kind: mockbase.NodeNumber, Text: statusText(v.status)})
	problem.text("detail", "The answer can be "+strings.Join(keys, ", ")+", which Accept leaves out.")
	problem.text("code", string(mockbase.CodeNotAcceptable))
	v.body = problem.node()
	v.media = &mediaType{key: "application/problem+json", parsed: media{kind: "application", subtype: "problem+json"}}
	w.put(&response{}, &v)
}
