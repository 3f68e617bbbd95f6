package engine

import (
	"fmt"
	"net/textproto"
	"reflect"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/body"
	"github.com/mockbase/mockbase/engine/operator"
)

// named examines what is said of queries, headers and cookies.
func (x *skeptic) named(list []premise) []operator.Contradiction {
	var found []operator.Contradiction
	for _, part := range []struct {
		key     string
		of      func(*mockbase.Condition) []mockbase.NamedMatch
		subject operator.Subject
	}{
		{"query", func(c *mockbase.Condition) []mockbase.NamedMatch { return c.Query }, operator.Subject{}},
		{"headers", func(c *mockbase.Condition) []mockbase.NamedMatch { return c.Headers }, operator.Subject{Joins: true, Impossible: notInHeader}},
		{"cookies", func(c *mockbase.Condition) []mockbase.NamedMatch { return c.Cookies }, operator.Subject{Impossible: notInCookie}},
	} {
		part.subject.Budget = x.budget
		stated, order := byName(list, part.key, part.of)
		for _, name := range order {
			for _, c := range part.subject.Texts(stated[name]...) {
				c.At, _, _ = strings.Cut(c.At, deniedMark)
				found = append(found, c)
			}
		}
	}
	return found
}

// byName returns the matches on each name, and the names in their order.
func byName(list []premise, key string, of func(*mockbase.Condition) []mockbase.NamedMatch) (stated map[string][]operator.Stated, order []string) {
	stated = map[string][]operator.Stated{}
	for _, p := range list {
		for _, n := range of(p.Condition) {
			name := nameOf(key, &n)
			if stated[name] == nil {
				order = append(order, name)
			}
			stated[name] = append(stated[name], operator.Stated{Match: n.Match, At: pointerTo(p.at, key, mockbase.PointerToken(n.Name))})
		}
		if n := denied(p.Not, of); n != nil && stated[nameOf(key, n)] != nil {
			at := pointerTo(p.at, "not", key, mockbase.PointerToken(n.Name)) + deniedMark
			stated[nameOf(key, n)] = append(stated[nameOf(key, n)], operator.Stated{Match: mockbase.Match{{Not: &n.Match[0]}}, At: at})
		}
	}
	return stated, order
}

// deniedMark ends the pointers of matches that a condition denies as a whole.
const deniedMark = "\x00"

// nameOf is the form in which names of a part are equal.
func nameOf(key string, n *mockbase.NamedMatch) string {
	if key == "headers" {
		return textproto.CanonicalMIMEHeaderKey(n.Name)
	}
	return n.Name
}

// denied is the one match of a part that a negation is about, nil where it is about anything else.
func denied(not *mockbase.Condition, of func(*mockbase.Condition) []mockbase.NamedMatch) *mockbase.NamedMatch {
	if not == nil {
		return nil
	}
	list := of(not)
	if len(list) != 1 || len(list[0].Match) != 1 {
		return nil
	}
	if n := len(not.Path) + len(not.Query) + len(not.Headers) + len(not.Cookies); n != 1 || not.Auth != nil || not.Body != nil ||
		len(not.States) > 0 || not.Call != nil || len(not.AnyOf)+len(not.AllOf) > 0 || not.Not != nil {
		return nil
	}
	return &list[0]
}

// edged tells whether a text has a blank at an end that an operator wants there.
func edged(name, text string) bool {
	return name != "contains" && name != "endsWith" && text != strings.TrimLeft(text, " \t") ||
		name != "contains" && name != "startsWith" && text != strings.TrimRight(text, " \t")
}

// notInHeader says why no header has a text (rule D2).
func notInHeader(name, text string) string {
	switch {
	case strings.ContainsAny(text, "\r\n\x00"):
		return "a header holds no line end and no NUL"
	case edged(name, text):
		return "blanks at the ends of a header do not belong to its value"
	default:
		return ""
	}
}

// notInCookie says why no cookie has a text (rule E1).
func notInCookie(name, text string) string {
	switch {
	case strings.Contains(text, ";"):
		return "a semicolon ends the value of a cookie"
	case strings.ContainsAny(text, "\r\n\x00"):
		return "a cookie holds no line end and no NUL"
	case edged(name, text):
		return "blanks at the ends of a cookie do not belong to its value"
	default:
		return ""
	}
}

