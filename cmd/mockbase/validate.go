package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/files"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/engine/simlimit"
)

// validateCommand checks definition files the way a server would (rule C-40).
type validateCommand struct {
	Paths   []string    `name:"file" short:"f" required:"" sep:"none" placeholder:"PATH" help:"File or folder to check, or - for standard input; may be repeated."`
	Project config.Slug `name:"project" short:"p" placeholder:"SLUG" help:"Project that the files' mocks belong to, whatever the files say."`
	Format  string      `name:"format" enum:"text,json,github" default:"text" help:"Form of the findings: text, json or github."`
	Strict  bool        `name:"strict" help:"Count warnings as errors."`
	variableFlags
	config.Idle
	config.Form
}

// Run prints every finding to standard output, because they are what was asked for.
func (c *validateCommand) Run(p *process) error {
	lookup, err := c.values(p)
	if err != nil {
		return err
	}
	set, err := files.Load(files.Options{Paths: c.Paths, Project: string(c.Project), Lookup: lookup, Input: p.In})
	if err != nil {
		return unreadablePath(err)
	}
	if err := check(set, describeDocument); err != nil {
		return err
	}
	if set.Files == 0 {
		set.Warnings = append(set.Warnings, files.Finding{
			Path: strings.Join(c.Paths, ", "), Code: mockbase.WarningUnused, Message: "there is no .yaml, .yml or .json file: is this the right folder?",
		})
	}
	if err := c.print(p, set); err != nil {
		return err
	}
	if len(set.Faults) > 0 || c.Strict && len(set.Warnings) > 0 {
		return fail(exitBadInput, "", errSilent)
	}
	return nil
}

// lookup finds a variable of the process's environment.
func (p *process) lookup(name string) (string, bool) {
	for _, pair := range p.environ {
		if key, value, _ := strings.Cut(pair, "="); key == name {
			return value, true
		}
	}
	return "", false
}

// unreadablePath is the failure of a file or folder that was named and cannot be read.
func unreadablePath(err error) error {
	f := &failure{code: exitBadInput, what: "read definitions", err: err}
	if broken, ok := errors.AsType[*fs.PathError](err); ok {
		f.what, f.err = "read "+broken.Path, broken.Err
	}
	if errors.Is(err, fs.ErrNotExist) {
		f.fix = "name a folder with *.yaml, *.yml or *.json files"
		if here, err := os.Getwd(); err == nil {
			f.fix += "; the path is looked up in " + here
		}
	}
	return f
}

// check lets an engine look at the projects of a set, and adds what it finds. describe reads the OpenAPI documents.
func check(set *files.Set, describe engine.Describe) error {
	keeper, err := simlimit.New(simlimit.Options{Memory: newSessionMemory(time.Now)})
	if err != nil {
		return fmt.Errorf("make engine: %w", err)
	}
	judge, err := engine.New(engine.Options{Limits: keeper, Describe: describe, Join: joinDocument})
	if err != nil {
		return fmt.Errorf("make engine: %w", err)
	}
	for _, project := range set.Projects {
		examine(judge, project, set)
	}
	return nil
}

// examine adds what an engine says of a project: what it would not serve, else what it finds suspicious.
func examine(judge *engine.Engine, project *files.Project, set *files.Set) {
	snapshot := snapshotOf(project)
	settings := &snapshot.Project.Config
	fetched := withoutAddresses(settings)
	faults := judge.CheckConfig(settings)
	for i, m := range snapshot.Mocks {
		for _, f := range judge.CheckMock(settings, m) {
			faults = append(faults, ofMock(f, i))
		}
	}
	set.Faults = append(set.Faults, project.FurtherFindings(faults)...)
	if len(faults) > 0 || project.Partial() {
		return
	}
	warnings := append(fetched, judge.ConfigWarnings(settings)...)
	for i, m := range snapshot.Mocks {
		for _, f := range judge.Warnings(snapshot, m) {
			warnings = append(warnings, ofMock(f, i))
		}
	}
	set.Warnings = append(set.Warnings, files.Further(set.Warnings, project.FindingsOf(warnings))...)
}

