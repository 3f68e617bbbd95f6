package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// sent turns pointers into the configuration after the apply into such into the definition that was sent. What other
// sources, or hands, put into the project is not in that text: it is named in the detail, and the pointer leads to the whole.
func (p *planning) sent(d *mockbase.Definition, list []mockbase.FieldError) []mockbase.FieldError {
	for i := range list {
		list[i] = p.sentOne(d, list[i])
	}
	return list
}

func (p *planning) sentOne(d *mockbase.Definition, f mockbase.FieldError) mockbase.FieldError {
	key, rest, _ := strings.Cut(strings.TrimPrefix(f.Pointer, "#/"), "/")
	at := slices.IndexFunc(sections(), func(s section) bool { return s.key == key })
	if at < 0 {
		return f
	}
	s := sections()[at]
	token, below, deeper := strings.Cut(rest, "/")
	if s.whole {
		token, below, deeper = "", rest, rest != ""
	}
	name, ok := s.nameAt(p.next.Project.Config.Source[key], token)
	if !ok {
		return f
	}
	given, err := s.parts(d.Config.Source[key])
	index := slices.IndexFunc(given, func(g part) bool { return g.name == name })
	switch {
	case err == nil && index >= 0 && s.listed:
		f.Pointer = "#/" + key + "/" + strconv.Itoa(index)
		if deeper {
			f.Pointer += "/" + below
		}
	case err == nil && index >= 0:
	default:
		f.Detail = p.elsewhere(s, name) + strings.TrimPrefix(below+": ", ": ") + f.Detail
		f.Pointer, f.Line, f.Column = "#", 0, 0
	}
	return f
}

// elsewhere begins a detail about an item that the document does not hold.
func (p *planning) elsewhere(s section, name string) string {
	item := fmt.Sprintf("%s %q", s.kind, name)
	if s.whole {
		item = name
	}
	if owner := p.config.owners[s.owned(name)]; owner != "" {
		return fmt.Sprintf("%s of source %q: ", item, owner)
	}
	return item + " of the project: "
}

// nameAt is the name of the item that a token of a pointer leads to.
func (s section) nameAt(text []byte, token string) (string, bool) {
	if s.whole {
		return s.key, true
	}
	all, err := s.parts(text)
	if err != nil {
		return "", false
	}
	for i := range all {
		if s.listed && strconv.Itoa(i) == token || !s.listed && mockbase.PointerToken(all[i].name) == token {
			return all[i].name, true
		}
	}
	return "", false
}
