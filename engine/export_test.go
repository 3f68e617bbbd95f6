package engine

import "github.com/mockbase/mockbase"

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
	known, shared := before.routes(), 0
	for i := range after.entries {
		if known[after.entries[i].mock] == after.entries[i].route {
			shared++
		}
	}
	return shared, nil
}
