package main

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/interchange"
)

// exportCommand writes a project down (rule C-40).
type exportCommand struct {
	config.Target

	Format string `name:"format" default:"mockbase" placeholder:"FORMAT" help:"What is written: mockbase (or yaml, json, which name the notation too), openapi, postman, wiremock, or recorded traffic as har or ndjson."`
	As     string `name:"as" placeholder:"NOTATION" help:"json or yaml, for formats that have both."`
	Split  string `name:"split" placeholder:"DIR" help:"Write one file for each mock into this folder, which apply -f and serve read."`
	Tag    string `name:"tag" placeholder:"TAG" help:"Only mocks that have this tag."`
	Mock   string `name:"mock" placeholder:"NAME" help:"Only this mock or what it answered, for the formats of other tools."`
	Out    string `name:"out" placeholder:"FILE" help:"Write into this file; without it, to standard output."`
}

// Help is what kong prints below the summary.
func (*exportCommand) Help() string {
	return `A definition is written as YAML, or as JSON with --format json, and read again by apply, import and serve. Values of
secret variables are no part of it. What the format of another tool cannot say is told, by mock and member.`
}

// Run writes the whole text at once, so that a file is never half written.
func (c *exportCommand) Run(p *process) error {
	if err := c.check(); err != nil {
		return err
	}
	return p.call(&c.Target, "export", c.fetch)
}

// fetch gets the text, and writes it where it belongs.
func (c *exportCommand) fetch(r *remote) error {
	request, err := c.request(r)
	if err != nil {
		return err
	}
	answer, err := r.Do(r.ctx, request)
	if err != nil {
		return err
	}
	if n := answer.Header.Get("Mockbase-Warnings"); n != "" && n != "0" && !r.quiet {
		if err := tellLosses(r, request); err != nil {
			return err
		}
	}
	switch {
	case c.Split != "":
		return c.split(r.process, answer.Body)
	case c.Out != "":
		return c.write(r.process, c.Out, answer.Body)
	case c.Output == config.OutputLines && c.notation() == mockbase.FormatJSON:
		return printCompact(r.Out, answer.Body)
	}
	printf(r.Out, "%s", answer.Body)
	return nil
}

// check refuses what the server would refuse, in words of the command line.
func (c *exportCommand) check() error {
	known := []string{"mockbase", "yaml", "json", "openapi", "postman", "wiremock", "har", "ndjson"}
	traffic := c.Format == "har" || c.Format == "ndjson"
	wrong := func(fix, format string, args ...any) error {
		return &failure{code: exitUsage, err: fmt.Errorf(format, args...), fix: fix}
	}
	switch {
	case !slices.Contains(known, c.Format):
		return unknownChoice("--format", c.Format, known)
	case c.Split != "" && (c.Out != "" || c.notation() == ""):
		return wrong("leave out --out, --format and --mock", "--split writes the format mockbase into a folder")
	case traffic && c.Tag != "":
		return wrong("leave it out, or name a mock with --mock", "--tag chooses mocks, and recorded traffic has no tags")
	}
	if err := c.checkNotation(); err != nil {
		return err
	}
	return writable("--out", c.Out)
}

func (c *exportCommand) checkNotation() error {
	switch {
	case c.As == "":
		return nil
	case c.As != "json" && c.As != "yaml":
		return unknownChoice("--as", c.As, []string{"json", "yaml"})
	case c.Format == "yaml" && c.As == "json":
		return &failure{code: exitUsage, err: errors.New("--format yaml is written as YAML"), fix: "write --format mockbase --as json"}
	case slices.Contains([]string{"mockbase", "openapi", "yaml"}, c.Format), c.As == "json" && c.Format != "ndjson":
		return nil
	case c.Format == "ndjson":
		return &failure{code: exitUsage, err: errors.New("--format ndjson is written as lines alone"), fix: "leave out --as"}
	}
	return &failure{code: exitUsage, err: fmt.Errorf("--format %s is written as JSON alone", c.Format), fix: "leave out --as"}
}

// tellLosses lists what the format cannot say.
func tellLosses(r *remote, request client.Request) error {
	request.Query = maps.Clone(request.Query)
	request.Query.Set("warnings", "true")
	request.Query.Del("as")
	request.Accept = "application/json"
	answer, err := r.Do(r.ctx, request)
	if err != nil {
		return err
	}
	var list struct {
		Items []interchange.Loss `json:"items"`
	}
	if err := answer.JSON(&list); err != nil {
		return err
	}
	for _, l := range list.Items {
		printf(r.Err, "mockbase: warning: %s: %s [%s]\n", strings.TrimSpace(l.Mock+" "+l.Pointer), l.Detail, l.Code)
	}
	return nil
}