// parameters examines what is said of the parameters of the path.
func (x *skeptic) parameters(list []premise) []operator.Contradiction {
	stated, order := byName(list, "path", func(c *mockbase.Condition) []mockbase.NamedMatch { return c.Path })
	var found []operator.Contradiction
	for _, name := range order {
		subject := operator.Subject{Single: true, Always: x.route.pattern.expr == nil, Budget: x.budget}
		if known := x.route.pattern.names(); !slices.Contains(known, name) {
			if c := unnamed(stated[name], name, known); c != nil {
				return append(found, *c)
			}
			continue
		}
		found = append(found, subject.Texts(stated[name]...)...)
	}
	return found
}

// unnamed tells of a match on a parameter that the path does not have, nil where that holds.
func unnamed(list []operator.Stated, name string, known []string) *operator.Contradiction {
	for _, s := range list {
		var faults mockbase.Faults
		if operator.Texts(s.Match, s.At, &faults).Holds(&texts{}) || faults.Len() > 0 {
			continue
		}
		detail := "the path has no parameter " + quoted(name)
		if suggestion := mockbase.Suggest(name, known); suggestion != "" {
			detail += ", did you mean " + quoted(suggestion) + "?"
		} else if len(known) > 0 {
			detail += ", it has " + strings.Join(known, ", ")
		}
		return &operator.Contradiction{At: s.At, Detail: detail}
	}
	return nil
}

// credentials examines what is said of user names, passwords and tokens (rule D7).
func credentials(budget *int) func(list []premise) []operator.Contradiction {
	single := operator.Subject{Single: true, Budget: budget}
	name := single
	name.Impossible = func(_, text string) string {
		if strings.Contains(text, ":") {
			return "the first colon ends the user name"
		}
		return ""
	}
	return func(list []premise) []operator.Contradiction {
		var found []operator.Contradiction
		for _, p := range list {
			if p.Auth == nil {
				continue
			}
			at := pointerTo(p.at, "auth")
			if basic := p.Auth.Basic; basic != nil {
				found = append(found, name.Texts(operator.Stated{Match: basic.Username, At: pointerTo(at, "basic", "username")})...)
				found = append(found, single.Texts(operator.Stated{Match: basic.Password, At: pointerTo(at, "basic", "password")})...)
			}
			found = append(found, single.Texts(operator.Stated{Match: p.Auth.Bearer, At: pointerTo(at, "bearer")})...)
		}
		return found
	}
}

func (x *skeptic) bodies(list []premise) []operator.Contradiction {
	var stated []body.Stated
	for _, p := range list {
		if p.Body != nil {
			stated = append(stated, body.Stated{Match: p.Body, At: pointerTo(p.at, "body")})
		}
	}
	if len(stated) == 0 {
		return nil
	}
	return body.Contradictions(x.budget, stated...)
}

// moments examines what is said of the state of the scenario and of the number of the call.
func (x *skeptic) moments(list []premise) []operator.Contradiction {
	var calls []operator.Stated
	for i, p := range list {
		if p.Call != nil {
			calls = append(calls, operator.Stated{Match: mockbase.Match{*p.Call}, At: pointerTo(p.at, "call")})
		}
		for _, before := range list[:i] {
			if statesApart(before.States, p.States) {
				return []operator.Contradiction{{At: pointerTo(p.at, "state"), Detail: fmt.Sprintf(
					"state %s excludes state %s", strings.Join(p.States, ", "), strings.Join(before.States, ", "))}}
			}
		}
	}
	return operator.Subject{Budget: x.budget}.Numbers(1, calls...)
}

// formTypes finds conditions on forms beside a Content-Type that is that of none (rules I2 and I5).
func formTypes(list []premise) []operator.Contradiction {
	sent, isKnown := contentType(list)
	if !isKnown {
		return nil
	}
	for _, p := range list {
		if key := body.NeedsForm(p.Body, sent); key != "" {
			return []operator.Contradiction{{
				At: pointerTo(p.at, "body", key), Detail: key + " excludes the Content-Type " + sent + ", by which no form is read",
			}}
		}
	}
	return nil
}

// contentType is the media type that premises want.
func contentType(list []premise) (text string, isKnown bool) {
	for _, p := range list {
		for _, n := range p.Headers {
			if text, isKnown = typeWanted(n.Match); isKnown && strings.EqualFold(n.Name, headerContentType) {
				return text, true
			}
		}
	}
	return "", false
}

