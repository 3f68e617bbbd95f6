package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// trafficCommands are about what was recorded.
type trafficCommands struct {
	List    trafficListCommand    `cmd:"" help:"List recorded calls, the newest first."`
	Get     trafficGetCommand     `cmd:"" help:"Show a call with headers and bodies."`
	Explain trafficExplainCommand `cmd:"" help:"Say why a call was answered as it was."`
	Clear   trafficClearCommand   `cmd:"" help:"Forget recorded calls."`
	Export  trafficExportCommand  `cmd:"" help:"Write recorded calls as lines of JSON, or as a HAR file."`
}

// trafficFilter selects recorded calls (M-175).
type trafficFilter struct {
	Unmatched  bool   `name:"unmatched" help:"Only calls that no mock answered."`
	Limited    bool   `name:"limited" help:"Only calls that a limit refused."`
	Mock       string `name:"mock" placeholder:"NAME" help:"Only calls of this mock."`
	Status     string `name:"status" placeholder:"STATUS" help:"Only answers with this status, as 404, or of this class, as 4xx."`
	Method     string `name:"method" placeholder:"METHOD" help:"Only calls with this method."`
	Path       string `name:"path" placeholder:"PATH" help:"Only calls whose path begins so."`
	AnsweredBy string `name:"answered-by" placeholder:"WHO" help:"Only calls that were answered by mock, collection, document, proxy, simulated-limit, shield, preflight, overlay, unmatched or error."`
	Session    string `name:"session" placeholder:"NAME" help:"Only calls of this session."`
	Since      string `name:"since" placeholder:"TIME" help:"Only calls since a time, as 2026-01-31T12:00:00Z, or since so long ago, as 10m."`
	Text       string `name:"q" placeholder:"TEXT" help:"Only calls that hold this text."`
}

// query is the filter as the API takes it.
func (f *trafficFilter) query(now time.Time) (url.Values, error) {
	q := url.Values{}
	set := func(name, value string) {
		if value != "" {
			q.Set(name, value)
		}
	}
	set("mock", f.Mock)
	set("status", f.Status)
	set("method", f.Method)
	set("path", f.Path)
	set("session", f.Session)
	set("q", f.Text)
	set("answeredBy", f.AnsweredBy)
	if f.Unmatched {
		set("matched", "false")
	}
	if f.Limited {
		if f.AnsweredBy != "" {
			return nil, &failure{code: exitUsage, err: errors.New("--limited and --answered-by say the same thing in two ways"), fix: "drop one of the two"}
		}
		set("answeredBy", "simulated-limit,shield")
	}
	since, err := moment(f.Since, now)
	set("since", since)
	return q, err
}

