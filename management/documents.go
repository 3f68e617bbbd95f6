package management

import (
	_ "embed"
	"fmt"
	"net/http"

	"github.com/mockbase/mockbase"
)

// openAPI is the committed description of this API.
//
//go:embed openapi.yaml
var openAPI []byte

// documents are the texts that are served as they are.
type documents struct {
	openAPIJSON []byte
	schema      []byte
	problems    problemPages
}

// make prepares the documents once, for all requests.
func (d *documents) make(schema []byte) error {
	tree, err := mockbase.ParseNode(openAPI, mockbase.FormatYAML, mockbase.ParseLimits{})
	if err != nil {
		return fmt.Errorf("read API document: %w", err)
	}
	d.openAPIJSON = append(tree.JSON(), '\n')
	d.schema = schema
	if err := d.problems.make(); err != nil {
		return fmt.Errorf("make problem pages: %w", err)
	}
	return nil
}

// openAPIJSON serves the API document as JSON (M-245).
func (s *Server) openAPIJSON(c *call) error {
	c.bytes(http.StatusOK, typeJSON, s.documents.openAPIJSON)
	return nil
}

// openAPIYAML serves the API document as it is committed (M-245).
func (*Server) openAPIYAML(c *call) error {
	c.bytes(http.StatusOK, typeYAML, openAPI)
	return nil
}

// mockSchema serves the JSON Schema of definitions, for editors (M-247).
func (s *Server) mockSchema(c *call) error {
	if len(s.documents.schema) == 0 {
		return noSuchRoute()
	}
	c.bytes(http.StatusOK, c.offer, s.documents.schema)
	return nil
}
