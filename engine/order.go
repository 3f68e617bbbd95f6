package engine

import (
	"cmp"
	"net/http"
	"strings"
)

// entry is a route at its place in a program.
type entry struct {
	*route
	// age is the place in creation order; the larger is the newer. It is the place in the program's layout, too.
	age int
	// scenario is the place of the mock's scenario in the program, or session.NoScenario.
	scenario int
}

// is tells whether two entries are one: those of a program that took over the index of another are in both.
func (e *entry) is(other *entry) bool { return e.age == other.age }

// rank says how exactly a mock states the method of a request; the smaller is tried first (rule A2).
type rank uint8

// The ranks. A HEAD request prefers a mock for HEAD to one for GET (rule L1); to other requests both are exact.
const (
	rankExact rank = iota
	rankDerived
	rankAny
)

// compare orders entries for every method but HEAD: by priority, specificity of the path, method, guards and age (rules
// A2 to A7). No two are equal, so that the same request always selects the same mock.
func compare(a, b *entry) int {
	return compareAt(a, b, a.rank, b.rank)
}

// compareHead orders entries for HEAD requests.
func compareHead(a, b *entry) int {
	return compareAt(a, b, a.headRank, b.headRank)
}

func compareAt(a, b *entry, ofA, ofB rank) int {
	if c := strings.Compare(a.precedence, b.precedence); c != 0 {
		return c
	}
	if c := cmp.Compare(ofA, ofB); c != 0 {
		return c
	}
	if a.guarded != b.guarded {
		if a.guarded {
			return -1
		}
		return 1
	}
	return cmp.Compare(b.age, a.age)
}

// comparison returns the order for a request method.
func comparison(name string) func(a, b *entry) int {
	if name == http.MethodHead {
		return compareHead
	}
	return compare
}
