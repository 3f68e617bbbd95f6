package openapi

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// merger merges schemas into a shape.
type merger struct {
	schemas *schemas
	taken   choice
	shape   shape
	// depending are the schemas that count where a property is there.
	depending []member
}

// merge joins schemas that hold together.
func (s *schemas) merge(all []place, taken choice, how manner) *shape {
	m := &merger{schemas: s, taken: taken, shape: shape{source: s.source, maxLength: -1, maxItems: -1, most: -1, forced: map[string]string{}}}
	for _, p := range all {
		m.add(p, 0)
	}
	for len(m.depending) > 0 {
		own := m.depending[0]
		m.depending = m.depending[1:]
		if slices.Contains(m.shape.required, own.name) || how < mannerShort && m.shape.declares(own.name) {
			m.add(own.place, maxJoined)
		}
	}
	return &m.shape
}

// add merges one schema; what is merged already is passed over, so that schemas may mean themselves.
func (m *merger) add(p place, depth int) {
	if p.node == nil || depth > maxJoined*4 || slices.Contains(m.shape.visited, p.node) {
		return
	}
	m.shape.visited = append(m.shape.visited, p.node)
	if p.is(mockbase.NodeBool) {
		m.shape.never = m.shape.never || p.node.Text == "false"
		return
	}
	if p.reference() != "" {
		m.referred(p, depth)
		return
	}
	m.keywords(p, depth)
}

// referred merges what a reference means, and from 3.1 on what stands beside it.
func (m *merger) referred(p place, depth int) {
	at, ok := m.schemas.source.follow(p)
	if m.schemas.source.dialect == dialect31 {
		m.keywords(p, depth)
	}
	if !ok {
		return
	}
	if m.shape.name == "" && !wraps(at) {
		m.shape.name = lastToken(at.at)
	}
	m.add(at, depth+1)
}

func (m *merger) keywords(p place, depth int) {
	s := &m.shape
	m.types(p)
	m.values(p)
	m.textual(p)
	m.numeric(p)
	m.counts(p)
	m.object(p)
	m.list(p)
	m.discriminator(p)
	for _, branch := range p.find("allOf").items() {
		m.add(branch, depth+1)
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		branches := p.find(keyword).items()
		if len(branches) == 0 {
			continue
		}
		own := group{owner: p, keyword: keyword, branches: branches}
		if at, ok := m.taken[choiceKey{p.node, keyword}]; ok {
			m.discriminate(&own, at)
			m.add(branches[at], depth+1)
			continue
		}
		s.groups = append(s.groups, own)
	}
	m.negations(p, depth)
}

// keywordIf is the keyword of a condition among groups.
const keywordIf = "if"

// negations merges what says which values are not allowed, or under which condition.
func (m *merger) negations(p place, depth int) {
	m.shape.tested = m.shape.tested || p.find("not").node != nil
	condition := p.find(keywordIf)
	if condition.node == nil || m.schemas.source.dialect != dialect31 {
		return
	}
	at, ok := m.taken[choiceKey{p.node, keywordIf}]
	switch {
	case !ok:
		m.shape.groups = append(m.shape.groups, group{owner: p, keyword: keywordIf, branches: []place{condition, p.find("else")}})
	case at == 0:
		m.add(condition, depth+1)
		m.add(p.find("then"), depth+1)
	default:
		m.shape.tested = true
		m.add(p.find("else"), depth+1)
	}
}

func (m *merger) types(p place) {
	s := &m.shape
	s.nullable = s.nullable || nullable(p)
	own := typesOf(p)
	if len(own) == 0 {
		return
	}
	if !s.typed {
		s.kinds, s.typed = slices.Clone(own), true
		return
	}
	s.kinds = joined(s.kinds, own)
	s.never = s.never || len(s.kinds) == 0
}

