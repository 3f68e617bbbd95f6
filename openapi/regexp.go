package openapi

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// anyText matches everything; it stands for a pattern that cannot be matched in bounded time.
type anyText struct{ pattern string }

// MatchString implements jsonschema.Regexp.
func (anyText) MatchString(string) bool { return true }

// String implements jsonschema.Regexp.
func (a anyText) String() string { return a.pattern }

// lenientRegexp compiles patterns in linear time. What RE2 refuses matches everything: the translator has warned of it.
func (s *source) lenientRegexp(pattern string) (jsonschema.Regexp, error) {
	if compiled, err := s.pattern(pattern); err == nil {
		return compiled, nil
	}
	return anyText{pattern}, nil
}

// maxPattern bounds the length of a pattern.
const maxPattern = 4096

// patterns are the patterns of a document, each compiled once.
type patterns struct {
	mu    sync.Mutex
	known map[string]compiledPattern
}

type compiledPattern struct {
	pattern *regexp.Regexp
	err     error
}

// pattern compiles a pattern of the document, once.
func (s *source) pattern(text string) (*regexp.Regexp, error) {
	s.patterns.mu.Lock()
	defer s.patterns.mu.Unlock()
	if own, known := s.patterns.known[text]; known {
		return own.pattern, own.err
	}
	if s.patterns.known == nil {
		s.patterns.known = map[string]compiledPattern{}
	}
	compiled, err := compilePattern(text)
	s.patterns.known[text] = compiledPattern{compiled, err}
	return compiled, err
}

// compilePattern compiles a pattern of ECMA 262 as far as RE2 knows it.
func compilePattern(pattern string) (*regexp.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, errors.New("the pattern is too long")
	}
	return regexp.Compile(translatedPattern(pattern))
}

// The blanks of ECMA 262 (section 22.2.2.9), of which RE2 knows those of ASCII alone, without the vertical tab, and all others.
const (
	blanks    = `\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	notBlanks = `\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}` +
		`\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
)

// translatedPattern writes what the two dialects spell differently: \uXXXX, and what \s and \S mean.
func translatedPattern(pattern string) string {
	var b strings.Builder
	class := false
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '\\' || i+1 == len(pattern) {
			class = pattern[i] == '[' || class && pattern[i] != ']'
			b.WriteByte(pattern[i])
			continue
		}
		text, size := translatedEscape(pattern[i:])
		i += size - 1
		set := text == blanks || text == notBlanks
		switch rest := pattern[i+1:]; {
		case set && !class:
			text = "[" + text + "]"
		case set && strings.HasPrefix(rest, "-") && !strings.HasPrefix(rest, "-]"):
			// A set is no end of a range.
			text += `\-`
			i++
		}
		b.WriteString(text)
	}
	return b.String()
}

// translatedEscape writes the escape at the beginning of a text; size is how long it is there.
func translatedEscape(text string) (written string, size int) {
	const short, long = 2, 6
	switch {
	case text[1] == 'u' && len(text) >= long && isHex(text[short:long]):
		return `\x{` + text[short:long] + `}`, long
	case text[1] == 's':
		return blanks, short
	case text[1] == 'S':
		return notBlanks, short
	default:
		return text[:short], short
	}
}

func isHex(text string) bool {
	_, err := strconv.ParseUint(text, 16, 32)
	return err == nil
}

// takeSteps returns how much work was done since it was called last.
func (s *schemas) takeSteps() int64 { return s.steps.Swap(0) }
