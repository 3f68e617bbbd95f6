package main

import (
	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// schemaCommand prints the JSON Schema of the mock format.
type schemaCommand struct {
	config.Form
	config.Idle
	config.IdleProject

	JSON bool `name:"json" help:"Print JSON, as without a flag."`
}

// Run writes the same bytes as GET /schemas/mock/v1.json, unless another form is asked for.
func (c *schemaCommand) Run(p *process) error {
	if form := c.Or(config.OutputJSON); form != config.OutputJSON && form != config.OutputTable {
		return p.printDocument(form, mockbase.Schema())
	}
	_, err := p.Out.Write(mockbase.Schema())
	return err
}
