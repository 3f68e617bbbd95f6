package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// memberCommands are about who may do what in a project.
type memberCommands struct {
	List memberListCommand   `cmd:"" help:"List the members of a project."`
	Set  memberSetCommand    `cmd:"" help:"Give somebody a role in a project."`
	Rm   memberRemoveCommand `cmd:"" help:"Take somebody's role away."`
}

func memberColumns() []column { return columns("USER=user", "ROLE=role", "SINCE=addedAt") }

// memberListCommand lists members (M-135).
type memberListCommand struct{ config.Target }

// Run prints the list.
func (c *memberListCommand) Run(p *process) error {
	return p.projectList(&c.Target, "list members", nil, memberColumns(), "members")
}

// memberSetCommand gives a role (M-136).
type memberSetCommand struct {
	config.Target

	User string      `arg:"" help:"E-mail address or id."`
	Bare config.Role `arg:"" optional:"" name:"as" help:"What --role says, for those who leave its name out."`
	Role config.Role `name:"role" placeholder:"ROLE" help:"viewer, editor or owner."`
}

// Run prints the member.
func (c *memberSetCommand) Run(p *process) error {
	role := cmp.Or(c.Role, c.Bare)
	switch {
	case role == "":
		return &failure{code: exitUsage, err: errors.New("--role: which role is not said"), fix: "add --role viewer, --role editor or --role owner"}
	case c.Bare != "" && c.Bare != role:
		return &failure{code: exitUsage, err: fmt.Errorf("two roles are stated: %s and --role %s", c.Bare, c.Role), fix: "state one"}
	}
	return p.projectCall(&c.Target, "set member "+c.User, map[string]any{"role": role}, memberColumns(), http.MethodPut, "members", c.User)
}

// memberRemoveCommand takes a role away (M-137).
type memberRemoveCommand struct {
	config.Target

	User string `arg:"" help:"E-mail address or id."`
}

// Run says who is no member any more.
func (c *memberRemoveCommand) Run(p *process) error {
	return done(p, "remove member "+c.User, p.projectCall(&c.Target, "remove member "+c.User, nil, nil, http.MethodDelete, "members", c.User))
}
