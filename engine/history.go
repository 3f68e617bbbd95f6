package engine

import "github.com/mockbase/mockbase"

// The bounds of what is kept of a project's past (rule AA31): how many snapshots, and how many bytes of documents that are
// in them alone.
const (
	maxPast      = 64
	maxPastBytes = 16 << 20
	// perMock is what a snapshot takes for each mock, beside the mocks themselves.
	perMock = 8
)

// past is what served requests of a project before now, oldest first, so that an exchange is explained by the mocks of its
// time. Snapshots share the mocks that did not change between them; one that served nothing is not kept.
type past struct {
	snapshots []bygone
	bytes     int
}

// bygone is a snapshot and what it takes beside its successor.
type bygone struct {
	*mockbase.Snapshot

	bytes int
}

// add keeps the snapshot that another replaces, within the bounds.
func (h *past) add(old, next *mockbase.Snapshot) {
	stay := make(map[*mockbase.Mock]bool, len(next.Mocks))
	for _, m := range next.Mocks {
		stay[m] = true
	}
	own := bygone{Snapshot: old, bytes: perMock * len(old.Mocks)}
	for _, m := range old.Mocks {
		if !stay[m] {
			own.bytes += len(m.Document)
		}
	}
	h.snapshots = append(h.snapshots, own)
	h.bytes += own.bytes
	for len(h.snapshots) > maxPast || len(h.snapshots) > 0 && h.bytes > maxPastBytes {
		h.bytes -= h.snapshots[0].bytes
		h.snapshots[0] = bygone{}
		h.snapshots = h.snapshots[1:]
	}
}

// at returns the snapshot of a revision, nil if it is not kept.
func (h *past) at(revision int64) *mockbase.Snapshot {
	if h == nil {
		return nil
	}
	for i := range h.snapshots {
		if h.snapshots[i].Project.Revision == revision {
			return h.snapshots[i].Snapshot
		}
	}
	return nil
}

// outlive keeps what a published program leaves behind if it has served. The engine must be locked.
func (e *Engine) outlive(old *program, next *mockbase.Snapshot) {
	if old == nil || !old.served.Load() || old.project.Revision == next.Project.Revision {
		return
	}
	h := e.history[old.project.ID]
	if h == nil {
		h = &past{}
		e.history[old.project.ID] = h
	}
	h.add(old.snapshot, next)
}

// programAt is the program of a revision: the published one, or one that is compiled anew from what is kept; nil if that
// revision is gone. It serves nothing but explanations.
func (e *Engine) programAt(p *program, revision int64) *program {
	if p.project.Revision == revision {
		return p
	}
	e.mu.Lock()
	old := e.history[p.project.ID].at(revision)
	e.mu.Unlock()
	if old == nil {
		return nil
	}
	made, err := e.compile(old, p)
	if err != nil {
		return nil
	}
	made.sessions = p.sessions
	return made
}
