package mockbase

import "math"

// conditionSite tells where a condition stands: the number of the call can be asked for in a response alone.
type conditionSite int

const (
	inRequest conditionSite = iota
	inResponse
)

// decodeCondition reads a set of matches.
func decodeCondition(at place, site conditionSite) *Condition {
	f := at.fields()
	c := &Condition{}
	c.Path = decodeMatches(f.entries("path"))
	c.Query = decodeMatches(f.entries("query"))
	c.Headers = decodeHeaderMatches(f)
	c.Cookies = decodeCookieMatches(f)
	c.Auth = decodeMember(f, "auth", decodeAuth)
	c.Body = decodeMember(f, "body", decodeBodyMatch)
	if state, ok := f.at("state"); ok {
		c.States = decodeStates(state)
	}
	if site == inResponse {
		c.Call = decodeMember(f, "call", func(at place) *Operators { return decodeCount(at, 1) })
	}
	c.AnyOf = decodeConditions(f, "anyOf", site)
	c.AllOf = decodeConditions(f, "allOf", site)
	if not, ok := f.at("not"); ok {
		c.Not = decodeCondition(not, site)
	}
	f.Done()
	f.needsAny("condition")
	return c
}

// needsAny notes an object that is empty.
func (f *Fields) needsAny(what string) {
	if len(f.node.Members) == 0 && !f.broken {
		f.faults.Add(f.node, f.pointer, FieldRange, "must have at least one %s", what)
	}
}

func decodeConditions(f *Fields, name string, site conditionSite) []Condition {
	list := f.list(name, 1, math.MaxInt)
	if list == nil {
		return nil
	}
	conditions := make([]Condition, len(list))
	for i, at := range list {
		conditions[i] = *decodeCondition(at, site)
	}
	return conditions
}

// decodeAuth reads a match on credentials (rule D7).
func decodeAuth(at place) *AuthMatch {
	f := at.fields()
	auth := &AuthMatch{}
	if basic := f.Object("basic"); basic != nil {
		auth.Basic = &BasicMatch{}
		if at, ok := basic.at("username"); ok {
			auth.Basic.Username = decodeMatch(at)
		}
		if at, ok := basic.at("password"); ok {
			auth.Basic.Password = decodeMatch(at)
		}
		basic.Done()
		basic.needsAny("of username and password")
	}
	if at, ok := f.at("bearer"); ok {
		auth.Bearer = decodeMatch(at)
	}
	f.exactlyOne("basic", "bearer")
	f.Done()
	return auth
}
