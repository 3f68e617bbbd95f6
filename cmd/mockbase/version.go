package main

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// versionCommand prints what was built.
type versionCommand struct {
	config.Form
	config.Idle
	config.IdleProject

	JSON bool `name:"json" help:"Print the members of GET /version as JSON."`
}

// Run prints a line for people, or the members of GET /version in the form that was asked for (rule M-244).
func (c *versionCommand) Run(p *process) error {
	form := c.Or(config.OutputTable)
	if c.JSON {
		form = c.Or(config.OutputJSON)
	}
	if form == config.OutputTable {
		printf(p.Out, "mockbase %s (commit %s, built %s, %s)\n", version, commit, builtAt, runtime.Version())
		return nil
	}
	doc, err := json.Marshal(map[string]string{"name": "mockbase", "version": version, "commit": commit, "builtAt": builtAt, "go": runtime.Version()})
	if err != nil {
		return fmt.Errorf("write version: %w", err)
	}
	return p.printDocument(form, doc)
}
