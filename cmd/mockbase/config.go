package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/alecthomas/kong"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// configShowCommand prints the settings (rule C-4).
type configShowCommand struct {
	config.Settings

	Output  config.Output `name:"output" short:"o" default:"auto" placeholder:"FORM" help:"Form of the data: table, json, yaml or ndjson; auto is a table on a terminal and json elsewhere."`
	Example bool          `name:"example" help:"Print a commented configuration file instead."`
}

// configRow is one setting as it is shown.
type configRow struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Origin  string `json:"origin"`
	Meaning string `json:"meaning"`
	Flag    string `json:"flag"`
	Env     string `json:"env"`
}

// Run prints every setting with its value, its origin and its meaning.
func (c *configShowCommand) Run(p *process, command *kong.Context) error {
	if c.Example {
		return printExample(p.Out)
	}
	p.warnOfVariables()
	if found := c.Check(p.origins); len(found) > 0 {
		return settingFaults(found)
	}
	rows, err := c.rows(p, command)
	if err != nil {
		return err
	}
	if p.form(c.Output) != config.OutputTable {
		return p.printRows(c.Output, rows)
	}
	table := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	printf(table, "%s\n", "SETTING\tVALUE\tORIGIN\tMEANING")
	for _, row := range rows {
		printf(table, "%s\t%s\t%s\t%s\n", row.Key, row.Value, row.Origin, row.Meaning)
	}
	return table.Flush()
}

// printRows prints the settings as a list.
func (p *process) printRows(form config.Output, rows []configRow) error {
	items := make([]json.RawMessage, 0, len(rows))
	for _, row := range rows {
		var item bytes.Buffer
		encoder := json.NewEncoder(&item)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(row); err != nil {
			return fmt.Errorf("write setting: %w", err)
		}
		items = append(items, item.Bytes())
	}
	return p.printList(form, items, nil)
}

func (*configShowCommand) rows(p *process, command *kong.Context) ([]configRow, error) {
	table, err := config.Table()
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	for _, flag := range command.Flags() {
		values[flag.Name] = config.ValueText(flag.Target)
	}
	rows := make([]configRow, 0, len(table))
	for _, s := range table {
		rows = append(rows, configRow{
			Key: s.Key, Value: values[s.Name], Origin: string(p.origins[s.Name]),
			Meaning: s.Meaning, Flag: "--" + s.Name, Env: s.Env,
		})
	}
	return rows, nil
}

// printExample writes a configuration file with every setting at its default and commented out.
func printExample(w io.Writer) error {
	table, err := config.Table()
	if err != nil {
		return err
	}
	printf(w, "%s", `# Settings of MockBase. Name this file with --config or MOCKBASE_CONFIG; without that no file is read.
# A flag wins over a variable, a variable over this file, this file over the default. Each line shows the default.
`)
	titles := map[string]string{}
	for _, g := range config.Groups() {
		titles[g.Key] = g.Title
	}
	group := ""
	for _, s := range table {
		if s.Group != group {
			group = s.Group
			printf(w, "\n# ---- %s\n", titles[group])
		}
		value := s.Default
		if value == "" {
			value = `""`
		}
		printf(w, "\n# %s\n# --%s, %s\n#%s: %s\n", s.Meaning, s.Name, s.Env, s.Key, value)
	}
	return nil
}

// configCheckCommand finds what is wrong with the settings.
type configCheckCommand struct {
	config.Settings
}

// Run prints nothing when the settings are right (rule RL130).
func (c *configCheckCommand) Run(p *process) error {
	p.warnOfVariables()
	if found := c.Check(p.origins); len(found) > 0 {
		return settingFaults(found)
	}
	return (&server{process: p, settings: &c.Settings}).checkAdmin()
}

// warnOfVariables names the variables of ours that have no effect (rule C-5).
func (p *process) warnOfVariables() {
	if p.quiet {
		return
	}
	for _, warning := range p.settings.Warnings() {
		printf(p.Err, "%s\n", "mockbase: warning: "+warning.String())
	}
}
