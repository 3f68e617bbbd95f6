package collection

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/body"
	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// The bounds of the data of one session.
const (
	MaxItems = 100_000
	MaxBytes = 64 << 20
)

// Set is the compiled collections of a project.
type Set struct {
	list   []*definition
	byName map[string]*definition
}

// definition is one compiled collection.
type definition struct {
	mockbase.Collection
	schema *body.Schema
	seed   table
	// parents are the relations of this collection's items to others, children those of others' items to this one's.
	parents, children []*relation
}

// relation ties a member of the items of one collection to the items of another.
type relation struct {
	member   string
	from, to *definition
	onDelete string
	// expandName is what _expand calls the item that the member points to: authorId without its Id.
	expandName string
}

// Compile compiles the collections of a project. Pointers of faults are relative to the definition.
func Compile(list []mockbase.Collection, faults *mockbase.Faults) *Set {
	s := &Set{byName: make(map[string]*definition, len(list))}
	for i := range list {
		d := compileOne(&list[i], faults)
		s.list = append(s.list, d)
		s.byName[d.Name] = d
	}
	for _, d := range s.list {
		for _, r := range d.Relations {
			to := s.byName[r.To]
			if to == nil {
				continue
			}
			tie := &relation{member: r.Member, from: d, to: to, onDelete: r.OnDelete, expandName: expandName(r.Member)}
			d.parents = append(d.parents, tie)
			to.children = append(to.children, tie)
		}
	}
	return s
}

// expandName drops the end of a member's name that says that it is an id.
func expandName(member string) string {
	for _, end := range [...]string{"Id", "_id", "ID"} {
		if name, ok := strings.CutSuffix(member, end); ok && name != "" {
			return name
		}
	}
	return member
}

func compileOne(c *mockbase.Collection, faults *mockbase.Faults) *definition {
	d := &definition{Collection: *c}
	at := "#/collections/" + mockbase.PointerToken(c.Name)
	fault := func(code mockbase.Code, pointer, detail string) {
		faults.Append(mockbase.FieldError{Pointer: pointer, Code: code, Detail: detail})
	}
	if len(c.Schema) > 0 {
		d.schema = compileSchema(c.Schema, at+"/schema", fault)
	}
	at += "/seed"
	if c.SeedFile != "" {
		at += "File"
	}
	seed, err := jsonvalue.Parse(c.Seed, jsonvalue.Limits{})
	if err != nil {
		fault(mockbase.FieldSyntax, at, "cannot be read: "+err.Error())
		return d
	}
	if err := d.sow(seed); err != nil {
		fault(mockbase.FieldLimit, at, err.Error())
	}
	return d
}

func compileSchema(document json.RawMessage, at string, fault func(code mockbase.Code, pointer, detail string)) *body.Schema {
	value, err := jsonvalue.Parse(document, jsonvalue.Limits{})
	if err != nil {
		fault(mockbase.FieldSyntax, at, "cannot be read: "+err.Error())
		return nil
	}
	schema, place, err := body.CompileSchema(value)
	if err != nil {
		fault(mockbase.FieldSyntax, at+jsonvalue.Pointer(place...), err.Error())
	}
	return schema
}

// sow fills the seed table. Items without an id are given the next one (rule V3), a seeded item of a singular
// collection has none.
func (d *definition) sow(seed *jsonvalue.Value) error {
	if d.Singular {
		d.seed.single = newItem(seed, "")
		return d.seed.grow(0, d.seed.single.size)
	}
	d.seed.items = make(map[string]*item, seed.Len())
	var nameless []*jsonvalue.Value
	for _, value := range seed.Items() {
		id, ok := idOf(value, d.IDMember)
		if !ok {
			nameless = append(nameless, value)
			continue
		}
		if d.seed.items[id] != nil {
			// The decoder of the definition has refused this (rule V2).
			return fmt.Errorf("two items have the id %q", id)
		}
		if err := d.seed.put(id, newItem(value, d.IDMember)); err != nil {
			return err
		}
	}
	for i, value := range nameless {
		id := d.seed.nextNumber()
		named := jsonvalue.NewInt(d.seed.next)
		if !d.seed.numeric() {
			id = "seed-" + strconv.Itoa(i+1)
			named = jsonvalue.NewString(id)
		}
		if d.seed.items[id] != nil {
			return fmt.Errorf("item %d has no id, and %q is taken", i, id)
		}
		if err := d.seed.put(id, newItem(withMember(value, d.IDMember, named), d.IDMember)); err != nil {
			return err
		}
	}
	return nil
}

// Names lists the collections in the order of the definition.
func (s *Set) Names() []string {
	names := make([]string, len(s.list))
	for i, d := range s.list {
		names[i] = d.Name
	}
	return names
}

// Definition returns the definition of a collection.
func (s *Set) Definition(name string) (*mockbase.Collection, bool) {
	d := s.byName[name]
	if d == nil {
		return nil, false
	}
	return &d.Collection, true
}

// Children names the collections whose items point to those of a collection, each once, in the order of the definition.
func (s *Set) Children(name string) []string {
	var names []string
	if d := s.byName[name]; d != nil && !d.Singular {
		for _, r := range d.children {
			if !r.from.Singular && !slices.Contains(names, r.from.Name) {
				names = append(names, r.from.Name)
			}
		}
	}
	return names
}

// Kind tells what a path of a collection names.
type Kind uint8

// What paths name: all items, one item, the only object of a singular collection, and the items of another collection
// that belong to one item.
const (
	All Kind = iota
	One
	Single
	Related
)

// Resource is what a path names.
type Resource struct {
	Kind Kind
	// Collection is the name of the collection, Child that of the related one, ID the item's id as text.
	Collection, Child, ID string
}

// target is the name of the collection that new items go to.
func (r Resource) target() string {
	if r.Kind == Related {
		return r.Child
	}
	return r.Collection
}

// path is the address of a resource, below the project.
func (r Resource) path(s *Set) string {
	of := s.byName[r.Collection]
	if of == nil {
		return "/"
	}
	text := strings.TrimSuffix(of.Path, "/")
	if r.Kind == One || r.Kind == Related {
		text += "/" + url.PathEscape(r.ID)
	}
	if r.Kind == Related {
		text += "/" + url.PathEscape(r.Child)
	}
	return text
}

// Methods lists what a kind of resource can be asked, without HEAD and OPTIONS (rule V1).
func (k Kind) Methods() []string {
	switch k {
	case One:
		return []string{"GET", "PUT", "PATCH", "DELETE"}
	case Single:
		return []string{"GET", "PUT", "PATCH"}
	default:
		return []string{"GET", "POST"}
	}
}

// errFull tells that a session's data has reached its bounds.
var errFull = errors.New("the collections of a session are full")
