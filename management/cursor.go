package management

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// The number of items on a page (rule M-13).
const (
	defaultLimit = 50
	maxLimit     = 200
)

// key is what a list is sorted by: text or a number. The item's id breaks ties, so that no two items are equal.
type key struct {
	Text   string `json:"t,omitempty"`
	Number int64  `json:"n,omitempty"`
	ID     string `json:"i"`
}

func (k key) compare(other key) int {
	return cmp.Or(cmp.Compare(k.Number, other.Number), cmp.Compare(k.Text, other.Text), cmp.Compare(k.ID, other.ID))
}

// cursor is the place between two items of a sorted list. It names the item before it by its key, so that it stays
// right while others come and go.
type cursor struct {
	Sort  string `json:"s"`
	After key    `json:"a"`
	// Of is the digest of the list and its filters.
	Of string `json:"f"`
}

func (c cursor) String() string {
	text, _ := json.Marshal(c) //nolint:errchkjson // texts and a number
	return base64.RawURLEncoding.EncodeToString(text)
}

// isFilter tells whether a parameter chooses items of a list. A cursor knows the order itself, and is followed in steps of any size.
func isFilter(name string) bool {
	return !slices.Contains([]string{"cursor", "limit", "sort", "count", "facets"}, name)
}

// listName names the list that a path leads to. Projects and mocks have two names each.
func (c *call) listName() string {
	if c.route == nil {
		return ""
	}
	parts := []string{c.route.operation}
	for _, name := range c.ParamNames() {
		value := c.Param(name)
		switch {
		case name == "project" && c.project != nil:
			value = c.project.Project.ID
		case name == "mock" && c.mock != nil:
			value = c.mock.ID
		}
		parts = append(parts, value)
	}
	return strings.Join(parts, "/")
}

// filtered is the digest of a list and its filters: a place in one of them is none in another.
func (p *params) filtered() string {
	filters := url.Values{}
	for name, values := range p.values {
		if isFilter(name) {
			filters[name] = values
		}
	}
	digest := sha256.Sum256([]byte(p.list + "?" + filters.Encode()))
	return base64.RawURLEncoding.EncodeToString(digest[:8])
}

// invalidCursor refuses a cursor, by the name of its parameter.
func invalidCursor(message string, err error) error {
	return &mockbase.Error{
		Code: mockbase.CodeInvalidCursor, Message: message, Hint: "ask for the first page again, without cursor", Err: err,
		Fields: []mockbase.FieldError{{Pointer: queryPointer("cursor"), Code: mockbase.FieldConflict, Detail: message}},
	}
}

// readCursor reads a cursor that was given for an order of a list with its filters.
func readCursor(text, sort, list string) (*cursor, error) {
	var c cursor
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	switch {
	case err != nil || c.After.ID == "":
		return nil, invalidCursor("the cursor is none that this list gave", err)
	case c.Of != list:
		return nil, invalidCursor("the cursor belongs to another list, or to other filters of this one", nil)
	case c.Sort != sort:
		return nil, invalidCursor("the cursor belongs to another order of this list", nil)
	}
	return &c, nil
}

// listing is how a client wants a list.
type listing struct {
	limit      int
	sort       string
	descending bool
	after      *key
	count      bool
	// of is the digest of the list and its filters.
	of string
	// find is the text that items must hold, in small letters.
	find string
}

// listing reads the parameters that every list has. The first sort is the one that is taken without asking, the
// other way round if it begins with a hyphen.
func (p *params) listing(sorts ...string) (listing, error) {
	l := listing{limit: p.number("limit", 1, maxLimit, defaultLimit), count: p.flag("count"), find: strings.ToLower(p.text("q")), of: p.filtered()}
	l.sort, l.descending = strings.CutPrefix(sorts[0], "-")
	if asked := p.text("sort"); asked != "" {
		known := append([]string{l.sort}, sorts[1:]...)
		for _, name := range slices.Clone(known) {
			known = append(known, "-"+name)
		}
		if p.choice("sort", known) != "" {
			l.sort, l.descending = strings.CutPrefix(asked, "-")
		}
	}
	if err := p.err(); err != nil {
		return listing{}, err
	}
	if text := p.text("cursor"); text != "" {
		at, err := readCursor(text, l.order(), l.of)
		if err != nil {
			return listing{}, err
		}
		l.after = &at.After
	}
	return l, nil
}

