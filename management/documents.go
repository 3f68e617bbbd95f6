package management

import (
	"bytes"
	_ "embed"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/mockbase/mockbase"
)

// openAPI is the committed description of this API.
//
//go:embed openapi.yaml
var openAPI []byte

// Description is the OpenAPI document of this API in YAML, as /api/openapi.yaml serves it (M-245).
func Description() []byte { return slices.Clone(openAPI) }

// documents are the texts that are served as they are. They are made when they are first asked for: reading them would
// be a good part of the start.
type documents struct {
	openAPIJSON  func() ([]byte, error)
	problemPages func() (*problemPages, error)
	reference    func() (*reference, error)
}

func newDocuments(base string) documents {
	return documents{openAPIJSON: sync.OnceValues(func() ([]byte, error) { return openAPIAsJSON(base) }), problemPages: sync.OnceValues(newProblemPages), reference: sync.OnceValues(newReference)}
}

// openAPIBehind is the API document of a server whose paths are behind base.
func openAPIBehind(base string) []byte {
	if base == "" {
		return openAPI
	}
	return bytes.Replace(openAPI, []byte("\nservers:\n  - url: /\n"), []byte("\nservers:\n  - url: "+strconv.Quote(base)+"\n"), 1)
}

func openAPIAsJSON(base string) ([]byte, error) {
	tree, err := mockbase.ParseNode(openAPIBehind(base), mockbase.FormatYAML, mockbase.ParseLimits{})
	if err != nil {
		return nil, defect("read API document", err)
	}
	return append(tree.JSON(), '\n'), nil
}

// defect is an error that only a wrong binary can have. What is wrong with it is for the log alone.
func defect(what string, err error) error {
	return fmt.Errorf("%s: %w", what, &mockbase.Error{Code: mockbase.CodeInternal, Message: "the binary is broken", Err: err})
}

// openAPIJSON serves the API document as JSON (M-245).
func (s *Server) openAPIJSON(c *call) error {
	text, err := s.documents.openAPIJSON()
	if err != nil {
		return err
	}
	c.bytes(http.StatusOK, typeJSON, text)
	return nil
}

// openAPIYAML serves the API document as it is committed, but for where the server is (M-245).
func (s *Server) openAPIYAML(c *call) error {
	c.bytes(http.StatusOK, typeYAML, openAPIBehind(s.BasePath))
	return nil
}

// mockSchema serves the JSON Schema of definitions, for editors (M-247).
func (s *Server) mockSchema(c *call) error {
	if len(s.MockSchema) == 0 {
		return noSuchRoute()
	}
	c.bytes(http.StatusOK, c.offer, s.MockSchema)
	return nil
}
