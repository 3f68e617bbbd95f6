package engine

import (
	"math/rand/v2"
	"net/http"
	"reflect"
	"time"

	"github.com/mockbase/mockbase"
)

// What the external tests see of the inside: the parsers of outside input, for fuzzing, and what is used again.

// Target is a target taken apart.
type Target struct{ Slug, Path, Query string }

// ParseTarget is parseTarget for the base path /m.
func ParseTarget(raw string) (parts Target, ok bool) {
	t, ok := parseTarget(raw, "/m/")
	return Target{Slug: t.slug, Path: t.path, Query: t.query}, ok
}

// SplitPath is split with default rules, and the text of the path.
func SplitPath(raw string) (segments []string, text string, err error) {
	p, err := pathRules{}.split(raw, nil)
	return p.segments, p.text(), err
}

// ParseQuery is parseQuery as two lists.
func ParseQuery(raw string) (names, values []string) {
	for _, p := range parseQuery(raw) {
		names, values = append(names, p.name), append(values, p.value)
	}
	return names, values
}

// MatchSegment tells whether a path of one segment matches a text, by its shape.
func MatchSegment(path, text string) (bool, error) {
	parsed, err := mockbase.ParsePath(path)
	if err != nil {
		return false, err
	}
	p, err := compilePattern(parsed, pathRules{}, mockbase.TrailingSlashStrict)
	if err != nil {
		return false, err
	}
	return p.match(&requestPath{segments: []string{text}, keys: []string{text}}), nil
}

// MaxRecent is maxRecent.
const MaxRecent = maxRecent

// Grown tells how many mocks a project's tree finds, and how many of them were there when it was built.
func (e *Engine) Grown(slug string) (all, planted int) {
	p := e.programs.Load().bySlug[slug]
	return len(p.entries), p.index.size
}

// SharedRoutes counts the mocks of a project whose compiled form is the same in two snapshots that are published one
// after the other.
func (e *Engine) SharedRoutes(first, second *mockbase.Snapshot) (int, error) {
	if err := e.Publish(first); err != nil {
		return 0, err
	}
	before := e.programs.Load().byID[first.Project.ID]
	if err := e.Publish(second); err != nil {
		return 0, err
	}
	after := e.programs.Load().byID[second.Project.ID]
	known, shared := inherit(before, nil).routes(), 0
	for i := range after.entries {
		if known[after.entries[i].mock] == after.entries[i].route {
			shared++
		}
	}
	return shared, nil
}

// ParseRanges is parseRanges as first and last positions.
func ParseRanges(text string, size int) (ranges [][2]int, ok bool) {
	parsed, ok := parseRanges(text, size)
	for _, r := range parsed {
		ranges = append(ranges, [2]int{r.start, r.start + r.length - 1})
	}
	return ranges, ok
}

// ChooseCoding is chooseCoding by name, "" for none.
func ChooseCoding(line string) string {
	at := chooseCoding([]string{line})
	if at < 0 {
		return ""
	}
	return codings()[at]
}

// ListsTag is listsTag for the weak comparison.
func ListsTag(line, tag string) bool { return listsTag([]string{line}, tag, weakly) }

// Encode is encode.
func Encode(coding string, body []byte) []byte { return encode(coding, body) }

// Pieces are the lengths and times of the pieces of a body.
func Pieces(pace *mockbase.Stream, size int) (lengths []int, due []time.Duration) {
	for sent := 0; sent < size; {
		n, at := piece(pace, size, sent)
		lengths, due, sent = append(lengths, n), append(due, at), sent+n
	}
	return lengths, due
}

// Draw draws a delay.
func Draw(d *mockbase.Delay, random *rand.Rand) time.Duration { return draw(d, random) }

// ParseDelay is parseDelay.
func ParseDelay(text string) (time.Duration, error) { return parseDelay(text) }

// Limit lets a function decide as the limit of a published mock. It writes the answer itself when it refuses.
func Limit(e *Engine, projectID, mock string, admit func(w http.ResponseWriter) bool) {
	p := e.programs.Load().byID[projectID]
	for i := range p.entries {
		if p.entries[i].mock.Name == mock {
			p.entries[i].terms = &terms{host: p.entries[i].host, limits: limiterFunc(admit)}
		}
	}
}

type limiterFunc func(w http.ResponseWriter) bool

func (f limiterFunc) admit(c *call, _ *route) bool { return f(c.w) }

// ReadPreferences reads a control header; ok is false if a value cannot be.
func ReadPreferences(line string) (applied string, ok bool) {
	var p preferences
	if p.read([]string{line}, make(map[string]bool)) != nil {
		return "", false
	}
	return p.applied(), true
}

// CutSession is cutSession.
func CutSession(path string) (name, rest string, named bool) { return cutSession(path) }

// FindLabels grows a fanout by labels and tells which of others it finds.
func FindLabels(labels, others []string) (found []string) {
	var f fanout
	for _, label := range labels {
		f.insert(&node{label: label})
	}
	for _, label := range others {
		if n := f.find(label); n != nil {
			found = append(found, n.label)
		}
	}
	return found
}

// LargestPlot is the size of the largest piece of memory that a mock's compiled form begins with.
func LargestPlot() uintptr { return reflect.TypeFor[lot]().Size() }

// SharesLines tells whether two mocks of a project keep one list of header lines between them.
func SharesLines(e *Engine, projectID, one, other string) bool {
	lines := make(map[string]*headerLine)
	p := e.programs.Load().byID[projectID]
	for i := range p.entries {
		if a, ok := p.entries[i].responses[0].reply.(*answer); ok {
			lines[p.entries[i].mock.Name] = &a.lines[0]
		}
	}
	return lines[one] == lines[other]
}

// MaxChecked is maxChecked.
const MaxChecked = maxChecked

// Checked counts the mocks that were compiled to be checked and wait to be published.
func (e *Engine) Checked() int {
	e.checked.mu.Lock()
	defer e.checked.mu.Unlock()
	return len(e.checked.kept)
}
