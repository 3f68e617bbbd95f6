package main

import (
	"fmt"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// exitTopic is what help explains beside commands.
const exitTopic = "exit-codes"

// helpCommand prints what a topic is about: a command, or the exit codes.
type helpCommand struct {
	config.Idle
	config.IdleProject
	config.IdleForm

	Topic []string `arg:"" optional:"" help:"A command, or exit-codes."`
}

// Run prints to standard output, because it is what was asked for.
func (c *helpCommand) Run(p *process) error {
	if len(c.Topic) == 1 && c.Topic[0] == exitTopic {
		for _, row := range exitTable() {
			printf(p.Out, "%4d  %s\n", row.code, row.meaning)
		}
		return nil
	}
	if len(c.Topic) == 1 && mockbase.Suggest(c.Topic[0], []string{exitTopic}) != "" {
		return usage(fmt.Errorf("unexpected argument %s, did you mean %q?", c.Topic[0], exitTopic))
	}
	return p.dispatch(append(c.Topic, "--help"))
}
