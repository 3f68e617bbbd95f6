package main

import "github.com/mockbase/mockbase/cmd/mockbase/internal/config"

// helpCommand prints what a topic is about: a command, or the exit codes.
type helpCommand struct {
	config.Idle
	config.IdleProject
	config.IdleForm

	Topic []string `arg:"" optional:"" help:"A command, or exit-codes."`
}

// Run prints to standard output, because it is what was asked for.
func (c *helpCommand) Run(p *process) error {
	if len(c.Topic) == 1 && c.Topic[0] == "exit-codes" {
		for _, row := range exitTable() {
			printf(p.Out, "%4d  %s\n", row.code, row.meaning)
		}
		return nil
	}
	return p.dispatch(append(c.Topic, "--help"))
}
