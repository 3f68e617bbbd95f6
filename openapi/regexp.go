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

// translatedPattern writes what the two dialects spell differently: \uXXXX.
func translatedPattern(pattern string) string {
	if !strings.Contains(pattern, `\u`) {
		return pattern
	}
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '\\' || i+1 == len(pattern) {
			b.WriteByte(pattern[i])
			continue
		}
		if pattern[i+1] == 'u' && i+6 <= len(pattern) && isHex(pattern[i+2:i+6]) {
			b.WriteString(`\x{` + pattern[i+2:i+6] + `}`)
			i += 5
			continue
		}
		b.WriteString(pattern[i : i+2])
		i++
	}
	return b.String()
}

func isHex(text string) bool {
	_, err := strconv.ParseUint(text, 16, 32)
	return err == nil
}

// takeSteps returns how much work was done since it was called last.
func (s *schemas) takeSteps() int64 { return s.steps.Swap(0) }
