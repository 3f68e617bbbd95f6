package engine_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
)

func TestO17_seeds_that_cannot_be_read_are_refused_with_their_place(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret.json")
	for name, text := range map[string]string{
		filepath.Join(root, "object.json"): `{}`, filepath.Join(root, "twice.json"): `[{"id":1},{"id":"1"}]`, filepath.Join(root, "broken.json"): `[{"id":1}`,
		filepath.Join(root, "dup.json"): `[{"id":1,"id":2}]`, outside: `[]`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(root, "link.json")); err != nil {
		t.Fatal(err)
	}
	with := newEngine(t, engine.Options{FilesRoot: root})
	for name, code := range map[string]mockbase.Code{
		"none.json": mockbase.FieldReference, "../secret.json": mockbase.FieldReference, outside: mockbase.FieldReference, "link.json": mockbase.FieldReference,
		".": mockbase.FieldReference, "object.json": mockbase.FieldSyntax, "twice.json": mockbase.FieldSyntax, "broken.json": mockbase.FieldSyntax, "dup.json": mockbase.FieldSyntax,
	} {
		faults := faultsOf(t, with, "collections:\n  posts: { seedFile: '"+name+"' }\n")
		if len(faults) != 1 || faults[0].Pointer != "#/collections/posts/seedFile" || faults[0].Code != code {
			t.Errorf("%s: %+v, want %s", name, faults, code)
		}
	}
	faults := faultsOf(t, newEngine(t, engine.Options{}), "collections:\n  posts: { seedFile: posts.json }\n")
	if len(faults) != 1 || faults[0].Code != mockbase.FieldReference {
		t.Errorf("without a root: %+v", faults)
	}
}
