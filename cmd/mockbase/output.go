package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// column is a column of a table: its title, the member that it shows, as "mock.name", and what a missing member stands for.
type column struct{ title, member, missing string }

// of is what the column shows of a document, "-" for nothing.
func (c *column) of(doc json.RawMessage) string {
	if text := memberText(doc, c.member); text != "-" || c.missing == "" {
		return text
	}
	return c.missing
}

// columns reads "TITLE=member" pairs; a member may be followed by | and what stands for it where it is missing.
func columns(pairs ...string) []column {
	list := make([]column, 0, len(pairs))
	for _, pair := range pairs {
		title, member, _ := strings.Cut(pair, "=")
		member, missing, _ := strings.Cut(member, "|")
		list = append(list, column{title, member, missing})
	}
	return list
}

// form is the form of the data when auto is replaced by what suits the reader (rule C-1).
func (p *process) form(o config.Output) config.Output {
	switch {
	case o != config.OutputAuto && o != "":
		return o
	case isTerminal(p.Out):
		return config.OutputTable
	default:
		return config.OutputJSON
	}
}

// list asks for a whole list and prints it.
func (r *remote) list(path string, query url.Values, cols []column) error {
	items := []json.RawMessage{}
	err := r.List(r.ctx, path, query, 0, func(item json.RawMessage) error {
		items = append(items, item)
		return nil
	})
	if err != nil {
		return err
	}
	return r.printList(r.output, items, cols)
}

// printList prints the items of a list.
func (p *process) printList(o config.Output, items []json.RawMessage, cols []column) error {
	switch p.form(o) {
	case config.OutputLines:
		for _, item := range items {
			if err := printCompact(p.Out, item); err != nil {
				return err
			}
		}
		return nil
	case config.OutputTable:
		return printTable(p.Out, items, cols)
	default:
		var whole bytes.Buffer
		encoder := json.NewEncoder(&whole)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(map[string]any{"items": items}); err != nil {
			return fmt.Errorf("write list: %w", err)
		}
		return p.printDocument(o, whole.Bytes())
	}
}

// show asks for one object and prints it.
func (r *remote) show(path string, query url.Values, cols []column) error {
	answer, err := r.Do(r.ctx, client.Request{Method: "GET", Path: path, Query: query})
	if err != nil {
		return err
	}
	return r.printOne(r.output, answer.Body, cols)
}

// exchange makes a call with a JSON body, nil for none.
func (r *remote) exchange(request client.Request, body any) (*client.Answer, error) {
	if body != nil {
		written, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("write request: %w", err)
		}
		request.Body = written
	}
	return r.Do(r.ctx, request)
}

// printOne prints one object; as a table, a line for each member.
func (p *process) printOne(o config.Output, doc json.RawMessage, cols []column) error {
	if p.form(o) != config.OutputTable {
		return p.printDocument(o, doc)
	}
	table := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	for _, c := range cols {
		if value := c.of(doc); value != "-" {
			printf(table, "%s\t%s\n", strings.ToLower(c.title), value)
		}
	}
	return table.Flush()
}

// printDocument prints a document as JSON or YAML, or in one line.
func (p *process) printDocument(o config.Output, doc json.RawMessage) error {
	switch p.form(o) {
	case config.OutputLines:
		return printCompact(p.Out, doc)
	case config.OutputYAML:
		written, err := mockbase.EncodeMockYAML(doc)
		if err != nil {
			return fmt.Errorf("write yaml: %w", err)
		}
		printf(p.Out, "%s", written)
		return nil
	default:
		var b bytes.Buffer
		if err := json.Indent(&b, bytes.TrimSpace(doc), "", "  "); err != nil {
			return fmt.Errorf("write json: %w", err)
		}
		printf(p.Out, "%s\n", b.Bytes())
		return nil
	}
}

func printCompact(w io.Writer, doc json.RawMessage) error {
	var b bytes.Buffer
	if err := json.Compact(&b, doc); err != nil {
		return fmt.Errorf("write json: %w", err)
	}
	printf(w, "%s\n", b.Bytes())
	return nil
}

func printTable(w io.Writer, items []json.RawMessage, cols []column) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	titles := make([]string, 0, len(cols))
	for _, c := range cols {
		titles = append(titles, c.title)
	}
	printf(table, "%s\n", strings.Join(titles, "\t"))
	for _, item := range items {
		cells := make([]string, 0, len(cols))
		for _, c := range cols {
			cells = append(cells, c.of(item))
		}
		printf(table, "%s\n", strings.Join(cells, "\t"))
	}
	return table.Flush()
}

// memberText is a member of a document as a table shows it, "-" for one that is missing. The member is a path of names.
func memberText(doc json.RawMessage, member string) string {
	var v any
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return "-"
	}
	for name := range strings.SplitSeq(member, ".") {
		object, ok := v.(map[string]any)
		if !ok {
			return "-"
		}
		v = object[name]
	}
	return cell(v)
}

// cell writes a value so that it stays in its cell. Control characters are no part of what a server says to a terminal.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case string:
		return printable(v)
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return v.String()
	case []any:
		parts := make([]string, 0, len(v))
		for _, item := range v {
			parts = append(parts, cell(item))
		}
		if len(parts) == 0 {
			return "-"
		}
		return strings.Join(parts, ",")
	case map[string]any:
		return objectCell(v)
	}
	return "-"
}

// objectCell shows an object by its name, and the subject of a ban with the account that it is kept from.
func objectCell(v map[string]any) string {
	for _, name := range []string{"name", "slug", "email", "value", "id"} {
		named, ok := v[name].(string)
		if !ok {
			continue
		}
		if account, ok := v["account"].(string); ok {
			named += " as " + account
		}
		return printable(named)
	}
	packed, err := json.Marshal(v)
	if err != nil {
		return "-"
	}
	return string(packed)
}

// printable makes one line of a text without control characters and those that turn the direction of text, because a terminal
// obeys them.
func printable(s string) string {
	if s == "" {
		return "-"
	}
	return strings.Map(func(c rune) rune {
		if unicode.Is(unicode.C, c) || c == '\u2028' || c == '\u2029' {
			return '\ufffd'
		}
		return c
	}, s)
}

// done says that something was done, unless the process is to be quiet.
func (p *process) done(format string, args ...any) {
	if !p.quiet {
		printf(p.Err, "mockbase: "+format+"\n", args...)
	}
}

// The colors of marks and verdicts.
const (
	green  = "32"
	yellow = "33"
	red    = "31"
	purple = "35"
	faint  = "2"
)

// paint colors a text when a person reads it on a terminal and wants colors (rule C-1).
func (p *process) paint(w io.Writer, color, s string) string {
	if off, _ := p.lookup("NO_COLOR"); off != "" || p.noColor || !isTerminal(w) {
		return s
	}
	if term, _ := p.lookup("TERM"); term == "dumb" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

// remove deletes something and says so.
func (r *remote) remove(what, path string) error {
	_, err := r.Do(r.ctx, client.Request{Method: "DELETE", Path: path})
	if err == nil {
		r.done("deleted %s", printable(what))
	}
	return err
}

// printMembers prints an object whose list is what people want to see; the other forms hold everything.
func (r *remote) printMembers(answer *client.Answer, list string, cols []column) error {
	if r.form(r.output) != config.OutputTable {
		return r.printDocument(r.output, answer.Body)
	}
	var whole map[string]json.RawMessage
	if err := answer.JSON(&whole); err != nil {
		return err
	}
	var items []json.RawMessage
	if err := json.Unmarshal(whole[list], &items); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	return printTable(r.Out, items, cols)
}
