package jsonvalue_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/engine/jsonvalue"
)

func TestH12_JSON_pointers(t *testing.T) {
	t.Parallel()
	v := parse(t, `{"a/b":1,"m~n":2,"~1":3,"":{"":4},"arr":[5,6]}`)
	for pointer, want := range map[string]string{
		"/a~1b": "1", "/m~0n": "2", "/~01": "3", "//": "4", "/arr/1": "6", "/arr/0": "5",
		"/arr/01": "", "/arr/-": "", "/arr/2": "", "/arr/-1": "", "/arr/+1": "", "/arr/x": "", "/arr/0/x": "", "/z": "", "/a/b": "",
	} {
		path, ok := jsonvalue.ParsePointer(pointer)
		if !ok {
			t.Errorf("%s is no pointer", pointer)
		}
		if again := jsonvalue.Pointer(path...); again != pointer {
			t.Errorf("%s is written as %s", pointer, again)
		}
		got, found := v.At(path...)
		if found != (want != "") || found && got.String() != want {
			t.Errorf("%s: %v, want %q", pointer, got, want)
		}
	}
	for _, text := range []string{"a", "/~", "/~2", "/a~"} {
		if _, ok := jsonvalue.ParsePointer(text); ok {
			t.Errorf("%q is taken for a pointer", text)
		}
	}
	path, ok := jsonvalue.ParsePointer("")
	if got, found := v.At(path...); !ok || !found || got != v {
		t.Error("the empty pointer is not the document")
	}
	if diff := cmp.Diff("/a~1~0", jsonvalue.Pointer("a/~")); diff != "" {
		t.Error(diff)
	}
}
