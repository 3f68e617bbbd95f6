package main

import (
	"net/http"
	"net/url"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// mockCommands look after single mocks.
type mockCommands struct {
	List      mockListCommand      `cmd:"" help:"List the mocks of a project."`
	Get       mockGetCommand       `cmd:"" help:"Print a mock."`
	New       mockNewCommand       `cmd:"" help:"Make a mock from a file, or in an editor."`
	Edit      mockEditCommand      `cmd:"" help:"Change a mock in an editor."`
	Enable    mockEnableCommand    `cmd:"" help:"Let mocks answer."`
	Disable   mockDisableCommand   `cmd:"" help:"Keep mocks from answering."`
	Duplicate mockDuplicateCommand `cmd:"" help:"Copy a mock; the copy is disabled."`
	Rm        mockRemoveCommand    `cmd:"" help:"Delete mocks; the trash keeps them for thirty days."`
}

func mockColumns() []column {
	return columns("NAME=name", "REQUEST=request", "ENABLED=enabled|true", "SOURCE=source", "CALLS=stats.calls", "TAGS=tags")
}

// mockListCommand lists mocks (M-140).
type mockListCommand struct {
	config.Target

	Tag     string `name:"tag" placeholder:"TAG" help:"Only mocks that have this tag."`
	Method  string `name:"method" placeholder:"METHOD" help:"Only mocks that answer this method."`
	Enabled string `name:"enabled" enum:",true,false" default:"" placeholder:"true|false" help:"Only mocks that are enabled, or only those that are not."`
}

// Run prints the list.
func (c *mockListCommand) Run(p *process) error {
	return p.call(&c.Target, "list mocks", func(r *remote) error {
		q := url.Values{}
		for name, value := range map[string]string{"tag": c.Tag, "method": c.Method, "enabled": c.Enabled} {
			if value != "" {
				q.Set(name, value)
			}
		}
		path, err := r.below("mocks")
		if err != nil {
			return err
		}
		return r.list(path, q, mockColumns())
	})
}

// mockGetCommand prints a mock (M-142).
type mockGetCommand struct {
	config.Target

	Name string `arg:"" name:"mock" help:"Name or id."`
}

// Run prints the mock; for people as the YAML that they write.
func (c *mockGetCommand) Run(p *process) error {
	return p.call(&c.Target, "get mock "+c.Name, func(r *remote) error {
		path, err := r.below("mocks", c.Name)
		if err != nil {
			return err
		}
		answer, err := r.Do(r.ctx, client.Request{Method: http.MethodGet, Path: path})
		if err != nil {
			return err
		}
		if r.form(r.output) == config.OutputTable {
			r.output = config.OutputYAML
		}
		return r.printDocument(r.output, answer.Body)
	})
}

// mockNewCommand makes a mock (M-141).
type mockNewCommand struct {
	config.Target

	File string `name:"file" short:"f" placeholder:"FILE" help:"YAML or JSON of one mock, - for standard input; without it an editor opens."`
}

// newMock is what an editor shows at first.
const newMock = `# A mock: what it answers to, and what it answers. Save and leave to make it; an empty text makes none.
name: hello
request: GET /hello
response:
  status: 200
  text: Hello
`

// Run prints the new mock's name.
func (c *mockNewCommand) Run(p *process) error {
	return p.call(&c.Target, "make mock", func(r *remote) error {
		path, err := r.below("mocks")
		if err != nil {
			return err
		}
		save := func(text []byte) error {
			answer, err := r.Do(r.ctx, client.Request{Method: http.MethodPost, Path: path, Body: text, Type: "application/yaml", Creates: true})
			if err == nil {
				err = r.printSaved(answer)
			}
			return err
		}
		if c.File == "" {
			return r.edit("new", []byte(newMock), save)
		}
		text, err := readInput(p.In, c.File)
		if err != nil {
			return unreadablePath(err)
		}
		return inMock(c.File, text, save(text))
	})
}

// printSaved prints a mock that was saved: its name, or everything in the form that was asked for.
func (r *remote) printSaved(answer *client.Answer) error {
	var warned struct {
		Warnings []struct {
			Code   string `json:"code"`
			Detail string `json:"detail"`
		} `json:"warnings"`
	}
	if err := answer.JSON(&warned); err != nil {
		return err
	}
	for _, w := range warned.Warnings {
		if !r.quiet {
			printf(r.Err, "mockbase: warning: %s [%s]\n", printable(w.Detail), w.Code)
		}
	}
	if r.output == config.OutputAuto {
		printf(r.Out, "%s\n", memberText(answer.Body, "name"))
		return nil
	}
	return r.printOne(r.output, answer.Body, mockColumns())
}

// mockEditCommand changes a mock in an editor (M-143).
type mockEditCommand struct {
	config.Target

	Name     string `arg:"" name:"mock" help:"Name or id."`
	TakeOver bool   `name:"take-over" help:"Take the mock over from the source that it belongs to."`
}

// Run saves what the editor leaves, unless somebody else changed the mock meanwhile.
func (c *mockEditCommand) Run(p *process) error {
	return p.call(&c.Target, "edit mock "+c.Name, func(r *remote) error {
		r.overrule = ", or take it away from the source with --take-over"
		path, err := r.below("mocks", c.Name)
		if err != nil {
			return err
		}
		now, err := r.Do(r.ctx, client.Request{Method: http.MethodGet, Path: path})
		if err != nil {
			return err
		}
		text, err := authored(now.Body)
		if err != nil {
			return err
		}
		request := client.Request{Method: http.MethodPut, Path: path, Type: "application/yaml", IfMatch: now.Header.Get("ETag")}
		if c.TakeOver {
			request.Query = url.Values{"takeOver": {"true"}}
		}
		return r.edit(c.Name, text, func(text []byte) error {
			request.Body = text
			answer, err := r.Do(r.ctx, request)
			if err == nil {
				err = r.printSaved(answer)
			}
			return err
		})
	})
}

// bulkFlags name mocks.
type bulkFlags struct {
	config.Target

	Names []string `arg:"" name:"mock" help:"Names or ids."`
}

// bulk does the same with several mocks, with all or none (M-153).
func (f *bulkFlags) bulk(p *process, action, did string) error {
	return p.call(&f.Target, action+" mocks", func(r *remote) error {
		path, err := r.below("mocks", "bulk")
		if err != nil {
			return err
		}
		var answer struct {
			Changed int `json:"changed"`
		}
		err = r.Send(r.ctx, client.Request{Method: http.MethodPost, Path: path}, map[string]any{"action": action, "mocks": f.Names}, &answer)
		if err == nil {
			p.done("%s %s", did, count(answer.Changed, "mock"))
		}
		return err
	})
}

// mockEnableCommand lets mocks answer.
type mockEnableCommand struct{ bulkFlags }

// Run enables all of them or none.
func (c *mockEnableCommand) Run(p *process) error { return c.bulk(p, "enable", "enabled") }

// mockDisableCommand keeps mocks from answering.
type mockDisableCommand struct{ bulkFlags }

// Run disables all of them or none.
func (c *mockDisableCommand) Run(p *process) error { return c.bulk(p, "disable", "disabled") }

// mockRemoveCommand deletes mocks.
type mockRemoveCommand struct{ bulkFlags }

// Run deletes all of them or none.
func (c *mockRemoveCommand) Run(p *process) error { return c.bulk(p, "delete", "deleted") }

// mockDuplicateCommand copies a mock (M-146).
type mockDuplicateCommand struct {
	config.Target

	Mock    string `arg:"" name:"mock" help:"Name or id."`
	Name    string `name:"name" placeholder:"NAME" help:"Name of the copy."`
	Enabled bool   `name:"enabled" help:"Let the copy answer at once."`
}

// Run prints the copy's name.
func (c *mockDuplicateCommand) Run(p *process) error {
	return p.call(&c.Target, "duplicate mock "+c.Mock, func(r *remote) error {
		path, err := r.below("mocks", c.Mock, "duplicate")
		if err != nil {
			return err
		}
		body := map[string]any{"enabled": c.Enabled}
		if c.Name != "" {
			body["name"] = c.Name
		}
		answer, err := r.exchange(client.Request{Method: http.MethodPost, Path: path, Creates: true}, body)
		if err != nil {
			return err
		}
		return r.printSaved(answer)
	})
}
