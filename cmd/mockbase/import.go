package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/interchange"
	"github.com/mockbase/mockbase/management/catalog"
	"github.com/mockbase/mockbase/openapi"
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
	for name, value := range map[string]string{"prefix": c.Prefix, "source": c.Source, "root": c.Root, "onConflict": c.OnConflict} {
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
	err = c.attach(r.process, &request)
	return request, err
}

func (c *importCommand) isAddress() bool {
	return strings.HasPrefix(c.Src, "http://") || strings.HasPrefix(c.Src, "https://")
}

// onlyOnServer refuses, beside --to, what only a server can do: there is no project that could have a conflict, and nothing
// that an owner would be remembered of.
func (c *importCommand) onlyOnServer() error {
	refuse := func(what, fix string) error {
		return &failure{code: exitUsage, err: fmt.Errorf("--to writes a file without a server, and %s", what), fix: fix}
	}
	switch {
	case c.isAddress():
		return refuse("fetches nothing: the source is the address "+c.Src, "pipe it in: curl -sS "+c.Src+" | mockbase import - --to "+c.To)
	case c.Source != "":
		return refuse("a file has no owner: --source says nothing there", "give --source to mockbase apply, which remembers it")
	case c.OnConflict != "":
		return refuse("nothing is there yet that --on-conflict could be about", "leave --on-conflict out")
	case c.DryRun:
		return refuse("changes no project: --dry-run says nothing there", "write --to - to see what would be written")
	case c.Root != "":
		return refuse("puts no document together: --root needs a server", "leave --to out, and take the mocks with mockbase export")
	}
	return nil
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
		return err
	}
	plan := &catalog.Plan{}
	if err := answer.JSON(plan); err != nil {
		return err
	}
	if !r.quiet {
		for _, w := range plan.Warnings {
			printf(r.Err, "%s:%d:%d: warning: %s: %s [%s]\n", c.Src, w.Line, w.Column, w.Pointer, w.Detail, w.Code)
		}
	}
	if r.form(r.output) == config.OutputTable {
		printf(r.Out, "%s", r.planText(plan, "no longer in what is imported; it stays until it is deleted"))
		return nil
	}
	return r.printDocument(r.output, answer.Body)
}

// attach puts the source into the body: a file as it is, a folder as an archive.
func (c *importCommand) attach(p *process, request *client.Request) error {
	files, err := c.files(p)
	if err != nil {
		return err
	}
	request.Type, request.Body = "application/octet-stream", files[0].Text
	if len(files) == 1 {
		return nil
	}
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	for _, f := range files {
		w, err := archive.Create(f.Name)
		if err != nil {
			return fmt.Errorf("pack %s: %w", f.Name, err)
		}
		if _, err := w.Write(f.Text); err != nil {
			return fmt.Errorf("pack %s: %w", f.Name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("pack %s: %w", c.Src, err)
	}
	request.Type, request.Body = "application/zip", packed.Bytes()
	return nil
}

// files reads the source: standard input, one file, or all files of a folder.
func (c *importCommand) files(p *process) ([]interchange.File, error) {
	if c.Src == "-" {
		text, err := readBounded(p.In)
		return []interchange.File{{Name: "standard input", Text: text}}, c.unreadable(err)
	}
	info, err := os.Stat(c.Src)
	if err != nil {
		return nil, c.unreadable(err)
	}
	if info.IsDir() {
		files, err := readFolder(os.DirFS(c.Src))
		return files, c.unreadable(err)
	}
	text, err := readFile(os.DirFS(filepath.Dir(c.Src)), filepath.Base(c.Src))
	return []interchange.File{{Name: filepath.Base(c.Src), Text: text}}, c.unreadable(err)
}

func (c *importCommand) unreadable(err error) error {
	if err == nil {
		return nil
	}
	return &failure{code: exitBadInput, what: "import " + c.Src, err: err}
}

// errTooLarge is why a source is not read.
var errTooLarge = errors.New("it is larger than what is imported at once: import it in parts")

func readBounded(from io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, interchange.MaxBytes+1))
	if err == nil && len(text) > interchange.MaxBytes {
		err = errTooLarge
	}
	return text, err
}

