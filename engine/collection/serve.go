package collection

import (
	"bytes"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// Serve answers a request. HEAD is asked as GET; a method that the resource does not know must not be asked.
func (d *Data) Serve(res Resource, r *Request) *Answer {
	var a *Answer
	var err error
	switch {
	case res.Kind == Single && r.Method == http.MethodGet:
		a, err = d.single(res, r)
	case res.Kind == Single:
		a, err = d.writeSingle(res, r)
	case res.Kind == One:
		a, err = d.one(res, r)
	case r.Method == http.MethodPost:
		a, err = d.create(res, r)
	default:
		a, err = d.list(res, r)
	}
	if err != nil {
		return refusal(err)
	}
	return a
}

// of returns the definition that a resource names.
func (d *Data) of(res Resource) (*definition, error) {
	if of := d.set.byName[res.Collection]; of != nil {
		return of, nil
	}
	// The definition was changed while the request was under way.
	return nil, problem(mockbase.CodeNotFound, "there is no collection %q any more", res.Collection)
}

func (d *Data) one(res Resource, r *Request) (*Answer, error) {
	switch r.Method {
	case http.MethodGet:
		return d.read(res, r)
	case http.MethodDelete:
		return d.delete(res, r)
	default:
		return d.write(res, r)
	}
}

// sent is the answer that shows an item.
func sent(status int, it *item) *Answer {
	return &Answer{Status: status, Header: http.Header{"ETag": {it.tag}}, Body: it.text}
}

// notModified is the answer to a reader who has the item (RFC 9110 section 15.4.5).
func notModified(it *item) *Answer {
	return &Answer{Status: http.StatusNotModified, Header: http.Header{"ETag": {it.tag}}}
}

func isFresh(h http.Header, it *item) bool {
	list := strings.Join(h.Values("If-None-Match"), ",")
	return list != "" && holdsTag(list, it)
}

func (d *Data) single(res Resource, r *Request) (*Answer, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	of, err := d.of(res)
	if err != nil {
		return nil, err
	}
	return d.show(of, d.table(of).single, r)
}

func (d *Data) read(res Resource, r *Request) (*Answer, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	of, err := d.of(res)
	if err != nil {
		return nil, err
	}
	it := d.table(of).items[res.ID]
	if it == nil {
		return nil, noItem(of, res.ID)
	}
	return d.show(of, it, r)
}

// show answers with an item, or with the parts and neighbours of it that the query asks for (rules V13 and V17).
func (d *Data) show(of *definition, it *item, r *Request) (*Answer, error) {
	shape, err := d.viewOf(of, r.Query)
	if err != nil {
		return nil, err
	}
	if shape.plain() {
		if isFresh(r.Header, it) {
			return notModified(it), nil
		}
		return sent(http.StatusOK, it), nil
	}
	return &Answer{Status: http.StatusOK, Header: http.Header{}, Body: shape.show(it.value).Append(nil)}, nil
}

func (d *Data) delete(res Resource, r *Request) (*Answer, error) {
	var gone *item
	err := d.change(func(w *writing) error {
		of, err := d.of(res)
		if err != nil {
			return err
		}
		gone = w.table(of).items[res.ID]
		if gone == nil {
			return noItem(of, res.ID)
		}
		if err := unless(r.Header, gone); err != nil {
			return err
		}
		return w.remove(of, res.ID)
	})
	if err != nil {
		return nil, err
	}
	if !prefersItem(r.Header) {
		return &Answer{Status: http.StatusNoContent, Header: http.Header{}}, nil
	}
	return &Answer{
		Status: http.StatusOK, Body: gone.text,
		Header: http.Header{"Preference-Applied": {"return=representation"}},
	}, nil
}

// write replaces or changes an item (rules V5 and V6).
func (d *Data) write(res Resource, r *Request) (*Answer, error) {
	e, err := readEdit(r)
	if err != nil {
		return nil, err
	}
	var former, it *item
	err = d.change(func(w *writing) error {
		of, err := d.of(res)
		if err != nil {
			return err
		}
		former = w.table(of).items[res.ID]
		if former == nil && (r.Method != http.MethodPut || !of.Upsert) {
			return noItem(of, res.ID)
		}
		if err := unless(r.Header, former); err != nil {
			return err
		}
		it, err = w.edited(of, res.ID, former, e)
		return err
	})
	if err != nil {
		return nil, err
	}
	if former != nil {
		return sent(http.StatusOK, it), nil
	}
	a := sent(http.StatusCreated, it)
	a.Header["Location"] = []string{r.Base + res.path(d.set)}
	return a, nil
}

// edited stores what an edit makes of an item; former is nil for a new one.
func (w *writing) edited(of *definition, id string, former *item, e *edit) (*item, error) {
	value := jsonvalue.NewObject()
	if former != nil {
		value = former.value
	}
	value, err := e.applied(value)
	if err != nil {
		return nil, err
	}
	if former != nil && e.whole == nil {
		if _, there := value.Member(of.IDMember); !there {
			return nil, invalid(of.IDMember, "the id cannot change: the address says %q, the body takes it away", shown(id))
		}
	}
	if value, err = w.identified(of, value, id, former); err != nil {
		return nil, err
	}
	if err := of.valid(value); err != nil {
		return nil, err
	}
	it := newItem(value, of.IDMember)
	return it, w.put(of, id, it)
}

// identified makes sure that an item has the id of its address, with the type it had before (rules V2, V5 and V6).
func (w *writing) identified(of *definition, value *jsonvalue.Value, id string, former *item) (*jsonvalue.Value, error) {
	given, there := value.Member(of.IDMember)
	if there {
		text, usable := idOf(value, of.IDMember)
		if !usable || text != id || former != nil && idIsNumber(former.value, of.IDMember) != (given.Kind() == jsonvalue.Number) {
			return nil, invalid(of.IDMember, "the id cannot change: the address says %q, the body %s", shown(id), given.Preview(100))
		}
		return value, nil
	}
	var named *jsonvalue.Value
	switch {
	case former != nil:
		named, _ = former.value.Member(of.IDMember)
	case w.table(of).numeric() && isCanonical(id):
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return nil, invalid(of.IDMember, "the id %q cannot be counted", shown(id))
		}
		named = jsonvalue.NewInt(n)
	default:
		named = jsonvalue.NewString(id)
	}
	return withMember(value, of.IDMember, named), nil
}

