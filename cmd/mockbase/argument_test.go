package main

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// C-8: what is wrong with an argument is told in the words of the command line, not in those of the API.
func TestC8_what_was_given_is_named_as_it_was_given(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ command, place, want string }{
		{"import", "query/format", "--from"},
		{"export", "query/format", "--format"},
		{"import", "query.onConflict", "--on-conflict"},
		{"verify", "expectations/0/times/max", "--times"},
		{"verify", "expectations/0/mock", "--mock"},
		{"verify", "unmatched", "--no-unmatched"},
		{"session start", "ttl", "--ttl"},
		{"session start", "labels/a b", "--label"},
		{"clock advance", "advance", "--by"},
		{"clock set", "set", "--to"},
		{"ban add", "subject/value", "<who>"},
		{"ban add", "duration", "--for"},
		{"limit simulate", "ratePerSecond", "--rate"},
		{"scenario set", "state", "<state>"},
		{"project create", "slug", "<slug>"},
		{"project create", "something/0/else", "something[0].else"},
	} {
		var g grammar
		parser, err := kong.New(&g, kong.Name("mockbase"), kong.ValueFormatter(explainFlag))
		if err != nil {
			t.Fatal(err)
		}
		if got := namingOf(commandOf(parser.Model.Node, c.command)).argument(c.place); got != c.want {
			t.Errorf("%s: %s is called %s, want %s", c.command, c.place, got, c.want)
		}
	}
}

// commandOf finds a command by its words.
func commandOf(n *kong.Node, words string) *kong.Node {
	for word := range strings.FieldsSeq(words) {
		for _, child := range n.Children {
			if child.Name == word {
				n = child
				break
			}
		}
	}
	return n
}
