package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/files"
)

// variableFlags are values that take the place of names in files (rule C-41).
type variableFlags struct {
	Set     map[string]string `name:"set" mapsep:"none" placeholder:"NAME=VALUE" help:"Value of $${NAME} in the files; may be repeated."`
	EnvFile string            `name:"env-file" placeholder:"FILE" help:"File with lines NAME=VALUE, used where no --set says otherwise; the environment comes last."`
}

// values finds a variable: in --set, in --env-file, in the environment.
func (f *variableFlags) values(p *process) (func(name string) (string, bool), error) {
	read := map[string]string{}
	if f.EnvFile != "" {
		text, err := os.ReadFile(f.EnvFile)
		if err != nil {
			return nil, unreadablePath(err)
		}
		if read, err = parseEnvFile(f.EnvFile, string(text)); err != nil {
			return nil, err
		}
	}
	return func(name string) (string, bool) {
		for _, from := range []map[string]string{f.Set, read} {
			if value, ok := from[name]; ok {
				return value, true
			}
		}
		return p.lookup(name)
	}, nil
}

// parseEnvFile reads lines NAME=VALUE. Blank lines and those that begin with # say nothing, and quotes around a value are
// no part of it.
func parseEnvFile(path, text string) (map[string]string, error) {
	values := map[string]string{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		name = strings.TrimSpace(name)
		if !ok || name == "" || strings.ContainsAny(name, " \t\"'") {
			return nil, &faults{
				code:  exitBadInput,
				lines: []string{fmt.Sprintf("%s:%d:1: this is no NAME=VALUE [%s]", path, n, mockbase.FieldSyntax)}, fixes: []string{""},
			}
		}
		value = strings.TrimSpace(value)
		if len(value) > 1 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
			value = value[1 : len(value)-1]
		}
		values[name] = value
	}
	return values, nil
}

// sourceFlags say which definitions a command reads, and whose they are.
type sourceFlags struct {
	Paths  []string    `name:"file" short:"f" required:"" sep:"none" placeholder:"PATH" help:"File or folder with definitions, or - for standard input; may be repeated."`
	Source config.Slug `name:"source" placeholder:"NAME" help:"Owner of what the files define, so that several repositories share a project; default \"default\"."`
	Prune  bool        `name:"prune" help:"Delete what this source made earlier and the files no longer hold."`
	variableFlags
}

// load reads the definitions and finds what is wrong with them before a server is called.
func (f *sourceFlags) load(p *process, project string) (*files.Set, error) {
	lookup, err := f.values(p)
	if err != nil {
		return nil, err
	}
	set, err := files.Load(files.Options{Paths: f.Paths, Project: project, Lookup: lookup, Input: p.In, Partial: true})
	if err != nil {
		return nil, unreadablePath(err)
	}
	if err := check(set, describeDocument); err != nil {
		return nil, err
	}
	if len(set.Faults) > 0 {
		return nil, findingFaults(set.Faults)
	}
	if set.Files == 0 {
		return nil, &failure{
			code: exitBadInput, what: "read " + strings.Join(f.Paths, ", "), err: errors.New("there is no .yaml, .yml or .json file"), fix: "name a folder with definitions",
		}
	}
	return set, nil
}

// request is the call that plans or applies a project's definition (M-161).
func (f *sourceFlags) request(project *files.Project) (client.Request, error) {
	d := project.Definition
	body, err := mockbase.EncodeDefinition(&mockbase.Project{Slug: project.Slug, Config: d.Config}, d.Mocks, mockbase.FormatJSON)
	if err != nil {
		return client.Request{}, fmt.Errorf("write definition: %w", err)
	}
	r := client.Request{Method: "PUT", Path: client.Path("projects", project.Slug, "definition"), Query: map[string][]string{}, Body: body}
	if f.Source != "" {
		r.Query.Set("source", string(f.Source))
	}
	if f.Prune {
		r.Query.Set("prune", "true")
	}
	return r, nil
}

// named sees to it that each project of a set has the name of one on the server: files that name none are for the only
// project that there is.
func (r *remote) named(set *files.Set) error {
	for _, project := range set.Projects {
		if !project.Unnamed {
			continue
		}
		slug, err := r.project()
		if err != nil {
			return err
		}
		if slices.ContainsFunc(set.Projects, func(other *files.Project) bool { return other != project && other.Slug == slug }) {
			return &failure{
				code: exitBadInput, err: fmt.Errorf("some files are for project %s and some name none", slug), fix: "write project: " + slug + " into each file, or add --project",
			}
		}
		project.Slug = slug
	}
	return nil
}

// located turns what a server says of a definition into findings about its files.
func located(project *files.Project, err error) error {
	refused, ok := errors.AsType[*client.RefusedError](err)
	if !ok || len(refused.Problem.Fields) == 0 || refused.Status != 422 && refused.Status != 400 {
		return err
	}
	fields := make([]mockbase.FieldError, len(refused.Problem.Fields))
	copy(fields, refused.Problem.Fields)
	for i := range fields {
		fields[i].Line, fields[i].Column = 0, 0 // those of the text that was sent
	}
	return findingFaults(project.Findings(mockbase.Invalid(fields)))
}
