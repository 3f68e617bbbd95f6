package main

import "github.com/mockbase/mockbase"

// schemaCommand prints the JSON Schema of the mock format.
type schemaCommand struct{}

// Run writes the same bytes as GET /schemas/mock/v1.json.
func (schemaCommand) Run(p *process) error {
	_, err := p.Out.Write(mockbase.Schema())
	return err
}
