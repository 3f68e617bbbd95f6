package catalog

import (
	"bytes"
	"encoding/json"

	"github.com/mockbase/mockbase"
)

// mocksTold is what an audit entry of a project tells of its mocks, on one side of a change of several.
type mocksTold struct {
	// names are those of the mocks that the change writes, changed is their number.
	names   []string
	changed int
	// members holds by the names of mocks what of them the change makes other than it was; before it, all of those that it
	// deletes. A mock that is new is named alone.
	members map[string]json.RawMessage
	deleted []string
	// truncated tells that members are left out, as there are too many.
	truncated bool

	size int
}

// compareMocks tells the mocks that a change is about, before and after it. Before is nil for a project that is new.
func compareMocks(before *mockbase.Snapshot, set mockbase.ChangeSet) (former, later mocksTold) {
	later.changed = len(set.Put)
	was := byID(before, len(set.Put)+len(set.Delete))
	for i, m := range set.Put {
		old := was[m.ID]
		if i < maxNamed {
			later.names = append(later.names, m.Name)
		}
		if old == nil || former.truncated && later.truncated {
			continue
		}
		if i < maxNamed {
			former.names = append(former.names, old.Name)
		}
		left, come := differing(old.Document, m.Document)
		former.tell(old.Name, left)
		later.tell(m.Name, come)
	}
	for _, id := range set.Delete {
		if old := was[id]; old != nil {
			former.tell(old.Name, old.Document)
		}
	}
	return former, later
}

// byID are the mocks of a snapshot, which may be nil, if a change is about any.
func byID(s *mockbase.Snapshot, changes int) map[string]*mockbase.Mock {
	if s == nil || changes == 0 {
		return nil
	}
	known := make(map[string]*mockbase.Mock, len(s.Mocks))
	for _, m := range s.Mocks {
		known[m.ID] = m
	}
	return known
}

// tell adds members of a mock, as far as there is room.
func (t *mocksTold) tell(name string, members json.RawMessage) {
	if t.truncated || len(t.members) >= maxNamed || t.size+len(members) > maxDescribed {
		t.truncated = true
		return
	}
	if t.members == nil {
		t.members = map[string]json.RawMessage{}
	}
	t.size += len(members)
	t.members[name] = members
}

// differing are the members of two documents that are not the same in both.
func differing(before, after json.RawMessage) (was, is json.RawMessage) {
	var old, next map[string]json.RawMessage
	if json.Unmarshal(before, &old) != nil || json.Unmarshal(after, &next) != nil {
		return nil, nil
	}
	for name, text := range old {
		if other, both := next[name]; both && bytes.Equal(text, other) {
			delete(old, name)
			delete(next, name)
		}
	}
	return encoded(old), encoded(next)
}

func encoded(members map[string]json.RawMessage) json.RawMessage {
	text, err := json.Marshal(members)
	if err != nil {
		return nil
	}
	return text
}
