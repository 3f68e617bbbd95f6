package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
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
	return columns("NAME=name", "REQUEST=request", "ENABLED=enabled", "SOURCE=source", "CALLS=stats.calls", "TAGS=tags")
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

// authored is the YAML of a mock without what the server adds to it (M-62).
func authored(doc []byte) ([]byte, error) {
	root, err := mockbase.ParseNode(doc, mockbase.FormatJSON, mockbase.ParseLimits{Bytes: maxDefinition})
	if err != nil {
		return nil, fmt.Errorf("read mock: %w", err)
	}
	added := " id project version createdAt updatedAt updatedBy source readOnly urls warnings stats truncated "
	kept := &mockbase.Node{Kind: mockbase.NodeObject}
	for _, m := range root.Members {
		if !strings.Contains(added, " "+m.Key+" ") {
			kept.Members = append(kept.Members, m)
		}
	}
	return mockbase.EncodeMockYAML(kept.JSON())
}

// edit opens a text in the editor of $VISUAL or $EDITOR and saves what was changed. A text that cannot be saved is kept
// in a file, so that nothing that was written is lost.
func (r *remote) edit(name string, text []byte, save func([]byte) error) error {
	f, err := os.CreateTemp("", "mockbase-*.yaml") // mode 0600
	if err != nil {
		return &failure{code: exitEnvironment, what: "edit", err: err}
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return &failure{code: exitEnvironment, what: "edit", err: err}
	}
	if err := r.openEditor(f.Name()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	edited, err := os.ReadFile(f.Name())
	if err != nil {
		return &failure{code: exitEnvironment, what: "edit", err: err}
	}
	if bytes.Equal(edited, text) && name != "new" || len(bytes.TrimSpace(edited)) == 0 {
		r.done("nothing was changed")
		return os.Remove(f.Name())
	}
	if err := save(edited); err != nil {
		r.done("your text is kept in %s", f.Name())
		return inMock(f.Name(), edited, err)
	}
	return os.Remove(f.Name())
}

// openEditor runs the editor and waits for it.
func (r *remote) openEditor(path string) error {
	editor := "vi"
	for _, name := range []string{"EDITOR", "VISUAL"} {
		if stated, _ := r.lookup(name); stated != "" {
			editor = stated
		}
	}
	words := strings.Fields(editor)
	command := exec.CommandContext(r.ctx, words[0], append(words[1:], path)...) //nolint:gosec // the user names the editor
	command.Stdin, command.Stdout, command.Stderr = r.In, r.Out, r.Err
	if err := command.Run(); err != nil {
		return &failure{code: exitUsage, what: "run editor " + editor, err: err, fix: "name another with EDITOR, or write a file and use mock new -f, or apply -f"}
	}
	return nil
}

// inMock tells the places of faults in a text of one mock.
func inMock(path string, text []byte, err error) error {
	refused, ok := errors.AsType[*client.RefusedError](err)
	if !ok || len(refused.Problem.Fields) == 0 {
		return err
	}
	list := &faults{code: exitBadInput}
	for _, f := range mockbase.Locate(text, mockbase.FormatYAML, refused.Problem.Fields) {
		place := path
		if f.Line > 0 {
			place += fmt.Sprintf(":%d:%d", f.Line, max(f.Column, 1))
		}
		list.lines = append(list.lines, strings.TrimSpace(place+": "+memberPath(f.Pointer)+": "+f.Detail)+" ["+string(f.Code)+"]")
		list.fixes = append(list.fixes, "")
	}
	return list
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

// tryCommand says what would answer a request (M-151), or sends it (M-152).
type tryCommand struct {
	config.Target

	Method  string   `arg:"" help:"Method of the request."`
	Path    string   `arg:"" help:"Path and query, as /users/7?full=1."`
	Headers []string `name:"header" short:"H" sep:"none" placeholder:"NAME: VALUE" help:"Header field; may be repeated."`
	Data    string   `name:"data" short:"d" placeholder:"TEXT" help:"Body; @FILE reads a file, @- standard input."`
	Mock    string   `name:"mock" placeholder:"NAME" help:"Ask this mock alone."`
	Session string   `name:"session" placeholder:"NAME" help:"Ask in this session."`
	Send    bool     `name:"send" help:"Send the request: counts, states and traffic change as with any call."`
	Curl    bool     `name:"curl" help:"Print the curl command that makes this call, and ask nothing."`
}

// Run prints the explanation or the answer.
func (c *tryCommand) Run(p *process) error {
	return p.call(&c.Target, "try "+c.Method+" "+c.Path, c.run)
}

func (c *tryCommand) run(r *remote) error {
	request, err := c.request(r)
	if err != nil {
		return err
	}
	if c.Curl {
		return c.printCurl(r, request)
	}
	body := map[string]any{"request": request}
	if c.Session != "" {
		body["session"] = c.Session
	}
	segments := []string{"try"}
	switch {
	case c.Send:
		segments = []string{"send"}
	case c.Mock != "":
		segments = []string{"mocks", c.Mock, "try"}
	}
	path, err := r.below(segments...)
	if err != nil {
		return err
	}
	answer, err := r.exchange(client.Request{Method: http.MethodPost, Path: path}, body)
	if err != nil {
		return err
	}
	if c.Send {
		return c.printSent(r, answer)
	}
	return r.printExplanation(answer)
}

// request is the request as the API takes it (rule M-82).
func (c *tryCommand) request(r *remote) (map[string]any, error) {
	request := map[string]any{"method": strings.ToUpper(c.Method), "target": c.Path}
	headers := [][2]string{}
	for _, line := range c.Headers {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, &failure{code: exitUsage, err: fmt.Errorf("--header: %q is no header field", line), fix: "write it like 'Accept: text/plain'"}
		}
		headers = append(headers, [2]string{strings.TrimSpace(name), strings.TrimSpace(value)})
	}
	if len(headers) > 0 {
		request["headers"] = headers
	}
	if from, isFile := strings.CutPrefix(c.Data, "@"); isFile {
		text, err := readInput(r.In, from)
		if err != nil {
			return nil, unreadablePath(err)
		}
		request["bodyBase64"] = text
	} else if c.Data != "" {
		request["body"] = c.Data
	}
	return request, nil
}

func (c *tryCommand) printCurl(r *remote, request map[string]any) error {
	path, err := r.below()
	if err != nil {
		return err
	}
	answer, err := r.Do(r.ctx, client.Request{Method: http.MethodGet, Path: path})
	if err != nil {
		return err
	}
	words := []string{"curl", "-i", "-X", fmt.Sprint(request["method"])}
	for _, line := range c.Headers {
		words = append(words, "-H", quoted(line))
	}
	if c.Session != "" {
		words = append(words, "-H", quoted("Mockbase-Session: "+c.Session))
	}
	if c.Data != "" {
		words = append(words, "--data-binary", quoted(c.Data))
	}
	printf(r.Out, "%s\n", strings.Join(append(words, quoted(memberText(answer.Body, "urls.path")+c.Path)), " "))
	return nil
}

// quoted writes a word so that a shell takes it as it is.
func quoted(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func (*tryCommand) printSent(r *remote, answer *client.Answer) error {
	if r.form(r.output) != config.OutputTable {
		return r.printDocument(r.output, answer.Body)
	}
	var sent struct {
		Items []struct {
			Exchange json.RawMessage `json:"exchange"`
			message
		} `json:"items"`
	}
	if err := answer.JSON(&sent); err != nil {
		return err
	}
	for i := range sent.Items {
		one := &sent.Items[i].message
		printf(r.Out, "%s\n", r.paint(r.Out, statusColor(one.Status), strconv.Itoa(one.Status)+" "+http.StatusText(one.Status)))
		one.BodySize = int64(len(one.Body))
		r.printMessage(one)
	}
	return nil
}

// readInput reads a file, or standard input for "-".
func readInput(in interface{ Read([]byte) (int, error) }, path string) ([]byte, error) {
	if path != "-" {
		return os.ReadFile(path) //nolint:gosec // the user names the file
	}
	var b bytes.Buffer
	_, err := b.ReadFrom(in)
	return b.Bytes(), err
}
