package engine

import (
	"slices"
	"strings"
)

const (
	// mostPassed is how many neighbours of one mock are looked at, mostWeighed with how many of them its conditions are
	// weighed: one that has more which exclude it is one of a table, and not told of.
	mostPassed, mostWeighed = 300, 8
	// weighing is how many clauses are looked at to weigh two mocks.
	weighing = 500
)

// tied returns the newest mock of own's rank that may match the same requests and wins by its age, nil if there is none.
func (p *program) tied(own *entry) *entry {
	if !own.guarded {
		return nil
	}
	var best *entry
	for _, l := range p.rivals(own) {
		all := l.all()
		at, _ := slices.BinarySearchFunc(all, own, func(e, own *entry) int { return strings.Compare(e.precedence, own.precedence) })
		best = sooner(best, firstTied(all[at:min(len(all), at+mostPassed)], own))
	}
	return best
}

// firstTied is the first of some mocks in their order that ties with own, nil if there is none.
func firstTied(list []*entry, own *entry) *entry {
	weighed := 0
	for _, other := range list {
		if weighed == mostWeighed || compare(other, own) >= 0 {
			return nil
		}
		if !mayTie(other, own) {
			continue
		}
		if weighed++; !excluding(other, own) {
			return other
		}
	}
	return nil
}

// mayTie tells whether only age decides between two mocks, as far as that shows without their conditions.
func mayTie(other, own *entry) bool {
	return other.precedence == own.precedence && other.rank == own.rank && other.guarded &&
		(own.pattern.expr == nil || takesPath(other.pattern, own.pattern)) && (takesHosts(other, own) || takesHosts(own, other)) && sharesMethod(other, own) && !apart(other, own)
}

// apart tells that no request matches both mocks, as they wait for other states of one scenario, for other targets, or for
// bodies of which none is as both want it.
func apart(other, own *entry) bool {
	a, b := other.mock, own.mock
	if a.Scenario != "" && a.Scenario == b.Scenario && statesApart(a.States, b.States) {
		return true
	}
	if x, y := other.guards.raw, own.guards.raw; x != nil && y != nil && *x != *y {
		return true
	}
	return other.guards.body != nil && own.guards.body != nil && other.guards.body.Apart(own.guards.body)
}

// excluding tells that the conditions of two mocks contradict one another (rule C7).
func excluding(other, own *entry) bool {
	a, b := other.mock, own.mock
	if a.Scenario != b.Scenario && (other.selection.momentary || own.selection.momentary) {
		return false
	}
	budget := weighing
	x := &skeptic{mock: b, route: own.route, budget: &budget}
	var list []premise
	for _, m := range []*entry{other, own} {
		stated := stated(m.mock)
		stated.States = nil // which may be those of two scenarios
		list = append(list, premises(stated, "")...)
	}
	return x.alternatives(list, list) != nil
}

func statesApart(a, b []string) bool {
	return len(a) > 0 && len(b) > 0 && !slices.ContainsFunc(a, func(state string) bool { return slices.Contains(b, state) })
}

func sharesMethod(other, own *entry) bool {
	return slices.ContainsFunc(own.mock.Request.Methods, func(name string) bool { return other.accepts(&method{name: name}) })
}
