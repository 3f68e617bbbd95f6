package config

import (
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Wrong is a setting of the command line whose value cannot be read.
type Wrong struct {
	// Name is that of the flag, without its hyphens.
	Name  string
	Fault Fault
}

// Sift takes the settings out of a command line whose values cannot be read, and returns the rest and what is wrong with
// them: kong would tell the first alone, and nothing of what the environment and the file state.
func Sift(app *kong.Node, args []string) (rest []string, wrong []Wrong) {
	flags := flagsOf(app, args)
	for i := 0; i < len(args); {
		if args[i] == "--" {
			return append(rest, args[i:]...), wrong
		}
		name, text, words := stated(flags, args[i:])
		if reason := wrongValue(flags[name], text); words > 0 && reason != "" {
			wrong = append(wrong, Wrong{name, Fault{Subject: "--" + name, Reason: reason}})
		} else {
			rest = append(rest, args[i:i+max(1, words)]...)
		}
		i += max(1, words)
	}
	return rest, wrong
}

// stated returns the setting that the first words state, its value, and how many words both are: none where there is no such
// value.
func stated(flags map[string]*kong.Flag, args []string) (name, text string, words int) {
	word, long := strings.CutPrefix(args[0], "--")
	name, text, joined := strings.Cut(word, "=")
	flag := flags[name]
	switch {
	case !long || flag == nil:
		return "", "", 0
	case joined:
		return name, text, 1
	case flag.IsBool() || len(args) == 1 || strings.HasPrefix(args[1], "-"):
		return name, "", 0 // It is a switch, or has no value.
	default:
		return name, args[1], 2
	}
}

// flagsOf returns the settings among the flags of the command that a command line names.
func flagsOf(node *kong.Node, args []string) map[string]*kong.Flag {
	flags := map[string]*kong.Flag{}
	for _, arg := range args {
		at := slices.IndexFunc(node.Children, func(child *kong.Node) bool {
			return child.Type == kong.CommandNode && (child.Name == arg || slices.Contains(child.Aliases, arg))
		})
		if at >= 0 {
			node = node.Children[at]
		}
	}
	for _, flag := range node.Flags {
		if flag.Group != nil && slices.ContainsFunc(Groups(), func(g kong.Group) bool { return g.Key == flag.Group.Key }) {
			flags[flag.Name] = flag
		}
	}
	return flags
}

// wrongValue says what is wrong with the value of a flag, and "" when nothing is. A secret is not repeated.
func wrongValue(flag *kong.Flag, text string) string {
	if flag == nil {
		return ""
	}
	trial := reflect.New(flag.Target.Type()).Elem()
	err := flag.Parse(kong.Scan().PushTyped(text, kong.FlagValueToken), trial)
	switch {
	case err == nil:
		return ""
	case flag.Target.Type() == reflect.TypeFor[Secret]():
		return "is no usable value"
	default:
		return bare(err, flag)
	}
}

// Refuse keeps what is wrong with the command line. Nothing else answers for a setting that it states.
func (r *Reader) Refuse(wrong []Wrong) {
	for _, w := range wrong {
		r.faults = append(r.faults, w.Fault)
		r.wrong = append(r.wrong, w.Name)
		r.origins[w.Name] = FromFlag
	}
}

// Wrong lists the settings whose values cannot be read, wherever they were stated.
func (r *Reader) Wrong() []string { return r.wrong }