func (m *merger) values(p place) {
	s := &m.shape
	texts := textsAlone(p)
	if s.example.node == nil {
		s.example = m.schemas.source.asText(texts, statedExample(p))
	}
	if at := presentMember(p, "const"); at.node != nil && s.constant == nil {
		s.constant = m.schemas.source.asText(texts, at).node
	}
	if at := presentMember(p, "default"); at.node != nil && s.byDefault == nil {
		s.byDefault = m.schemas.source.asText(texts, at).node
	}
	at := p.find("enum")
	if !at.is(mockbase.NodeList) || len(at.node.Items) == 0 {
		return
	}
	items := make([]*mockbase.Node, len(at.node.Items))
	for i, item := range at.items() {
		items[i] = m.schemas.source.asText(texts, item).node
	}
	if !s.listed {
		s.enum, s.listed = items, true
		return
	}
	s.enum = slices.DeleteFunc(s.enum, func(n *mockbase.Node) bool {
		return !slices.ContainsFunc(items, func(other *mockbase.Node) bool { return string(other.JSON()) == string(n.JSON()) })
	})
	s.never = s.never || len(s.enum) == 0
}

// textsAlone tells whether a schema says that its values are texts, besides null.
func textsAlone(p place) bool {
	list := typesOf(p)
	return list.has("string") && !slices.ContainsFunc(list, func(kind string) bool { return kind != "string" && kind != "null" })
}

// asText reads a number or a boolean, which nobody put in quotes, as the text that it must be where texts alone are allowed.
func (s *source) asText(texts bool, p place) place { //nolint:revive // it is a fact of the schema that the caller looks at once
	if !texts || !p.is(mockbase.NodeNumber) && !p.is(mockbase.NodeBool) {
		return p
	}
	s.notes.add(p, mockbase.FieldType, p.node.Kind.String()+" is read as text, as its schema allows nothing else: put it in quotes")
	return place{node: &mockbase.Node{Kind: mockbase.NodeText, Text: cmp.Or(s.spelled[p.node], p.node.Text), Line: p.node.Line, Column: p.node.Column}, at: p.at}
}

// firstExample is the example of a schema, nil if it has none (rules W38 and W40).
func firstExample(p place) *mockbase.Node { return statedExample(p).node }

// statedExample is the same with its place.
func statedExample(p place) place {
	if own := presentMember(p, "example"); own.node != nil {
		return own
	}
	if list := p.find("examples").items(); len(list) > 0 {
		return list[0]
	}
	return presentMember(p, "x-example")
}

// A file is bytes in OpenAPI 2.0, and a text of format binary in later versions.
const (
	typeFile     = "file"
	formatBinary = "binary"
)

func (m *merger) textual(p place) {
	s := &m.shape
	if s.format == "" {
		s.format = p.text("format")
	}
	if p.text("type") == typeFile {
		s.format = formatBinary
	}
	if at := p.find("pattern"); at.is(mockbase.NodeText) {
		if _, err := m.schemas.source.pattern(at.node.Text); err == nil {
			s.patterns = append(s.patterns, at.node.Text)
		}
	}
}

func (m *merger) object(p place) {
	s := &m.shape
	for _, own := range p.find("properties").members() {
		at := slices.IndexFunc(s.properties, func(known property) bool { return known.name == own.name })
		if at < 0 {
			s.properties = append(s.properties, property{name: own.name, schemas: []place{own.place}})
			continue
		}
		s.properties[at].schemas = append(slices.Clone(s.properties[at].schemas), own.place)
	}
	for _, item := range p.find("required").items() {
		if item.is(mockbase.NodeText) && !slices.Contains(s.required, item.node.Text) {
			s.required = append(s.required, item.node.Text)
		}
	}
	for _, keyword := range []string{"additionalProperties", "unevaluatedProperties"} {
		switch at := p.find(keyword); {
		case at.is(mockbase.NodeBool):
			s.closed = s.closed || at.node.Text == "false"
		case at.node != nil:
			s.additional = append(s.additional, at)
		}
	}
	m.naming(p)
}

