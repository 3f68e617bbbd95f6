package engine

import (
	"slices"
	"strconv"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/body"
	"github.com/mockbase/mockbase/engine/operator"
)

// conditions are what must hold of a request, and in a response's when of the moment too: everything that is stated
// (rule A1). They nest freely (rule K8).
type conditions struct {
	params, query, headers, cookies []condition
	auth                            *authCondition
	body                            *body.Matcher
	states                          []string
	call                            *operator.Clause[string]
	anyOf, allOf                    []*conditions
	not                             *conditions
	// stated tells that there is a condition at all, readsBody that one is about the body, at any depth, and readsParts that
	// one is about the parts or fields of a body.
	stated, readsBody, readsParts bool
}

// compileConditions compiles what stands at a JSON pointer.
func compileConditions(c *mockbase.Condition, at string, faults *mockbase.Faults) *conditions {
	compiled := &conditions{
		params:  compileNamed(c.Path, pointerTo(at, "path"), faults),
		query:   compileNamed(c.Query, pointerTo(at, "query"), faults),
		headers: compileNamed(c.Headers, pointerTo(at, "headers"), faults),
		cookies: compileNamed(c.Cookies, pointerTo(at, "cookies"), faults),
		auth:    compileAuth(c.Auth, pointerTo(at, "auth"), faults),
		states:  c.States,
		anyOf:   compileAllConditions(c.AnyOf, pointerTo(at, "anyOf"), faults),
		allOf:   compileAllConditions(c.AllOf, pointerTo(at, "allOf"), faults),
	}
	if c.Body != nil {
		compiled.body = body.Compile(c.Body, pointerTo(at, "body"), faults)
	}
	if c.Call != nil {
		call := operator.Number(c.Call, pointerTo(at, "call"), faults)
		compiled.call = &call
	}
	if c.Not != nil {
		compiled.not = compileConditions(c.Not, pointerTo(at, "not"), faults)
	}
	compiled.sumUp()
	return compiled
}

// sumUp works out what the conditions are about.
func (c *conditions) sumUp() {
	nested := slices.Concat(c.anyOf, c.allOf)
	if c.not != nil {
		nested = append(nested, c.not)
	}
	c.stated = c.named() || c.auth != nil || c.body != nil || len(c.states) > 0 || c.call != nil || len(nested) > 0
	c.readsBody = c.body != nil
	c.readsParts = c.body != nil && c.body.ReadsParts()
	for _, inner := range nested {
		c.readsBody = c.readsBody || inner.readsBody
		c.readsParts = c.readsParts || inner.readsParts
	}
}

func compileAllConditions(list []mockbase.Condition, at string, faults *mockbase.Faults) []*conditions {
	if len(list) == 0 {
		return nil
	}
	compiled := make([]*conditions, len(list))
	for i := range list {
		compiled[i] = compileConditions(&list[i], pointerTo(at, strconv.Itoa(i)), faults)
	}
	return compiled
}

func (c *conditions) named() bool {
	return len(c.params)+len(c.query)+len(c.headers)+len(c.cookies) > 0
}

// hold tells whether everything that is stated holds. What costs least is asked first.
func (c *conditions) hold(q *inquiry) bool {
	return !c.stated || c.holdNamed(q) && c.holdMoment(q) && (c.body == nil || c.holdBody(q)) && c.holdNested(q)
}

func (c *conditions) holdBody(q *inquiry) bool {
	if q.settled {
		return c.body.Settled(q.bodyMessage())
	}
	return c.body.Holds(q.bodyMessage())
}

// settleBodies tests what is said of the body, at any depth.
func (c *conditions) settleBodies(m *body.Message) {
	if c == nil || !c.readsBody {
		return
	}
	if c.body != nil {
		c.body.Settle(m)
	}
	for _, inner := range slices.Concat(c.anyOf, c.allOf) {
		inner.settleBodies(m)
	}
	c.not.settleBodies(m)
}

func (c *conditions) holdNamed(q *inquiry) bool {
	return q.allHold(c.headers, q.headerOf) && q.allHold(c.query, q.queryOf) && q.allHold(c.cookies, q.cookieOf) &&
		q.allHold(c.params, q.paramOf) && (c.auth == nil || c.auth.holds(q))
}

// allHold tells whether every condition holds for the values of its name.
func (q *inquiry) allHold(list []condition, of func(*condition) texts) bool {
	for i := range list {
		if v := of(&list[i]); q.failingOf(list[i].clauses, &v) != nil {
			return false
		}
	}
	return true
}

// holdMoment asks for the state of the scenario and the number of the call.
func (c *conditions) holdMoment(q *inquiry) bool {
	if len(c.states) > 0 && (q.moment == nil || !q.moment.inState(c.states)) {
		return false
	}
	if c.call == nil {
		return true
	}
	v := q.callValues()
	return c.call.Holds(&v)
}

// callValues is the number of the call, as the values of a name.
func (q *inquiry) callValues() texts {
	if q.moment == nil {
		return texts{}
	}
	return texts{List: []string{strconv.FormatInt(q.moment.callNumber(), 10)}}
}

func (c *conditions) holdNested(q *inquiry) bool {
	for _, inner := range c.allOf {
		if !inner.hold(q) {
			return false
		}
	}
	if c.not != nil && c.not.hold(q) {
		return false
	}
	for _, inner := range c.anyOf {
		if inner.hold(q) {
			return true
		}
	}
	return len(c.anyOf) == 0
}

// mention tells whether a condition is about a name of the query (rule C10), at any depth.
func (c *conditions) mention(name string) bool {
	for i := range c.query {
		if c.query[i].name == name {
			return true
		}
	}
	for _, inner := range c.anyOf {
		if inner.mention(name) {
			return true
		}
	}
	for _, inner := range c.allOf {
		if inner.mention(name) {
			return true
		}
	}
	return c.not != nil && c.not.mention(name)
}