func readFile(root fs.FS, name string) ([]byte, error) {
	file, err := root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	defer func() { _ = file.Close() }() // nothing was written
	return readBounded(file)
}

// readFolder reads the regular files of a folder and of those inside it.
func readFolder(root fs.FS) ([]interchange.File, error) {
	var files []interchange.File
	size := 0
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if len(files) == interchange.MaxFiles {
			return errTooLarge
		}
		text, err := readFile(root, name)
		if size += len(text); err == nil && size > interchange.MaxBytes {
			err = errTooLarge
		}
		files = append(files, interchange.File{Name: name, Text: text})
		return err
	})
	if err == nil && len(files) == 0 {
		err = errors.New("the folder is empty")
	}
	return files, err
}

// convert writes a definition file.
func (c *importCommand) convert(p *process) error {
	if err := c.onlyOnServer(); err != nil {
		return err
	}
	files, err := c.files(p)
	if err != nil {
		return err
	}
	if format, err := interchange.Detect(files); (c.From == "auto" && err == nil && format == interchange.FormatOpenAPI) || c.From == string(interchange.FormatOpenAPI) {
		return c.convertDocument(p, files)
	}
	result, err := interchange.Import(p.ctx, files, interchange.Options{Format: interchange.Format(c.From), Prefix: c.Prefix})
	if err != nil {
		return &failure{code: exitBadInput, what: "import " + c.Src, err: err}
	}
	if !p.quiet {
		for _, w := range result.Warnings {
			printf(p.Err, "%s:%d:%d: warning: %s [%s]\n", filepath.Join(c.Src, w.File), w.Line, w.Column, w.Detail, w.Code)
		}
	}
	return c.store(p, result.JSON(), strconv.Itoa(result.Mocks())+" of "+count(result.Found, "entry"))
}

// store writes a definition where --to says.
func (c *importCommand) store(p *process, definition []byte, what string) error {
	text, err := mockbase.EncodeMockYAML(definition)
	if err != nil {
		return fmt.Errorf("write yaml: %w", err)
	}
	if c.To == "-" {
		printf(p.Out, "%s", text)
		return nil
	}
	if err := os.WriteFile(c.To, text, 0o644); err != nil { //nolint:gosec // a definition is there to be shared
		return &failure{code: exitEnvironment, what: "write " + c.To, err: err, fix: "name a file in a folder that this user can write"}
	}
	p.done("wrote %s into %s", what, c.To)
	return nil
}

// convertDocument makes mocks of the operations of an OpenAPI document of one file.
func (c *importCommand) convertDocument(p *process, files []interchange.File) error {
	if !c.Expand {
		return &failure{
			code: exitUsage, what: "import " + c.Src, err: errors.New("an OpenAPI document becomes mocks with --expand alone"),
			fix: "write --expand --to FILE, or name the document in a definition: documents: [{name: api, file: api.yaml}]",
		}
	}
	if len(files) != 1 {
		return &failure{code: exitUsage, what: "import " + c.Src, err: errors.New("an OpenAPI document of several files is put together by a server"), fix: "leave out --to and name a project with -p"}
	}
	parsed, err := openapi.Parse(files[0].Text)
	if err != nil {
		return &failure{code: exitBadInput, what: "import " + c.Src, err: err}
	}
	made := parsed.Expand(openapi.ExpandOptions{Prefix: c.Prefix, Limits: c.Limits})
	if !p.quiet {
		for _, w := range made.Warnings {
			printf(p.Err, "%s:%d:%d: warning: %s: %s [%s]\n", c.Src, w.Line, w.Column, w.Pointer, w.Detail, w.Code)
		}
	}
	mocks := &mockbase.Node{Kind: mockbase.NodeList}
	for _, m := range made.Mocks {
		mocks.Items = append(mocks.Items, m.Document)
	}
	root := &mockbase.Node{Kind: mockbase.NodeObject, Members: []mockbase.Member{
		{Key: "version", Value: &mockbase.Node{Kind: mockbase.NodeNumber, Text: "1"}}, {Key: "mocks", Value: mocks},
	}}
	return c.store(p, root.JSON(), strconv.Itoa(len(made.Mocks))+" of "+count(made.Operations, "operation"))
}
