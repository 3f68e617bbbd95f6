package catalog

import (
	"encoding/json"
	"strconv"

	"github.com/mockbase/mockbase"
)

// maxChanges bounds the differences that are listed of one item; what changes more is better read as a whole.
const maxChanges = 100

// differences lists how two documents differ, in the order of the text. Documents of the same values in another order
// or spelling differ at the object that is written otherwise.
func differences(from, to json.RawMessage) []Change {
	a, errA := mockbase.ParseNode(from, mockbase.FormatJSON, mockbase.ParseLimits{})
	b, errB := mockbase.ParseNode(to, mockbase.FormatJSON, mockbase.ParseLimits{})
	if errA != nil || errB != nil {
		return []Change{{Pointer: "#", From: from, To: to}}
	}
	var d differ
	d.compare("#", a, b)
	return d.changes
}

type differ struct {
	changes []Change
}

func (d *differ) add(pointer string, from, to *mockbase.Node) {
	if len(d.changes) == maxChanges {
		return
	}
	c := Change{Pointer: pointer}
	if from != nil {
		c.From = from.JSON()
	}
	if to != nil {
		c.To = to.JSON()
	}
	d.changes = append(d.changes, c)
}

func (d *differ) compare(pointer string, a, b *mockbase.Node) {
	switch {
	case a.Kind != b.Kind:
		d.add(pointer, a, b)
	case a.Kind == mockbase.NodeObject:
		d.compareObjects(pointer, a, b)
	case a.Kind == mockbase.NodeList:
		d.compareLists(pointer, a, b)
	case a.Text != b.Text:
		d.add(pointer, a, b)
	}
}

func (d *differ) compareLists(pointer string, a, b *mockbase.Node) {
	for i := range max(len(a.Items), len(b.Items)) {
		at := pointer + "/" + strconv.Itoa(i)
		switch {
		case i >= len(a.Items):
			d.add(at, nil, b.Items[i])
		case i >= len(b.Items):
			d.add(at, a.Items[i], nil)
		default:
			d.compare(at, a.Items[i], b.Items[i])
		}
	}
}

func (d *differ) compareObjects(pointer string, a, b *mockbase.Node) {
	place := mockbase.NewFields(a, pointer, nil)
	before := len(d.changes)
	for _, m := range a.Members {
		if other := b.Find(m.Key); other != nil {
			d.compare(place.Pointer(m.Key), m.Value, other)
		} else {
			d.add(place.Pointer(m.Key), m.Value, nil)
		}
	}
	for _, m := range b.Members {
		if a.Find(m.Key) == nil {
			d.add(place.Pointer(m.Key), nil, m.Value)
		}
	}
	if len(d.changes) == before && !sameOrder(a, b) {
		d.add(pointer, a, b)
	}
}

func sameOrder(a, b *mockbase.Node) bool {
	for i := range a.Members {
		if a.Members[i].Key != b.Members[i].Key {
			return false
		}
	}
	return true
}
