package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
)

// naming is what a command calls the values that it is given.
type naming struct {
	flags, arguments []string
}

// namingOf is that of a command.
func namingOf(n *kong.Node) naming {
	var known naming
	for ; n != nil; n = n.Parent {
		for _, flag := range n.Flags {
			known.flags = append(known.flags, flag.Name)
		}
		for _, argument := range n.Positional {
			known.arguments = append(known.arguments, argument.Name)
		}
	}
	return known
}

// spelled are the members of the API that the command line calls otherwise, with the names that it may have for them.
func spelled(member string) []string {
	names := map[string][]string{
		"advance": {"by"}, "set": {"to"}, "expiresIn": {"expires"}, "duration": {"for"}, "subject": {"who"}, "labels": {"label"}, "scopes": {"scope"},
		"projects": {"project"}, "ratePerSecond": {"rate"}, "unmatched": {"no-unmatched"}, "target": {"path"}, "headers": {"header"}, "body": {"data"},
		"mocks": {"mock"}, "email": {"email", "address", "user"}, "levels": {"what"}, "forwardedFor": {"forwarded-for"}, "format": {"format", "from"},
	}
	return append(names[member], kebab(member))
}

// kebab writes a name of the API as the command line spells it.
func kebab(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('-')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// argument names what is wrong as the person gave it: a parameter of the query, or a member that a flag stands for, is that
// flag, an argument is named as help names it, and anything else is a place in the file that was sent.
func (n naming) argument(place string) string {
	members := strings.FieldsFunc(place, func(r rune) bool { return r == '/' || r == '.' })
	if len(members) == 0 {
		return ""
	}
	if members[0] == "query" && len(members) > 1 {
		for _, name := range append([]string{kebab(members[1])}, spelled(members[1])...) {
			if slices.Contains(n.flags, name) {
				return "--" + name
			}
		}
		return "--" + kebab(members[1])
	}
	for _, member := range slices.Backward(members) {
		for _, name := range spelled(member) {
			switch {
			case slices.Contains(n.flags, name):
				return "--" + name
			case slices.Contains(n.arguments, name):
				return "<" + name + ">"
			}
		}
	}
	return placeIn(members)
}

// placeIn writes a place in a file as people read it.
func placeIn(members []string) string {
	var b strings.Builder
	for i, member := range members {
		switch _, err := strconv.Atoi(member); {
		case err == nil && i > 0:
			b.WriteString("[" + member + "]")
		case i > 0:
			b.WriteString("." + member)
		default:
			b.WriteString(member)
		}
	}
	return b.String()
}

// sentFile says that members of the request came from a file, so that what is wrong with them is a place in it.
type sentFile struct {
	path string
	// members are those of the file; whole tells that all that was sent is the file.
	members []string
	whole   bool
}

// holds tells whether a place is one in the file.
func (f *sentFile) holds(members []string) bool {
	return f.path != "" && len(members) > 0 && (f.whole && members[0] != "query" || slices.Contains(f.members, members[0]))
}

// argument names what is wrong of what was sent.
func (r *remote) argument(place string) string {
	members := strings.FieldsFunc(place, func(c rune) bool { return c == '/' || c == '.' })
	switch {
	case r.sent.whole && len(members) == 0:
		return r.sent.path
	case r.sent.holds(members):
		return r.sent.path + ": " + placeIn(members)
	}
	return r.given.argument(place)
}

// absent tells whether all that is wrong is that what arguments name is not there (rule C-7).
func absent(fields []mockbase.FieldError) bool {
	return !slices.ContainsFunc(fields, func(f mockbase.FieldError) bool { return f.Code != mockbase.FieldReference })
}

// wrongUse lists what the server says of the arguments it was given, each in a line of its own.
func (r *remote) wrongUse(what string, refused *client.RefusedError) error {
	if len(refused.Problem.Fields) == 0 {
		f := &failure{code: exitUsage, what: what, err: refused.Problem}
		if r.sent.whole && refused.Problem.Code != mockbase.CodeInvalidParameter {
			f.code, f.what = exitBadInput, what+" "+r.sent.path
		}
		return f
	}
	list := &faults{code: exitUsage}
	if r.sent.path == "" && absent(refused.Problem.Fields) {
		list.code = exitConflict
	}
	for _, f := range refused.Problem.Fields {
		line := "mockbase: " + what + ": "
		named := r.argument(strings.TrimPrefix(strings.TrimPrefix(f.Pointer, "#"), "/"))
		if r.sent.path != "" && strings.HasPrefix(named, r.sent.path) {
			list.code = exitBadInput
		}
		if named != "" {
			line += named + ": "
		}
		list.lines = append(list.lines, line+f.Detail)
		fix := ""
		if f.Suggestion != "" {
			fix = "did you mean " + f.Suggestion + "?"
		}
		list.fixes = append(list.fixes, fix)
	}
	return list
}
