package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// askPatience is how long one question to a server may take.
const askPatience = 5 * time.Second

// waitCommand waits for a server (rule C-27).
type waitCommand struct {
	config.Target

	For      config.Duration `name:"for" default:"60s" placeholder:"TIME" help:"How long to wait."`
	Interval config.Duration `name:"interval" default:"200ms" placeholder:"TIME" help:"How often to ask."`
	Mock     string          `name:"mock" placeholder:"NAME" help:"Wait for this mock as well."`
}

// Run ends with 0 when the server is ready, and has the mock, and with 4 and the last reason at the end of the time.
func (c *waitCommand) Run(p *process) error {
	if err := c.complete(p); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(p.ctx, c.For.Span())
	defer cancel()
	pace := time.NewTicker(max(c.Interval.Span(), time.Millisecond))
	defer pace.Stop()
	var reason error
	for {
		err := c.ask(ctx)
		if err == nil {
			return nil
		}
		if refused, ok := errors.AsType[*failure](err); ok {
			return refused
		}
		if ctx.Err() == nil || reason == nil {
			reason = err // the end of the time is no reason
		}
		select {
		case <-pace.C:
		case <-ctx.Done():
			return &failure{
				code: exitNoAnswer, what: "wait for " + c.target(), err: fmt.Errorf("not ready after %s: %w", c.For, reason),
				fix: "start the server, or wait longer with --for",
			}
		}
	}
}

// complete finds the server: whatever is stated closest, as for every command, but a ready file need not be there yet.
func (c *waitCommand) complete(p *process) error {
	switch p.closest("server", "ready-file", "context") {
	case "server":
		c.ReadyFile = ""
	case "ready-file":
		c.Server = ""
	default:
		var at endpoint
		if err := p.placeOf(c.Context, &at); err != nil {
			return err
		}
		c.Server = at.server
		if c.Token == "" {
			c.Token = config.Secret(at.token)
		}
	}
	switch {
	case c.Mock != "" && c.Project == "" && c.ReadyFile == "":
		return &failure{code: exitUsage, err: errors.New("--mock needs the project that it is of"), fix: "add --project"}
	}
	if c.Server == "" {
		return nil
	}
	return checkServer(c.Server)
}

// checkServer refuses what is no address of a server.
func checkServer(at string) error {
	if u, err := url.Parse(at); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return &failure{code: exitUsage, err: fmt.Errorf("%q is no URL of a server", at), fix: "write it like http://127.0.0.1:8080"}
	}
	return nil
}

func (c *waitCommand) target() string {
	if c.ReadyFile != "" {
		return "the server of " + c.ReadyFile
	}
	return c.Server
}

// awaited is a server as its ready file describes it.
type awaited struct {
	AdminURL string                     `json:"adminUrl"`
	Projects map[string]json.RawMessage `json:"projects"`
	Token    string                     `json:"token"`
}

// ask asks once. A failure means that asking again is useless.
func (c *waitCommand) ask(ctx context.Context) error {
	at := awaited{AdminURL: c.Server}
	if c.ReadyFile != "" {
		text, err := os.ReadFile(c.ReadyFile)
		if err != nil {
			return fmt.Errorf("there is no %s yet", c.ReadyFile)
		}
		if err := json.Unmarshal(text, &at); err != nil || at.AdminURL == "" {
			return &failure{code: exitUsage, what: "read " + c.ReadyFile, err: errors.New("it is no ready file of this program"), fix: "name the file of serve --ready-file"}
		}
	}
	base := strings.TrimSuffix(at.AdminURL, "/")
	status, body, err := c.get(ctx, base+"/readyz", "")
	switch {
	case err != nil:
		return err
	case status == http.StatusServiceUnavailable:
		return fmt.Errorf("status 503: %s", reasonOf(body))
	case status != http.StatusOK:
		return fmt.Errorf("status %d at %s/readyz", status, base)
	case c.Mock == "":
		return nil
	}
	return c.askMock(ctx, base, &at)
}

// askMock asks for the mock.
func (c *waitCommand) askMock(ctx context.Context, base string, at *awaited) error {
	token, err := c.token()
	if err != nil {
		return err
	}
	if token == "" {
		token = at.Token
	}
	project := string(c.Project)
	for slug := range at.Projects {
		if project == "" && len(at.Projects) == 1 {
			project = slug
		}
	}
	if project == "" {
		return &failure{code: exitUsage, err: errors.New("the server has several projects, and --mock is of one of them"), fix: "add --project"}
	}
	status, body, err := c.get(ctx, base+"/api/v1/projects/"+url.PathEscape(project)+"/mocks/"+url.PathEscape(c.Mock), token)
	switch {
	case err != nil:
		return err
	case status == http.StatusOK:
		return nil
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return &failure{code: exitNotAllowed, what: "ask for mock " + c.Mock, err: errors.New(reasonOf(body)), fix: "name a token with --token-file or MOCKBASE_TOKEN"}
	case status == http.StatusNotFound:
		return fmt.Errorf("there is no mock %s in project %s yet", c.Mock, project)
	}
	return fmt.Errorf("status %d: %s", status, reasonOf(body))
}

// token is the credential that was given, "" for none.
func (c *waitCommand) token() (string, error) {
	if c.TokenFile == "" {
		return c.Token.Reveal(), nil
	}
	text, err := os.ReadFile(c.TokenFile)
	if err != nil {
		return "", &failure{code: exitUsage, what: "read token", err: err, fix: "name a file that this user can read with --token-file"}
	}
	return strings.TrimSpace(string(text)), nil
}

// get asks with GET and returns status and body.
func (*waitCommand) get(ctx context.Context, at, token string) (status int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return 0, nil, fmt.Errorf("ask %s: %w", at, err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := (&http.Client{Timeout: askPatience}).Do(request)
	if err != nil {
		return 0, nil, plainReason(err)
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	body, err = io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	return answer.StatusCode, body, err
}

// reasonOf is what a problem says.
func reasonOf(body []byte) string {
	var problem struct {
		Detail string        `json:"detail"`
		Code   mockbase.Code `json:"code"`
	}
	if err := json.Unmarshal(body, &problem); err != nil || problem.Detail == "" {
		return oneLine(string(body))
	}
	return problem.Detail
}
