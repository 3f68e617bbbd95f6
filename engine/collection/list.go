package collection

import (
	"bytes"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// listing is what the query of a list asks for.
type listing struct {
	filters []*filter
	// work is what the expressions of filters have cost.
	work   int
	search string
	sort   []sortKey
	page   page
	view   *view
}

// isControl tells controls from filters.
func isControl(name string) bool {
	switch name {
	case "_q", "_sort", "_page", "_limit", "_start", "_end", "_embed", "_expand", "_fields":
		return true
	default:
		return false
	}
}

// listingOf reads a query. Of a control given twice the first counts; filters given twice are joined.
func (d *Data) listingOf(of *definition, query []Parameter) (*listing, error) {
	l := &listing{}
	given := map[string]string{}
	var names []string
	values := map[string][]string{}
	for _, p := range query {
		switch _, twice := given[p.Name]; {
		case isControl(p.Name) && !twice:
			given[p.Name] = p.Value
		case !isControl(p.Name):
			if values[p.Name] == nil {
				names = append(names, p.Name)
			}
			values[p.Name] = append(values[p.Name], p.Value)
		}
	}
	for _, name := range names {
		f, err := newFilter(name, values[name], &l.work)
		if err != nil {
			return nil, err
		}
		l.filters = append(l.filters, f)
	}
	l.search, l.sort = strings.ToLower(given["_q"]), sortKeys(given["_sort"])
	var err error
	if l.page, err = pageOf(of, given); err != nil {
		return nil, err
	}
	l.view, err = d.viewOf(of, query)
	return l, err
}

// holds tells whether an item belongs to the list.
func (l *listing) holds(it *item) bool {
	return !slices.ContainsFunc(l.filters, func(f *filter) bool { return !f.holds(it.value) }) &&
		(l.search == "" || mentions(it.value, l.search))
}

// filter returns the items that belong to the list. It gives up when an expression costs too much, or nobody waits for the
// answer any more.
func (l *listing) filter(r *Request, all iter.Seq2[string, *item], belongs func(*item) bool) ([]*item, error) {
	var items []*item
	for _, it := range all {
		if err := r.abandoned(); err != nil {
			return nil, err
		}
		if belongs(it) && l.holds(it) {
			items = append(items, it)
		}
		if l.work > maxMatching {
			i := slices.IndexFunc(l.filters, func(f *filter) bool { return f.operands[0].pattern != nil })
			return nil, l.filters[i].errTooMuch()
		}
	}
	return items, nil
}

// list answers with the items of a collection, or with those related to an item (rules V8 to V13). The order of work is
// filter, search, sort, count, page, embed, fields.
func (d *Data) list(res Resource, r *Request) (*Answer, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	of, err := d.of(res)
	if err != nil {
		return nil, err
	}
	belongs := func(*item) bool { return true }
	if res.Kind == Related {
		tie := of.childRelation(res.Child)
		if tie == nil || d.table(of).items[res.ID] == nil {
			return nil, noItem(of, res.ID)
		}
		of = tie.from
		belongs = func(it *item) bool { id, ok := idOf(it.value, tie.member); return ok && id == res.ID }
	}
	l, err := d.listingOf(of, r.Query)
	if err != nil {
		return nil, err
	}
	items, err := l.filter(r, d.table(of).all(), belongs)
	if err != nil {
		return nil, err
	}
	sortItems(items, l.sort)
	h := http.Header{"X-Total-Count": {strconv.Itoa(len(items))}}
	if links := l.page.links(r.Base+res.path(d.set), r.Query, len(items)); links != "" {
		h["Link"] = []string{links}
	}
	text := l.view.list(l.page.of(items))
	if of.Envelope {
		text = envelope(text, len(items), l.page.number())
	}
	return &Answer{Status: http.StatusOK, Header: h, Body: text}, nil
}

// envelope puts a list into an object (rule V11).
func envelope(list []byte, total, number int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"items":`)
	b.Write(list)
	b.WriteString(`,"total":` + strconv.Itoa(total) + `,"page":` + strconv.Itoa(number) + `}`)
	return b.Bytes()
}

// view is how items are shown: with neighbours, and cut to some fields (rules V13 and V17).
type view struct {
	data   *Data
	of     *definition
	embed  []*relation
	expand []*relation
	fields []string
}

// viewOf reads _embed, _expand and _fields; other parameters are not its business.
func (d *Data) viewOf(of *definition, query []Parameter) (*view, error) {
	v := &view{data: d, of: of}
	for _, p := range query {
		switch p.Name {
		case "_embed", "_expand":
			if err := v.join(p.Name, p.Value); err != nil {
				return nil, err
			}
		case "_fields":
			for name := range strings.SplitSeq(p.Value, ",") {
				if name = strings.TrimSpace(name); name != "" {
					v.fields = append(v.fields, name)
				}
			}
		}
	}
	return v, nil
}

// join notes the relations that a parameter names.
func (v *view) join(parameter, list string) error {
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if parameter == "_embed" {
			r := v.of.childRelation(name)
			if r == nil {
				return badParameter(parameter, name, "no items of a collection of this name point to "+v.of.Name)
			}
			v.embed = append(v.embed, r)
			continue
		}
		i := slices.IndexFunc(v.of.parents, func(r *relation) bool { return r.expandName == name })
		if i < 0 {
			return badParameter(parameter, name, "no relation of "+v.of.Name+" has this name")
		}
		v.expand = append(v.expand, v.of.parents[i])
	}
	return nil
}

// plain tells that items are shown as they are.
func (v *view) plain() bool { return len(v.embed)+len(v.expand)+len(v.fields) == 0 }

// list shows items.
func (v *view) list(items []*item) []byte {
	if v.plain() {
		return joined(items)
	}
	text := []byte{'['}
	for i, it := range items {
		if i > 0 {
			text = append(text, ',')
		}
		text = v.show(it.value).Append(text)
	}
	return append(text, ']')
}

// show returns an item with its neighbours, cut to the fields asked for.
func (v *view) show(value *jsonvalue.Value) *jsonvalue.Value {
	if len(v.embed)+len(v.expand) > 0 {
		value = v.withNeighbours(value)
	}
	if len(v.fields) == 0 {
		return value
	}
	var members []jsonvalue.Member
	for name, member := range value.Members() {
		if slices.Contains(v.fields, name) {
			members = append(members, jsonvalue.Member{Name: name, Value: member})
		}
	}
	return jsonvalue.NewObject(members...)
}

func (v *view) withNeighbours(value *jsonvalue.Value) *jsonvalue.Value {
	var members []jsonvalue.Member
	for name, member := range value.Members() {
		members = append(members, jsonvalue.Member{Name: name, Value: member})
	}
	for _, r := range v.expand {
		if id, ok := idOf(value, r.member); ok {
			if it := v.data.table(r.to).items[id]; it != nil {
				members = append(members, jsonvalue.Member{Name: r.expandName, Value: it.value})
			}
		}
	}
	own, _ := idOf(value, v.of.IDMember)
	for _, r := range v.embed {
		children := v.data.table(r.from)
		var list []*jsonvalue.Value
		for _, id := range children.pointing(r.member, own) {
			list = append(list, children.items[id].value)
		}
		members = append(members, jsonvalue.Member{Name: r.from.Name, Value: jsonvalue.NewArray(list...)})
	}
	return jsonvalue.NewObject(members...)
}
