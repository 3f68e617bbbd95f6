package template

import (
	"regexp"
	"regexp/syntax"
	"sync"
	"time"
)

const (
	// maxCached bounds what a template keeps compiled of each kind. Most patterns are literals of the template.
	maxCached = 64
	// maxPattern bounds a regular expression or JSONPath in bytes.
	maxPattern = 1000
	// maxInstructions bounds the program of a regular expression: a{1000} is short to write.
	maxInstructions = 5000
	// maxMatching bounds the bytes of a text times the instructions of a pattern.
	maxMatching = 20_000_000
)

// cache keeps what functions compile: patterns, paths and zones. It belongs to one template and is shared by its
// executions.
type cache struct {
	patterns memory[*pattern]
	paths    memory[*query]
	zones    memory[*time.Location]
}

func newCache() *cache { return new(cache) }

// memory keeps values that are made from texts.
type memory[V any] struct {
	mu    sync.RWMutex
	known map[string]V
}

// get gives the value of a text, making it if need be. When the memory is full it starts anew, so that what nobody asks for
// any more goes.
func (m *memory[V]) get(text string, compile func(string) (V, error)) (V, error) {
	m.mu.RLock()
	v, ok := m.known[text]
	m.mu.RUnlock()
	if ok {
		return v, nil
	}
	v, err := compile(text)
	if err != nil {
		return v, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil || len(m.known) >= maxCached {
		m.known = make(map[string]V)
	}
	m.known[text] = v
	return v, nil
}

// pattern is a compiled regular expression with the length of its program.
type pattern struct {
	expression   *regexp.Regexp
	instructions int
}

func (c *cache) pattern(text string) (*pattern, error) { return c.patterns.get(text, compilePattern) }

func compilePattern(text string) (*pattern, error) {
	if len(text) > maxPattern {
		return nil, failuref("the pattern is longer than %d bytes", maxPattern)
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, failuref("the pattern does not compile: %s", err)
	}
	machine, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, failuref("the pattern does not compile: %s", err)
	}
	if len(machine.Inst) > maxInstructions {
		return nil, failuref("the pattern is too large: it has %d instructions, at most %d are allowed", len(machine.Inst), maxInstructions)
	}
	expression, err := regexp.Compile(text)
	if err != nil {
		return nil, failuref("the pattern does not compile: %s", err)
	}
	return &pattern{expression: expression, instructions: len(machine.Inst)}, nil
}

// zone gives a time zone by its name in the tz database.
func (c *cache) zone(name string) (*time.Location, error) {
	return c.zones.get(name, func(name string) (*time.Location, error) {
		if name == "" || name == "Local" {
			return nil, failuref("%s is no time zone", shorten(name))
		}
		zone, err := time.LoadLocation(name)
		if err != nil {
			return nil, failuref("%s is no time zone", shorten(name))
		}
		return zone, nil
	})
}
