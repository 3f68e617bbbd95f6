package storetest

import (
	"encoding/json"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store"
)

func collectionPromises() []promise {
	return []promise{
		{"V16: the data of collections comes back as it was kept", dataComesBack},
		{"V16: data is forgotten alone, or with its project", dataIsForgotten},
	}
}

// posts is the data of a collection.
func posts(texts ...string) *mockbase.CollectionData {
	data := &mockbase.CollectionData{Name: "posts", NextID: 7, Drawn: 2}
	for _, text := range texts {
		data.Items = append(data.Items, json.RawMessage(text))
	}
	return data
}

func kept(t *testing.T, s store.Store) []mockbase.CollectionData {
	t.Helper()
	all, err := s.KeptCollections(t.Context(), "prj_shop")
	ok(t, "read collections", err)
	return all
}

func dataComesBack(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create project", s.Apply(t.Context(), creation("shop", "")))
	same(t, "number of collections", len(kept(t, s)), 0)
	ok(t, "keep data", s.KeepCollection(t.Context(), "prj_shop", posts(`{"id":1}`)))
	// The number text, the characters of HTML and an escaped line break must survive.
	second := posts(`{"id":3,"n":2.50}`, `{"id":2,"t":"<&>\n"}`)
	ok(t, "keep data again", s.KeepCollection(t.Context(), "prj_shop", second))
	empty := &mockbase.CollectionData{Name: "empty"}
	ok(t, "keep no items", s.KeepCollection(t.Context(), "prj_shop", empty))
	same(t, "collections", kept(t, s), []mockbase.CollectionData{*empty, *second})
	wantCode(t, "keep data of no project", s.KeepCollection(t.Context(), "prj_none", posts()), mockbase.CodeNotFound)
}

func dataIsForgotten(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create project", s.Apply(t.Context(), creation("shop", "")))
	ok(t, "keep data", s.KeepCollection(t.Context(), "prj_shop", posts(`{"id":1}`)))
	ok(t, "forget what is not there", s.ForgetCollection(t.Context(), "prj_shop", "tags"))
	same(t, "number of collections", len(kept(t, s)), 1)
	ok(t, "forget data", s.ForgetCollection(t.Context(), "prj_shop", "posts"))
	same(t, "number of collections", len(kept(t, s)), 0)
	ok(t, "keep data", s.KeepCollection(t.Context(), "prj_shop", posts(`{"id":1}`)))
	ok(t, "delete project", s.Apply(t.Context(), mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: 1, DeleteProject: true}))
	same(t, "number of collections", len(kept(t, s)), 0)
}
