package main

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/files"
	"github.com/mockbase/mockbase/management"
)

// addresses reads the OpenAPI documents that files name by url. Each address is called once, until it is forgotten: files change
// often, and the server on the other side is not to notice.
type addresses struct {
	fetch management.Fetcher

	mu    sync.Mutex
	known map[string][]byte
}

// namesAddresses tells whether a set has documents that are named by url.
func namesAddresses(set *files.Set) bool {
	return slices.ContainsFunc(set.Projects, func(p *files.Project) bool {
		return slices.ContainsFunc(p.Definition.Config.Documents, func(d mockbase.Document) bool { return d.URL != "" })
	})
}

// fill puts the documents in the places of their addresses. What cannot be had is among the faults of the set.
func (a *addresses) fill(ctx context.Context, set *files.Set) {
	for _, project := range set.Projects {
		err := management.FetchDocuments(ctx, project.Definition, a.read)
		if err != nil {
			set.Faults = append(set.Faults, project.Findings(err)...)
		}
	}
}

func (a *addresses) read(ctx context.Context, address string) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if text, met := a.known[address]; met {
		return text, nil
	}
	text, err := a.fetch(ctx, address, nil)
	if err != nil {
		return nil, err
	}
	if a.known == nil {
		a.known = map[string][]byte{}
	}
	a.known[address] = text
	return text, nil
}

// forget lets the addresses be called again.
func (a *addresses) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known = nil
}

// withoutAddresses puts an empty document in the place of each that only a server fetches, so that everything else can be
// checked. It returns the places of the addresses.
func withoutAddresses(c *mockbase.Config) []mockbase.FieldError {
	var told []mockbase.FieldError
	c.Documents = slices.Clone(c.Documents)
	for i := range c.Documents {
		d := &c.Documents[i]
		if d.URL == "" {
			continue
		}
		told = append(told, mockbase.FieldError{
			Pointer: "#/documents/" + strconv.Itoa(i) + "/url", Code: mockbase.FieldReference,
			Detail: "is fetched by the server that serves it: what it holds was not checked",
		})
		d.URL, d.Inline = "", json.RawMessage(`{"openapi":"3.1.0","info":{"title":"none","version":"0"},"paths":{}}`)
	}
	return told
}
