package files

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/openapi"
)

// located is the finding of a fault whose place is looked up in the file.
func (s *source) located(f mockbase.FieldError) Finding {
	if at := mockbase.Locate(s.text, s.format, []mockbase.FieldError{f}); len(at) == 1 {
		f = at[0]
	}
	return s.finding(f)
}

// Findings turns an error about the joined definition into findings about the project's files.
func (p *Project) Findings(err error) []Finding {
	failure, ok := errors.AsType[*mockbase.Error](err)
	if !ok || len(failure.Fields) == 0 {
		message := err.Error()
		code := mockbase.CodeInternal
		if ok {
			message, code = failure.Message, failure.Code
		}
		return []Finding{{Path: p.Origin, Code: code, Message: message}}
	}
	return p.findings(failure.Fields)
}

// FindingsOf finds the files and the places of faults of the joined definition.
func (p *Project) FindingsOf(list []mockbase.FieldError) []Finding { return p.findings(list) }

// Repairs are what was wrong with the texts of OpenAPI documents that are files, and could be repaired: nobody else sees those texts.
func (p *Project) Repairs() []Finding {
	var found []Finding
	for _, part := range p.parts {
		for _, w := range part.definition.Warnings {
			if w.Elsewhere != nil {
				found = append(found, part.source.finding(w))
			}
		}
	}
	return found
}

// heldIn is a file of a project: a definition, or with a name one of the files that an OpenAPI document is made of.
type heldIn struct {
	*part

	name string
}

// findings finds the files and the places of faults of the joined definition. The text of each file is read once.
func (p *Project) findings(list []mockbase.FieldError) []Finding {
	found := make([]Finding, len(list))
	faults, places := map[heldIn][]mockbase.FieldError{}, map[heldIn][]int{}
	for i, f := range list {
		part, pointer := p.holder(f.Pointer)
		if part == nil {
			f.Line, f.Column = 0, 0
			found[i] = p.parts[0].source.finding(f)
			continue
		}
		in := heldIn{part: part}
		f.Pointer = pointer
		if index, within, ok := inlined(pointer); ok && part.attached[index] != nil {
			f.Line, f.Column, f.Pointer = 0, 0, within
			f = part.attached[index].place(f)
			in.name, f.Pointer = f.Elsewhere.File, f.Elsewhere.Pointer
		}
		faults[in], places[in] = append(faults[in], f), append(places[in], i)
	}
	for in := range faults {
		for i, f := range in.locate(faults[in]) {
			found[places[in][i]] = in.source.finding(f)
		}
	}
	return found
}

// locate fills in the places of faults in the text of a file.
func (h *heldIn) locate(faults []mockbase.FieldError) []mockbase.FieldError {
	if h.name == "" {
		return mockbase.Locate(h.source.text, h.source.format, faults)
	}
	text := h.source.text
	if h.name != h.source.name {
		// What cannot be read any more gives no places.
		text, _ = h.source.sibling(h.name)
	}
	faults = openapi.Locate(text, faults)
	for i := range faults {
		faults[i].Elsewhere.Line, faults[i].Elsewhere.Column = faults[i].Line, faults[i].Column
	}
	return faults
}

// FurtherFindings are the findings of faults of the joined definition that do not follow from what could not be read of
// its files.
func (p *Project) FurtherFindings(faults []mockbase.FieldError) []Finding {
	return p.findings(slices.DeleteFunc(slices.Clone(faults), func(f mockbase.FieldError) bool {
		part, pointer := p.holder(f.Pointer)
		return part != nil && mockbase.Unread(part.faults, pointer)
	}))
}

// holder is the file that holds a place of the joined definition, and the place in it.
func (p *Project) holder(pointer string) (in *part, within string) {
	if index, rest, ok := mockIndex(pointer); ok {
		for _, part := range p.parts {
			if n := index - part.first; n >= 0 && n < len(part.definition.Mocks) {
				return part, "#/mocks/" + strconv.Itoa(n) + rest
			}
		}
	}
	return p.sectionHolder(pointer)
}

// sectionHolder is the file that holds a section, or the member or item of it that a pointer leads to.
func (p *Project) sectionHolder(pointer string) (in *part, within string) {
	key, rest, _ := strings.Cut(strings.TrimPrefix(pointer, "#/"), "/")
	token, rest, _ := strings.Cut(rest, "/")
	before := 0
	for _, part := range p.parts {
		if part.definition.Config.Source[key] == nil {
			continue
		}
		if in == nil {
			in = part // of what is in no file, the first that has the section is told
		}
		shape := part.shape(key)
		if name, found := shape.item(token, before); found {
			return part, strings.TrimSuffix("#/"+key+"/"+name+"/"+rest, "/")
		}
		before += shape.items
	}
	return in, pointer
}

// sectionShape is what a section holds: members by the tokens of their names, or so many items.
type sectionShape struct {
	members map[string]bool
	items   int
}

// shape is what a section of the file holds, which is looked up once. Nothing is known of one that cannot be read.
func (p *part) shape(key string) sectionShape {
	if known, met := p.shapes[key]; met {
		return known
	}
	made := sectionShape{members: map[string]bool{}, items: len(p.definition.Config.Documents)}
	if key != "documents" { // which may be large
		section, err := mockbase.ParseNode(p.definition.Config.Source[key], mockbase.FormatJSON, mockbase.ParseLimits{})
		if err != nil {
			section = &mockbase.Node{}
		}
		made.items = len(section.Items)
		for _, m := range section.Members {
			made.members[mockbase.PointerToken(m.Key)] = true
		}
	}
	if p.shapes == nil {
		p.shapes = map[string]sectionShape{}
	}
	p.shapes[key] = made
	return made
}

// item finds the member or the item of a section that a token leads to, and returns the token for it alone: before are the items
// that stand before those of the section.
func (s sectionShape) item(token string, before int) (own string, found bool) {
	if s.members[token] {
		return token, true
	}
	index, err := strconv.Atoi(token)
	index -= before
	return strconv.Itoa(index), err == nil && index >= 0 && index < s.items
}

// mockIndex splits #/mocks/N/rest.
func mockIndex(pointer string) (index int, rest string, ok bool) {
	tail, found := strings.CutPrefix(pointer, "#/mocks/")
	if !found {
		return 0, "", false
	}
	number, rest, _ := strings.Cut(tail, "/")
	index, err := strconv.Atoi(number)
	if rest != "" {
		rest = "/" + rest
	}
	return index, rest, err == nil
}
