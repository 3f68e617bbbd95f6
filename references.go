package mockbase

import (
	"slices"
)

// limitUser is a rate limit at its place.
type limitUser struct {
	limit   *RateLimit
	pointer string
}

// check notes the policies that a limit uses and that do not exist.
func (u limitUser) check(c *Config, faults *Faults) {
	if u.limit == nil {
		return
	}
	for i, l := range u.limit.Limits {
		if l.Use == "" || slices.ContainsFunc(c.RateLimits, func(n NamedLimit) bool { return n.Name == l.Use }) {
			continue
		}
		names := make([]string, len(c.RateLimits))
		for j, n := range c.RateLimits {
			names[j] = n.Name
		}
		faults.Append(missing(u.usePointer(i), "rateLimits has no "+quote(l.Use), l.Use, names))
	}
}

// usePointer points at the use of one limit.
func (u limitUser) usePointer(i int) string {
	if !u.limit.List {
		return u.pointer + "/use"
	}
	return itemPointer(u.pointer, i) + "/use"
}

// missing is the fault of naming what does not exist.
func missing(pointer, detail, name string, known []string) FieldError {
	fault := FieldError{Pointer: pointer, Code: FieldReference, Detail: detail, Suggestion: Suggest(name, known)}
	switch {
	case fault.Suggestion != "":
		fault.Detail += ", did you mean " + quote(fault.Suggestion) + "?"
	case len(known) > 0:
		fault.Detail += ": it has " + alternatives(known)
	}
	return fault
}

// limitUsers lists the places of a configuration that may use a named policy.
func (c *Config) limitUsers() []limitUser {
	users := []limitUser{{c.Defaults.RateLimit, "#/defaults/rateLimit"}}
	for i := range c.Collections {
		users = append(users, limitUser{c.Collections[i].RateLimit, childPointer("#/collections", c.Collections[i].Name) + "/rateLimit"})
	}
	for i := range c.Documents {
		users = append(users, limitUser{c.Documents[i].RateLimit, itemPointer("#/documents", i) + "/rateLimit"})
	}
	return users
}

// checkRelations notes relations to collections that do not exist.
func (c *Config) checkRelations(faults *Faults) {
	names := make([]string, len(c.Collections))
	for i := range c.Collections {
		names[i] = c.Collections[i].Name
	}
	for i := range c.Collections {
		for _, r := range c.Collections[i].Relations {
			if r.To != "" && !slices.Contains(names, r.To) {
				pointer := childPointer(childPointer("#/collections", names[i])+"/relations", r.Member) + "/to"
				faults.Append(missing(pointer, "there is no collection "+quote(r.To), r.To, names))
			}
		}
	}
}

// CheckReferences lists what the mock names and the configuration does not have: the policies that its rate limit uses.
// Pointers are relative to the mock.
func (m *Mock) CheckReferences(c *Config) []FieldError {
	faults := &Faults{}
	limitUser{m.RateLimit, "#/rateLimit"}.check(c, faults)
	return faults.Fields()
}

// checkReferences notes what a definition names and does not have.
func checkReferences(f *Fields, d *Definition) {
	found := &Faults{}
	if f.readable("collections", NodeObject) {
		d.Config.checkRelations(found)
	}
	users := d.Config.limitUsers()
	for i, m := range d.Mocks {
		users = append(users, limitUser{m.RateLimit, itemPointer("#/mocks", i) + "/rateLimit"})
	}
	for _, user := range users {
		if f.readable("rateLimits", NodeObject) {
			user.check(&d.Config, found)
		}
	}
	for _, fault := range found.list {
		f.faults.Append(locate(f.node, fault))
	}
}