// typeWanted is the media type that a match on the Content-Type wants.
func typeWanted(m mockbase.Match) (text string, isKnown bool) {
	for i := range m {
		switch o := &m[i]; {
		case o.MediaType != nil:
			return *o.MediaType, true
		case o.Equals != nil:
			return strings.Trim(string(o.Equals), `"`), true
		}
	}
	return "", false
}

// operations finds operations of GraphQL that the methods of the mock cannot carry.
func (x *skeptic) operations(list []premise) []operator.Contradiction {
	methods := x.mock.Request.Methods
	if len(methods) == 0 || slices.ContainsFunc(methods, func(name string) bool { return name != "GET" && name != "HEAD" }) {
		return nil
	}
	for _, p := range list {
		if p.Body == nil {
			continue
		}
		if kind := body.Executes(p.Body); kind != "" && kind != "query" {
			return []operator.Contradiction{{
				At: pointerTo(p.at, "body", "graphql"), Detail: "a " + kind + " excludes the method " + strings.Join(methods, ", ") +
					", which cannot carry it; write method: POST",
			}}
		}
	}
	return nil
}

// negations finds negations of all that is stated beside them.
func negations(list []premise) []operator.Contradiction {
	for _, p := range list {
		if p.Not != nil && !p.Not.Empty() && states(list, p.Not) {
			return []operator.Contradiction{{At: pointerTo(p.at, "not"), Detail: "not excludes what stands beside it, which is the same"}}
		}
	}
	return nil
}

// states tells whether premises state all that a condition does.
func states(list []premise, c *mockbase.Condition) bool {
	if len(c.AnyOf)+len(c.AllOf) > 0 || c.Not != nil {
		return false
	}
	some := func(is func(p premise) bool) bool { return slices.ContainsFunc(list, is) }
	return namesStated(list, c) &&
		(c.Auth == nil || some(func(p premise) bool { return reflect.DeepEqual(p.Auth, c.Auth) })) &&
		(c.Body == nil || some(func(p premise) bool { return reflect.DeepEqual(p.Body, c.Body) })) &&
		(c.Call == nil || some(func(p premise) bool { return reflect.DeepEqual(p.Call, c.Call) })) &&
		(len(c.States) == 0 || some(func(p premise) bool { return within(p.States, c.States) }))
}

// namesStated tells whether premises state all matches of a condition on names.
func namesStated(list []premise, c *mockbase.Condition) bool {
	for _, of := range []func(*mockbase.Condition) []mockbase.NamedMatch{
		func(c *mockbase.Condition) []mockbase.NamedMatch { return c.Path },
		func(c *mockbase.Condition) []mockbase.NamedMatch { return c.Query },
		func(c *mockbase.Condition) []mockbase.NamedMatch { return c.Headers },
		func(c *mockbase.Condition) []mockbase.NamedMatch { return c.Cookies },
	} {
		for _, n := range of(c) {
			isSame := func(other mockbase.NamedMatch) bool { return reflect.DeepEqual(n, other) }
			if !slices.ContainsFunc(list, func(p premise) bool { return slices.ContainsFunc(of(p.Condition), isSame) }) {
				return false
			}
		}
	}
	return true
}

// within tells whether there are states, all of them among others.
func within(own, others []string) bool {
	return len(own) > 0 && !slices.ContainsFunc(own, func(s string) bool { return !slices.Contains(others, s) })
}

// ofTarget finds conditions on a query that is known (rule C12).
func (x *skeptic) ofTarget() []operator.Contradiction {
	g := x.route.guards
	if g.raw == nil {
		return nil
	}
	pairs := parseQuery(g.raw.text)
	for i := range g.query {
		if c := &g.query[i]; !c.holdsFor(valuesOf(pairs, c.name)) {
			return []operator.Contradiction{{
				At: pointerTo("#/request/query", mockbase.PointerToken(c.name)), Detail: "it excludes rawTarget, whose query is known",
			}}
		}
	}
	if !g.strictQuery {
		return nil
	}
	for _, p := range pairs {
		if !g.mention(p.name) {
			return []operator.Contradiction{{
				At: "#/request/strictQuery", Detail: "strictQuery excludes " + quoted(p.name) + " of rawTarget, which query does not mention",
			}}
		}
	}
	return nil
}
