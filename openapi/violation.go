package openapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/mockbase/mockbase"
)

// The codes of violations that no keyword of JSON Schema names (rule W30).
const (
	codeMissing   = "missing"
	codeUnknown   = "unknown"
	codeCoercion  = "coercion"
	codeParse     = "parse"
	codeMediaType = "mediaType"
	codeSecurity  = "security"
	codeTooLarge  = "tooLarge"
)

// maxViolations bounds what is told about one message.
const maxViolations = 100

func violation(location, code, text string) []mockbase.Violation {
	return []mockbase.Violation{{Location: location, Code: code, Message: text, Severity: mockbase.SeverityError}}
}

// reporter turns what the validator says into violations.
type reporter struct {
	schemas *schemas
	root    place
	value   any
	spot    spot
	list    []finding
	// declared are the places of members that a schema names and that were not evaluated, as its check failed before.
	declared map[string]bool
}

// finding is a violation with the names that lead to it within the value.
type finding struct {
	mockbase.Violation

	within []string
}

// report lists all violations in the order of the document (rule W30).
func (r *reporter) report(e *jsonschema.ValidationError) []mockbase.Violation {
	r.collect(e)
	r.dropDeclared()
	o := &ordering{schemas: r.schemas, root: r.root}
	slices.SortStableFunc(r.list, func(a, b finding) int { return o.compare(a.within, b.within) })
	found := slices.CompactFunc(r.list, func(a, b finding) bool { return a.Location == b.Location && a.Code == b.Code })
	list := make([]mockbase.Violation, min(len(found), maxViolations))
	for i := range list {
		list[i] = found[i].Violation
	}
	return list
}

func (r *reporter) add(e *jsonschema.ValidationError, code, text string, names ...string) {
	at, within := r.spot, slices.Concat(e.InstanceLocation, names)
	for _, name := range within {
		at = at.child(name)
	}
	r.list = append(r.list, finding{at.violation(code, text)[0], within})
}

func (r *reporter) collect(e *jsonschema.ValidationError) {
	switch k := e.ErrorKind.(type) {
	case nil, *kind.RefCycle:
		// Schemas that mean themselves say nothing.
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		for _, cause := range e.Causes {
			r.collect(cause)
		}
	case *kind.OneOf, *kind.AnyOf:
		r.branches(e)
	case *kind.Required:
		for _, name := range k.Missing {
			r.add(e, "required", "the member is required", name)
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			r.add(e, "additionalProperties", "the member is not allowed", name)
		}
	default:
		r.other(e)
	}
}

// other reports a keyword in the validator's own words.
func (r *reporter) other(e *jsonschema.ValidationError) {
	switch k := e.ErrorKind.(type) {
	case *kind.Enum:
		r.add(e, "enum", "the value is none of "+listed(k.Want))
		return
	case *kind.Type:
		r.add(e, "type", "the value "+shownAt(r.value, e.InstanceLocation)+"is "+k.Got+", wanted is "+strings.Join(k.Want, " or "))
		return
	case *kind.FalseSchema:
		r.nothing(e)
		return
	}
	keyword := "schema"
	if names := e.ErrorKind.KeywordPath(); len(names) > 0 {
		keyword = names[0]
	}
	r.add(e, keyword, e.ErrorKind.LocalizedString(message.NewPrinter(language.English)))
}

// nothing reports a value where none is allowed.
func (r *reporter) nothing(e *jsonschema.ValidationError) {
	owner, within, _ := strings.Cut(e.SchemaURL, "#")
	slash := strings.LastIndexByte(within, '/')
	switch keyword := within[slash+1:]; {
	case slash >= 0 && keyword == "unevaluatedProperties" && len(e.InstanceLocation) > 0:
		r.add(e, keyword, "the member is not allowed")
		name := e.InstanceLocation[len(e.InstanceLocation)-1]
		if r.schemas.properties(r.schemas.placeOf(owner + "#" + within[:slash]))[name].node != nil {
			if r.declared == nil {
				r.declared = map[string]bool{}
			}
			r.declared[r.list[len(r.list)-1].Location] = true
		}
	case slash >= 0 && (keyword == "unevaluatedItems" || keyword == "items"):
		r.add(e, keyword, "the item is not allowed")
	case r.schemas.hides(r.schemas.placeOf(e.SchemaURL)):
		r.add(e, "not", "the member is not allowed in this direction")
	default:
		r.add(e, "not", "the schema allows no value here")
	}
}

// hides tells whether a property has no place in one of the directions.
func (s *schemas) hides(p place) bool {
	at, ok := s.source.follow(p)
	return p.holds("readOnly") || p.holds("writeOnly") || ok && (at.holds("readOnly") || at.holds("writeOnly"))
}

