package catalog

import (
	"context"
	"fmt"
	"slices"

	"github.com/mockbase/mockbase"
)

// LoadFiles makes a project what files say, and creates it when there is none. The files are the whole truth: what they
// no longer hold is gone (rule C-22), what did not change keeps its id and its place (rule A9). The project and its
// mocks are read-only for everybody else; origin is the folder of the files, and a mock without an Origin of its own
// gets it with its line. A definition that is refused changes nothing. The call fails with CodeNameTaken when the slug
// belongs to a project that was not loaded from files.
func (c *Catalog) LoadFiles(ctx context.Context, slug string, d *mockbase.Definition, origin string) (*Plan, error) {
	c.membership.Lock()
	defer c.membership.Unlock()
	placed := placeMocks(d, origin)
	r := rules{folder: origin}
	if c.projects.Load().bySlug[slug] == nil {
		p, err := c.planNew(&mockbase.Project{Slug: slug}, placed, r)
		if err != nil {
			return nil, err
		}
		return p.insert(ctx, "")
	}
	var plan *Plan
	err := c.change(slug, func(e *entry, s *mockbase.Snapshot) error {
		if s.Project.Origin == "" {
			return &mockbase.Error{
				Code: mockbase.CodeNameTaken, Message: fmt.Sprintf("there is a project %q that was not loaded from files", slug),
				Hint: "name another project in the files, or serve without them",
			}
		}
		p, err := c.planFor(s, placed, r)
		if err != nil {
			return err
		}
		plan = p.plan
		return p.apply(ctx, e)
	})
	return plan, err
}

// placeMocks is the definition with the places of its mocks filled in.
func placeMocks(d *mockbase.Definition, origin string) *mockbase.Definition {
	placed := *d
	placed.Mocks = slices.Clone(d.Mocks)
	for i, m := range placed.Mocks {
		if m.Origin == "" {
			here := *m
			here.Origin = fmt.Sprintf("%s:%d", origin, m.Line)
			placed.Mocks[i] = &here
		}
	}
	return &placed
}

// UnloadFiles deletes the projects that were loaded from files, except those with these slugs.
func (c *Catalog) UnloadFiles(ctx context.Context, except ...string) error {
	for _, s := range c.Projects() {
		if s.Project.Origin == "" || slices.Contains(except, s.Project.Slug) {
			continue
		}
		err := c.remove(ctx, s.Project.ID, func(*mockbase.Project) error { return nil })
		if err != nil && mockbase.ErrorCode(err) != mockbase.CodeNotFound {
			return err
		}
	}
	return nil
}
