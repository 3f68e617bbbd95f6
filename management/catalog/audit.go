package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"strings"

	"github.com/mockbase/mockbase"
)

// maxNamed bounds the names in the audit entry of a change of many items.
const maxNamed = 100

// maxDescribed is the longest configuration that an audit entry tells, in bytes. Of a longer one it names what changed.
const maxDescribed = 32 << 10

// noteChange completes the audit entry of a change that is about to be stored (rule M-20): one mock or the project's own
// members come whole, many mocks by their names. Before is nil for a project that is new.
func noteChange(ctx context.Context, before *mockbase.Snapshot, set mockbase.ChangeSet) {
	if len(set.Purge) > 0 {
		return // Who purges names the mock: no project has it any more.
	}
	mockbase.AuditOf(ctx).Note(func(e *mockbase.AuditEntry) {
		e.Target.Project = set.ProjectID
		if before != nil && set.Project == nil && len(set.Put)+len(set.Delete) == 1 {
			noteMock(e, before, set)
			return
		}
		was, is := around(before, set)
		d := disclose(was, is)
		if d.one != nil && len(set.Put)+len(set.Delete) == 0 {
			d.note(e)
			return
		}
		former, later := compareMocks(before, set)
		e.Target.Type, e.Target.ID, e.Before, e.After = "project", set.ProjectID, nil, nil
		if was != nil {
			e.Target.Name, e.Before = was.Slug, describe(was, former, d)
		}
		if is != nil {
			later.deleted = namesOf(before, set.Delete)
			e.Target.Name, e.After = is.Slug, describe(is, later, d)
		}
	})
}

// around are a project before and after a change; nil where there is none.
func around(before *mockbase.Snapshot, set mockbase.ChangeSet) (was, is *mockbase.Project) {
	if before != nil {
		was = before.Project
	}
	is = set.Project
	if is == nil && !set.DeleteProject {
		is = was
	}
	return was, is
}

func noteMock(e *mockbase.AuditEntry, before *mockbase.Snapshot, set mockbase.ChangeSet) {
	var after *mockbase.Mock
	var id string
	if len(set.Put) == 1 {
		after, id = set.Put[0], set.Put[0].ID
	} else {
		id = set.Delete[0]
	}
	e.Target.Type, e.Target.ID, e.Before, e.After = "mock", id, nil, nil
	if was, ok := Mock(before, id); ok {
		e.Target.Name, e.Before = was.Name, mockbase.MaskSecrets(was.Document)
	}
	if after != nil {
		e.Target.Name, e.After = after.Name, mockbase.MaskSecrets(after.Document)
	}
}

// namesOf are the names of mocks, or their ids where they have none any more.
func namesOf(s *mockbase.Snapshot, ids []string) []string {
	names := make([]string, 0, min(len(ids), maxNamed))
	for _, id := range ids[:min(len(ids), maxNamed)] {
		if m, ok := Mock(s, id); ok {
			id = m.Name
		}
		names = append(names, id)
	}
	return names
}

// describe is what an audit entry tells of a project.
func describe(p *mockbase.Project, mocks mocksTold, d *disclosure) json.RawMessage {
	view := struct {
		Slug           string                     `json:"slug"`
		Name           string                     `json:"name"`
		Description    string                     `json:"description,omitempty"`
		Access         mockbase.Access            `json:"access"`
		PersistTraffic bool                       `json:"persistTraffic"`
		RequireIfMatch bool                       `json:"requireIfMatch"`
		Redaction      string                     `json:"redaction"`
		RedactHeaders  []string                   `json:"redactHeaders,omitempty"`
		Retention      *retentionTold             `json:"retention,omitempty"`
		UpstreamAllow  []string                   `json:"upstreamAllow,omitempty"`
		Changed        []string                   `json:"changed,omitempty"`
		Config         map[string]json.RawMessage `json:"config,omitempty"`
		Mocks          []string                   `json:"mocks,omitempty"`
		MocksChanged   int                        `json:"mocksChanged,omitempty"`
		MockMembers    map[string]json.RawMessage `json:"mockMembers,omitempty"`
		Deleted        []string                   `json:"deleted,omitempty"`
		Truncated      bool                       `json:"truncated,omitempty"`
	}{
		p.Slug, p.Name, p.Description, p.Access, p.PersistTraffic, p.RequireIfMatch, redactionOf(p), p.RedactHeaders, retentionOf(p), p.UpstreamAllow,
		d.changed, d.shown(p.Config.Source), mocks.names, mocks.changed, mocks.members, mocks.deleted, mocks.truncated,
	}
	size := 0
	for _, text := range view.Config {
		size += len(text)
	}
	if size > maxDescribed {
		view.Config, view.Truncated = nil, true
	}
	text, err := json.Marshal(view)
	if err != nil {
		return nil
	}
	return mockbase.MaskSecrets(text)
}

// retentionTold is the retention as an audit entry tells it; what is not stated is the server's.
type retentionTold struct {
	MaxCount int    `json:"maxCount,omitempty"`
	MaxBytes int64  `json:"maxBytes,omitempty"`
	MaxAge   string `json:"maxAge,omitempty"`
}

