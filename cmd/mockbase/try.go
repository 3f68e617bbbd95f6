package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

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
