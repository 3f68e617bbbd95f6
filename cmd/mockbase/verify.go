package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// verifyCommand judges what was recorded (M-180, rules C-43 and AA40).
type verifyCommand struct {
	config.Target

	File        string          `name:"file" short:"f" placeholder:"FILE" help:"Expectations in YAML or JSON, as POST …/verify takes them; - is standard input."`
	Mock        string          `name:"mock" placeholder:"NAME" help:"Check the calls of this mock, by --times, in place of what mocks expect."`
	Times       string          `name:"times" placeholder:"N" help:"How many calls --mock should have: 1, 1..3, 2.. or ..3."`
	Limited     []string        `name:"limited" placeholder:"NAME=N" help:"How many calls of a mock its limit should have refused, as orders=1.. (repeatable)."`
	NoUnmatched bool            `name:"no-unmatched" help:"Fail when a request was answered by no mock."`
	Session     string          `name:"session" placeholder:"NAME" help:"Only calls of this session."`
	Since       string          `name:"since" placeholder:"TIME" help:"Only calls since a time, as 2026-01-31T12:00:00Z, or since so long ago, as 10m."`
	Wait        config.Duration `name:"wait" default:"0s" placeholder:"TIME" help:"How long to wait for a pass, at most 60s."`
	Report      []string        `name:"report" placeholder:"KIND=FILE" help:"Write the verdict into a file: junit=FILE or json=FILE (repeatable)."`
	Format      string          `name:"format" enum:"text,github" default:"text" help:"Form of the verdict for people: text, or github for annotations at the lines of mocks that came from files."`
}

// judged is a verdict as the API tells it (rule M-66).
type judged struct {
	Verdict   string          `json:"verdict"`
	Checks    []judgedCheck   `json:"checks"`
	Unmatched judgedUnmatched `json:"unmatched"`
	Complete  bool            `json:"complete"`
}

type judgedCheck struct {
	Name       string       `json:"name"`
	Expected   string       `json:"expected"`
	Actual     string       `json:"actual"`
	Pass       *bool        `json:"pass"`
	Detail     string       `json:"detail"`
	Exchanges  []string     `json:"exchanges"`
	NearMisses []judgedNear `json:"nearMisses"`
}

type judgedNear struct {
	Exchange string         `json:"exchange"`
	Method   string         `json:"method"`
	Path     string         `json:"path"`
	Failed   mockbase.Check `json:"failed"`
}

type judgedUnmatched struct {
	Count   int `json:"count"`
	Samples []struct {
		Exchange string `json:"exchange"`
		Method   string `json:"method"`
		Path     string `json:"path"`
	} `json:"samples"`
}

// Run ends with 0 when everything is as expected, and with 1 when it is not, or when that is not known.
func (c *verifyCommand) Run(p *process) error {
	return p.call(&c.Target, "verify", func(r *remote) error {
		question, err := c.question(p)
		if err != nil {
			return err
		}
		r.sent = c.sent(question)
		reports, err := reportsOf(c.Report)
		if err != nil {
			return err
		}
		v, whole, err := r.judge(question, c.Wait.Span())
		if err != nil {
			return err
		}
		if err := reports.write(v, whole); err != nil {
			return err
		}
		return c.tell(r, v, whole)
	})
}

// judge asks the project for a verdict, which is returned read and as the API told it. The answer may take longer than others.
func (r *remote) judge(question map[string]any, longer time.Duration) (*judged, []byte, error) {
	path, err := r.below("verify")
	if err != nil {
		return nil, nil, err
	}
	answer, err := r.exchange(client.Request{Method: http.MethodPost, Path: path, Longer: longer}, question)
	if err != nil {
		return nil, nil, err
	}
	var v judged
	return &v, answer.Body, answer.JSON(&v)
}

// tell prints the verdict.
func (c *verifyCommand) tell(r *remote, v *judged, whole []byte) error {
	if c.Format == "github" {
		if err := v.annotate(r); err != nil {
			return err
		}
	} else if o := r.output; o == config.OutputAuto || o == config.OutputTable || o == "" {
		v.print(r.Out, "mockbase traffic get --project "+r.slug)
	} else if err := r.printDocument(o, whole); err != nil {
		return err
	}
	if v.Verdict != "pass" {
		return fail(exitCheckFailed, "", errSilent)
	}
	return nil
}

// question is the body of the request: the file, and what flags say over it.
func (c *verifyCommand) question(p *process) (map[string]any, error) {
	question := map[string]any{}
	if c.File != "" {
		if err := readQuestion(p, c.File, question); err != nil {
			return nil, err
		}
	}
	set := func(name, value string) {
		if value != "" {
			question[name] = value
		}
	}
	set("session", c.Session)
	since, err := moment(c.Since, p.clock())
	if err != nil {
		return nil, err
	}
	set("since", since)
	if c.Wait.Span() > 0 {
		set("wait", c.Wait.Span().String())
	}
	if c.NoUnmatched {
		question["unmatched"] = "fail"
	}
	expectations, err := c.expectations()
	if err == nil && len(expectations) > 0 {
		question["expectations"] = expectations
	}
	return question, err
}

