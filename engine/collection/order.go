package collection

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// sortKey is one field that a list is sorted by.
type sortKey struct {
	path       []string
	descending bool
}

func sortKeys(list string) []sortKey {
	var keys []sortKey
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		rest, descending := strings.CutPrefix(name, "-")
		if rest != "" {
			keys = append(keys, sortKey{path: strings.Split(rest, "."), descending: descending})
		}
	}
	return keys
}

// sortItems sorts in place and keeps the order of equals (rule V10).
func sortItems(items []*item, keys []sortKey) {
	if len(keys) == 0 {
		return
	}
	slices.SortStableFunc(items, func(a, b *item) int {
		for _, key := range keys {
			if c := key.compare(fieldOf(a.value, key.path), fieldOf(b.value, key.path)); c != 0 {
				return c
			}
		}
		return 0
	})
}

// compare puts missing fields last in both directions.
func (k *sortKey) compare(a, b *jsonvalue.Value) int {
	placeA, placeB := kindOrder(a), kindOrder(b)
	if placeA == missing || placeB == missing {
		return cmp.Compare(placeA, placeB)
	}
	c := cmp.Compare(placeA, placeB)
	if c == 0 {
		c = compareAlike(a, b)
	}
	if k.descending {
		return -c
	}
	return c
}

// missing is the place of what is not there; null counts as that.
const missing = 4

// kindOrder puts numbers before texts, and those before the rest.
func kindOrder(v *jsonvalue.Value) int {
	if v == nil {
		return missing
	}
	switch v.Kind() {
	case jsonvalue.Null:
		return missing
	case jsonvalue.Number:
		return 0
	case jsonvalue.String:
		return 1
	case jsonvalue.Bool:
		return 2
	default:
		return 3
	}
}

func compareAlike(a, b *jsonvalue.Value) int {
	switch a.Kind() {
	case jsonvalue.Number:
		return jsonvalue.CompareNumbers(a.Text(), b.Text())
	case jsonvalue.String:
		return strings.Compare(a.Text(), b.Text())
	case jsonvalue.Bool:
		return strings.Compare(a.String(), b.String())
	default:
		return 0
	}
}