// isCanonical tells whether a text is how a whole number is written.
func isCanonical(id string) bool {
	n, err := strconv.ParseInt(id, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == id
}

func (d *Data) writeSingle(res Resource, r *Request) (*Answer, error) {
	e, err := readEdit(r)
	if err != nil {
		return nil, err
	}
	var it *item
	err = d.change(func(w *writing) error {
		of, err := d.of(res)
		if err != nil {
			return err
		}
		former := w.table(of).single
		if err := unless(r.Header, former); err != nil {
			return err
		}
		value, err := e.applied(former.value)
		if err != nil {
			return err
		}
		if err := of.valid(value); err != nil {
			return err
		}
		it = newItem(value, "")
		return w.putSingle(of, it)
	})
	if err != nil {
		return nil, err
	}
	return sent(http.StatusOK, it), nil
}

// create adds an item, or several to a collection that takes lists (rules V3, V4 and V13).
func (d *Data) create(res Resource, r *Request) (*Answer, error) {
	value, _, err := readJSON(r, typeJSON)
	if err != nil {
		return nil, err
	}
	list := value.Kind() == jsonvalue.Array
	var created []*item
	var ids []string
	err = d.change(func(w *writing) error {
		of, err := d.of(res)
		if err != nil {
			return err
		}
		values := []*jsonvalue.Value{value}
		if list && of.Bulk && res.Kind == All {
			values = slices.Collect(second(value.Items()))
		}
		for _, v := range values {
			id, it, err := w.add(of, res, v)
			if err != nil {
				return err
			}
			ids, created = append(ids, id), append(created, it)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if list {
		return &Answer{Status: http.StatusCreated, Header: http.Header{}, Body: joined(created)}, nil
	}
	a := sent(http.StatusCreated, created[0])
	a.Header["Location"] = []string{r.Base + Resource{Kind: One, Collection: res.target(), ID: ids[0]}.path(d.set)}
	return a, nil
}

// second returns the values of pairs.
func second(pairs iter.Seq2[int, *jsonvalue.Value]) iter.Seq[*jsonvalue.Value] {
	return func(yield func(*jsonvalue.Value) bool) {
		for _, v := range pairs {
			if !yield(v) {
				return
			}
		}
	}
}

// joined makes a list of items.
func joined(items []*item) []byte {
	texts := make([][]byte, len(items))
	for i, it := range items {
		texts[i] = it.text
	}
	return append(append([]byte{'['}, bytes.Join(texts, []byte{','})...), ']')
}