// sent says which members of a question came from the file. Those that flags state came from them.
func (c *verifyCommand) sent(question map[string]any) sentFile {
	f := sentFile{path: c.File}
	for name, stated := range question {
		if _, raw := stated.(json.RawMessage); raw {
			f.members = append(f.members, name)
		}
	}
	return f
}

// readQuestion reads a file of expectations.
func readQuestion(p *process, path string, into map[string]any) error {
	read := func() ([]byte, error) { return os.ReadFile(path) } //nolint:gosec // the user names the file
	if path == "-" {
		read = func() ([]byte, error) { return io.ReadAll(p.In) }
	}
	text, err := read()
	if err != nil {
		return &failure{code: exitUsage, what: "read expectations", err: err, fix: "name a file with -f"}
	}
	root, err := mockbase.ParseNode(text, mockbase.FormatYAML, mockbase.ParseLimits{})
	if err != nil {
		return &failure{code: exitBadInput, what: "read " + path, err: err}
	}
	members := map[string]json.RawMessage{}
	if json.Unmarshal(root.JSON(), &members) != nil {
		return &failure{code: exitBadInput, what: "read " + path, err: errors.New("it is no object"), fix: "write members as POST …/verify takes them, such as expectations"}
	}
	for name, value := range members {
		into[name] = value
	}
	return nil
}

// expectations are those that flags state.
func (c *verifyCommand) expectations() ([]map[string]any, error) {
	var list []map[string]any
	if (c.Mock == "") != (c.Times == "") {
		return nil, &failure{code: exitUsage, err: errors.New("--mock and --times go together"), fix: "write --mock NAME --times 1"}
	}
	if c.Mock != "" {
		times, err := timesOf("--times", c.Times)
		if err != nil {
			return nil, err
		}
		list = append(list, map[string]any{"mock": c.Mock, "times": times})
	}
	for _, text := range c.Limited {
		name, count, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, &failure{code: exitUsage, err: fmt.Errorf("--limited %s names no number", text), fix: "write --limited NAME=1.."}
		}
		times, err := timesOf("--limited", count)
		if err != nil {
			return nil, err
		}
		list = append(list, map[string]any{"name": name + " limited", "mock": name, "answeredBy": mockbase.AnsweredBySimulatedLimit, "times": times})
	}
	return list, nil
}

// timesOf reads a number of calls, or its bounds.
func timesOf(flag, text string) (any, error) {
	least, most, ranged := strings.Cut(text, "..")
	bounds := map[string]int{}
	for name, part := range map[string]string{"min": least, "max": most} {
		if part == "" {
			continue
		}
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return nil, &failure{code: exitUsage, err: fmt.Errorf("%s %q is no number of calls", flag, text), fix: "write 1, 1..3, 2.. or ..3"}
		}
		bounds[name] = n
	}
	switch {
	case len(bounds) == 0:
		return nil, &failure{code: exitUsage, err: fmt.Errorf("%s %q is no number of calls", flag, text), fix: "write 1, 1..3, 2.. or ..3"}
	case !ranged:
		return bounds["min"], nil
	}
	return bounds, nil
}

// print writes the verdict for people; show is the command that shows an exchange.
func (v *judged) print(w io.Writer, show string) {
	for i := range v.Checks {
		v.Checks[i].print(w, show)
	}
	if v.Unmatched.Count > 0 {
		printf(w, "%d requests were answered by no mock\n", v.Unmatched.Count)
		for _, s := range v.Unmatched.Samples {
			printf(w, "       %s %s: %s %s\n", s.Method, s.Path, show, s.Exchange)
		}
	}
	if !v.Complete {
		printf(w, "recorded exchanges are missing, as they were dropped or made room for others\n")
	}
	printf(w, "%s: %s\n", v.Verdict, count(len(v.Checks), "check"))
}

func (k *judgedCheck) print(w io.Writer, show string) {
	printf(w, "%-6s %s: expected %s, got %s\n", k.word(), k.Name, k.Expected, k.Actual)
	if k.word() == "ok" {
		return
	}
	if k.Detail != "" {
		printf(w, "       %s\n", k.Detail)
	}
	for _, near := range k.NearMisses {
		printf(w, "       near: %s %s, but %s is %s, not %s\n             %s %s\n", near.Method, near.Path,
			strings.TrimSpace(near.Failed.Part+" "+near.Failed.Name), near.Failed.Actual, near.Failed.Expected, show, near.Exchange)
	}
	if k.word() == "FAIL" && len(k.NearMisses) == 0 && len(k.Exchanges) > 0 {
		printf(w, "       %s %s\n", show, k.Exchanges[0])
	}
}

func (k *judgedCheck) word() string {
	switch {
	case k.Pass == nil:
		return "?"
	case *k.Pass:
		return "ok"
	}
	return "FAIL"
}
