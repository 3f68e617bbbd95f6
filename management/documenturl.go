package management

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/catalog"
	"github.com/mockbase/mockbase/openapi"
)

// Fetcher reads the file at an address, of no more bytes than a document may have. It keeps to what the operator allows, and
// to a project's own list of what may be called where that is not empty (rule S6).
type Fetcher func(ctx context.Context, address string, allow []string) ([]byte, error)

var errNoFetch = errors.New("this server fetches nothing")

// fetchDocuments reads the documents that a definition names by their addresses. Faults of the text that was sent have their
// places in it.
func (s *Server) fetchDocuments(ctx context.Context, d *mockbase.Definition, allow []string) error {
	return FetchDocuments(ctx, d, func(ctx context.Context, address string) ([]byte, error) {
		if s.Fetch == nil {
			return nil, errNoFetch
		}
		return s.Fetch(ctx, address, allow)
	})
}

// FetchDocuments puts the texts of the documents that a definition names by url in their places, with the files that they
// refer to by address. It fails with faults at the urls.
func FetchDocuments(ctx context.Context, d *mockbase.Definition, fetch func(ctx context.Context, address string) ([]byte, error)) error {
	return catalog.FillDocuments(d, func(address string) (json.RawMessage, error) { //nolint:wrapcheck // it is for the caller as it is
		text, err := fetch(ctx, address)
		if err != nil {
			return nil, err
		}
		bare, _, _ := strings.Cut(address, "#")
		parsed, err := openapi.Bundle(bare, text, func(name string) ([]byte, error) { return fetch(ctx, name) })
		if err != nil {
			return nil, err //nolint:wrapcheck // it is a detail of the fault
		}
		repaired := parsed.JSON()
		if _, err := mockbase.ParseNode(repaired, mockbase.FormatJSON, mockbase.ParseLimits{}); err != nil {
			return nil, err
		}
		return repaired, nil
	})
}

// allowedAddresses is the project's own list of what may be called; there is none before there is a project.
func (c *call) allowedAddresses() []string {
	if c.project == nil {
		return nil
	}
	return c.project.Project.UpstreamAllow
}
