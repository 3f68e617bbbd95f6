package mockbase

import (
	"encoding/json"
	"slices"
	"strings"
)

const (
	// maxMocks is the most mocks of one document; a project's quota may allow more by several documents.
	maxMocks = 10_000
	// maxMockBytes is the longest document of one mock (rule M-9).
	maxMockBytes = 16 << 20
)

// DecodeDefinition reads a whole document strictly. A text that cannot be read is an [*Error] of CodeMalformedBody; one
// that can be read and is not valid is one of CodeValidationFailed with all its faults, each with pointer, line and
// column (rules M-5 and Y3). Warnings come with the definition.
//
// Mocks without a name get one from their request; of several that would get the same, the second ends in -2, and so on
// (mock format, section 4). ${NAME} is text: it is for the command line to replace.
//
// Beside faults comes what could be read, for finding more of them and for nothing else; see [MoreFaults].
func DecodeDefinition(src []byte, f Format) (*Definition, error) {
	d, root, err := decodeText(src, f, checkReferences)
	if err != nil {
		return d, err
	}
	for i, m := range d.Mocks {
		for _, w := range m.Warnings(&d.Config) {
			w.Pointer = itemPointer("#/mocks", i) + strings.TrimPrefix(w.Pointer, "#")
			d.Warnings = append(d.Warnings, locate(root, w))
		}
	}
	return d, nil
}

// DecodePart reads a document that is a part of a project, as [DecodeDefinition] does. What it names may be defined
// elsewhere in the project, which [Config.CheckReferences] and [Mock.CheckReferences] judge, and what deserves a second look
// depends on the rest: there are no warnings.
func DecodePart(src []byte, f Format) (*Definition, error) {
	d, _, err := decodeText(src, f, func(*Fields, *Definition) {})
	return d, err
}

// decodeText reads a document; check notes what the document as a whole lacks.
func decodeText(src []byte, f Format, check func(*Fields, *Definition)) (*Definition, *Node, error) {
	faults := &Faults{}
	root, err := parse(src, f, ParseLimits{}, faults)
	if err != nil {
		return nil, nil, err
	}
	d := decodeDefinition(place{root, "#", faults}, check)
	return d, root, faults.Err()
}

func decodeDefinition(at place, check func(*Fields, *Definition)) *Definition {
	f := at.fields()
	d := &Definition{}
	var version int64
	if f.Int64("version", &version, -1<<63, 1<<63-1) && version != 1 {
		f.Fault("version", FieldEnum, "must be 1, found %d", version)
	}
	f.slug("project", &d.Project)
	decodeConfig(f, &d.Config)
	list := f.list("mocks", 0, maxMocks)
	d.Mocks = make([]*Mock, 0, len(list))
	for _, item := range list {
		d.Mocks = append(d.Mocks, decodeMock(item))
	}
	nameMocks(list, d.Mocks)
	for _, m := range f.node.Members {
		if strings.HasPrefix(m.Key, "x-") {
			f.known = append(f.known, m.Key)
		}
	}
	if !f.Has("mocks") && !f.Has("collections") && !f.Has("documents") {
		f.missing("mocks", "is missing: a document has at least one of mocks, collections or documents")
	}
	f.Done()
	for _, section := range []string{"rateLimits", "collections"} {
		if !f.readable(section, NodeObject) {
			d.Config.Unread = append(d.Config.Unread, section)
		}
	}
	check(f, d)
	return d
}

// nameMocks notes names that come twice and numbers generated ones.
func nameMocks(list []place, mocks []*Mock) {
	taken := make(map[string]bool, len(mocks))
	for i, m := range mocks {
		if m.NameGenerated || m.Name == "" {
			continue
		}
		if taken[m.Name] {
			at := list[i]
			at.faults.Add(at.Find("name"), childPointer(at.pointer, "name"), FieldUnique, "another mock is called %s", quote(m.Name))
		}
		taken[m.Name] = true
	}
	for i, m := range mocks {
		if !m.NameGenerated {
			continue
		}
		name := UniqueName(m.Name, func(name string) bool { return taken[name] })
		if name != m.Name {
			mocks[i] = m.WithName(name)
		}
		taken[name] = true
	}
}

// DecodeMock reads the document of one mock, as DecodeDefinition reads each of its mocks. What a rate limit's use names
// is looked for by [Mock.CheckReferences], as the document alone does not know it. Members that the API adds to a mock
// are accepted and left out (rule M-8). Beside faults comes what could be read, for finding more of them and for nothing
// else; see [MoreFaults].
func DecodeMock(src []byte, f Format) (*Mock, error) {
	faults := &Faults{}
	root, err := parse(src, f, ParseLimits{Bytes: maxMockBytes}, faults)
	if err != nil {
		return nil, err
	}
	m := decodeMock(place{root, "#", faults}, readOnlyMembers()...)
	return m, faults.Err()
}

// DecodeSettings reads the settings of a project. Pointers begin with #/settings, and places are not known; see
// [Locate].
func DecodeSettings(src json.RawMessage) (Config, error) {
	return DecodeConfig(map[string]json.RawMessage{"settings": src})
}

// DecodeConfig reads sections of a definition by their key, as [Config.Source] keeps them. Pointers are those of a
// definition, and places are not known; see [Locate]. Beside faults comes what could be read, for finding more of them.
func DecodeConfig(source map[string]json.RawMessage) (Config, error) {
	return decodeSections(source, (*Config).checkReferences)
}

// DecodeConfigPart reads sections of a part of a project, as [DecodeConfig] does: what they name may be elsewhere, see
// [Config.CheckReferences].
func DecodeConfigPart(source map[string]json.RawMessage) (Config, error) {
	return decodeSections(source, func(*Config, *Faults) {})
}

func decodeSections(source map[string]json.RawMessage, check func(*Config, *Faults)) (Config, error) {
	root := &Node{Kind: NodeObject}
	faults := &Faults{}
	for _, name := range append(sectionsBefore(), sectionsAfter()...) {
		text, found := source[name]
		if !found {
			continue
		}
		twice := &Faults{}
		section, err := parse(text, FormatJSON, ParseLimits{}, twice)
		if err != nil {
			return Config{}, err
		}
		for _, fault := range twice.list {
			fault.Pointer = "#/" + name + strings.TrimPrefix(fault.Pointer, "#")
			faults.Append(fault)
		}
		root.Members = append(root.Members, Member{Key: name, Value: section})
	}
	for name := range source {
		if root.Find(name) == nil {
			root.Members = append(root.Members, Member{Key: name, Value: &Node{}})
		}
	}
	var c Config
	f := NewFields(root, "#", faults)
	decodeConfig(f, &c)
	f.Done()
	check(&c, faults)
	faults.forgetPlaces()
	return c, faults.Err()
}

// forgetPlaces drops places that mean nothing to a caller who gave several texts.
func (f *Faults) forgetPlaces() {
	for i := range f.list {
		f.list[i].Line, f.list[i].Column = 0, 0
	}
	slices.SortStableFunc(f.list, func(a, b FieldError) int { return strings.Compare(a.Pointer, b.Pointer) })
}
