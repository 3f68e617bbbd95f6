package engine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/body"
	"github.com/mockbase/mockbase/engine/operator"
)

// examined is how many clauses of one mock are looked at for contradictions.
const examined = 20_000

// contradictions tells which conditions of a mock never hold, whatever the request is, and which alternatives and negations
// inside them make no difference. Pointers are relative to the mock.
func contradictions(m *mockbase.Mock, r *route) []mockbase.FieldError {
	budget := examined
	x := &skeptic{mock: m, route: r, budget: &budget}
	request := x.requested()
	var list []mockbase.FieldError
	found := x.examine(request)
	if !isWhole(found) {
		found = append(found, x.ofTarget()...)
	}
	for i := range found {
		list = append(list, contradicted(&found[i], "the mock never answers"))
	}
	never := isWhole(found)
	for i := range m.Responses {
		own := &m.Responses[i]
		if own.When != nil {
			list = append(list, x.ofResponse(own, i, request, never)...)
		}
		list = append(list, x.ofMessages(own, i)...)
	}
	return list
}

// contradicted is a contradiction as a warning; so is what comes of it.
func contradicted(c *operator.Contradiction, so string) mockbase.FieldError {
	fix := ": change or remove it"
	if strings.Contains(c.Detail, " excludes ") {
		fix = ": change or remove one of the two"
	}
	if c.Partial {
		return mockbase.FieldError{Pointer: c.At, Code: mockbase.WarningUnused, Detail: printable(c.Detail) + fix}
	}
	return mockbase.FieldError{Pointer: c.At, Code: mockbase.WarningUnreachable, Detail: so + ", as " + printable(c.Detail) + fix}
}

func isWhole(list []operator.Contradiction) bool {
	return slices.ContainsFunc(list, func(c operator.Contradiction) bool { return !c.Partial })
}

// premise is a condition that must hold, at its place.
type premise struct {
	*mockbase.Condition
	at string
}

// skeptic looks for conditions that never hold.
type skeptic struct {
	mock   *mockbase.Mock
	route  *route
	budget *int
}

// requested are the conditions of the request.
func (x *skeptic) requested() []premise {
	return premises(stated(x.mock), "#/request")
}

// stated is what a mock says of requests beside their target.
func stated(m *mockbase.Mock) *mockbase.Condition {
	r := &m.Request
	return &mockbase.Condition{
		Query: r.Query, Headers: r.Headers, Cookies: r.Cookies, Auth: r.Auth, Body: r.Body, States: m.States,
		AnyOf: r.AnyOf, AllOf: r.AllOf, Not: r.Not,
	}
}

// premises are a condition and what allOf says beside it.
func premises(c *mockbase.Condition, at string) []premise {
	list := []premise{{c, at}}
	for i := range c.AllOf {
		list = append(list, premises(&c.AllOf[i], at+"/allOf/"+strconv.Itoa(i))...)
	}
	return list
}

// ofResponse examines the condition of a response, beside those of the request where they may hold.
func (x *skeptic) ofResponse(own *mockbase.Response, i int, request []premise, never bool) []mockbase.FieldError { //nolint:revive // never is known of the request
	when := premises(own.When, pointerTo(responsePointer(x.mock, i), "when"))
	found := x.examine(when)
	if !isWhole(found) && !never {
		found = append(found, wholeOf(x.alternatives(slices.Concat(request, when), when))...)
	}
	list := make([]mockbase.FieldError, len(found))
	for i := range found {
		list[i] = contradicted(&found[i], "the response is never chosen")
	}
	return list
}

func wholeOf(c *operator.Contradiction) []operator.Contradiction {
	if c == nil {
		return nil
	}
	return []operator.Contradiction{*c}
}

// ofMessages examines what a WebSocket waits for (rule U11).
func (x *skeptic) ofMessages(own *mockbase.Response, i int) []mockbase.FieldError {
	if own.WebSocket == nil {
		return nil
	}
	var list []mockbase.FieldError
	for j := range own.WebSocket.OnMessage {
		when := own.WebSocket.OnMessage[j].When
		if when == nil {
			continue
		}
		at := pointerTo(responsePointer(x.mock, i), "webSocket", "onMessage", strconv.Itoa(j), "when")
		found := body.Contradictions(x.budget, body.Stated{Match: body.OfMessage(when), At: at})
		for k := range found {
			list = append(list, contradicted(&found[k], "the entry never answers"))
		}
	}
	return list
}

// examine returns why conditions never hold together, and what of them makes no difference.
func (x *skeptic) examine(list []premise) []operator.Contradiction {
	if c := x.alternatives(list, list); c != nil {
		return []operator.Contradiction{*c}
	}
	var partial []operator.Contradiction
	for _, p := range list {
		partial = append(partial, x.together([]premise{p})...)
		for i := range p.AnyOf {
			one := premises(&p.AnyOf[i], p.at+"/anyOf/"+strconv.Itoa(i))
			partial = append(partial, asPart(x.alternatives(slices.Concat(list, one), one), ", so that this alternative never counts")...)
		}
		if p.Not != nil {
			inner := premises(p.Not, p.at+"/not")
			partial = append(partial, asPart(x.alternatives(inner, inner), ", so that the negation always holds")...)
		}
	}
	return partial
}

func asPart(c *operator.Contradiction, says string) []operator.Contradiction {
	if c == nil {
		return nil
	}
	return []operator.Contradiction{{At: c.At, Detail: c.Detail + says, Partial: true}}
}

// alternatives returns why conditions never hold together, nil where they may. Alternatives of fresh ones are looked into.
func (x *skeptic) alternatives(list, fresh []premise) *operator.Contradiction {
	if *x.budget -= len(list); *x.budget < 0 {
		return nil
	}
	for _, c := range x.together(list) {
		if !c.Partial {
			return &c
		}
	}
	for _, p := range fresh {
		if first := x.none(list, &p); first != nil {
			return &operator.Contradiction{At: p.at + "/anyOf", Detail: "no alternative can hold: " + first.Detail}
		}
	}
	return nil
}

// none returns why the first alternative of a premise never holds if none does.
func (x *skeptic) none(list []premise, p *premise) *operator.Contradiction {
	var first *operator.Contradiction
	for i := range p.AnyOf {
		one := premises(&p.AnyOf[i], p.at+"/anyOf/"+strconv.Itoa(i))
		c := x.alternatives(slices.Concat(list, one), one)
		if c == nil {
			return nil
		}
		if first == nil {
			first = c
		}
	}
	return first
}

// together examines what conditions say of each part of a request, without their alternatives.
func (x *skeptic) together(list []premise) []operator.Contradiction {
	var found []operator.Contradiction
	for _, look := range []func([]premise) []operator.Contradiction{
		x.named, x.parameters, credentials(x.budget), x.bodies, x.moments, formTypes, x.operations, negations,
	} {
		found = append(found, look(list)...)
		if isWhole(found) {
			break
		}
	}
	return found
}