// dropDeclared leaves out that a declared member is not allowed, where something else is wrong: the member was not evaluated
// for that reason alone.
func (r *reporter) dropDeclared() {
	only := func(v finding) bool { return v.Code == "unevaluatedProperties" && r.declared[v.Location] }
	if slices.ContainsFunc(r.list, func(v finding) bool { return !only(v) }) {
		r.list = slices.DeleteFunc(r.list, only)
	}
}

// listed shows the values of an enum.
func listed(values []any) string {
	const most = 10
	var shown []string
	for i, value := range values {
		if i == most {
			shown = append(shown, "…")
			break
		}
		shown = append(shown, quoted(fmt.Sprint(value)))
	}
	return strings.Join(shown, ", ")
}

// branches reports oneOf and anyOf. Where a discriminator names the branch, its own violations are told (rule W21).
func (r *reporter) branches(e *jsonschema.ValidationError) {
	keyword := e.ErrorKind.KeywordPath()[0]
	at := r.schemas.placeOf(e.SchemaURL)
	if name := at.find("discriminator").text("propertyName"); name != "" && len(e.Causes) > 0 {
		r.discriminated(e, at, name, keyword)
		return
	}
	causes := slices.DeleteFunc(slices.Clone(e.Causes), onlyNull)
	if len(causes) == 1 {
		r.collect(causes[0])
		return
	}
	if len(e.Causes) == 0 {
		r.add(e, keyword, "the value is valid against more than one branch"+fitting(e, at)+": exactly one must fit")
		return
	}
	r.add(e, keyword, "the value is valid against none of "+strconv.Itoa(len(e.Causes))+" branches")
}

// fitting names the branches of oneOf that a value is valid against.
func fitting(e *jsonschema.ValidationError, at place) string {
	k, ok := e.ErrorKind.(*kind.OneOf)
	if !ok {
		return ""
	}
	branches, names := at.find("oneOf").items(), []string(nil)
	for _, i := range k.Subschemas {
		if i < len(branches) {
			names = append(names, branchName(branches[i], i))
		}
	}
	return ", " + strings.Join(names, " and ")
}

// branchName is the name of the schema that a branch refers to, or its number.
func branchName(branch place, i int) string {
	if ref := branch.reference(); ref != "" {
		return quoted(ref[strings.LastIndexByte(ref, '/')+1:])
	}
	return strconv.Itoa(i)
}

// onlyNull tells that a branch failed because it takes null alone.
func onlyNull(e *jsonschema.ValidationError) bool {
	k, ok := e.ErrorKind.(*kind.Type)
	if !ok && len(e.Causes) == 1 {
		return onlyNull(e.Causes[0])
	}
	return ok && len(k.Want) == 1 && k.Want[0] == "null"
}

func (r *reporter) discriminated(e *jsonschema.ValidationError, at place, name, keyword string) {
	object, ok := valueAt(r.value, e.InstanceLocation).(map[string]any)
	if !ok {
		r.add(e, "type", "the value is no object")
		return
	}
	given, ok := object[name].(string)
	if !ok {
		r.add(e, "required", "the member says which kind of object this is, and is required", name)
		return
	}
	branch := r.schemas.mapped(at, keyword, given)
	if branch < 0 {
		r.add(e, codeUnknown, "no schema is known for "+quoted(given), name)
		return
	}
	for _, cause := range e.Causes {
		if strings.HasSuffix(cause.SchemaURL, "/"+keyword+"/"+strconv.Itoa(branch)) {
			r.collect(cause)
		}
	}
}

// placeOf finds the place that the address of a compiled schema names.
func (s *schemas) placeOf(address string) place {
	base, pointer, _ := strings.Cut(address, "#")
	s.mu.Lock()
	own, _, ok := s.addressed(base)
	s.mu.Unlock()
	switch {
	case !ok:
		return place{}
	case pointer == "":
		return own.place
	}
	if decoded, err := unescape(pointer); err == nil {
		pointer = decoded
	}
	if at := walk(own.place, pointer); at.node != nil {
		return at
	}
	// A schema that is nullable was wrapped.
	return walk(own.place, strings.TrimPrefix(pointer, "/anyOf/0"))
}

// mapped is the branch that a discriminator's value names, -1 for none: by mapping, or by the name of the schema.
func (s *schemas) mapped(at place, keyword, given string) int {
	ref := at.find("discriminator").find("mapping").text(given)
	meant := s.source.resolve(at, ref).node
	if ref == "" {
		ref, meant = given, nil
	}
	for i, branch := range at.find(keyword).items() {
		own := branch.reference()
		if own == "" {
			continue
		}
		to := s.source.resolve(branch, own)
		if own == ref || lastToken(own) == ref || lastToken(to.at) == ref || to.node != nil && to.node == meant {
			return i
		}
	}
	return -1
}

// lastToken is what follows the last slash of a reference or a pointer.
func lastToken(text string) string { return text[strings.LastIndexByte(text, '/')+1:] }

// valueAt follows a location in a value.
func valueAt(value any, location []string) any {
	for _, name := range location {
		switch v := value.(type) {
		case map[string]any:
			value = v[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}
