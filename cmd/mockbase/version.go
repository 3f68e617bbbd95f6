package main

import (
	"encoding/json"
	"runtime"
)

// versionCommand prints what was built.
type versionCommand struct {
	JSON bool `name:"json" help:"Print the members of GET /version as JSON."`
}

// Run prints the version alone, or everything with --json (rule M-244).
func (c *versionCommand) Run(p *process) error {
	if !c.JSON {
		printf(p.Out, "mockbase %s (commit %s, built %s, %s)\n", version, commit, builtAt, runtime.Version())
		return nil
	}
	encoder := json.NewEncoder(p.Out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(map[string]string{"name": "mockbase", "version": version, "commit": commit, "builtAt": builtAt, "go": runtime.Version()})
}
