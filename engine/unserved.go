package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/collection"
	"github.com/mockbase/mockbase/engine/simlimit"
)

// CheckConfig lists what of a configuration this engine cannot act on. Pointers are relative to the definition. Nothing
// that is accepted is ignored.
func (e *Engine) CheckConfig(c *mockbase.Config) []mockbase.FieldError {
	u := refusals{}
	for i := range c.Scenarios {
		_, err := compileKey(c.Scenarios[i].Keys)
		u.refuseIf(err != nil, "#/scenarios/"+mockbase.PointerToken(c.Scenarios[i].Name)+"/key")
	}
	e.checkDocuments(&u, c)
	// What else is wrong with the settings is listed below, each with its place.
	if s, err := e.compileSettings(c, &u.faults); err == nil {
		list, lost := s.seeded(c.Collections)
		for _, f := range lost {
			f.refuse(&u.faults)
		}
		collection.Compile(list, &u.faults)
		u.limits(c, s)
	}
	if most := c.Settings.MaxBody; most != nil && *most > e.options.MaxBody {
		u.faults.Append(mockbase.FieldError{
			Pointer: "#/settings/maxBody", Code: mockbase.FieldRange,
			Detail: fmt.Sprintf("%d is more than the server allows; write at most %d", *most, e.options.MaxBody),
		})
	}
	for i, origin := range c.Settings.CORS.Origins {
		if origin == "*" || origin == "null" {
			continue
		}
		if _, err := parseOrigin(origin); err != nil {
			u.faults.Append(mockbase.FieldError{
				Pointer: "#/settings/cors/origins/" + strconv.Itoa(i), Code: mockbase.FieldPattern, Detail: err.Error(),
			})
		}
	}
	return u.faults.Fields()
}

// CheckMock lists what of a mock this engine cannot act on, or cannot compile. Pointers are relative to the mock. Of a mock
// that could be read in part alone, the rest is checked: see [mockbase.MoreFaults]. A mock that has its identity already, and
// is published as it is, is not compiled again.
func (e *Engine) CheckMock(c *mockbase.Config, m *mockbase.Mock) []mockbase.FieldError {
	u := refusals{document: m.Document}
	u.refuseIf(e.options.Limits == nil && limited(m.RateLimit), "#/rateLimit")
	u.hidden(mockbase.ProseFault(m.Description), "#/description")
	u.hidden(mockbase.LineFault(m.Folder), "#/folder")
	s, served := e.checkSettings(c, m)
	if r := compileRoute(c, s, m, &u.faults); served && r != nil && u.faults.Len() == 0 {
		e.checked.put(r, s)
	}
	return u.placed()
}

// refusals collects the fields of a document that are not served.
type refusals struct {
	faults   mockbase.Faults
	document json.RawMessage
}

// refuseIf notes that the field at the pointer is not served, if it is there.
func (u *refusals) refuseIf(there bool, pointer string) { //nolint:revive // a table of refusals reads better than fifty ifs
	if there {
		u.faults.Append(notServed(pointer, pointer[strings.LastIndexByte(pointer, '/')+1:]))
	}
}

// hidden notes that a text cannot be shown, for a reason.
func (u *refusals) hidden(reason, pointer string) {
	if reason != "" {
		u.faults.Add(nil, pointer, mockbase.FieldPattern, "%s: leave it out", reason)
	}
}

// limits notes what is wrong with the named limits, the default one and those of collections, or that none is served.
func (u *refusals) limits(c *mockbase.Config, s *settings) {
	if s.limits == nil {
		u.refuseIf(len(c.RateLimits) > 0, "#/rateLimits")
		u.refuseIf(limited(c.Defaults.RateLimit), "#/defaults/rateLimit")
		for i := range c.Collections {
			u.refuseIf(limited(c.Collections[i].RateLimit), "#/collections/"+mockbase.PointerToken(c.Collections[i].Name)+"/rateLimit")
		}
		return
	}
	for i := range c.RateLimits {
		named := &c.RateLimits[i]
		b := &limitsBuilder{config: c, settings: s, faults: &u.faults}
		b.add(&mockbase.Limit{Cost: named.Policy.Cost, CostTemplate: named.Policy.CostTemplate}, &named.Policy,
			simlimit.PolicyPlace(named.Name), "#/rateLimits/"+mockbase.PointerToken(named.Name))
	}
	b := &limitsBuilder{config: c, settings: s, owner: "default", name: "default", faults: &u.faults}
	b.build(c.Defaults.RateLimit, "#/defaults/rateLimit")
	for i := range c.Collections {
		compileCollectionLimits(c, s, &c.Collections[i], &u.faults)
	}
}

// placed returns the faults with pointers that exist in the document: where the author wrote a list of one match, the
// vocabulary does not tell it from the match alone.
func (u *refusals) placed() []mockbase.FieldError {
	fields := u.faults.Fields()
	if len(fields) == 0 || len(u.document) == 0 {
		return fields
	}
	var document any
	decoder := json.NewDecoder(bytes.NewReader(u.document))
	decoder.UseNumber()
	if decoder.Decode(&document) != nil {
		return fields
	}
	for i := range fields {
		fields[i].Pointer = throughLists(fields[i].Pointer, document)
	}
	return fields
}

// throughLists adds the index 0 wherever a pointer goes on with a name and the document with a list.
func throughLists(pointer string, value any) string {
	placed := "#"
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "#/"), "/") {
		if list, ok := value.([]any); ok && len(list) > 0 {
			if _, err := strconv.Atoi(name); err != nil {
				placed, value = placed+"/0", list[0]
			}
		}
		placed += "/" + name
		value = child(value, name)
	}
	return placed
}

func child(value any, name string) any {
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			if mockbase.PointerToken(key) == name {
				return member
			}
		}
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i < len(v) {
			return v[i]
		}
	}
	return nil
}
