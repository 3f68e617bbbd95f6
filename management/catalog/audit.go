package catalog

import (
	"context"
	"encoding/json"

	"github.com/mockbase/mockbase"
)

// maxNamed bounds the names in the audit entry of a change of many mocks.
const maxNamed = 100

// noteChange completes the audit entry of a change that is about to be stored (rule M-20): one mock or the project's own
// members come whole, many mocks by their names. Before is nil for a project that is new.
func noteChange(ctx context.Context, before *mockbase.Snapshot, set mockbase.ChangeSet) {
	mockbase.AuditOf(ctx).Note(func(e *mockbase.AuditEntry) {
		e.Target.Project = set.ProjectID
		if before != nil && set.Project == nil && len(set.Put)+len(set.Delete) == 1 {
			noteMock(e, before, set)
			return
		}
		e.Target.Type, e.Target.ID = "project", set.ProjectID
		if before != nil {
			e.Target.Name, e.Before = before.Project.Slug, describe(before.Project, nil, nil)
		}
		if set.DeleteProject {
			e.After = nil
			return
		}
		p := set.Project
		if p == nil {
			p = before.Project
		}
		e.Target.Name, e.After = p.Slug, describe(p, set.Put, set.Delete)
	})
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

// describe is what an audit entry tells of a project.
func describe(p *mockbase.Project, put []*mockbase.Mock, deleted []string) json.RawMessage {
	names := make([]string, 0, min(len(put), maxNamed))
	for _, m := range put[:min(len(put), maxNamed)] {
		names = append(names, m.Name)
	}
	text, err := json.Marshal(struct {
		Slug           string                     `json:"slug"`
		Name           string                     `json:"name"`
		Description    string                     `json:"description,omitempty"`
		Access         mockbase.Access            `json:"access"`
		PersistTraffic bool                       `json:"persistTraffic"`
		RequireIfMatch bool                       `json:"requireIfMatch"`
		UpstreamAllow  []string                   `json:"upstreamAllow,omitempty"`
		Config         map[string]json.RawMessage `json:"config,omitempty"`
		Mocks          []string                   `json:"mocks,omitempty"`
		MocksChanged   int                        `json:"mocksChanged,omitempty"`
		Deleted        []string                   `json:"deleted,omitempty"`
	}{
		p.Slug, p.Name, p.Description, p.Access, p.PersistTraffic, p.RequireIfMatch, p.UpstreamAllow, p.Config.Source, names, len(put),
		deleted[:min(len(deleted), maxNamed)],
	})
	if err != nil {
		return nil
	}
	return mockbase.MaskSecrets(text)
}