// naming merges what says something about properties by their names.
func (m *merger) naming(p place) {
	s := &m.shape
	for _, own := range p.find("patternProperties").members() {
		if _, err := m.schemas.source.pattern(own.name); err == nil {
			s.patterned = append(s.patterned, patternProperty{own.name, own.place})
		}
	}
	if at := p.find("propertyNames"); at.is(mockbase.NodeObject) {
		s.names = append(s.names, at)
	}
	for _, own := range p.find("dependentRequired").members() {
		for _, item := range own.items() {
			if s.follows == nil {
				s.follows = map[string][]string{}
			}
			s.follows[own.name] = append(s.follows[own.name], item.node.Text)
		}
	}
	m.depending = append(m.depending, p.find("dependentSchemas").members()...)
}

func (m *merger) list(p place) {
	s := &m.shape
	prefix := p.find("prefixItems").items()
	items := p.find("items")
	if items.is(mockbase.NodeList) {
		prefix, items = items.items(), place{}
	}
	if len(prefix) > len(s.prefix) {
		s.prefix = prefix
	}
	switch {
	case items.is(mockbase.NodeBool):
		s.noItems = s.noItems || items.node.Text == "false"
	case items.node != nil:
		s.items = append(s.items, items)
	}
	if at := p.find("contains"); at.node != nil {
		own := containing{schema: at, least: 1}
		if n, ok := countOf(p.find("minContains")); ok {
			own.least = n
		}
		s.contains = append(s.contains, own)
	}
}

// discriminator forces the value by which a schema that others extend tells them apart.
func (m *merger) discriminator(p place) {
	at := p.find("discriminator")
	name := at.text("propertyName")
	if at.is(mockbase.NodeText) {
		name = at.node.Text
	}
	if name == "" || m.shape.name == "" || p.find("oneOf").node != nil || p.find("anyOf").node != nil {
		return
	}
	key := m.schemas.discriminatorKey(p, m.shape.name, nil)
	if first := at.find("mapping").members(); len(first) > 0 && first[0].is(mockbase.NodeText) && key == lastToken(p.at) && at.find("mapping").find(key).node == nil {
		// Nothing is of the schema that others extend alone: the first of those stands for it.
		key = first[0].name
		if extending := m.schemas.source.resolve(p, first[0].node.Text); !p.denies("additionalProperties") {
			m.add(extending.place, maxJoined)
		}
	}
	m.force(name, key)
}

// wraps tells whether a schema only stands around another, as those do that make one nullable or describe it: it is no schema of a
// name by which values are told apart.
func wraps(p place) bool {
	around := 0
	for _, own := range p.members() {
		switch own.name {
		case "allOf", "anyOf", "oneOf":
			around += len(own.items())
			if own.name == "allOf" && len(own.items()) != 1 {
				return false
			}
		case "type", "nullable", "title", "description", "default", "example", "examples", "deprecated", "readOnly", "writeOnly", "externalDocs", "xml":
		default:
			if !strings.HasPrefix(own.name, "x-") {
				return false
			}
		}
	}
	return around > 0
}

// discriminate forces the value that names a branch.
func (m *merger) discriminate(g *group, branch int) {
	name := g.owner.find("discriminator").text("propertyName")
	ref := g.branches[branch].reference()
	if name == "" || ref == "" {
		return
	}
	to := m.schemas.source.resolve(g.branches[branch], ref)
	if to.node != nil && !strings.HasPrefix(ref, "#/") {
		ref = to.at // what is referred to by an $id or an anchor has the name of its place
	}
	m.force(name, m.schemas.discriminatorKey(g.owner, lastToken(ref), to.node))
}

func (m *merger) force(name, value string) {
	if _, ok := m.shape.forced[name]; !ok {
		m.shape.forced[name] = value
	}
}

// discriminatorKey is the mapping's key for a schema, or the schema's own name.
func (s *schemas) discriminatorKey(owner place, name string, schema *mockbase.Node) string {
	for _, m := range owner.find("discriminator").find("mapping").members() {
		if m.is(mockbase.NodeText) && (lastToken(m.node.Text) == name || schema != nil && s.source.resolve(owner, m.node.Text).node == schema) {
			return m.name
		}
	}
	return name
}
