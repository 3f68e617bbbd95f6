package template

import (
	"sync"
	"time"

	"github.com/mockbase/mockbase/engine/regex"
)

const (
	// maxCached bounds what a template keeps compiled of each kind. Most patterns are literals of the template.
	maxCached = 64
	// maxPattern bounds a JSONPath or XPath in bytes.
	maxPattern = regex.MaxLength
)

// cache keeps what functions compile: patterns, paths and zones. It belongs to one template and is shared by its
// executions.
type cache struct {
	patterns memory[*regex.Pattern]
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

func (c *cache) pattern(text string) (*regex.Pattern, error) {
	return c.patterns.get(text, compilePattern)
}

func compilePattern(text string) (*regex.Pattern, error) {
	compiled, err := regex.Compile(text)
	if err != nil {
		return nil, failuref("%s", err)
	}
	return compiled, nil
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
