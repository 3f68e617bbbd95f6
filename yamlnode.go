package mockbase

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// parseYAML reads one YAML 1.2 document. src is valid UTF-8.
func parseYAML(src []byte, lim ParseLimits, faults *Faults) (*Node, error) {
	if err := checkYAMLText(src, lim); err != nil {
		return nil, err
	}
	src, fault := dropYAMLDirectives(src)
	if fault != nil {
		return nil, fault
	}
	decoder := yaml.NewDecoder(bytes.NewReader(src))
	document, err := nextDocument(decoder)
	if errors.Is(err, io.EOF) {
		return nil, malformed(FieldError{Pointer: "#", Code: FieldSyntax, Line: 1, Column: 1, Detail: "the document is empty"})
	}
	if err != nil {
		return nil, yamlSyntaxError(src, err, lim)
	}
	r := &yamlReader{lim: lim, faults: faults, open: map[*yaml.Node]bool{}}
	n, fault := r.value(document.Content[0], "#")
	if fault != nil {
		return nil, fault
	}
	second, err := nextDocument(decoder)
	if errors.Is(err, io.EOF) {
		return n, nil
	}
	if err != nil {
		return nil, yamlSyntaxError(src, err, lim)
	}
	return nil, yamlFault(second, FieldSyntax, "a second document begins here: put each into a file of its own")
}

// nextDocument reads one document of the stream. The library promises no error for its own bugs but a panic, which must
// not end a server over a text that somebody sent.
func nextDocument(decoder *yaml.Decoder) (document *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("yaml: the text cannot be read (%v)", p)
		}
	}()
	document = &yaml.Node{}
	return document, decoder.Decode(document)
}

// checkYAMLText refuses what the library would read without bounds, or refuse without a place.
func checkYAMLText(src []byte, lim ParseLimits) error {
	isControl := func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f }
	if i := bytes.IndexFunc(src, isControl); i >= 0 {
		line, column := placeOf(src, i)
		return malformed(FieldError{
			Pointer: "#", Code: FieldSyntax, Line: line, Column: column,
			Detail: fmt.Sprintf("the control character %U cannot stand here: write it as an escape in double quotes", src[i]),
		})
	}
	// Each value of a document needs one of these characters. The library builds all values before we see the first, at
	// some 300 bytes each.
	values := 0
	for _, c := range []byte(",[{?-:\n") {
		values += bytes.Count(src, []byte{c})
	}
	if values > 2*lim.Values {
		return malformed(FieldError{
			Pointer: "#", Code: FieldLimit, Detail: fmt.Sprintf("the text has more than %d values", lim.Values),
		})
	}
	return nil
}

// yamlReader turns the library's nodes into ours.
type yamlReader struct {
	lim    ParseLimits
	faults *Faults
	// open holds the anchored values that are being read, which an alias inside them must not mean.
	open                   map[*yaml.Node]bool
	depth, values, aliases int
	// expanding is the number of aliases that the reader is inside of, expanded the bytes they have brought.
	expanding, expanded int
}

func yamlFault(at *yaml.Node, code Code, format string, args ...any) *Error {
	return malformed(FieldError{
		Pointer: "#", Code: code, Detail: fmt.Sprintf(format, args...), Line: at.Line, Column: at.Column,
	})
}

func (r *yamlReader) value(y *yaml.Node, pointer string) (*Node, *Error) {
	if r.values++; r.values > r.lim.Values {
		return nil, yamlFault(y, FieldLimit, "the text has more than %d values", r.lim.Values)
	}
	// Scalars may stand one level lower, and an alias is no level of its own.
	isContainer := y.Kind == yaml.SequenceNode || y.Kind == yaml.MappingNode
	if r.depth++; isContainer && r.depth > r.lim.Depth {
		return nil, yamlFault(y, FieldLimit, "%s", tooDeepDetail(r.lim.Depth))
	}
	defer func() { r.depth-- }()
	if y.Anchor != "" {
		r.open[y] = true
		defer delete(r.open, y)
	}
	switch y.Kind {
	case yaml.AliasNode:
		return r.alias(y, pointer)
	case yaml.MappingNode:
		return r.mapping(y, pointer)
	case yaml.SequenceNode:
		return r.sequence(y, pointer)
	default:
		return r.scalar(y, pointer)
	}
}

func (r *yamlReader) alias(y *yaml.Node, pointer string) (*Node, *Error) {
	if r.aliases++; r.aliases > r.lim.Aliases {
		return nil, yamlFault(y, FieldLimit, "more than %d aliases are expanded", r.lim.Aliases)
	}
	if r.open[y.Alias] {
		return nil, yamlFault(y, FieldSyntax, "the alias *%s stands inside the value that it means", y.Value)
	}
	r.expanding++
	// The alias itself is no level of the document.
	r.depth--
	n, err := r.value(y.Alias, pointer)
	r.depth++
	r.expanding--
	return n, err
}

