package main

import (
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// whoamiCommand shows as whom the server knows this user (rule C-40).
type whoamiCommand struct {
	config.Target
}

// Run asks with the credential that other commands use.
func (c *whoamiCommand) Run(p *process) error {
	return p.call(&c.Target, "ask who we are", func(r *remote) error {
		return r.show("/auth/me", nil, columns("USER=user.email", "NAME=user.name", "ROLE=user.role", "TOKEN=token.name", "SCOPES=scopes", "PROJECTS=projects"))
	})
}
