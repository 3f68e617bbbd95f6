package engine

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/session"
)

// registry holds every published program. It is replaced as a whole.
type registry struct {
	bySlug, byID map[string]*program
	// methods are those in use anywhere, for the answer to OPTIONS * (rule L7).
	methods methodSet
	// open are the first projects by id that everybody may call, at most maxAsked: those that a miss looks at.
	open []*program
}

// maxAsked is how many other projects a miss looks at.
const maxAsked = 500

// Publish compiles a snapshot and lets it answer all requests from then on. A snapshot that is older than the published
// one is ignored, so that calls at the same time end with the newest. Mocks that did not change are not compiled again.
func (e *Engine) Publish(s *mockbase.Snapshot) error {
	if e.overtaken(s) {
		return nil
	}
	former := e.programs.Load().byID[s.Project.ID]
	p, err := e.compilePrepared(s, former)
	if err != nil {
		return fmt.Errorf("publish project %q: %w", s.Project.Slug, err)
	}
	for _, f := range p.lost {
		e.options.Logger.Error("the sample data of a collection can't be read", slog.String("project", s.Project.Slug),
			slog.String("collection", f.collection), slog.String("detail", f.detail))
	}
	p.keeper = e.keeper
	kept := e.kept(p, former)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.overtaken(s) {
		return nil
	}
	p.sessions = e.sessionsOf(p)
	if err := p.restore(kept); err != nil {
		e.options.Logger.Error("kept data of a collection can't be restored", slog.Any("error", err))
	}
	p.keep(former)
	e.leave(e.programs.Load().byID[s.Project.ID], p)
	e.outlive(e.programs.Load().byID[s.Project.ID], s)
	next := e.programs.Load().without(s.Project.ID)
	next.bySlug[s.Project.Slug] = p
	next.byID[s.Project.ID] = p
	next.count()
	e.programs.Store(next)
	e.options.Logger.Debug("project published", slog.String("project", s.Project.Slug),
		slog.Int64("revision", s.Project.Revision), slog.Int("mocks", len(s.Mocks)))
	return nil
}

// preparation is a program that was made to follow another one.
type preparation struct{ program, former *program }

// Prepare compiles a snapshot that is about to be published, so that publishing it takes no time. What does not compile is
// told when it is published.
func (e *Engine) Prepare(s *mockbase.Snapshot) {
	former := e.programs.Load().byID[s.Project.ID]
	if p, err := e.compile(s, former); err == nil {
		e.prepared.Store(s.Project.ID, preparation{p, former})
	}
}

// compilePrepared compiles a snapshot, unless that was done already.
func (e *Engine) compilePrepared(s *mockbase.Snapshot, former *program) (*program, error) {
	if kept, ok := e.prepared.LoadAndDelete(s.Project.ID); ok {
		if made, ok := kept.(preparation); ok && made.program.snapshot == s && made.former == former {
			return made.program, nil
		}
	}
	return e.compile(s, former)
}

// overtaken tells whether a newer snapshot of the same project is published.
func (e *Engine) overtaken(s *mockbase.Snapshot) bool {
	p := e.programs.Load().byID[s.Project.ID]
	return p != nil && p.project.Revision > s.Project.Revision
}

// Withdraw stops answering for a project. It is no error when there is none of this id.
func (e *Engine) Withdraw(projectID string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.history, projectID)
	e.prepared.Delete(projectID)
	if sessions := e.sessions[projectID]; sessions != nil {
		delete(e.sessions, projectID)
		defer sessions.Close()
	}
	e.keeper.drop(projectID)
	e.leave(e.programs.Load().byID[projectID], nil)
	next := e.programs.Load().without(projectID)
	next.count()
	e.programs.Store(next)
}

// kept is what the store has of a project that was not published yet.
func (e *Engine) kept(p, former *program) []mockbase.CollectionData {
	if e.keeper == nil || former != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(e.ended, keepTimeout)
	defer cancel()
	kept, err := e.keeper.store.KeptCollections(ctx, p.project.ID)
	if err != nil {
		e.options.Logger.Error("kept data of collections can't be read", slog.String("project", p.project.Slug), slog.Any("error", err))
	}
	return kept
}

// sessionsOf returns the sessions of a program's project, which outlive its programs. The engine must be locked.
func (e *Engine) sessionsOf(p *program) *session.Registry {
	sessions := e.sessions[p.project.ID]
	if sessions == nil {
		sessions = session.NewRegistry(session.Options{Clock: e.options.Clock, Quota: e.sessionQuota})
		e.sessions[p.project.ID] = sessions
	}
	sessions.SetSeed(p.settings.seed)
	return sessions
}

// without returns a copy that lacks one project.
func (g *registry) without(projectID string) *registry {
	next := &registry{bySlug: maps.Clone(g.bySlug), byID: maps.Clone(g.byID)}
	if next.byID == nil {
		next.bySlug, next.byID = map[string]*program{}, map[string]*program{}
	}
	if p := next.byID[projectID]; p != nil {
		delete(next.byID, projectID)
		if next.bySlug[p.project.Slug] == p {
			delete(next.bySlug, p.project.Slug)
		}
	}
	return next
}

func (g *registry) count() {
	for _, id := range slices.Sorted(maps.Keys(g.byID)) {
		p := g.byID[id]
		g.methods.join(&p.methods)
		if p.project.Access != mockbase.AccessToken && len(g.open) < maxAsked {
			g.open = append(g.open, p)
		}
	}
}
