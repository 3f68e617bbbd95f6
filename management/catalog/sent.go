package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mockbase/mockbase"
)

// sent turns pointers into the configuration after the apply into such into the definition that was sent. What other
// sources, or hands, put into the project is not in that text: it is named in the detail, and the pointer leads to the whole.
func (p *planning) sent(d *mockbase.Definition, list []mockbase.FieldError) []mockbase.FieldError {
	r := &sentReader{known: map[string][]part{}}
	for i := range list {
		list[i], _ = p.sentOne(r, d, list[i])
	}
	return list
}

// configWarnings are what does not block of the configuration after the apply. Of what is not in the definition that was
// sent, only what was nothing to be warned of before.
func (p *planning) configWarnings(d *mockbase.Definition, plane configWarner) []mockbase.FieldError {
	r := &sentReader{known: map[string][]part{}}
	old := sync.OnceValue(func() []mockbase.FieldError { return plane.ConfigWarnings(&p.from.Project.Config) })
	var told []mockbase.FieldError
	for _, f := range plane.ConfigWarnings(&p.next.Project.Config) {
		placed, own := p.sentOne(r, d, f)
		if own || !slices.ContainsFunc(old(), func(o mockbase.FieldError) bool { return o.Code == f.Code && o.Detail == f.Detail }) {
			told = append(told, placed)
		}
	}
	return told
}

// sentReader splits each section once, however many faults are told about it: a section may hold whole documents.
type sentReader struct{ known map[string][]part }

func (r *sentReader) parts(s section, of string, text []byte) []part {
	key := of + s.key
	list, read := r.known[key]
	if !read {
		// What cannot be split has no parts; its fault is told where it is decoded.
		list, _ = s.texts(text)
		r.known[key] = list
	}
	return list
}

// sentOne is one of them; own tells that it is about the definition.
func (p *planning) sentOne(r *sentReader, d *mockbase.Definition, f mockbase.FieldError) (placed mockbase.FieldError, own bool) {
	key, rest, _ := strings.Cut(strings.TrimPrefix(f.Pointer, "#/"), "/")
	at := slices.IndexFunc(sections(), func(s section) bool { return s.key == key })
	if at < 0 {
		return f, true
	}
	s := sections()[at]
	token, below, deeper := strings.Cut(rest, "/")
	if s.whole {
		token, below, deeper = "", rest, rest != ""
	}
	name, ok := s.nameAt(r.parts(s, "next ", p.next.Project.Config.Source[key]), token)
	if !ok {
		return f, true
	}
	given := r.parts(s, "sent ", d.Config.Source[key])
	index := slices.IndexFunc(given, func(g part) bool { return g.name == name })
	switch {
	case index >= 0 && s.listed:
		f.Pointer = "#/" + key + "/" + strconv.Itoa(index)
		if deeper {
			f.Pointer += "/" + below
		}
	case index >= 0:
	default:
		f.Detail = p.elsewhere(s, name) + strings.TrimPrefix(below+": ", ": ") + f.Detail
		f.Pointer, f.Line, f.Column = "#", 0, 0
		return f, false
	}
	return f, true
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
func (s section) nameAt(all []part, token string) (string, bool) {
	if s.whole {
		return s.key, true
	}
	for i := range all {
		if s.listed && strconv.Itoa(i) == token || !s.listed && mockbase.PointerToken(all[i].name) == token {
			return all[i].name, true
		}
	}
	return "", false
}
