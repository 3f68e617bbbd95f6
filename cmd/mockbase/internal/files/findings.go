package files

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// Finding is a fault or a warning about a place in a file.
type Finding struct {
	Path         string
	Line, Column int
	// Pointer is the place in the file as a JSON Pointer fragment, "" for one that is not known.
	Pointer string
	Code    mockbase.Code
	Message string
}

// String reads "path:line:column: message [code]" (rule C-8); the place is left out as far as it is not known.
func (f Finding) String() string {
	place := f.Path
	if f.Line > 0 {
		place += fmt.Sprintf(":%d:%d", f.Line, max(f.Column, 1))
	}
	return fmt.Sprintf("%s: %s [%s]", place, f.Message, f.Code)
}

// Further returns the warnings that were not told before. A reference that leads nowhere is told once: as the file that cannot be
// read, or as the place that has nothing.
func Further(before, list []Finding) []Finding {
	type spot struct{ path, pointer string }
	told := map[spot]bool{}
	for _, w := range before {
		if w.Code == mockbase.FieldReference {
			told[spot{w.Path, w.Pointer}] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(list), func(w Finding) bool {
		return w.Code == mockbase.FieldReference && told[spot{w.Path, w.Pointer}]
	})
}

// faultsOf are the faults that an error is about.
func faultsOf(err error) []mockbase.FieldError {
	if failure, ok := errors.AsType[*mockbase.Error](err); ok {
		return failure.Fields
	}
	return nil
}

// pointed returns faults with the pointers of their places, where they were found without.
func (s *source) pointed(faults []mockbase.FieldError) []mockbase.FieldError {
	if !slices.ContainsFunc(faults, func(f mockbase.FieldError) bool { return f.Pointer == "#" && f.Line > 0 }) {
		return faults
	}
	root, err := mockbase.ParseNode(s.text, s.format, mockbase.ParseLimits{Bytes: maxFileSize})
	if err != nil {
		return faults
	}
	pointed := slices.Clone(faults)
	for i := range pointed {
		if f := &pointed[i]; f.Pointer == "#" && f.Line > 0 {
			f.Pointer = cmp.Or(pointerAt(root, f.Line, f.Column, "#"), "#")
		}
	}
	return pointed
}

// pointerAt is the pointer of the innermost value at a place of the text, "" if none is there.
func pointerAt(n *mockbase.Node, line, column int, pointer string) string {
	for i, item := range n.Items {
		if found := pointerAt(item, line, column, pointer+"/"+strconv.Itoa(i)); found != "" {
			return found
		}
	}
	for _, m := range n.Members {
		if found := pointerAt(m.Value, line, column, pointer+"/"+mockbase.PointerToken(m.Key)); found != "" {
			return found
		}
	}
	if n.Line == line && n.Column == column {
		return pointer
	}
	return ""
}

// elsewhere returns the faults that are not at the place of one of others, which is their reason.
func elsewhere(faults, others []mockbase.FieldError) []mockbase.FieldError {
	return slices.DeleteFunc(faults, func(f mockbase.FieldError) bool {
		return slices.ContainsFunc(others, func(o mockbase.FieldError) bool { return o.Line == f.Line && o.Column == f.Column })
	})
}

// relocated looks up places that were found in another text.
func (s *source) relocated(fields []mockbase.FieldError) []mockbase.FieldError {
	for i := range fields {
		fields[i].Line, fields[i].Column = 0, 0
	}
	return mockbase.Locate(s.text, s.format, fields)
}

// findings turns the error of a file into findings.
func (s *source) findings(err error) []Finding {
	failure, ok := errors.AsType[*mockbase.Error](err)
	if !ok {
		return []Finding{{Path: s.path, Code: mockbase.CodeInternal, Message: err.Error()}}
	}
	if len(failure.Fields) == 0 {
		return []Finding{{Path: s.path, Code: failure.Code, Message: failure.Message}}
	}
	found := make([]Finding, 0, len(failure.Fields))
	for _, f := range failure.Fields {
		found = append(found, s.finding(f))
	}
	return found
}

func (s *source) finding(f mockbase.FieldError) Finding {
	found := Finding{Path: s.path, Line: f.Line, Column: f.Column, Pointer: f.Pointer, Code: f.Code, Message: f.Detail}
	if at := f.Elsewhere; at != nil {
		found.Path, found.Line, found.Column, found.Pointer = s.shown(at.File), at.Line, at.Column, at.Pointer
	}
	if name := memberName(found.Pointer); name != "" {
		found.Message = name + ": " + found.Message
	}
	return found
}

// shown is how messages name a file below the folder that is loaded.
func (s *source) shown(name string) string {
	if folder, ok := strings.CutSuffix(filepath.ToSlash(s.path), s.name); ok {
		return filepath.FromSlash(folder + name)
	}
	return name
}

// memberName writes a JSON Pointer the way people do: #/mocks/1/request becomes mocks[1].request.
func memberName(pointer string) string {
	var b strings.Builder
	for i, token := range strings.Split(strings.TrimPrefix(pointer, "#"), "/") {
		if i == 0 {
			continue
		}
		if plain, err := url.PathUnescape(token); err == nil {
			token = plain
		}
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch {
		case token != "" && strings.Trim(token, "0123456789") == "":
			b.WriteString("[" + token + "]")
		case b.Len() > 0:
			b.WriteString("." + token)
		default:
			b.WriteString(token)
		}
	}
	return b.String()
}
