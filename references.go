package mockbase

import (
	"slices"
	"strings"
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
		at := itemPointer("#/documents", i)
		users = append(users, limitUser{c.Documents[i].RateLimit, at + "/rateLimit"})
		for _, op := range c.Documents[i].Operations {
			users = append(users, limitUser{op.RateLimit, childPointer(at+"/operations", op.Name) + "/rateLimit"})
		}
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
	if c.readable("rateLimits") {
		limitUser{m.RateLimit, "#/rateLimit"}.check(c, faults)
	}
	return faults.Fields()
}

// CheckReferences lists what the configuration names and does not have: policies that rate limits use, and collections that
// relations lead to. Pointers are relative to the definition.
func (c *Config) CheckReferences() []FieldError {
	faults := &Faults{}
	c.checkReferences(faults)
	return faults.Fields()
}

// checkReferences notes nothing of a section that could not be read, as what it was to hold is not known.
func (c *Config) checkReferences(faults *Faults) {
	if c.readable("rateLimits") {
		for _, user := range c.limitUsers() {
			user.check(c, faults)
		}
	}
	if c.readable("collections") {
		c.checkRelations(faults)
	}
}

// readable tells whether a section could be read, or is not there.
func (c *Config) readable(section string) bool { return !slices.Contains(c.Unread, section) }

// checkReferences notes what a definition names and does not have.
func checkReferences(f *Fields, d *Definition) {
	found := &Faults{}
	d.Config.checkReferences(found)
	for i, m := range d.Mocks {
		for _, fault := range m.CheckReferences(&d.Config) {
			fault.Pointer = itemPointer("#/mocks", i) + strings.TrimPrefix(fault.Pointer, "#")
			found.Append(fault)
		}
	}
	for _, fault := range found.list {
		f.faults.Append(locate(f.node, fault))
	}
}
