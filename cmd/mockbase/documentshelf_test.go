package main

import (
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
)

// Rule C-22: what was compiled for the check of files is what the engine serves.
func TestC22_a_document_of_files_is_compiled_once(t *testing.T) {
	t.Parallel()
	compiled := 0
	shelf := documentShelf{compile: func(d *mockbase.Document) (engine.Description, error) {
		compiled++
		return describeDocument(d)
	}}
	document := func() *mockbase.Document {
		return &mockbase.Document{Name: "d", Inline: []byte(`{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{}}`)}
	}
	checked, err := shelf.keep(document())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := shelf.keep(document()); err != nil {
		t.Fatal(err)
	}
	served, err := shelf.describe(document())
	if err != nil {
		t.Fatal(err)
	}
	if compiled != 1 || served != checked {
		t.Errorf("compiled %d times", compiled)
	}
	other := document()
	other.BasePath = "ignore"
	if _, err := shelf.describe(other); err != nil {
		t.Fatal(err)
	}
	shelf.clear()
	if _, err := shelf.describe(document()); err != nil {
		t.Fatal(err)
	}
	if compiled != 3 {
		t.Errorf("compiled %d times, wanted 3: for other options, and once it was forgotten", compiled)
	}
}
