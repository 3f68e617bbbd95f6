package mockbase_test

import (
	"errors"
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
