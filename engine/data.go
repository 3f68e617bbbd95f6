package engine

import (
	"fmt"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/collection"
)

// Collections tells how the collections of a project stand in a session, in the order of the definition; "" is the default
// session.
func (e *Engine) Collections(projectID, nameOrID string) ([]mockbase.CollectionState, error) {
	p, s, err := e.living(projectID, nameOrID)
	if err != nil {
		return nil, err
	}
	summaries := p.dataOf(s).Summaries()
	list := make([]mockbase.CollectionState, len(summaries))
	for i, one := range summaries {
		list[i] = mockbase.CollectionState{Name: one.Name, Items: one.Items, ChangedAt: one.ChangedAt}
		if c, ok := p.collections.Definition(one.Name); ok {
			list[i].Persist = c.Persist
		}
	}
	return list, nil
}

// CollectionItems returns the items of a collection in a session, in the order of their creation. They must not be changed.
func (e *Engine) CollectionItems(projectID, nameOrID, name string) ([]mockbase.CollectionItem, error) {
	p, s, err := e.living(projectID, nameOrID)
	if err != nil {
		return nil, err
	}
	items, ok := p.dataOf(s).Items(name)
	if !ok {
		return nil, noCollection(name)
	}
	return items, nil
}

// ResetCollection returns a collection to its sample data, in one session, and returns the number of items there are then.
func (e *Engine) ResetCollection(projectID, nameOrID, name string) (items int, err error) {
	p, s, err := e.living(projectID, nameOrID)
	if err != nil {
		return 0, err
	}
	if _, ok := p.collections.Definition(name); !ok {
		return 0, noCollection(name)
	}
	return p.dataOf(s).Reset(name), nil
}

func noCollection(name string) error {
	return mockbase.Errorf(mockbase.CodeNotFound, "the project has no collection %q", name)
}

// persistent names the collections whose data is kept.
func persistent(s *collection.Set) map[string]bool {
	names := map[string]bool{}
	for _, name := range s.Names() {
		if c, ok := s.Definition(name); ok && c.Persist {
			names[name] = true
		}
	}
	return names
}

// restore brings back what was kept of a project that is published for the first time. What cannot be restored is told, and
// begins with its sample data.
func (p *program) restore(kept []mockbase.CollectionData) error {
	var failed error
	for i := range kept {
		one := &kept[i]
		c, ok := p.collections.Definition(one.Name)
		if !ok || !c.Persist {
			p.keeper.forget(p.project.ID, one.Name)
			continue
		}
		if err := p.dataOf(p.sessions.Default()).Restore(one); err != nil {
			failed = fmt.Errorf("project %s: %w", p.project.Slug, err)
		}
	}
	return failed
}

// keep compares what is kept with the program that was published before.
func (p *program) keep(former *program) {
	if former == nil || former.collections == p.collections {
		return
	}
	now := persistent(p.collections)
	for name := range persistent(former.collections) {
		if !now[name] {
			p.keeper.forget(p.project.ID, name)
		}
	}
	if len(now) == 0 {
		return
	}
	// What a collection holds that was not kept until now.
	data := p.dataOf(p.sessions.Default())
	for name := range now {
		p.keeper.changed(p.project.ID, data, name)
	}
}
