package collection

import (
	"slices"

	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// writing is a change of several collections that is kept as a whole, or taken back as a whole.
type writing struct {
	data *Data
	undo []func()
	// touched are the names of the collections that changed.
	touched map[string]bool
}

// change runs a change, and takes back what it did when it fails (rule V15).
func (d *Data) change(do func(w *writing) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := &writing{data: d, touched: map[string]bool{}}
	if err := do(w); err != nil {
		for _, undo := range slices.Backward(w.undo) {
			undo()
		}
		return err
	}
	for name := range w.touched {
		d.changed[name] = d.now()
		d.tell(name)
	}
	return nil
}

// table returns the items of a collection, for reading.
func (w *writing) table(of *definition) *table { return w.data.table(of) }

// own returns the items of a collection, for writing.
func (w *writing) own(of *definition) *table {
	w.touched[of.Name] = true
	t := w.data.own[of.Name]
	if t == nil {
		t = of.seed.clone()
		w.data.own[of.Name] = t
	}
	return t
}

// put adds or replaces an item under its id.
func (w *writing) put(of *definition, id string, it *item) error {
	t := w.own(of)
	former, before := t.items[id], t.tally
	if err := t.put(id, it); err != nil {
		return err
	}
	w.undo = append(w.undo, func() {
		t.tally = before
		if former != nil {
			t.items[id] = former
			return
		}
		delete(t.items, id)
		t.order = t.order[:len(t.order)-1]
	})
	return nil
}

// putSingle replaces the object of a singular collection.
func (w *writing) putSingle(of *definition, it *item) error {
	t := w.own(of)
	former, before := t.single, t.tally
	if err := t.replaceSingle(it); err != nil {
		return err
	}
	w.undo = append(w.undo, func() { t.single, t.tally = former, before })
	return nil
}

// remove takes an item out, with what hangs on it (rule V14). It fails with an error of CodeInUse.
func (w *writing) remove(of *definition, id string) error {
	it := w.table(of).items[id]
	if it == nil {
		return nil
	}
	t := w.own(of)
	before := t.tally
	place := t.remove(id)
	w.undo = append(w.undo, func() {
		t.tally = before
		t.items[id], t.order = it, slices.Insert(t.order, place, id)
	})
	for _, r := range of.children {
		if err := w.detach(r, id); err != nil {
			return err
		}
	}
	return nil
}

// detach does to the items that point to a removed one what their relation says.
func (w *writing) detach(r *relation, id string) error {
	if r.onDelete == "keep" || r.from.Singular {
		return nil
	}
	pointing := w.table(r.from).pointing(r.member, id)
	if len(pointing) > 0 && r.onDelete == "restrict" {
		return inUse(r, id, len(pointing))
	}
	for _, child := range pointing {
		if err := w.release(r, child); err != nil {
			return err
		}
	}
	return nil
}

// release removes an item that points to a removed one, or lets it point to nothing.
func (w *writing) release(r *relation, id string) error {
	if r.onDelete == "cascade" {
		return w.remove(r.from, id)
	}
	child := w.table(r.from).items[id]
	if child == nil {
		return nil
	}
	return w.put(r.from, id, newItem(withMember(child.value, r.member, jsonvalue.NewNull()), r.from.IDMember))
}

// pointing lists the ids of the items whose member holds an id.
func (t *table) pointing(member, id string) []string {
	var list []string
	for childID, child := range t.all() {
		if parent, ok := idOf(child.value, member); ok && parent == id {
			list = append(list, childID)
		}
	}
	return list
}
