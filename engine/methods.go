package engine

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// method is the method of a request and what it may be answered with.
type method struct {
	name string
	// derived tells that a mock for GET answers too: HEAD, unless the project has strict methods (rule L1).
	derived bool
	// stated tells that only a mock which names the method answers it, and none for ANY (rule L8).
	stated bool
}

func (s *settings) method(name string) method {
	return method{
		name:    name,
		derived: name == http.MethodHead && !s.strictMethods,
		stated:  name == http.MethodTrace || name == http.MethodConnect,
	}
}

// methodSet are the methods that some mocks state.
type methodSet struct {
	// names are sorted and without doubles.
	names []string
	any   bool
}

func (m *methodSet) add(name string) {
	if name == mockbase.MethodAny {
		m.any = true
		return
	}
	if at, found := slices.BinarySearch(m.names, name); !found {
		m.names = slices.Insert(m.names, at, name)
	}
}

func (m *methodSet) clone() methodSet {
	return methodSet{names: slices.Clone(m.names), any: m.any}
}

func (m *methodSet) join(other *methodSet) {
	m.any = m.any || other.any
	for _, name := range other.names {
		m.add(name)
	}
}

// complete adds what follows from the stated methods: the usual ones for ANY, HEAD for GET, and OPTIONS always (rules L4
// and L7).
func (m *methodSet) complete(s *settings) []string {
	all := methodSet{names: slices.Clone(m.names)}
	if m.any {
		for _, name := range []string{http.MethodDelete, http.MethodGet, http.MethodPatch, http.MethodPost, http.MethodPut} {
			all.add(name)
		}
	}
	if _, found := slices.BinarySearch(all.names, http.MethodGet); found && (m.any || !s.strictMethods) {
		all.add(http.MethodHead)
	}
	all.add(http.MethodOptions)
	return all.names
}

// allow is the value of an Allow header.
func (m *methodSet) allow(s *settings) string {
	return strings.Join(m.complete(s), ", ")
}
