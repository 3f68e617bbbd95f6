package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/mockbase/mockbase"
)

// section is a part of the configuration.
type section struct {
	key  string
	kind Kind
	// whole tells that the section is one item, listed that its items are a list with names in them and no map.
	whole, listed bool
}

// sections are the parts of the configuration in the order of the format.
func sections() []section {
	return []section{
		{key: "variables", kind: KindVariable},
		{key: "settings", kind: KindSettings, whole: true},
		{key: "defaults", kind: KindSettings, whole: true},
		{key: "rateLimits", kind: KindPolicy},
		{key: "scenarios", kind: KindScenario},
		{key: "collections", kind: KindCollection},
		{key: "documents", kind: KindDocument, listed: true},
	}
}

// part is one item of a section.
type part struct {
	name string
	node *mockbase.Node
	text json.RawMessage
}

// parts splits a section into its items.
func (s section) parts(text json.RawMessage) ([]part, error) {
	if len(text) == 0 {
		return nil, nil
	}
	root, err := mockbase.ParseNode(text, mockbase.FormatJSON, mockbase.ParseLimits{})
	if err != nil {
		return nil, err
	}
	var all []part
	switch {
	case s.whole:
		return []part{{name: s.key, node: root, text: text}}, nil
	case s.listed:
		for _, item := range root.Items {
			name := ""
			if n := item.Find("name"); n != nil {
				name = n.Text
			}
			all = append(all, part{name, item, item.JSON()})
		}
	default:
		for _, m := range root.Members {
			all = append(all, part{m.Key, m.Value, m.Value.JSON()})
		}
	}
	return all, nil
}

// texts is parts without the values of a list, whose items may be large documents.
func (s section) texts(text json.RawMessage) ([]part, error) {
	if !s.listed || len(text) == 0 {
		return s.parts(text)
	}
	var items []json.RawMessage
	if err := json.Unmarshal(text, &items); err != nil {
		return nil, fmt.Errorf("split %s: %w", s.key, err)
	}
	all := make([]part, len(items))
	for i, item := range items {
		var named struct {
			Name string `json:"name"`
		}
		if err := json.Unmarshal(item, &named); err != nil {
			return nil, fmt.Errorf("split %s: %w", s.key, err)
		}
		all[i] = part{name: named.Name, text: item}
	}
	return all, nil
}

// join is the text of a section with these items.
func (s section) join(parts []part) json.RawMessage {
	switch {
	case len(parts) == 0:
		return nil
	case s.whole:
		return parts[0].text
	}
	if s.listed {
		texts := make([][]byte, len(parts))
		for i := range parts {
			texts[i] = parts[i].text
		}
		return slices.Concat([]byte{'['}, bytes.Join(texts, []byte{','}), []byte{']'})
	}
	root := &mockbase.Node{Kind: mockbase.NodeObject}
	for _, p := range parts {
		root.Members = append(root.Members, mockbase.Member{Key: p.name, Value: p.node})
	}
	return root.JSON()
}

// owned is an item's key in [mockbase.Project.Owners].
func (s section) owned(name string) string {
	if s.whole {
		return s.key
	}
	return s.key + "/" + name
}

// configPlan is the configuration after an apply.
type configPlan struct {
	changed bool
	config  mockbase.Config
	owners  map[string]string
}

// planConfig compares the configuration item by item.
func planConfig(project *mockbase.Project, wanted *mockbase.Config, p *planning) (configPlan, error) {
	plan := configPlan{owners: maps.Clone(project.Owners)}
	if plan.owners == nil {
		plan.owners = map[string]string{}
	}
	source := maps.Clone(project.Config.Source)
	if source == nil {
		source = map[string]json.RawMessage{}
	}
	for _, s := range sections() {
		text, err := plan.section(s, source[s.key], wanted.Source[s.key], p)
		if err != nil {
			return plan, err
		}
		if len(text) > 0 {
			source[s.key] = text
		} else {
			delete(source, s.key)
		}
	}
	if !plan.changed {
		return plan, nil
	}
	same := func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }
	if maps.EqualFunc(source, wanted.Source, same) && len(wanted.Unread) == 0 {
		plan.config = *wanted // it says all, and is decoded already
		return plan, nil
	}
	var err error
	plan.config, err = mockbase.DecodeConfigPart(source)
	return plan, err
}

