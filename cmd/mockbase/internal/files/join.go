package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/openapi"
)

// join makes one definition of the project's files: all mocks in the order of the files, and the other sections together.
// What two files say about the same thing is a fault.
func (p *Project) join() []Finding {
	p.Definition = &mockbase.Definition{Project: p.Slug}
	faults := p.joinConfig()
	faults = append(faults, p.joinMocks()...)
	return faults
}

// joinMocks gives every mock its folder and origin, and a name of its own to every mock whose author gave none.
func (p *Project) joinMocks() []Finding {
	taken, faults := p.takenNames()
	for _, part := range p.parts {
		part.first = len(p.Definition.Mocks)
		for _, m := range part.definition.Mocks {
			mock, err := part.place(m, taken)
			if err != nil && len(part.faults) > 0 {
				mock, err = m, nil // what is wrong with it is known
			}
			if err != nil {
				faults = append(faults, part.source.findings(err)...)
				continue
			}
			p.Definition.Mocks = append(p.Definition.Mocks, mock)
		}
	}
	return faults
}

// takenNames are the names that authors gave, with their places. A name twice is a fault; within one file it is known.
func (p *Project) takenNames() (map[string]string, []Finding) {
	var faults []Finding
	taken := map[string]string{}
	for _, part := range p.parts {
		for _, m := range part.definition.Mocks {
			if m.NameGenerated || m.Name == "" {
				continue
			}
			other, twice := taken[m.Name]
			if twice && !strings.HasPrefix(other, part.source.path+":") {
				faults = append(faults, Finding{
					Path: part.source.path, Line: m.Line, Column: m.Column, Code: mockbase.FieldUnique,
					Message: fmt.Sprintf("the name %q is taken by the mock at %s", m.Name, other),
				})
			}
			taken[m.Name] = part.source.path + ":" + strconv.Itoa(m.Line)
		}
	}
	return taken, faults
}

// place returns the mock with its origin, its file's folder unless it names one, and a name that nobody else has.
func (p *part) place(m *mockbase.Mock, taken map[string]string) (*mockbase.Mock, error) {
	name, folder := m.Name, m.Folder
	if folder == "" {
		folder = p.source.folder()
	}
	origin := p.source.path + ":" + strconv.Itoa(m.Line)
	if m.NameGenerated {
		base := name
		if m.Request.Path != "" && len(m.Request.Methods) > 0 {
			base = mockbase.DefaultMockName(m.Request.Methods[0], m.Request.Path)
		}
		name = mockbase.UniqueName(base, func(name string) bool { return taken[name] != "" })
		taken[name] = origin
	}
	placed := *m
	if name != m.Name || folder != m.Folder {
		again, err := amend(m, name, folder)
		if err != nil {
			return nil, err
		}
		placed = *again
		placed.Line, placed.Column, placed.NameGenerated = m.Line, m.Column, m.NameGenerated
	}
	placed.Origin = origin
	return &placed, nil
}

// amend writes a name and a folder into a mock's document.
func amend(m *mockbase.Mock, name, folder string) (*mockbase.Mock, error) {
	root, err := mockbase.ParseNode(m.Document, mockbase.FormatJSON, mockbase.ParseLimits{})
	if err != nil {
		return nil, err
	}
	rest := root.Members
	root.Members = []mockbase.Member{{Key: "name", Value: textNode(name)}}
	if folder != "" {
		root.Members = append(root.Members, mockbase.Member{Key: "folder", Value: textNode(folder)})
	}
	for _, member := range rest {
		if member.Key != "name" && member.Key != "folder" {
			root.Members = append(root.Members, member)
		}
	}
	return mockbase.DecodeMock(root.JSON(), mockbase.FormatJSON)
}

func textNode(text string) *mockbase.Node {
	return &mockbase.Node{Kind: mockbase.NodeText, Text: text}
}

// joinConfig joins everything but the mocks. The files of most projects hold mocks alone, or one file holds the rest.
func (p *Project) joinConfig() []Finding {
	var holders []*part
	for _, part := range p.parts {
		if len(part.definition.Config.Source) > 0 {
			holders = append(holders, part)
		}
	}
	switch len(holders) {
	case 0:
		return nil
	case 1:
		p.Definition.Config = holders[0].definition.Config
		return nil
	}
	c := sections{joined: map[string]*mockbase.Node{}, where: map[string]string{}}
	for _, part := range holders {
		c.add(part)
	}
	if len(c.faults) > 0 {
		return c.faults
	}
	source := map[string]json.RawMessage{}
	for key, node := range c.joined {
		source[key] = node.JSON()
	}
	config, err := mockbase.DecodeConfigPart(source)
	p.Definition.Config = config
	if err == nil {
		return nil
	}
	return p.FurtherFindings(faultsOf(err))
}

// references are what the files of a project name and none of them defines.
func (p *Project) references() []Finding {
	config := &p.Definition.Config
	for _, part := range p.parts {
		config.Unread = append(config.Unread, part.definition.Config.Unread...)
	}
	faults := config.CheckReferences()
	for i, m := range p.Definition.Mocks {
		faults = append(faults, ofMock(m.CheckReferences(config), i)...)
	}
	return p.FurtherFindings(faults)
}

// warnings are what deserves a second look in each mock, in the light of all files.
func (p *Project) warnings() []Finding {
	var list []mockbase.FieldError
	for i, m := range p.Definition.Mocks {
		list = append(list, ofMock(m.Warnings(&p.Definition.Config), i)...)
	}
	return p.findings(list)
}

// ofMock turns pointers into a mock into such into the definition.
func ofMock(list []mockbase.FieldError, index int) []mockbase.FieldError {
	for i := range list {
		list[i].Pointer = "#/mocks/" + strconv.Itoa(index) + strings.TrimPrefix(list[i].Pointer, "#")
	}
	return list
}

// sections joins the sections of several files: objects member by member, lists item by item.
type sections struct {
	joined map[string]*mockbase.Node
	// where names the file that holds a section or one of its members.
	where  map[string]string
	faults []Finding
}

func (c *sections) add(p *part) {
	for key, raw := range p.definition.Config.Source {
		node, err := mockbase.ParseNode(raw, mockbase.FormatJSON, mockbase.ParseLimits{})
		if err != nil {
			c.faults = append(c.faults, p.source.findings(err)...)
			continue
		}
		have := c.joined[key]
		if have == nil {
			copied := *node
			have = &copied
			have.Members, have.Items = nil, nil
			c.joined[key] = have
		}
		have.Items = append(have.Items, node.Items...)
		for _, m := range node.Members {
			pointer := "#/" + key + "/" + escape(m.Key)
			if other, ok := c.where[pointer]; ok {
				c.faults = append(c.faults, p.source.located(mockbase.FieldError{
					Pointer: pointer, Code: mockbase.FieldUnique, Detail: "is also said in " + other,
				}))
				continue
			}
			c.where[pointer] = p.source.path
			have.Members = append(have.Members, m)
		}
	}
}

func escape(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}

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