// notation is how a definition is written, "" for another format.
func (c *exportCommand) notation() mockbase.Format {
	switch {
	case c.Mock != "": // the definition of the whole project is another address
		return ""
	case c.Format == "json", c.Format == "mockbase" && (c.As == "json" || c.As == "" && (c.Output == config.OutputJSON || c.Output == config.OutputLines)):
		return mockbase.FormatJSON
	case c.Format == "yaml", c.Format == "mockbase":
		return mockbase.FormatYAML
	}
	return ""
}

// as is the notation that was asked for, "" for the usual one.
func (c *exportCommand) as() string {
	if c.As == "" && c.Format == "openapi" && (c.Output == config.OutputJSON || c.Output == config.OutputYAML) {
		return string(c.Output)
	}
	return c.As
}

// request asks for the definition (M-160), or for an export (M-163).
func (c *exportCommand) request(r *remote) (client.Request, error) {
	request := client.Request{Method: http.MethodGet, Query: url.Values{}}
	end := "definition"
	switch c.notation() {
	case mockbase.FormatYAML:
		request.Accept = "application/yaml"
	case mockbase.FormatJSON:
	default:
		end, request.Accept = "exports", "*/*"
		request.Query.Set("format", c.Format)
		if c.Format == "yaml" || c.Format == "json" {
			request.Query.Set("format", "mockbase")
			request.Query.Set("as", c.Format)
		}
		if as := c.as(); as != "" {
			request.Query.Set("as", as)
		}
	}
	if c.Split != "" {
		request.Accept = ""
	}
	if c.Tag != "" {
		request.Query.Set("tag", c.Tag)
	}
	if c.Mock != "" {
		request.Query.Set("mock", c.Mock)
	}
	path, err := r.below(end)
	request.Path = path
	return request, err
}

func (*exportCommand) write(p *process, path string, text []byte) error {
	if err := os.WriteFile(path, text, 0o644); err != nil { //nolint:gosec // a definition is there to be shared; its secrets are left out
		return &failure{code: exitEnvironment, what: "write " + path, err: err, fix: "name a file in a folder that this user can write"}
	}
	p.done("wrote %s", path)
	return nil
}

// split writes project.yaml with everything but the mocks, and a file for each mock. Names begin with a number, because
// files apply in the order of their names, and mocks in theirs.
func (c *exportCommand) split(p *process, text []byte) error {
	root, err := mockbase.ParseNode(text, mockbase.FormatJSON, mockbase.ParseLimits{Bytes: maxDefinition})
	if err != nil {
		return fmt.Errorf("read definition: %w", err)
	}
	if err := emptyFolder(c.Split); err != nil {
		return err
	}
	mocks := root.Find("mocks")
	project := root.Find("project")
	if mocks == nil {
		mocks = &mockbase.Node{Kind: mockbase.NodeList}
	}
	root.Members = slices.DeleteFunc(root.Members, func(m mockbase.Member) bool { return m.Key == "mocks" })
	if slices.ContainsFunc(root.Members, func(m mockbase.Member) bool { return m.Key != "version" && m.Key != "project" }) || len(mocks.Items) == 0 {
		root.Members = append(root.Members, mockbase.Member{Key: "mocks", Value: &mockbase.Node{Kind: mockbase.NodeList}})
		if err := c.part(p, "000-project.yaml", root); err != nil {
			return err
		}
	}
	width := max(3, len(strconv.Itoa(len(mocks.Items))))
	for i, m := range mocks.Items {
		one := &mockbase.Node{Kind: mockbase.NodeObject}
		if project != nil {
			one.Members = append(one.Members, mockbase.Member{Key: "project", Value: project})
		}
		one.Members = append(one.Members, mockbase.Member{Key: "mocks", Value: &mockbase.Node{Kind: mockbase.NodeList, Items: []*mockbase.Node{m}}})
		name := regexp.MustCompile(`[^A-Za-z0-9._-]+`).ReplaceAllString(nameOf("mock", m), "-")
		if err := c.part(p, fmt.Sprintf("%0*d-%s.yaml", width, i+1, name), one); err != nil {
			return err
		}
	}
	p.done("wrote %s into %s", count(len(mocks.Items), "mock"), c.Split)
	return nil
}

// emptyFolder makes a folder, and refuses one that holds anything.
func emptyFolder(path string) error {
	if err := os.MkdirAll(path, 0o755); err != nil { //nolint:gosec // what is written into it is there to be shared
		return &failure{code: exitEnvironment, what: "make " + path, err: err}
	}
	if old, err := filepath.Glob(filepath.Join(path, "*")); err == nil && len(old) > 0 {
		return &failure{
			code: exitUsage, what: "write into " + path, err: errors.New("the folder is not empty, and what is left over would be read as well"),
			fix: "name a new folder, or empty this one",
		}
	}
	return nil
}

func (c *exportCommand) part(p *process, name string, n *mockbase.Node) error {
	text, err := mockbase.EncodeMockYAML(n.JSON())
	if err != nil {
		return fmt.Errorf("write yaml: %w", err)
	}
	quiet := *p
	quiet.quiet = true
	return c.write(&quiet, filepath.Join(c.Split, name), text)
}
