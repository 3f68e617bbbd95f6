package collection

import (
	"encoding/json"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// Data is the collections of one session. Its methods may be called at the same time.
type Data struct {
	// uuid makes the n-th id of a collection whose ids cannot be counted.
	uuid func(name string, n int64) string
	now  func() time.Time

	mu       sync.RWMutex
	set      *Set
	revision int64
	// own holds the tables that the session has written to.
	own     map[string]*table
	changed map[string]time.Time
	// watch is told the names of collections that changed; nil is nobody.
	watch func(name string)
}

// Watch has someone told the names of collections that persist and change from now on. It is called while the data is locked: it must
// be quick, and must not call the data. It is set before the data is used.
func (d *Data) Watch(told func(name string)) { d.watch = told }

func (d *Data) tell(names ...string) {
	if d.watch == nil {
		return
	}
	for _, name := range names {
		if of := d.set.byName[name]; of != nil && of.Persist {
			d.watch(name)
		}
	}
}

// NewData makes the data of a session. uuid makes the n-th id, from 1, that a collection needs of it, and now is the
// session's time.
func NewData(s *Set, uuid func(name string, n int64) string, now func() time.Time) *Data {
	return &Data{set: s, uuid: uuid, now: now, own: map[string]*table{}, changed: map[string]time.Time{}}
}

// Adopt goes on with the collections of a revision of the project, unless it has those of a later one. What the session
// has written stays, for each collection that is still there and still of its kind.
func (d *Data) Adopt(s *Set, revision int64) {
	d.mu.RLock()
	known := d.set == s || revision < d.revision
	d.mu.RUnlock()
	if known {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.set == s || revision < d.revision {
		return
	}
	d.revision = revision
	for name := range d.own {
		then, now := d.set.byName[name], s.byName[name]
		if now == nil || now.Singular != then.Singular || now.IDMember != then.IDMember {
			delete(d.own, name)
			delete(d.changed, name)
			d.tell(name)
		}
	}
	d.set = s
}

// Reset returns to the sample data: of the collections named, or of all without a name. It returns the number of items
// there are then.
func (d *Data) Reset(names ...string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(names) == 0 {
		clear(d.own)
		clear(d.changed)
		names = d.set.Names()
	}
	items := 0
	for _, name := range names {
		delete(d.own, name)
		delete(d.changed, name)
		if of := d.set.byName[name]; of != nil {
			items += of.seed.count()
		}
	}
	d.tell(names...)
	return items
}

// Summary says how a collection stands.
type Summary struct {
	Name  string
	Items int
	// ChangedAt is the session's time of the last write; the zero time tells that the sample data is as it was.
	ChangedAt time.Time
}

// Summaries lists the collections in the order of the definition.
func (d *Data) Summaries() []Summary {
	d.mu.RLock()
	defer d.mu.RUnlock()
	list := make([]Summary, 0, len(d.set.list))
	for _, of := range d.set.list {
		list = append(list, Summary{Name: of.Name, Items: d.table(of).count(), ChangedAt: d.changed[of.Name]})
	}
	return list
}

// Items returns the items of a collection, or the one object of a singular one; false when there is no such collection.
func (d *Data) Items(name string) ([]mockbase.CollectionItem, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	of := d.set.byName[name]
	if of == nil {
		return nil, false
	}
	t := d.table(of)
	list := make([]mockbase.CollectionItem, 0, t.count())
	if of.Singular {
		return append(list, mockbase.CollectionItem{Text: t.single.text}), true
	}
	for id, it := range t.all() {
		list = append(list, mockbase.CollectionItem{ID: id, Text: it.text})
	}
	return list, true
}

// Kept returns what has to be kept of a collection, so that Restore brings it back; false when the session has not written
// to it, or there is none of this name.
func (d *Data) Kept(name string) (*mockbase.CollectionData, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	t := d.own[name]
	if t == nil || d.set.byName[name] == nil {
		return nil, false
	}
	kept := &mockbase.CollectionData{Name: name, NextID: t.next, Drawn: t.drawn, Items: make([]json.RawMessage, 0, t.count())}
	if t.single != nil {
		kept.Items = append(kept.Items, t.single.text)
		return kept, true
	}
	for _, it := range t.all() {
		kept.Items = append(kept.Items, it.text)
	}
	return kept, true
}

// Restore puts what was kept in the place of all that a collection holds (rule V16). Nobody is told.
func (d *Data) Restore(kept *mockbase.CollectionData) error {
	name, items := kept.Name, kept.Items
	d.mu.Lock()
	defer d.mu.Unlock()
	of := d.set.byName[name]
	if of == nil {
		return fmt.Errorf("restore collection %q: there is none of this name", name)
	}
	t := &table{items: map[string]*item{}, single: of.seed.single}
	for _, text := range items {
		value, err := jsonvalue.Parse(text, jsonvalue.Limits{})
		if err != nil {
			return fmt.Errorf("restore collection %q: %w", name, err)
		}
		if of.Singular {
			t.single = newItem(value, "")
			continue
		}
		id, ok := idOf(value, of.IDMember)
		if !ok {
			return fmt.Errorf("restore collection %q: an item has no id", name)
		}
		if err := t.put(id, newItem(value, of.IDMember)); err != nil {
			return fmt.Errorf("restore collection %q: %w", name, err)
		}
	}
	t.next, t.drawn = max(t.next, kept.NextID), kept.Drawn
	d.own[name], d.changed[name] = t, d.now()
	return nil
}

// table returns the items of a collection, for reading.
func (d *Data) table(of *definition) *table {
	if t := d.own[of.Name]; t != nil {
		return t
	}
	return &of.seed
}

func (t *table) count() int {
	if t.single != nil {
		return 1
	}
	return len(t.items)
}

// all returns the items in the order of their creation.
func (t *table) all() iter.Seq2[string, *item] {
	return func(yield func(string, *item) bool) {
		for _, id := range t.order {
			if !yield(id, t.items[id]) {
				return
			}
		}
	}
}
