package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/mockbase/mockbase"
)

// groupTarget is the group of the flags of commands that call a server.
const groupTarget = "target"

// Hoist moves flags that stand before the name of their command behind it, where kong looks for them: those that say which
// server is called, as whom, and how the answer is shown are the same for all commands (rule C-2). The error tells of one that
// the command does not take, of one without a value, and of one whose name is nearly right.
func Hoist(app *kong.Node, args []string) ([]string, error) {
	h := hoist{node: app, rest: args, common: commonFlags(app)}
	for h.step() {
		if h.err != nil {
			return nil, h.err
		}
	}
	if len(commandsOf(h.node)) > 0 && h.node.DefaultCmd == nil {
		return slices.Concat(h.kept, h.rest), nil // The command is still to be named, and kong says so.
	}
	if err := h.refuse(); err != nil {
		return nil, err
	}
	return slices.Concat(h.kept, h.moved, h.rest), nil
}

// hoist walks through a command line up to the name of its command.
type hoist struct {
	node *kong.Node
	// kept and moved are what was met, rest is what is to come.
	kept, moved, rest []string
	common            []*kong.Flag
	err               error
}

// step goes past the next word or flag. It returns false where none comes before the command's own words.
func (h *hoist) step() bool {
	if len(h.rest) == 0 || h.rest[0] == "--" || len(commandsOf(h.node)) == 0 {
		return false
	}
	word := h.rest[0]
	if !strings.HasPrefix(word, "-") {
		at := slices.IndexFunc(h.node.Children, func(n *kong.Node) bool {
			return n.Type == kong.CommandNode && (n.Name == word || slices.Contains(n.Aliases, word))
		})
		if at < 0 {
			return false
		}
		h.node = h.node.Children[at]
		h.kept, h.rest = append(h.kept, word), h.rest[1:]
		return true
	}
	own, common := flagOf(flagsAt(h.node), word), flagOf(h.common, word)
	if own == nil && common != nil {
		words := wordsOf(common, h.rest)
		if words == 0 {
			h.err = fmt.Errorf("--%s: its value is missing", common.Name)
			return true
		}
		h.moved, h.rest = append(h.moved, h.rest[:words]...), h.rest[words:]
		return true
	}
	if own == nil {
		h.err = h.unknown(word)
	}
	words := max(1, wordsOf(own, h.rest))
	h.kept, h.rest = append(h.kept, h.rest[:words]...), h.rest[words:]
	return true
}

// unknown tells of a flag that nobody knows, where one of nearly the same name is meant (rule C-5); else kong tells.
func (h *hoist) unknown(word string) error {
	name, long := strings.CutPrefix(word, "--")
	if name, _, _ = strings.Cut(name, "="); !long {
		return nil
	}
	var known []string
	for _, f := range slices.Concat(flagsAt(h.node), h.common) {
		known = append(known, f.Name)
	}
	if near := mockbase.Suggest(name, known); near != "" {
		return fmt.Errorf("unknown flag --%s, did you mean \"--%s\"?", name, near)
	}
	return nil
}

// refuse tells of a flag of the client's commands that this one does not take, wherever it stands.
func (h *hoist) refuse() error {
	known := flagsAt(h.node)
	for rest := slices.Concat(h.moved, h.rest); len(rest) > 0 && rest[0] != "--"; {
		own := (*kong.Flag)(nil)
		if len(rest[0]) > 1 && rest[0][0] == '-' {
			own = flagOf(known, rest[0])
			if common := flagOf(h.common, rest[0]); own == nil && common != nil {
				return h.useless(common)
			}
		}
		rest = rest[max(1, wordsOf(own, rest)):]
	}
	return nil
}

// useless says why a command does not take a flag.
func (h *hoist) useless(flag *kong.Flag) error {
	reason := "it calls no server that a flag names"
	if flag.Name == "output" {
		reason = "what it prints has one form"
	}
	return fmt.Errorf("--%s: the command %s takes no such flag, as %s", flag.Name, strings.TrimPrefix(h.node.FullPath(), h.app().Name+" "), reason)
}

func (h *hoist) app() *kong.Node {
	node := h.node
	for node.Parent != nil {
		node = node.Parent
	}
	return node
}

// commonFlags are the flags of the commands that call a server, by their names.
func commonFlags(app *kong.Node) []*kong.Flag {
	var list []*kong.Flag
	_ = kong.Visit(app, func(n kong.Visitable, next kong.Next) error {
		if flag, ok := n.(*kong.Flag); ok && flag.Group != nil && flag.Group.Key == groupTarget {
			list = append(list, flag)
		}
		return next(nil)
	})
	return list
}

func commandsOf(n *kong.Node) []*kong.Node {
	return slices.DeleteFunc(slices.Clone(n.Children), func(child *kong.Node) bool { return child.Type != kong.CommandNode })
}

// flagsAt are the flags that kong knows behind the name of a node.
func flagsAt(n *kong.Node) []*kong.Flag {
	if n.DefaultCmd != nil {
		n = n.DefaultCmd
	}
	return slices.Concat(n.AllFlags(false)...)
}

// flagOf returns the flag that a word states, nil where it is none of them.
func flagOf(flags []*kong.Flag, word string) *kong.Flag {
	name, long := strings.CutPrefix(word, "--")
	name, _, _ = strings.Cut(name, "=")
	at := slices.IndexFunc(flags, func(f *kong.Flag) bool {
		return long && f.Name == name || !long && f.Short != 0 && strings.HasPrefix(word[1:], string(f.Short))
	})
	if at < 0 {
		return nil
	}
	return flags[at]
}

// wordsOf returns how many words a flag and its value are, 0 where the value is missing, or there is no flag.
func wordsOf(flag *kong.Flag, args []string) int {
	switch joined := strings.Contains(args[0], "=") || !strings.HasPrefix(args[0], "--") && len(args[0]) > 2; {
	case flag == nil:
		return 0
	case joined || flag.IsBool() || flag.IsCounter():
		return 1
	case len(args) == 1 || strings.HasPrefix(args[1], "-"):
		return 0
	default:
		return 2
	}
}