func retentionOf(p *mockbase.Project) *retentionTold {
	r := p.Retention
	if r == (mockbase.Retention{}) {
		return nil
	}
	told := &retentionTold{MaxCount: r.MaxCount, MaxBytes: r.MaxBytes}
	if r.MaxAge != 0 {
		age := strings.Replace(r.MaxAge.String(), "m0s", "m", 1)
		told.MaxAge = strings.Replace(age, "h0m", "h", 1)
	}
	return told
}

// redactionOf is the setting as it is written (rule M-81).
func redactionOf(p *mockbase.Project) string {
	if p.RawTraffic {
		return "raw"
	}
	return "standard"
}

// disclosure says what of a project's configuration an audit entry tells.
type disclosure struct {
	// secret holds the names of the variables whose values are secret before or after the change.
	secret map[string]bool
	// changed names the items that the change makes other than they were, as variables/greeting.
	changed []string
	// one is the only item that changes, when there is one and nothing of the project itself changes.
	one *changedItem
}

// changedItem is an item of the configuration as it was and as it will be, nil where it is not there.
type changedItem struct {
	kind          Kind
	name          string
	before, after json.RawMessage
}

// disclose compares the project before a change, which may be nil, with the one after it.
func disclose(before, after *mockbase.Project) *disclosure {
	d := &disclosure{secret: map[string]bool{}}
	d.hide(before)
	d.hide(after)
	if before == nil || after == nil || before == after {
		return d
	}
	var items []changedItem
	for _, s := range sections() {
		if s.kind == KindDocument && bytes.Equal(before.Config.Source[s.key], after.Config.Source[s.key]) {
			continue // they may be large
		}
		for _, item := range s.changes(before, after) {
			items = append(items, item)
			if len(d.changed) < maxNamed {
				d.changed = append(d.changed, s.owned(item.name))
			}
		}
	}
	if len(items) == 1 && items[0].kind != KindSettings && sameMembers(before, after) {
		d.one = &items[0]
	}
	return d
}

// hide notes the secrets of a project, which may be nil.
func (d *disclosure) hide(p *mockbase.Project) {
	if p == nil {
		return
	}
	for name, note := range p.VariableNotes {
		d.secret[name] = d.secret[name] || note.Secret
	}
}

// changes lists the items of a section that differ between two projects. A variable that becomes a secret differs as well.
func (s section) changes(before, after *mockbase.Project) []changedItem {
	was, errWas := s.parts(before.Config.Source[s.key])
	is, errIs := s.parts(after.Config.Source[s.key])
	if errWas != nil || errIs != nil {
		return nil
	}
	former := make(map[string]json.RawMessage, len(was))
	for _, p := range was {
		former[p.name] = p.text
	}
	var items []changedItem
	for _, p := range is {
		text, known := former[p.name]
		delete(former, p.name)
		noted := s.kind == KindVariable && before.NoteOf(p.name).Secret != after.NoteOf(p.name).Secret
		if !known || noted || !bytes.Equal(text, p.text) {
			items = append(items, changedItem{s.kind, p.name, text, p.text})
		}
	}
	for _, p := range was {
		if _, gone := former[p.name]; gone {
			items = append(items, changedItem{kind: s.kind, name: p.name, before: p.text})
		}
	}
	return items
}

// shown is a configuration without the values of secrets.
func (d *disclosure) shown(source map[string]json.RawMessage) map[string]json.RawMessage {
	parts, err := variables().parts(source["variables"])
	if err != nil || len(parts) == 0 {
		return source
	}
	for i, p := range parts {
		if d.secret[p.name] {
			parts[i].node = maskedText()
		}
	}
	masked := maps.Clone(source)
	masked["variables"] = variables().join(parts)
	return masked
}

func maskedText() *mockbase.Node {
	return &mockbase.Node{Kind: mockbase.NodeText, Text: mockbase.Masked}
}

// note tells of the one item that changes: it is the target, and no other one is shown.
func (d *disclosure) note(e *mockbase.AuditEntry) {
	e.Target.Type, e.Target.ID, e.Target.Name = string(d.one.kind), d.one.name, d.one.name
	e.Before, e.After = d.shownItem(d.one.before), d.shownItem(d.one.after)
}

func (d *disclosure) shownItem(text json.RawMessage) json.RawMessage {
	if text == nil {
		return nil
	}
	root, err := mockbase.ParseNode(text, mockbase.FormatJSON, mockbase.ParseLimits{})
	if err != nil {
		return nil
	}
	if d.one.kind == KindVariable && d.secret[d.one.name] {
		root = maskedText()
	}
	// The item stands under its name, so that a variable that is called like a secret is masked, too.
	named := &mockbase.Node{Kind: mockbase.NodeObject, Members: []mockbase.Member{{Key: d.one.name, Value: root}}}
	return mockbase.MaskSecrets(named.JSON())
}
