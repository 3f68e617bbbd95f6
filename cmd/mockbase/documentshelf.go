package main

import (
	"bytes"
	"reflect"
	"sync"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
)

// documentShelf hands the OpenAPI documents that were compiled for a check on to the engine that serves them. Files are
// checked before there is an engine, and large documents take seconds.
type documentShelf struct {
	// compile makes a document ready.
	compile engine.Describe

	mu   sync.Mutex
	kept []shelvedDocument
}

type shelvedDocument struct {
	source      mockbase.Document
	description engine.Description
}

// keep compiles a document and keeps it, until clear is called.
func (s *documentShelf) keep(d *mockbase.Document) (engine.Description, error) {
	if known := s.find(d); known != nil {
		return known, nil
	}
	description, err := s.compile(d)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, shelvedDocument{*d, description})
	return description, nil
}

// describe is a document that was kept, or compiles it.
func (s *documentShelf) describe(d *mockbase.Document) (engine.Description, error) {
	if known := s.find(d); known != nil {
		return known, nil
	}
	return s.compile(d)
}

func (s *documentShelf) find(d *mockbase.Document) engine.Description {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, known := range s.kept {
		if bytes.Equal(known.source.Inline, d.Inline) && reflect.DeepEqual(known.source, *d) {
			return known.description
		}
	}
	return nil
}

// clear forgets what was kept.
func (s *documentShelf) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = nil
}
