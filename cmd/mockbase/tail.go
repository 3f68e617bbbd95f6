package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// tailCommand prints calls as they come (rule C-40).
type tailCommand struct {
	config.Target
	trafficFilter
}

// Help is what kong prints below the summary.
func (*tailCommand) Help() string {
	return `Each call is a line, or a line of JSON where no terminal reads it. It goes on until it is interrupted; a connection that
is lost is made again, and what could not be shown is counted.`
}

// maxEvent is the longest event that is read: a batch of five hundred calls with long targets.
const maxEvent = 64 << 20

// Run follows the events of the project (M-182).
func (c *tailCommand) Run(p *process) error {
	return p.call(&c.Target, "follow traffic", func(r *remote) error {
		q, err := c.query(p.clock())
		if err != nil {
			return err
		}
		path, err := r.below("events")
		if err != nil {
			return err
		}
		q.Set("types", "exchange")
		t := &follower{remote: r, path: path, query: q}
		return t.follow(c.Timeout.Span())
	})
}

// follower reads a stream of events, and begins again where it broke off.
type follower struct {
	*remote

	path  string
	query url.Values
	last  string
	// ended is why the server ended the stream, "" while it did not.
	ended string
}

// follow reads until the process is interrupted. A server that is away for longer than patience ends it.
func (t *follower) follow(patience time.Duration) error {
	lost := time.Time{}
	for {
		err := t.once()
		switch {
		case t.ctx.Err() != nil:
			return t.ctx.Err()
		case t.ended != "":
			return &failure{code: exitNotAllowed, what: "follow traffic", err: errors.New("the server ended it: " + printable(t.ended)), fix: "mockbase login, or start the server again"}
		case err == nil || lost.IsZero():
			lost = time.Now()
		}
		if err := t.lasting(err, time.Since(lost) > patience); err != nil {
			return err
		}
		select {
		case <-t.ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// lasting returns an error that another connection would not mend, or nil and says that one is made. A server that was
// never reached, or is away for too long, is such an error.
func (t *follower) lasting(err error, late bool) error { //nolint:revive // late is a fact and no choice
	if _, away := errors.AsType[*client.UnreachableError](err); err != nil && (!away || t.last == "" || late) {
		return err
	}
	t.done("the connection was lost and is made again")
	return nil
}

// once reads one connection to its end.
func (t *follower) once() error {
	header := http.Header{}
	if t.last != "" {
		header.Set("Last-Event-ID", t.last)
	}
	response, err := t.Open(t.ctx, client.Request{Method: http.MethodGet, Path: t.path, Query: t.query, Accept: "text/event-stream", Header: header})
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, maxEvent)
	var kind, data string
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			kind = value
		case "data":
			data += value
		case "id":
			t.last = value
		case "":
			if lines.Text() == "" && data != "" {
				t.take(kind, data)
			}
			kind, data = "", ""
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return lines.Err()
	}
	return nil // a connection that ended, however it did, is made again
}

// take prints what an event tells.
func (t *follower) take(kind, data string) {
	switch kind {
	case "hello":
		t.done("following; interrupt to end")
	case "bye":
		t.ended = memberText(json.RawMessage(data), "reason")
	case "resync":
		t.done("some calls were missed: the server does not keep them any more")
	case "exchange":
		var batch struct {
			Items   []json.RawMessage `json:"items"`
			Dropped int               `json:"dropped"`
		}
		if json.Unmarshal([]byte(data), &batch) != nil {
			return
		}
		for _, item := range batch.Items {
			t.print(item)
		}
		if batch.Dropped > 0 {
			t.done("%s dropped: they came faster than they could be read", count(batch.Dropped, "call"))
		}
	}
}

// print prints one call in a line.
func (t *follower) print(item json.RawMessage) {
	if t.form(t.output) != config.OutputTable {
		_ = printCompact(t.Out, item) // what a server sent as JSON is JSON
		return
	}
	status := number(memberText(item, "response.status"))
	at := memberText(item, "at")
	if moment, err := time.Parse(time.RFC3339, at); err == nil {
		at = moment.Local().Format("15:04:05.000")
	}
	by := memberText(item, "answeredBy")
	if name := memberText(item, "mock.name"); name != "-" {
		by += " " + name
	}
	printf(t.Out, "%s %s %-7s %s  %s  %s ms\n", t.paint(t.Out, faint, at), t.paint(t.Out, statusColor(status), strconv.Itoa(status)),
		memberText(item, "request.method"), memberText(item, "request.target"), t.paint(t.Out, faint, by), memberText(item, "durationMs"))
}
