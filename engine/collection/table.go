package collection

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// item is one item as it is stored. It is immutable.
type item struct {
	value *jsonvalue.Value
	// text is the item as it is sent, and tag its entity tag.
	text []byte
	tag  string
	size int
	// whole tells that the id is a whole number in JSON, and number is which.
	whole  bool
	number int64
}

// newItem makes an item with its id in a member; idMember is "" for the object of a singular collection.
func newItem(value *jsonvalue.Value, idMember string) *item {
	text := value.Append(nil)
	sum := sha256.Sum256(text)
	it := &item{value: value, text: text, tag: `"` + hex.EncodeToString(sum[:12]) + `"`, size: len(text)}
	if id, ok := value.Member(idMember); ok && id.Kind() == jsonvalue.Number {
		n, err := strconv.ParseInt(id.Text(), 10, 64)
		it.number, it.whole = n, err == nil
	}
	return it
}

// table is the items of one collection. A table that is shared is not changed but cloned.
type table struct {
	// single is the object of a singular collection.
	single *item
	// order holds the ids in the order of their creation.
	order []string
	items map[string]*item
	tally
}

// tally is what a table counts.
type tally struct {
	// next is the next whole-number id, which never goes back; named counts items whose id is no whole number.
	next  int64
	named int
	bytes int
	// drawn counts the ids that were made up.
	drawn int64
}

func (t *table) clone() *table {
	c := *t
	c.order, c.items = slices.Clone(t.order), maps.Clone(t.items)
	if c.items == nil {
		c.items = map[string]*item{}
	}
	return &c
}

// grow refuses what would exceed the bounds.
func (t *table) grow(items, bytes int) error {
	if len(t.items)+items > MaxItems || t.bytes+bytes > MaxBytes {
		return fmt.Errorf("a collection holds at most %d items and %d MiB: %w", MaxItems, MaxBytes>>20, errFull)
	}
	t.bytes += bytes
	return nil
}

// put adds or replaces an item under its id.
func (t *table) put(id string, it *item) error {
	former := t.items[id]
	if former != nil {
		if err := t.grow(0, it.size-former.size); err != nil {
			return err
		}
		t.items[id] = it
		return nil
	}
	if err := t.grow(1, it.size); err != nil {
		return err
	}
	t.order = append(t.order, id)
	t.items[id] = it
	if !it.whole {
		t.named++
	} else if t.next <= it.number {
		t.next = min(it.number, math.MaxInt64-1) + 1
	}
	return nil
}

// replaceSingle replaces the object of a singular collection.
func (t *table) replaceSingle(it *item) error {
	if err := t.grow(0, it.size-t.single.size); err != nil {
		return err
	}
	t.single = it
	return nil
}

// remove takes an item out that is there, and returns the place it had.
func (t *table) remove(id string) int {
	it := t.items[id]
	if !it.whole {
		t.named--
	}
	t.bytes -= it.size
	delete(t.items, id)
	i := slices.Index(t.order, id)
	t.order = slices.Delete(t.order, i, i+1)
	return i
}

// numeric tells that every id is a whole number, so that the next one is counted (rule V3).
func (t *table) numeric() bool { return t.named == 0 && t.next < math.MaxInt64 }

// nextNumber returns the text of the next counted id.
func (t *table) nextNumber() string {
	if t.next < 1 {
		t.next = 1
	}
	return strconv.FormatInt(t.next, 10)
}

// idOf returns the text of an item's id; false when it has none that is a text or a number (rule V2).
func idOf(value *jsonvalue.Value, member string) (string, bool) {
	id, ok := value.Member(member)
	if !ok || id.Kind() != jsonvalue.String && id.Kind() != jsonvalue.Number || id.Text() == "" {
		return "", false
	}
	return id.Text(), true
}

func idIsNumber(value *jsonvalue.Value, member string) bool {
	id, ok := value.Member(member)
	return ok && id.Kind() == jsonvalue.Number
}

// withMember returns an object with a member set: at its place when it is there, else in front.
func withMember(object *jsonvalue.Value, name string, value *jsonvalue.Value) *jsonvalue.Value {
	members := make([]jsonvalue.Member, 0, object.Len()+1)
	if _, there := object.Member(name); !there {
		members = append(members, jsonvalue.Member{Name: name, Value: value})
	}
	for n, v := range object.Members() {
		if n == name {
			v = value
		}
		members = append(members, jsonvalue.Member{Name: n, Value: v})
	}
	return jsonvalue.NewObject(members...)
}