// count bounds what aliases make of a short text.
func (r *yamlReader) count(y *yaml.Node) *Error {
	if r.expanding == 0 {
		return nil
	}
	if r.expanded += len(y.Value); r.expanded > r.lim.Bytes {
		return yamlFault(y, FieldLimit, "aliases expand to more than %d bytes", r.lim.Bytes)
	}
	return nil
}

func yamlValue(y *yaml.Node, kind NodeKind, text string) *Node {
	return &Node{Kind: kind, Text: text, Line: y.Line, Column: y.Column}
}

func (r *yamlReader) sequence(y *yaml.Node, pointer string) (*Node, *Error) {
	if y.Style&yaml.TaggedStyle != 0 && y.Tag != "!!seq" {
		return nil, yamlFault(y, FieldSyntax, "the tag %s is not supported", quote(y.Tag))
	}
	n := yamlValue(y, NodeList, "")
	n.Items = make([]*Node, 0, len(y.Content))
	for i, item := range y.Content {
		v, err := r.value(item, itemPointer(pointer, i))
		if err != nil {
			return nil, err
		}
		n.Items = append(n.Items, v)
	}
	return n, nil
}

func (r *yamlReader) mapping(y *yaml.Node, pointer string) (*Node, *Error) {
	if y.Style&yaml.TaggedStyle != 0 && y.Tag != "!!map" {
		return nil, yamlFault(y, FieldSyntax, "the tag %s is not supported", quote(y.Tag))
	}
	m := yamlMapping{r: r, pointer: pointer, n: yamlValue(y, NodeObject, "")}
	m.n.Members = make([]Member, 0, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := y.Content[i], y.Content[i+1]
		read := m.member
		if key.Kind == yaml.ScalarNode && key.Tag == "!!merge" {
			read = m.merge
		}
		if err := read(key, value); err != nil {
			return nil, err
		}
	}
	return m.n, nil
}

// yamlMapping is one object in the making.
type yamlMapping struct {
	r       *yamlReader
	pointer string
	n       *Node
	keys    keySet
	// merged holds the keys that came with <<, which a key of the object's own replaces.
	merged   map[string]bool
	hasMerge bool
}

func (m *yamlMapping) member(key, value *yaml.Node) *Error {
	name, err := m.name(key)
	if err != nil {
		return err
	}
	v, err := m.r.value(value, childPointer(m.pointer, name))
	if err != nil {
		return err
	}
	member := Member{Key: name, Value: v, Line: key.Line, Column: key.Column}
	first := m.keys.add(m.n.Members, member)
	switch {
	case first == nil:
		m.n.Members = append(m.n.Members, member)
	case m.merged[name]:
		delete(m.merged, name)
		*first = member
	default:
		m.r.faults.duplicate(childPointer(m.pointer, name), member, first)
	}
	return nil
}

// name returns a key's text in its own spelling: 200 and true are keys like any other.
func (m *yamlMapping) name(key *yaml.Node) (string, *Error) {
	switch {
	case key.Kind != yaml.ScalarNode:
		return "", yamlFault(key, FieldSyntax, "a key must be written out as a text")
	case key.Style&yaml.TaggedStyle != 0 && key.Tag != "!!str":
		return "", yamlFault(key, FieldSyntax, "the tag %s is not supported", quote(key.Tag))
	case key.Value == "" && isPlain(key):
		return "", yamlFault(key, FieldSyntax, `the key is missing: write "" for an empty one`)
	}
	return key.Value, m.r.count(key)
}

// merge adds the members of an object, or of several, that the object does not have itself. The first of several wins.
func (m *yamlMapping) merge(key, value *yaml.Node) *Error {
	if m.hasMerge {
		return yamlFault(key, FieldDuplicateKey, "the key << is given twice: write << with a list of aliases")
	}
	m.hasMerge = true
	v, err := m.r.value(value, childPointer(m.pointer, "<<"))
	if err != nil {
		return err
	}
	sources := []*Node{v}
	if v.Kind == NodeList {
		sources = v.Items
	}
	m.merged = map[string]bool{}
	for _, source := range sources {
		if source.Kind != NodeObject {
			return yamlFault(value, FieldSyntax, "<< merges objects, found %s", source.describe())
		}
		for _, member := range source.Members {
			if m.keys.add(m.n.Members, member) == nil {
				m.n.Members = append(m.n.Members, member)
				m.merged[member.Key] = true
			}
		}
	}
	return nil
}
