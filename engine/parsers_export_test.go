package engine

import "github.com/mockbase/mockbase"

// What the tests see of the parsers of requests.

// ParseCookies is parseCookies as two lists.
func ParseCookies(lines []string) (names, values []string) {
	for _, p := range parseCookies(lines) {
		names, values = append(names, p.name), append(values, p.value)
	}
	return names, values
}

// CutMatrix is cutMatrix, with the parameters as two lists.
func CutMatrix(raw string) (plain string, names, values []string) {
	plain, parameters := cutMatrix(raw)
	for _, p := range parameters {
		names, values = append(names, p.name), append(values, p.value)
	}
	return plain, names, values
}

// ParseBasic is parseBasic.
func ParseBasic(coded string) (username, password string, ok bool) { return parseBasic(coded) }

// BindPath returns the parameters of a path, given as name=value.
func BindPath(pattern, raw string) ([]string, error) {
	parsed, err := mockbase.ParsePath(pattern)
	if err != nil {
		return nil, err
	}
	p, err := compilePattern(parsed, pathRules{}, mockbase.TrailingSlashIgnore)
	if err != nil {
		return nil, err
	}
	path, err := pathRules{}.split(raw, nil)
	if err != nil {
		return nil, err
	}
	var bound []string
	if !p.match(&path) {
		return nil, nil
	}
	for _, b := range p.bind(&path, nil) {
		bound = append(bound, b.name+"="+b.value)
	}
	return bound, nil
}
