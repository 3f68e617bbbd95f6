package mockbase_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
)

// fieldsOf returns the faults of an error, which must be an *Error.
func fieldsOf(tb testing.TB, err error) []mockbase.FieldError {
	tb.Helper()
	e, ok := errors.AsType[*mockbase.Error](err)
	if !ok {
		tb.Fatalf("error is %#v", err)
	}
	return e.Fields
}

func TestLocateFindsThePlaceOfAPointer(t *testing.T) {
	t.Parallel()
	src := "mocks:\n  - request: GET /a\n    response:\n      headers: { \"a/b ~ü\": 1 }\n      \"\": [x, y]\n"
	cases := []struct {
		name, pointer string
		line, column  int
	}{
		{"the whole document", "#", 1, 1},
		{"a member", "#/mocks/0/request", 2, 14},
		{"a name with escapes", "#/mocks/0/response/headers/a~1b%20~0%C3%BC", 4, 28},
		{"an empty name", "#/mocks/0/response//1", 5, 15},
		{"what is not there is placed at what holds it", "#/mocks/0/response/status", 4, 7},
		{"an item that is not there", "#/mocks/7/request", 2, 3},
		{"an index that is none", "#/mocks/x", 2, 3},
		{"a wrong escape", "#/mocks/%zz", 2, 3},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			given := []mockbase.FieldError{{Pointer: c.pointer, Code: mockbase.FieldNotServed, Detail: "x"}}
			got := mockbase.Locate([]byte(src), mockbase.FormatYAML, given)
			want := []mockbase.FieldError{{Pointer: c.pointer, Code: mockbase.FieldNotServed, Detail: "x", Line: c.line, Column: c.column}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if given[0].Line != 0 {
				t.Error("what was given has changed")
			}
		})
	}
}

func TestLocateKeepsAPlaceAndGivesUpOnWhatItCannotRead(t *testing.T) {
	t.Parallel()
	placed := []mockbase.FieldError{{Pointer: "#/a", Line: 7, Column: 8}}
	if diff := cmp.Diff(placed, mockbase.Locate([]byte(`{"a":1}`), mockbase.FormatJSON, placed)); diff != "" {
		t.Error(diff)
	}
	unplaced := []mockbase.FieldError{{Pointer: "#/a"}}
	if diff := cmp.Diff(unplaced, mockbase.Locate([]byte(`{"a"`), mockbase.FormatJSON, unplaced)); diff != "" {
		t.Error(diff)
	}
}

// places are all pointers of a value, and some that lead nowhere.
func places(n *mockbase.Node, at string, list []string) []string {
	list = append(list, at, at+"/none", at+"/0/none")
	for _, m := range n.Members {
		list = places(m.Value, at+"/"+mockbase.PointerToken(m.Key), list)
	}
	for i, item := range n.Items {
		list = places(item, fmt.Sprintf("%s/%d", at, i), list)
	}
	return list
}

// Locate scans JSON, and finds what a tree of it would tell.
func FuzzLocate_in_JSON_tells_what_a_tree_tells(f *testing.F) {
	for _, seed := range []string{
		`{"a":1}`, "\ufeff{\n \"a\" : [ 1 ,\n {\"b\\u0063\":\"x\\\"]}\"} , -1.5e3, true ] , \"\" : {} , \"a\":[2]}\n", `[]`, `"x"`, ` 12 `, `{"ü":{"a/b~":[[],[[null]]]}}`, `[1,[2,[3]],{}]`, `{"a":{"a":{"a":1}},"b":"\\"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		root, _, err := mockbase.ParseTolerant([]byte(text), mockbase.FormatJSON, mockbase.ParseLimits{})
		if err != nil || len(text) > 1000 {
			return
		}
		var faults []mockbase.FieldError
		for _, pointer := range places(root, "#", nil) {
			faults = append(faults, mockbase.FieldError{Pointer: pointer})
		}
		if diff := cmp.Diff(mockbase.LocateIn(root, faults), mockbase.Locate([]byte(text), mockbase.FormatJSON, faults)); diff != "" {
			t.Errorf("%q (-tree +scan):\n%s", text, diff)
		}
	})
}

// Locate makes no tree of JSON, which may be a large document.
func TestLocate_takes_little_memory_for_JSON(t *testing.T) {
	text := []byte(`{"list":[` + strings.Repeat(`{"a":[1,2,3],"b":{"c":"d"}},`, 10_000) + `{"a":1}]}`)
	faults := []mockbase.FieldError{{Pointer: "#/list/9000/b/c"}, {Pointer: "#/list/10000/a"}}
	var got []mockbase.FieldError
	allocations := testing.AllocsPerRun(3, func() { got = mockbase.Locate(text, mockbase.FormatJSON, faults) })
	if allocations > 200 || got[1].Column != len(text)-len(`1}]}`)+1 {
		t.Errorf("%.0f allocations, found %v", allocations, got)
	}
}