// section compares one section and returns its text after the apply.
func (c *configPlan) section(s section, have, want json.RawMessage, p *planning) (json.RawMessage, error) {
	old, err := s.texts(have)
	if err != nil {
		return nil, err
	}
	given, err := s.texts(want)
	if err != nil {
		return nil, err
	}
	merge := sectionMerge{section: s, planning: p, owners: c.owners}
	for _, g := range given {
		merge.give(g, find(old, g.name))
	}
	foreign := merge.keep(old, given)
	switch {
	case !merge.changed:
		return have, nil
	case !foreign && !merge.refused:
		c.changed = true
		return want, nil
	}
	c.changed = true
	return s.join(merge.result(old)), nil
}

func find(parts []part, name string) *part {
	i := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
	if i < 0 {
		return nil
	}
	return &parts[i]
}

// sectionMerge is one section in the making.
type sectionMerge struct {
	section

	planning *planning
	owners   map[string]string
	// written are the items that the document creates or replaces, gone the names of those that are deleted.
	written []part
	gone    map[string]bool
	// changed tells that anything happens, refused that a conflict keeps an item as it was.
	changed, refused bool
}

// give decides about an item of the document; old is the item of that name, or nil.
func (m *sectionMerge) give(g part, old *part) {
	item, key := Item{Kind: m.kind, Name: g.name}, m.owned(g.name)
	if old == nil {
		m.write(g, key, m.planning.owner())
		m.planning.note(step{item: item, created: true})
		return
	}
	owner, differs := m.owners[key], !bytes.Equal(g.text, old.text)
	if item.Reason = m.planning.conflict(holding{owner: owner, differs: differs}); item.Reason != "" {
		m.refused = true
		item.Owner = owner
		m.planning.note(step{item: item, conflict: true})
		return
	}
	next := m.planning.ownerOf(owner)
	if differs {
		item.Changes = differences(old.text, g.text)
	}
	if m.kind == KindVariable && m.planning.from.Project.NoteOf(g.name).Secret {
		item.Changes = masked(item.Changes)
	}
	item.Changes = append(item.Changes, ownerChange(owner, next)...)
	if len(item.Changes) > 0 {
		m.write(g, key, next)
	}
	m.planning.note(step{item: item})
}

func (m *sectionMerge) write(g part, key, owner string) {
	m.changed = true
	m.written = append(m.written, g)
	if owner == "" {
		delete(m.owners, key)
	} else {
		m.owners[key] = owner
	}
}

// keep decides about the items that the document does not hold. It tells whether any of them stays.
func (m *sectionMerge) keep(old, given []part) (foreign bool) {
	m.gone = map[string]bool{}
	for _, o := range old {
		if find(given, o.name) != nil {
			continue
		}
		key := m.owned(o.name)
		if m.planning.settle(Item{Kind: m.kind, Name: o.name}, holding{owner: m.owners[key]}) != fateDeleted {
			foreign = true
			continue
		}
		m.changed = true
		m.gone[o.name] = true
		delete(m.owners, key)
	}
	return foreign
}

// result is the section's items: those that were there in their places, new ones behind them.
func (m *sectionMerge) result(old []part) []part {
	var all []part
	for _, o := range old {
		switch w := find(m.written, o.name); {
		case m.gone[o.name]:
		case w != nil:
			all = append(all, *w)
		default:
			all = append(all, o)
		}
	}
	for _, w := range m.written {
		if find(old, w.name) == nil {
			all = append(all, w)
		}
	}
	return all
}

// ownersAfterHand are the owners after a hand changed the configuration: what it touched belongs to no source.
func ownersAfterHand(p *mockbase.Project, source map[string]json.RawMessage) map[string]string {
	owners := maps.Clone(p.Owners)
	for _, s := range sections() {
		if bytes.Equal(p.Config.Source[s.key], source[s.key]) {
			continue // documents may be large
		}
		before, errBefore := s.parts(p.Config.Source[s.key])
		after, errAfter := s.parts(source[s.key])
		if errBefore != nil || errAfter != nil {
			continue
		}
		for _, b := range before {
			if a := find(after, b.name); a == nil || !bytes.Equal(a.text, b.text) {
				delete(owners, s.owned(b.name))
			}
		}
	}
	return owners
}
