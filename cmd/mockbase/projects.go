package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// projectCommands are those about projects as a whole.
type projectCommands struct {
	List   projectListCommand   `cmd:"" help:"List the projects that you can see."`
	Create projectCreateCommand `cmd:"" help:"Make a project; you are its owner."`
	Show   projectShowCommand   `cmd:"" help:"Show a project."`
	Rm     projectRemoveCommand `cmd:"" help:"Delete a project with everything in it."`
}

func projectColumns() []column {
	return columns("SLUG=slug", "NAME=name", "ROLE=role", "ACCESS=access", "MOCKS=counts.mocks", "URL=urls.path")
}

// projectListCommand lists projects (M-130).
type projectListCommand struct {
	config.Target
}

// Run prints the list.
func (c *projectListCommand) Run(p *process) error {
	return p.call(&c.Target, "list projects", func(r *remote) error {
		return r.list("/projects", nil, projectColumns())
	})
}

// projectCreateCommand makes a project (M-131).
type projectCreateCommand struct {
	config.Target

	Slug   config.Slug `arg:"" name:"slug" help:"Name in addresses: lower-case letters, digits and hyphens."`
	Name   string      `name:"name" placeholder:"TEXT" help:"Name for people; the slug without one."`
	Access string      `name:"access" enum:"public,token" default:"public" placeholder:"WHO" help:"Who may call its mocks: public, or whoever has a token."`
}

// Run prints the new project.
func (c *projectCreateCommand) Run(p *process) error {
	return p.call(&c.Target, "make project "+string(c.Slug), func(r *remote) error {
		name := c.Name
		if name == "" {
			name = string(c.Slug)
		}
		return r.make("/projects", map[string]any{"slug": c.Slug, "name": name, "access": c.Access}, projectColumns())
	})
}

// make creates something and prints it.
func (r *remote) make(path string, body any, cols []column) error {
	return r.act(client.Request{Method: http.MethodPost, Path: path, Creates: true}, body, cols)
}

// act makes a call with a JSON body and prints its answer, if there is one.
func (r *remote) act(request client.Request, body any, cols []column) error {
	answer, err := r.exchange(request, body)
	if err != nil || len(answer.Body) == 0 {
		return err
	}
	return r.printOne(r.output, answer.Body, cols)
}

// projectShowCommand shows a project (M-132).
type projectShowCommand struct {
	config.Target

	Slug string `arg:"" optional:"" name:"slug" help:"The project; the one of --project without it."`
}

// Run prints the project.
func (c *projectShowCommand) Run(p *process) error {
	return p.call(&c.Target, "show project", func(r *remote) error {
		if c.Slug != "" {
			r.slug = c.Slug
		}
		path, err := r.below()
		if err != nil {
			return err
		}
		return r.show(path, nil, append(projectColumns(), columns("ENABLED=counts.enabledMocks", "SOURCE=source", "VERSION=version")...))
	})
}

// projectRemoveCommand deletes a project (M-134).
type projectRemoveCommand struct {
	config.Target

	Slug string `arg:"" name:"slug" help:"The project."`
	Yes  bool   `name:"yes" short:"y" help:"Do not ask."`
}

// Run asks first, unless it is told not to.
func (c *projectRemoveCommand) Run(p *process) error {
	return p.call(&c.Target, "delete project "+c.Slug, func(r *remote) error {
		if err := p.confirm(c.Yes, "Delete the project "+c.Slug+" with all its mocks and traffic?"); err != nil {
			return err
		}
		_, err := r.Do(r.ctx, client.Request{Method: http.MethodDelete, Path: client.Path("projects", c.Slug), Query: url.Values{"confirm": {c.Slug}}})
		if err == nil {
			p.done("deleted project %s", c.Slug)
		}
		return err
	})
}

// confirm asks a person to agree. Where nobody can be asked, only --yes agrees.
func (p *process) confirm(agreed bool, question string) error { //nolint:revive // agreed is the flag --yes
	if agreed {
		return nil
	}
	if !isTerminal(p.In) {
		return &failure{code: exitUsage, err: errors.New("this needs consent, and there is no terminal to ask at"), fix: "add --yes"}
	}
	printf(p.Err, "%s [y/N] ", question)
	answer, err := readLine(p.In)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read answer: %w", err)
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return &failure{code: exitUsage, err: errors.New("not agreed: nothing was done")}
	}
	return nil
}

// readLine reads a line without its end, byte by byte: what follows is somebody else's.
func readLine(r io.Reader) (string, error) {
	var line []byte
	one := make([]byte, 1)
	for len(line) < 1<<16 {
		n, err := r.Read(one)
		if n == 1 && one[0] == '\n' {
			return strings.TrimSuffix(string(line), "\r"), nil
		}
		line = append(line, one[:n]...)
		if err != nil {
			return string(line), err
		}
	}
	return string(line), errors.New("the line is too long")
}
