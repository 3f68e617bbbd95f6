package main

import (
	"net/http"
	"net/url"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/management/catalog"
)

// importCommand brings files of other tools into a project, or turns them into definition files (rule C-40).
type importCommand struct {
	config.Target

	Src        string `arg:"" name:"src" help:"A file, a folder or archive, an address, or - for standard input."`
	From       string `name:"from" default:"auto" placeholder:"FORMAT" help:"The tool that wrote it: openapi, postman, har, wiremock, mockoon, mockserver, smocker, hoverfly, json-server, curl or mockbase; auto finds out."`
	Prefix     string `name:"prefix" placeholder:"PATH" help:"Put this before the path of every mock, such as /v1."`
	Source     string `name:"source" placeholder:"NAME" help:"Who owns what the import makes; without it, format and title say so."`
	Expand     bool   `name:"expand" help:"Make one mock for each operation of an OpenAPI document, instead of a document."`
	Limits     bool   `name:"limits" help:"Make a limit of each 429 that an OpenAPI document declares."`
	Root       string `name:"root" placeholder:"FILE" help:"The file of a folder or archive that the OpenAPI document begins with; without it, the one that says so."`
	OnConflict string `name:"on-conflict" enum:",skip,replace,fail" default:"" placeholder:"WHAT" help:"What becomes of items that somebody edited or another source owns: skip, which is usual, replace or fail."`
	DryRun     bool   `name:"dry-run" help:"Print the plan and change nothing."`
	To         string `name:"to" placeholder:"FILE" help:"Write a definition file instead, without any server; - is standard output."`
}

// Help is what kong prints below the summary.
func (*importCommand) Help() string {
	return `What can be translated becomes mocks; what has no equivalent is told with its line. To import the same file again is an
update: what was edited by hand since is kept, and what the file no longer has is listed and stays.`
}

// Run imports into a project, or converts without a server.
func (c *importCommand) Run(p *process) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.To != "" {
		return c.convert(p)
	}
	return p.call(&c.Target, "import", c.send)
}

// request is the call that hands the source to the server (M-162).
func (c *importCommand) request(r *remote) (client.Request, error) {
	path, err := r.below("imports")
	if err != nil {
		return client.Request{}, err
	}
	request := client.Request{Method: http.MethodPost, Path: path, Query: url.Values{"format": {c.From}}}
	for name, value := range map[string]string{"prefix": c.Prefix, "source": c.Source, "onConflict": c.OnConflict} {
		if value != "" {
			request.Query.Set(name, value)
		}
	}
	for name, on := range map[string]bool{"expand": c.Expand, "limits": c.Limits, "dryRun": c.DryRun} {
		if on {
			request.Query.Set(name, "true")
		}
	}
	if c.isAddress() {
		request.Query.Set("url", c.Src)
		return request, nil
	}
	files, err := c.files(r.process)
	if err != nil {
		return client.Request{}, err
	}
	if len(files) > 1 && c.Root != "" {
		request.Query.Set("root", c.Root)
	}
	return request, c.attach(files, &request)
}

// send imports on the server, and prints what became of the source.
func (c *importCommand) send(r *remote) error {
	request, err := c.request(r)
	if err != nil {
		return err
	}
	r.sent = sentFile{path: c.Src, whole: true}
	answer, err := r.Do(r.ctx, request)
	if err != nil {
		return c.inFlags(err)
	}
	plan := &catalog.Plan{}
	if err := answer.JSON(plan); err != nil {
		return err
	}
	for _, w := range plan.Warnings {
		c.warn(r.process, mockbase.FieldError{Pointer: w.Pointer, Code: w.Code, Detail: w.Detail, Line: w.Line, Column: w.Column})
	}
	if r.form(r.output) == config.OutputTable {
		printf(r.Out, "%s", r.planText(plan, "no longer in what is imported; it stays until it is deleted"))
		return nil
	}
	return r.printDocument(r.output, answer.Body)
}
