package files

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
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
