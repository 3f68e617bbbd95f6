package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/interchange"
	"github.com/mockbase/mockbase/openapi"
)

// convert writes a definition file.
func (c *importCommand) convert(p *process) error {
	if err := c.onlyOnServer(); err != nil {
		return err
	}
	files, err := c.files(p)
	if err != nil {
		return err
	}
	format := interchange.Format(c.From)
	if format == interchange.FormatAuto {
		if format, err = detectFiles(files); err != nil {
			return c.notRead(err)
		}
	}
	if err := c.checkFor(format); err != nil {
		return err
	}
	switch format {
	case interchange.FormatOpenAPI:
		return c.convertDocument(p, files)
	case interchange.FormatMockBase:
		return &failure{
			code: exitUsage, what: "import " + c.Src, err: errors.New("it is a definition already, and --to would write it as it is"),
			fix: "use the file itself, with apply, validate or serve",
		}
	default: // what has a translation
	}
	result, err := interchange.Import(p.ctx, files, interchange.Options{Format: format, Prefix: c.Prefix})
	if err != nil {
		return c.notRead(err)
	}
	for _, w := range result.Warnings {
		f := w.FieldError
		f.Pointer = w.File + f.Pointer
		c.warn(p, f)
	}
	return c.store(p, result.JSON(), made(result))
}

// made says what came of a source, whose entry may become several mocks.
func made(r *interchange.Result) string {
	if n := r.Entries(); n > r.Found {
		return strconv.Itoa(n) + " made of " + count(r.Found, "entry")
	}
	return strconv.Itoa(r.Entries()) + " of " + count(r.Found, "entry")
}

// detectFiles finds out what files are. OpenAPI documents are read more leniently than other files, so they are looked for
// first.
func detectFiles(files []interchange.File) (interchange.Format, error) {
	if text := files[0].Text; len(files) == 1 && (bytes.Contains(text, []byte("openapi")) || bytes.Contains(text, []byte("swagger"))) {
		if _, err := openapi.Parse(text); err == nil {
			return interchange.FormatOpenAPI, nil
		}
	}
	return interchange.Detect(files) //nolint:wrapcheck // notRead says what it is about
}

// notRead is the failure of a source that cannot be translated.
func (c *importCommand) notRead(err error) error {
	if told := c.unrecognised(err); told != err { //nolint:errorlint // whether it is another one is asked
		return told
	}
	return &failure{code: exitBadInput, what: "import " + c.Src, err: err}
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

// document reads the OpenAPI document that files hold.
func (c *importCommand) document(files []interchange.File) (*openapi.Source, error) {
	upload := openapi.Files{}
	for _, f := range files {
		upload[f.Name] = f.Text
	}
	if len(files) == 1 && interchange.IsArchive(files[0].Text) {
		unpacked, err := openapi.Unzip(files[0].Text)
		if err != nil {
			return nil, err //nolint:wrapcheck // notRead says what it is about
		}
		upload = unpacked
	}
	if text := upload.Text(); text != nil && (c.Root == "" || upload[c.Root] != nil) {
		return openapi.Parse(text) //nolint:wrapcheck // notRead says what it is about
	}
	return upload.Bundle(c.Root) //nolint:wrapcheck // notRead says what it is about
}

// convertDocument makes mocks of the operations of an OpenAPI document.
func (c *importCommand) convertDocument(p *process, files []interchange.File) error {
	if !c.Expand {
		return &failure{
			code: exitUsage, what: "import " + c.Src, err: errors.New("an OpenAPI document becomes mocks with --expand alone"),
			fix: "write --expand --to " + c.To + ", or name the document in a definition: documents: [{name: api, file: api.yaml}]",
		}
	}
	parsed, err := c.document(files)
	if err != nil {
		return c.notRead(err)
	}
	made := parsed.Expand(openapi.ExpandOptions{Prefix: c.Prefix, Limits: c.Limits})
	if c.Limits && !slices.ContainsFunc(made.Mocks, func(m openapi.ExpandedMock) bool { return m.Document.Find("rateLimit") != nil }) {
		c.warn(p, mockbase.FieldError{Pointer: "#/paths", Code: mockbase.WarningUnused, Detail: "no operation declares a 429, so that there is no limit to make"})
	}
	for _, w := range made.Warnings {
		if at := w.Elsewhere; at != nil {
			w.Pointer = at.File + at.Pointer
		}
		c.warn(p, w)
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