func (l listing) order() string {
	if l.descending {
		return "-" + l.sort
	}
	return l.sort
}

func (l listing) compare(a, b key) int {
	if l.descending {
		return b.compare(a)
	}
	return a.compare(b)
}

// page is the answer of a list.
type page struct {
	Items      any     `json:"items"`
	NextCursor *string `json:"nextCursor"`
	Total      *int    `json:"total,omitempty"`
}

// cut returns the items of the page in the order of their keys, with the cursor behind it, "" on the last. It keeps no more
// in order than a page: a list of ten thousand is sorted for the fifty that are shown.
func cut[T any](l listing, items []T, keyOf func(T) key) (onPage []T, next string) {
	type keyed struct {
		key  key
		item T
	}
	first := make([]keyed, 0, l.limit+2)
	for _, item := range items {
		k := keyOf(item)
		if l.after != nil && l.compare(k, *l.after) <= 0 {
			continue
		}
		if len(first) > l.limit && l.compare(k, first[l.limit].key) >= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(first, k, func(one keyed, k key) int { return l.compare(one.key, k) })
		first = slices.Insert(first, at, keyed{k, item})[:min(len(first)+1, l.limit+1)]
	}
	onPage = make([]T, min(len(first), l.limit))
	for i := range onPage {
		onPage[i] = first[i].item
	}
	if len(first) > l.limit {
		next = cursor{Sort: l.order(), After: first[l.limit-1].key, Of: l.of}.String()
	}
	return onPage, next
}

// listNamed answers with one page of things that have a name and are listed by it.
func listNamed[T, V any](c *call, all []T, nameOf func(*T) string, viewOf func(*T) V) error {
	l, err := c.params().listing("name")
	if err != nil {
		return err
	}
	var found []*T
	for i := range all {
		if l.finds(nameOf(&all[i])) {
			found = append(found, &all[i])
		}
	}
	onPage, next := cut(l, found, func(one *T) key { return key{Text: nameOf(one), ID: nameOf(one)} })
	items := make([]V, len(onPage))
	for i, one := range onPage {
		items[i] = viewOf(one)
	}
	return c.list(l, items, len(found), next)
}

// list answers with one page: the cursor stands in the body and, as a link, in the header.
func (c *call) list(l listing, items any, total int, next string) error {
	p := page{Items: items}
	if l.count {
		p.Total = &total
	}
	c.link(&p, next)
	return c.json(200, p)
}

func (c *call) link(p *page, next string) {
	if next == "" {
		return
	}
	p.NextCursor = &next
	query := c.Request().URL.Query()
	query.Set("cursor", next)
	if !query.Has("limit") {
		query.Set("limit", strconv.Itoa(defaultLimit))
	}
	at := url.URL{Path: c.Request().URL.Path, RawPath: c.Request().URL.RawPath, RawQuery: query.Encode()}
	c.header().Set("Link", "<"+at.String()+`>; rel="next"`)
}

// newestFirst is the one order of lists of what happened.
const newestFirst = "-at"

// newestBehind is the cursor behind an item of such a list.
func (p *params) newestBehind(id string) string {
	return cursor{Sort: newestFirst, After: key{ID: id}, Of: p.filtered()}.String()
}

// newestAfter reads the cursor of such a list, and returns the id of the item that is before the page, "" for the first.
func (p *params) newestAfter() (id string, err error) {
	text := p.text("cursor")
	if text == "" {
		return "", nil
	}
	c, err := readCursor(text, newestFirst, p.filtered())
	if err != nil {
		return "", err
	}
	return c.After.ID, nil
}
