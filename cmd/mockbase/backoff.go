package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// backoffCommand shows how clients behaved that were refused (M-181, rules M-73 and AA32 to AA39).
type backoffCommand struct {
	config.Target

	Mock        string          `name:"mock" placeholder:"NAME" help:"Only the clients of this mock."`
	Policy      string          `name:"policy" placeholder:"NAME" help:"Only calls that met the simulated limit of this name."`
	Session     string          `name:"session" placeholder:"NAME" help:"Only calls of this session."`
	Since       string          `name:"since" placeholder:"TIME" help:"Only calls since a time, as 2026-01-31T12:00:00Z, or since so long ago, as 10m."`
	Tolerance   config.Duration `name:"tolerance" placeholder:"TIME" help:"By how much a retry may be early; without it, what the mock says, or 50ms."`
	MaxAttempts string          `name:"max-attempts" placeholder:"N" help:"How many times a client may ask for one thing; without it, what the mock says."`
}

// Help is what kong prints below the summary.
func (*backoffCommand) Help() string {
	return `A line tells of one client of one mock: how often it was refused, how often it asked again, and what was measured. A figure
that is judged has "ok" or "FAIL" behind it. It ends with 1 when one fails, or when too few calls were refused to tell.`
}

// judgedBackoff is a verdict as the API tells it.
type judgedBackoff struct {
	Verdict  string           `json:"verdict"`
	Detail   string           `json:"detail"`
	Clients  []judgedClient   `json:"clients"`
	Checks   []judgedBehavior `json:"checks"`
	Complete bool             `json:"complete"`
}

type judgedClient struct {
	Key     string           `json:"key"`
	Mock    string           `json:"mock"`
	Limited int              `json:"limited"`
	Retries int              `json:"retries"`
	GaveUp  bool             `json:"gaveUp"`
	Checks  []judgedBehavior `json:"checks"`
}

// judgedBehavior is one figure.
type judgedBehavior struct {
	ID        string   `json:"id"`
	Mock      string   `json:"mock"`
	Pass      *bool    `json:"pass"`
	Expected  *float64 `json:"expected"`
	Actual    *float64 `json:"actual"`
	Detail    string   `json:"detail"`
	Exchanges []string `json:"exchanges"`
}

// Run prints the table, or the document as the API tells it.
func (c *backoffCommand) Run(p *process) error {
	return p.call(&c.Target, "judge back-off", func(r *remote) error {
		query, err := c.query(p)
		if err != nil {
			return err
		}
		path, err := r.below("backoff")
		if err != nil {
			return err
		}
		answer, err := r.Do(r.ctx, client.Request{Method: http.MethodGet, Path: path, Query: query})
		if err != nil {
			return err
		}
		var v judgedBackoff
		if err := answer.JSON(&v); err != nil {
			return err
		}
		if o := r.output; o == config.OutputAuto || o == config.OutputTable || o == "" {
			err = v.print(r)
		} else {
			err = r.printDocument(o, answer.Body)
		}
		if err == nil && v.Verdict != "pass" {
			err = fail(exitCheckFailed, "", errSilent)
		}
		return err
	})
}

func (c *backoffCommand) query(p *process) (url.Values, error) {
	since, err := moment(c.Since, p.clock())
	if err != nil {
		return nil, err
	}
	if n, err := strconv.Atoi(c.MaxAttempts); c.MaxAttempts != "" && (err != nil || n < 1) {
		return nil, &failure{code: exitUsage, err: fmt.Errorf("--max-attempts %q is no number of calls", c.MaxAttempts), fix: "write a number from 1, such as 4"}
	}
	tolerance := ""
	if c.Tolerance.Span() > 0 {
		tolerance = c.Tolerance.Span().String()
	}
	query := url.Values{}
	for name, value := range map[string]string{
		"mock": c.Mock, "policy": c.Policy, "session": c.Session, "since": since, "tolerance": tolerance, "maxAttempts": c.MaxAttempts,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query, nil
}

// print writes the table for people, and below it what failed.
func (v *judgedBackoff) print(r *remote) error {
	if len(v.Clients) > 0 {
		table := tabwriter.NewWriter(r.Out, 0, 0, 2, ' ', 0)
		printf(table, "CLIENT\tMOCK\tLIMITED\tRETRIES\tEARLY\tGROWTH\tATTEMPTS\tUNSAFE\tGAVE UP\n")
		for i := range v.Clients {
			one := &v.Clients[i]
			printf(table, "%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\n", printable(one.Key), printable(one.Mock), one.Limited, one.Retries,
				one.figure("early"), one.figure("growth"), one.figure("attempts"), one.figure("unsafe"), yesNo(one.GaveUp))
		}
		if err := table.Flush(); err != nil {
			return errors.Join(errors.New("write table"), err)
		}
	}
	for i := range v.Checks {
		one := &v.Checks[i]
		printf(r.Out, "%s of %s: %s\n", one.ID, printable(one.Mock), one.text())
	}
	v.printFailures(r)
	if v.Detail != "" {
		printf(r.Out, "%s: %s\n", v.Verdict, printable(oneLine(v.Detail)))
		return nil
	}
	printf(r.Out, "%s: %s\n", v.Verdict, count(len(v.Clients), "client"))
	return nil
}

// printFailures tells what is wrong, and how to look at it.
func (v *judgedBackoff) printFailures(r *remote) {
	failures := append([]judgedBehavior{}, v.Checks...)
	for i := range v.Clients {
		failures = append(failures, v.Clients[i].Checks...)
	}
	for i := range failures {
		one := &failures[i]
		if one.Pass == nil || *one.Pass {
			continue
		}
		printf(r.Out, "FAIL   %s: expected %s, got %s\n", one.ID, figureText(one.Expected), figureText(one.Actual))
		if one.Detail != "" {
			printf(r.Out, "       %s\n", printable(oneLine(one.Detail)))
		}
		if len(one.Exchanges) > 0 {
			printf(r.Out, "       mockbase traffic get --project %s %s\n", r.slug, one.Exchanges[0])
		}
	}
	if !v.Complete {
		printf(r.Out, "recorded exchanges are missing, as they were dropped or made room for others\n")
	}
}

// figure is one of a client's figures by its id.
func (c *judgedClient) figure(id string) string {
	for i := range c.Checks {
		if c.Checks[i].ID == id {
			return c.Checks[i].text()
		}
	}
	return "-"
}

// text is the figure, and the judgement where there is one.
func (b *judgedBehavior) text() string {
	switch {
	case b.Pass == nil:
		return figureText(b.Actual)
	case *b.Pass:
		return figureText(b.Actual) + " ok"
	}
	return figureText(b.Actual) + " FAIL"
}

// figureText writes a figure with at most two digits behind the point; "-" is one that could not be measured.
func figureText(n *float64) string {
	if n == nil {
		return "-"
	}
	text := strconv.FormatFloat(*n, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

func yesNo(b bool) string { //nolint:revive // it writes what it is given
	if b {
		return "yes"
	}
	return "no"
}