// snapshotOf is the project as a server would hold it.
func snapshotOf(p *files.Project) *mockbase.Snapshot {
	s := &mockbase.Snapshot{Project: &mockbase.Project{ID: mockbase.PrefixProject + p.Slug, Slug: p.Slug, Config: p.Definition.Config, Revision: 1}}
	for i, m := range p.Definition.Mocks {
		known := *m
		known.ID, known.ProjectID, known.Order, known.Version = mockbase.PrefixMock+m.Name, s.Project.ID, int64(i+1), 1
		s.Mocks = append(s.Mocks, &known)
	}
	return s
}

// ofMock turns a pointer into a mock into one into the definition.
func ofMock(f mockbase.FieldError, index int) mockbase.FieldError {
	f.Pointer = fmt.Sprintf("#/mocks/%d%s", index, strings.TrimPrefix(f.Pointer, "#"))
	return f
}

// verdict is one finding as --format json shows it.
type verdict struct {
	Severity string        `json:"severity"`
	Path     string        `json:"path"`
	Line     int           `json:"line,omitempty"`
	Column   int           `json:"column,omitempty"`
	Pointer  string        `json:"pointer,omitempty"`
	Code     mockbase.Code `json:"code"`
	Message  string        `json:"message"`
	text     string
}

func (c *validateCommand) print(p *process, set *files.Set) error {
	verdicts := verdictsOf(set)
	mocks := 0
	for _, project := range set.Projects {
		mocks += len(project.Definition.Mocks)
	}
	if form := c.form(); form != config.OutputTable {
		return printVerdicts(p, form, map[string]any{"files": set.Files, "mocks": mocks, "findings": verdicts})
	}
	for _, v := range verdicts {
		if c.Format == "github" {
			printf(p.Out, "::%s file=%s,line=%d,col=%d::%s [%s]\n", v.Severity, v.Path, v.Line, v.Column, githubText(v.Message), v.Code)
			continue
		}
		printf(p.Out, "%s\n", v.text)
	}
	if !p.quiet {
		printf(p.Err, "%s, %s: %s, %s\n", count(set.Files, "file"), count(mocks, "mock"), count(len(set.Faults), "error"), count(len(set.Warnings), "warning"))
	}
	return nil
}

// form is what --format asks for, else --output: findings for people have the form of a table.
func (c *validateCommand) form() config.Output {
	switch c.Format {
	case "json":
		return config.OutputJSON
	case "github":
		return config.OutputTable
	default:
		return c.Or(config.OutputTable)
	}
}

// printVerdicts prints what was found as one document.
func printVerdicts(p *process, form config.Output, found map[string]any) error {
	var doc bytes.Buffer
	encoder := json.NewEncoder(&doc)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(found); err != nil {
		return fmt.Errorf("write findings: %w", err)
	}
	return p.printDocument(form, doc.Bytes())
}

// githubText escapes what a workflow command would read otherwise.
func githubText(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// verdictsOf lists errors and warnings together, in the order of the files and their lines.
func verdictsOf(set *files.Set) []verdict {
	verdicts := make([]verdict, 0, len(set.Faults)+len(set.Warnings))
	add := func(severity, mark string, found []files.Finding) {
		for _, f := range found {
			verdicts = append(verdicts, verdict{severity, f.Path, f.Line, f.Column, f.Pointer, f.Code, f.Message, mark + f.String()})
		}
	}
	add("error", "", set.Faults)
	add("warning", "", set.Warnings)
	for i := range verdicts {
		if verdicts[i].Severity == "warning" {
			verdicts[i].text = strings.Replace(verdicts[i].text, verdicts[i].Message, "warning: "+verdicts[i].Message, 1)
		}
	}
	slices.SortStableFunc(verdicts, func(a, b verdict) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return verdicts
}