// moment reads the time of --since, or a duration that counts back from now.
func moment(text string, now time.Time) (string, error) {
	if text == "" {
		return "", nil
	}
	if d, err := mockbase.ParseDuration(text); err == nil {
		return now.Add(-d).UTC().Format("2006-01-02T15:04:05.000Z"), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return "", &failure{code: exitUsage, err: fmt.Errorf("--since: %q is no time", text), fix: "write a time like 2026-01-31T12:00:00Z, or how long ago, like 10m"}
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z"), nil
}

func trafficColumns() []column {
	return columns("ID=id", "AT=at", "STATUS=response.status", "METHOD=request.method", "TARGET=request.target", "BY=answeredBy", "MOCK=mock.name", "MS=durationMs")
}

// trafficListCommand lists recorded calls (M-175).
type trafficListCommand struct {
	config.Target
	trafficFilter

	Limit int    `name:"limit" default:"50" placeholder:"N" help:"At most so many; 0 for all."`
	HAR   string `name:"har" placeholder:"FILE" help:"Write the selected calls into a HAR file instead, which browsers open."`
}

// Run prints the newest calls.
func (c *trafficListCommand) Run(p *process) error {
	return p.call(&c.Target, "list traffic", func(r *remote) error {
		q, err := c.query(p.clock())
		if err != nil {
			return err
		}
		if c.HAR != "" {
			return r.writeHAR(q, c.HAR)
		}
		path, err := r.below("traffic")
		if err != nil {
			return err
		}
		items := []json.RawMessage{}
		err = r.List(r.ctx, path, q, c.Limit, func(item json.RawMessage) error {
			items = append(items, item)
			return nil
		})
		if err != nil {
			return err
		}
		return r.printList(r.output, items, trafficColumns())
	})
}

// writeHAR writes recorded calls into a file, as M-163 gives them.
func (r *remote) writeHAR(q url.Values, path string) error {
	at, err := r.below("exports")
	if err != nil {
		return err
	}
	q.Set("format", "har")
	answer, err := r.Do(r.ctx, client.Request{Method: http.MethodGet, Path: at, Query: q, Accept: "*/*"})
	if err != nil {
		return err
	}
	if path == "-" {
		printf(r.Out, "%s", answer.Body)
		return nil
	}
	// What was recorded may hold what nobody else is to see.
	if err := os.WriteFile(path, answer.Body, 0o600); err != nil {
		return &failure{code: exitEnvironment, what: "write " + path, err: err, fix: "name a file in a folder that this user can write"}
	}
	r.done("wrote %s", path)
	return nil
}

// trafficGetCommand shows one call (M-176).
type trafficGetCommand struct {
	config.Target

	ID string `arg:"" optional:"" default:"latest" name:"id" help:"Id of the call, or latest."`
}

// Run prints the call; as a table, the way it went over the wire.
func (c *trafficGetCommand) Run(p *process) error {
	return p.call(&c.Target, "show call "+c.ID, func(r *remote) error {
		path, err := r.below("traffic", c.ID)
		if err != nil {
			return err
		}
		answer, err := r.Do(r.ctx, client.Request{Method: http.MethodGet, Path: path})
		if err != nil {
			return err
		}
		if r.form(r.output) != config.OutputTable {
			return r.printDocument(r.output, answer.Body)
		}
		return r.printExchange(answer)
	})
}

// recorded is a call as it is printed.
type recorded struct {
	ID         string   `json:"id"`
	At         string   `json:"at"`
	AnsweredBy string   `json:"answeredBy"`
	Request    message  `json:"request"`
	Response   message  `json:"response"`
	Hints      []string `json:"hints"`
	Mock       *struct {
		Name string `json:"name"`
	} `json:"mock"`
	NearMisses []json.RawMessage `json:"nearMisses"`
	DurationMs float64           `json:"durationMs"`
}

// message is one side of it.
type message struct {
	Method       string      `json:"method"`
	Target       string      `json:"target"`
	HTTPVersion  string      `json:"httpVersion"`
	Status       int         `json:"status"`
	Headers      [][2]string `json:"headers"`
	Body         string      `json:"body"`
	BodyEncoding string      `json:"bodyEncoding"`
	BodySize     int64       `json:"bodySize"`
	Truncated    bool        `json:"truncated"`
}

func (r *remote) printExchange(answer *client.Answer) error {
	var x recorded
	if err := answer.JSON(&x); err != nil {
		return err
	}
	by := x.AnsweredBy
	if x.Mock != nil {
		by += " " + x.Mock.Name
	}
	printf(r.Out, "%s\n", r.paint(r.Out, faint, fmt.Sprintf("# %s, %s, answered by %s in %s ms", x.ID, x.At, printable(by), strconv.FormatFloat(x.DurationMs, 'f', -1, 64))))
	printf(r.Out, "%s %s %s\n", printable(x.Request.Method), printable(x.Request.Target), printable(x.Request.HTTPVersion))
	r.printMessage(&x.Request)
	printf(r.Out, "\n%s\n", r.paint(r.Out, statusColor(x.Response.Status), strconv.Itoa(x.Response.Status)+" "+http.StatusText(x.Response.Status)))
	r.printMessage(&x.Response)
	for _, hint := range x.Hints {
		printf(r.Out, "%s\n", r.paint(r.Out, faint, "# "+printable(hint)))
	}
	if len(x.NearMisses) > 0 {
		printf(r.Out, "%s\n", r.paint(r.Out, faint, "# why: mockbase traffic explain "+x.ID))
	}
	return nil
}

func (r *remote) printMessage(m *message) {
	for _, h := range m.Headers {
		printf(r.Out, "%s: %s\n", printable(h[0]), printable(h[1]))
	}
	switch {
	case m.BodySize == 0:
	case m.BodyEncoding == "base64":
		printf(r.Out, "\n%s\n", r.paint(r.Out, faint, fmt.Sprintf("# %d bytes that are no text; --output json shows them in base64", m.BodySize)))
	default:
		printf(r.Out, "\n%s\n", printableText(m.Body))
	}
	if m.Truncated {
		printf(r.Out, "%s\n", r.paint(r.Out, faint, fmt.Sprintf("# cut: the whole body had %d bytes", m.BodySize)))
	}
}

// printableText is printable for a text of several lines.
func printableText(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if line = strings.TrimSuffix(line, "\r"); line != "" {
			line = printable(strings.ReplaceAll(line, "\t", "    "))
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}

func statusColor(status int) string {
	switch {
	case status >= 500:
		return red
	case status >= 400:
		return yellow
	default:
		return green
	}
}

// trafficExplainCommand says why (M-177).
type trafficExplainCommand struct {
	config.Target

	ID string `arg:"" optional:"" default:"latest" name:"id" help:"Id of the call, or latest."`
}

// Run prints the explanation as it was then, and what today's mocks would do.
func (c *trafficExplainCommand) Run(p *process) error {
	return p.call(&c.Target, "explain call "+c.ID, func(r *remote) error {
		path, err := r.below("traffic", c.ID, "explain")
		if err != nil {
			return err
		}
		answer, err := r.Do(r.ctx, client.Request{Method: http.MethodGet, Path: path})
		if err != nil {
			return err
		}
		return r.printExplanation(answer)
	})
}

// trafficClearCommand forgets calls (M-179).
type trafficClearCommand struct {
	config.Target
	trafficFilter
}

// Run prints how many were forgotten.
func (c *trafficClearCommand) Run(p *process) error {
	return p.call(&c.Target, "clear traffic", func(r *remote) error {
		q, err := c.query(p.clock())
		if err != nil {
			return err
		}
		path, err := r.below("traffic")
		if err != nil {
			return err
		}
		return r.act(client.Request{Method: http.MethodDelete, Path: path, Query: q}, nil, columns("DELETED=deleted"))
	})
}

// trafficExportCommand writes calls down.
type trafficExportCommand struct {
	config.Target
	trafficFilter

	HAR string `name:"har" placeholder:"FILE" help:"Write a HAR file, which browsers open; - for standard output."`
}

// Run writes lines of JSON as they come, or the file.
func (c *trafficExportCommand) Run(p *process) error {
	return p.call(&c.Target, "export traffic", func(r *remote) error {
		q, err := c.query(p.clock())
		if err != nil {
			return err
		}
		if c.HAR != "" {
			return r.writeHAR(q, c.HAR)
		}
		path, err := r.below("traffic")
		if err != nil {
			return err
		}
		response, err := r.Open(r.ctx, client.Request{Method: http.MethodGet, Path: path, Query: q, Accept: "application/x-ndjson"})
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }() // it was only read
		_, err = io.Copy(p.Out, response.Body)
		return err
	})
}
