package collection

import (
	"errors"
	"mime"
	"net/http"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/body"
	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// The media types of request bodies (rule V6).
const (
	typeJSON       = "application/json"
	typeMergePatch = "application/merge-patch+json"
	typeJSONPatch  = "application/json-patch+json"
)

// maxDepth bounds the nesting of items, as docs/collections.md says: edits and answers go through an item level by level.
const maxDepth = 1_000

// readJSON reads the body of a request of one of the media types, and tells of which; the first stands for a missing
// Content-Type.
func readJSON(r *Request, types ...string) (value *jsonvalue.Value, kind string, err error) {
	if kind, err = mediaType(r, types...); err != nil {
		return nil, "", err
	}
	if value, err = jsonvalue.Parse(r.Body, jsonvalue.Limits{Depth: maxDepth}); err != nil {
		return nil, "", problem(mockbase.CodeMalformedBody, "the body is no JSON: %s", err.Error())
	}
	return value, kind, nil
}

// mediaType returns the media type of the body. Every type of the +json kind that has no meaning of its own here counts
// as JSON.
func mediaType(r *Request, types ...string) (string, error) {
	given := r.Header.Get("Content-Type")
	if given == "" {
		return types[0], nil
	}
	named, _, err := mime.ParseMediaType(given)
	if err == nil {
		for _, t := range types {
			if named == t {
				return t, nil
			}
		}
		if strings.HasSuffix(named, "+json") && named != typeMergePatch && named != typeJSONPatch {
			return typeJSON, nil
		}
	}
	return "", problem(mockbase.CodeUnsupportedMediaType, "the Content-Type %q is not taken here; send %s", shown(given), strings.Join(types, ", "))
}

// edit is what a PUT or PATCH does to an item.
type edit struct {
	// whole replaces the item, merge is a merge patch, shallow is a set of members, patch a list of operations.
	whole, merge, shallow *jsonvalue.Value
	patch                 []operation
}

func readEdit(r *Request) (*edit, error) {
	if r.Method == http.MethodPut {
		value, _, err := readJSON(r, typeJSON)
		return &edit{whole: value}, err
	}
	value, kind, err := readJSON(r, typeJSON, typeMergePatch, typeJSONPatch)
	if err != nil {
		return nil, err
	}
	switch kind {
	case typeMergePatch:
		return &edit{merge: value}, nil
	case typeJSONPatch:
		patch, err := patchOf(value)
		if err != nil {
			return nil, invalid("", "the body is no JSON Patch (RFC 6902): %s", err.Error())
		}
		return &edit{patch: patch}, nil
	default:
		return &edit{shallow: value}, nil
	}
}

// applied returns the item after the edit.
func (e *edit) applied(former *jsonvalue.Value) (*jsonvalue.Value, error) {
	switch {
	case e.whole != nil:
		return e.whole, mustBeObject(e.whole)
	case e.merge != nil:
		return merged(former, e.merge), mustBeObject(e.merge)
	case e.shallow != nil:
		if err := mustBeObject(e.shallow); err != nil {
			return nil, err
		}
		return overlaid(former, e.shallow), nil
	default:
		return e.patched(former)
	}
}

// overlaid returns an object with members set: those that are there at their places, new ones behind them, in the order of
// the changes.
func overlaid(object, changes *jsonvalue.Value) *jsonvalue.Value {
	members := make([]jsonvalue.Member, 0, object.Len()+changes.Len())
	for name, value := range object.Members() {
		if changed, ok := changes.Member(name); ok {
			value = changed
		}
		members = append(members, jsonvalue.Member{Name: name, Value: value})
	}
	for name, value := range changes.Members() {
		if _, there := object.Member(name); !there {
			members = append(members, jsonvalue.Member{Name: name, Value: value})
		}
	}
	return jsonvalue.NewObject(members...)
}

// merged applies a merge patch (RFC 7396).
func merged(target, patch *jsonvalue.Value) *jsonvalue.Value {
	if patch.Kind() != jsonvalue.Object {
		return patch
	}
	if target.Kind() != jsonvalue.Object {
		target = jsonvalue.NewObject()
	}
	var members []jsonvalue.Member
	for name, value := range target.Members() {
		change, changes := patch.Member(name)
		switch {
		case !changes:
			members = append(members, jsonvalue.Member{Name: name, Value: value})
		case change.Kind() != jsonvalue.Null:
			members = append(members, jsonvalue.Member{Name: name, Value: merged(value, change)})
		}
	}
	for name, change := range patch.Members() {
		if _, there := target.Member(name); !there && change.Kind() != jsonvalue.Null {
			members = append(members, jsonvalue.Member{Name: name, Value: merged(jsonvalue.NewNull(), change)})
		}
	}
	return jsonvalue.NewObject(members...)
}

// patched applies a JSON Patch, all of it or nothing.
func (e *edit) patched(former *jsonvalue.Value) (*jsonvalue.Value, error) {
	value, err := apply(former, e.patch)
	if errors.Is(err, errTestFailed) {
		return nil, problem(mockbase.CodePatchFailed, "a test of the patch failed, so nothing was changed: %s", err.Error())
	}
	if err != nil {
		return nil, invalid("", "the patch does not apply: %s", err.Error())
	}
	return value, mustBeObject(value)
}

func mustBeObject(value *jsonvalue.Value) error {
	if value.Kind() == jsonvalue.Object {
		return nil
	}
	return invalid("", "an item must be an object, found %s", value.Kind().String())
}

// invalid makes the refusal of a body that can be read and not be stored. Member is the member that is wrong, "" for
// the body as a whole.
func invalid(member, format string, args ...any) error {
	p := problem(mockbase.CodeValidationFailed, format, args...)
	pointer := "#"
	if member != "" {
		pointer += "/" + mockbase.PointerToken(member)
	}
	p.Fields = []mockbase.FieldError{{Pointer: pointer, Code: mockbase.FieldType, Detail: p.Message}}
	return p
}

// valid holds an item against the schema of its collection.
func (d *definition) valid(value *jsonvalue.Value) error {
	if d.schema == nil {
		return nil
	}
	err := d.schema.Validate(value)
	if err == nil {
		return nil
	}
	p := problem(mockbase.CodeValidationFailed, "the item does not meet the schema of %q: %s", d.Name, err.Error())
	if wrong, ok := errors.AsType[*body.SchemaError](err); ok {
		p.Fields = []mockbase.FieldError{{Pointer: "#" + jsonvalue.Pointer(wrong.Path...), Code: mockbase.FieldPattern, Detail: wrong.Message}}
	}
	return p
}

// add stores a new item and returns its id (rule V3).
func (w *writing) add(of *definition, res Resource, value *jsonvalue.Value) (string, *item, error) {
	if err := mustBeObject(value); err != nil {
		return "", nil, err
	}
	if res.Kind == Related {
		var err error
		if of, value, err = w.related(of, res, value); err != nil {
			return "", nil, err
		}
	}
	id, value, err := w.named(of, value)
	if err != nil {
		return "", nil, err
	}
	if w.table(of).items[id] != nil {
		return "", nil, problem(mockbase.CodeNameTaken, "the collection %q has an item with the id %q already", of.Name, shown(id))
	}
	if err := of.valid(value); err != nil {
		return "", nil, err
	}
	it := newItem(value, of.IDMember)
	return id, it, w.put(of, id, it)
}

// related lets a new item point to the item that it is created under (rule V13).
func (w *writing) related(parent *definition, res Resource, value *jsonvalue.Value) (*definition, *jsonvalue.Value, error) {
	owner := w.table(parent).items[res.ID]
	tie := parent.childRelation(res.Child)
	if owner == nil || tie == nil {
		return nil, nil, noItem(parent, res.ID)
	}
	id, _ := owner.value.Member(parent.IDMember)
	if given, there := value.Member(tie.member); there && !jsonvalue.Equal(given, id) {
		return nil, nil, invalid(tie.member, "the address says that %s is %s, the body %s", tie.member, id.Preview(100), given.Preview(100))
	}
	return tie.from, withMember(value, tie.member, id), nil
}

// childRelation is the first relation of a collection's items to this one's.
func (d *definition) childRelation(child string) *relation {
	for _, r := range d.children {
		if r.from.Name == child && !r.from.Singular {
			return r
		}
	}
	return nil
}

// named returns the id of a new item, and the item with it.
func (w *writing) named(of *definition, value *jsonvalue.Value) (string, *jsonvalue.Value, error) {
	given, there := value.Member(of.IDMember)
	if there && given.Kind() != jsonvalue.Null {
		id, usable := idOf(value, of.IDMember)
		if !usable {
			return "", nil, invalid(of.IDMember, "an id must be a number or a text that is not empty, found %s", given.Preview(100))
		}
		if id == "." || id == ".." {
			return "", nil, invalid(of.IDMember, "the id %q cannot be reached: addresses leave out such segments", id)
		}
		return id, value, nil
	}
	t := w.own(of)
	if t.numeric() {
		id := t.nextNumber()
		return id, withMember(value, of.IDMember, jsonvalue.NewInt(t.next)), nil
	}
	t.drawn++
	id := w.data.uuid(of.Name, t.drawn)
	return id, withMember(value, of.IDMember, jsonvalue.NewString(id)), nil
}
