package main

import (
	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/openapi"
)

// describeDocument lets engines read OpenAPI documents.
func describeDocument(d *mockbase.Document) (engine.Description, error) {
	compiled, err := openapi.Compile(d)
	if err != nil {
		return nil, err
	}
	return compiled, nil
}

// joinDocument lets engines read OpenAPI documents of several files below the files root.
func joinDocument(name string, text []byte, open func(name string) ([]byte, error)) (*engine.Joined, error) {
	joined, err := openapi.Bundle(name, text, open)
	if err != nil {
		return nil, err
	}
	place := func(f mockbase.FieldError) mockbase.FilePlace { return joined.Place(name, f) }
	return &engine.Joined{Text: joined.JSON(), Warnings: joined.Repairs(), Place: place}, nil
}
