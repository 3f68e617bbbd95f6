package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// CreateProject creates a project that ownerID owns; an empty one is nobody's. It fills in the id, the versions, the
// times and, where they are empty, the name and the access. It fails with CodeNameTaken and CodeQuotaReached.
func (c *Catalog) CreateProject(ctx context.Context, p *mockbase.Project, ownerID string) (*mockbase.Snapshot, error) {
	c.membership.Lock()
	defer c.membership.Unlock()
	s := &mockbase.Snapshot{Project: c.prepareProject(p)}
	if err := mockbase.Invalid(append(checkMembers(s.Project), c.checkConfig(s, nil)...)); err != nil {
		return nil, err
	}
	return s, c.insert(ctx, s, ownerID)
}

// prepareProject is a new project with everything that the catalog fills in.
func (c *Catalog) prepareProject(p *mockbase.Project) *mockbase.Project {
	made := *p
	made.CreatedAt = c.now()
	made.UpdatedAt = made.CreatedAt
	made.ID = mockbase.NewID(mockbase.PrefixProject, made.CreatedAt)
	made.Version, made.Revision = 1, 1
	if made.Name == "" {
		made.Name = made.Slug
	}
	if made.Access == "" {
		made.Access = mockbase.AccessPublic
	}
	return &made
}

// insert stores and publishes a project that is new, with its mocks. The membership lock is held.
func (c *Catalog) insert(ctx context.Context, s *mockbase.Snapshot, ownerID string) error {
	all := c.projects.Load()
	if all.bySlug[s.Project.Slug] != nil {
		return slugTaken(s.Project.Slug)
	}
	if err := reached("maxProjects", c.quotas.Load().MaxProjects, len(all.sorted)+1); err != nil {
		return err
	}
	set := mockbase.ChangeSet{ProjectID: s.Project.ID, Project: s.Project, OwnerID: ownerID, Put: s.Mocks}
	noteChange(ctx, nil, set)
	if err := mockbase.ReplayOf(ctx).Made(Making{set, s}); err != nil {
		return err
	}
	if err := c.save(ctx, set); err != nil {
		return err
	}
	err := c.publish(s)
	c.projects.Store(all.with(newEntry(s)))
	return err
}

func slugTaken(slug string) error {
	return mockbase.Errorf(mockbase.CodeNameTaken, "there is a project with the slug %q already", slug)
}

// reached refuses what would go over a quota.
func reached(quota string, limit, want int) error {
	if want <= limit {
		return nil
	}
	return &mockbase.Error{
		Code: mockbase.CodeQuotaReached, Message: fmt.Sprintf("%s is %d, and this would make %d", quota, limit, want),
		Hint: "delete what is no longer needed", Quota: &mockbase.QuotaUse{Name: quota, Limit: limit, Used: limit},
	}
}

// checkMembers returns the faults of a project's own members.
func checkMembers(p *mockbase.Project) []mockbase.FieldError {
	var faults []mockbase.FieldError
	if !mockbase.ValidSlug(p.Slug) {
		faults = append(faults, mockbase.FieldError{
			Pointer: "#/slug", Code: mockbase.FieldPattern,
			Detail: "must be 1 to 64 lower-case letters, digits and hyphens, without a hyphen at either end",
		})
	}
	if a := p.Access; a != mockbase.AccessPublic && a != mockbase.AccessToken {
		faults = append(faults, mockbase.FieldError{
			Pointer: "#/access", Code: mockbase.FieldEnum, Detail: fmt.Sprintf("%q is neither public nor token", a),
		})
	}
	return faults
}

// checkConfig returns the faults of a configuration and those that it gives to mocks that are already there. A mock
// that is skipped is checked elsewhere.
func (c *Catalog) checkConfig(s *mockbase.Snapshot, skip map[string]bool) []mockbase.FieldError {
	faults := c.ConfigFaults(&s.Project.Config)
	for _, m := range s.Mocks {
		if skip[m.ID] || len(faults) >= mockbase.MaxFieldErrors {
			continue
		}
		for _, f := range c.checkMock(&s.Project.Config, m) {
			faults = append(faults, mockbase.FieldError{
				Pointer: "#", Code: f.Code, Detail: fmt.Sprintf("mock %q could not be served any more: %s: %s", m.Name, f.Pointer, f.Detail),
			})
		}
	}
	return faults
}

// checkMock returns what keeps a mock from being served, with pointers relative to it.
func (c *Catalog) checkMock(config *mockbase.Config, m *mockbase.Mock) []mockbase.FieldError {
	return append(m.CheckReferences(config), c.plane.CheckMock(config, m)...)
}

// MockFaults returns what keeps a mock from being served beside the mocks of a project, with pointers relative to the mock.
// Of a mock that could be read in part alone, the rest is judged.
func (c *Catalog) MockFaults(project *mockbase.Project, m *mockbase.Mock) []mockbase.FieldError {
	if m == nil {
		return nil
	}
	return c.checkMock(&project.Config, m)
}

// ConfigFaults returns what keeps a configuration from being served, with pointers into the definition. Of one that could be
// read in part alone, the rest is judged.
func (c *Catalog) ConfigFaults(config *mockbase.Config) []mockbase.FieldError {
	return append(config.CheckReferences(), c.plane.CheckConfig(config)...)
}

// LimitFaults returns what keeps a named rate limit of a project from being served as the policy says, with pointers relative
// to the policy.
func (c *Catalog) LimitFaults(project *mockbase.Project, name string, policy *mockbase.LimitPolicy) []mockbase.FieldError {
	config := project.Config
	config.RateLimits = slices.DeleteFunc(slices.Clone(config.RateLimits), func(l mockbase.NamedLimit) bool { return l.Name == name })
	config.RateLimits = append(config.RateLimits, mockbase.NamedLimit{Name: name, Policy: *policy})
	return within("#/rateLimits/"+mockbase.PointerToken(name), c.ConfigFaults(&config))
}

// within are the faults at or below a place, with pointers relative to it.
func within(at string, faults []mockbase.FieldError) []mockbase.FieldError {
	var own []mockbase.FieldError
	for _, f := range faults {
		if rest, below := strings.CutPrefix(f.Pointer, at); below && (rest == "" || rest[0] == '/') {
			f.Pointer = "#" + rest
			own = append(own, f)
		}
	}
	return own
}

// DefinitionFaults returns what keeps a definition from being served, with pointers into it. Of one that could be read in
// part alone, the rest is judged. The project, which may be nil, says what the definition does not.
func (c *Catalog) DefinitionFaults(project *mockbase.Project, d *mockbase.Definition) []mockbase.FieldError {
	if d == nil {
		return nil
	}
	config := d.Config
	if project != nil && config.Source["settings"] == nil {
		config.Settings = project.Config.Settings
	}
	if project != nil && config.Source["defaults"] == nil {
		config.Defaults = project.Config.Defaults
	}
	// A document that is to be fetched is none yet.
	faults := slices.DeleteFunc(c.plane.CheckConfig(&config), func(f mockbase.FieldError) bool {
		return f.Code == mockbase.FieldNotServed && strings.HasPrefix(f.Pointer, "#/documents/") && strings.HasSuffix(f.Pointer, "/url")
	})
	beside := besides(&config, project)
	faults = append(faults, beside.CheckReferences()...)
	for i, m := range d.Mocks {
		if len(faults) >= mockbase.MaxFieldErrors {
			break
		}
		for _, f := range append(m.CheckReferences(&beside), c.plane.CheckMock(&config, m)...) {
			f.Pointer = below(mockPointer(i), f.Pointer)
			faults = append(faults, f)
		}
	}
	return faults
}

// besides is a configuration with what a project, which may be nil, has beside it for others to name.
func besides(config *mockbase.Config, project *mockbase.Project) mockbase.Config {
	all := *config
	if project == nil {
		return all
	}
	for _, l := range project.Config.RateLimits {
		if !slices.ContainsFunc(config.RateLimits, func(own mockbase.NamedLimit) bool { return own.Name == l.Name }) {
			all.RateLimits = append(slices.Clip(all.RateLimits), l)
		}
	}
	for i := range project.Config.Collections {
		one := mockbase.Collection{Name: project.Config.Collections[i].Name}
		if !slices.ContainsFunc(config.Collections, func(own mockbase.Collection) bool { return own.Name == one.Name }) {
			all.Collections = append(slices.Clip(all.Collections), one)
		}
	}
	return all
}

// UpdateProject changes a project's own members. The function gets a copy to change. Of the configuration it changes
// Config.Source alone: the rest is read from there again.
func (c *Catalog) UpdateProject(
	ctx context.Context, id string, match Match, change func(*mockbase.Project) error,
) (*mockbase.Snapshot, error) {
	c.membership.Lock()
	defer c.membership.Unlock()
	var next *mockbase.Snapshot
	err := c.change(id, func(e *entry, s *mockbase.Snapshot) error {
		if err := match.check("project", s.Project.Version); err != nil {
			return err
		}
		p, err := changeProject(s.Project, change)
		if err != nil {
			return err
		}
		next, err = c.replaceProject(ctx, e, s, p)
		return err
	})
	return next, err
}

// changeProject is the project after a change, with the members that no change may touch as they were.
func changeProject(p *mockbase.Project, change func(*mockbase.Project) error) (*mockbase.Project, error) {
	next := *p
	next.Config.Source = maps.Clone(p.Config.Source)
	if err := change(&next); err != nil {
		return nil, err
	}
	next.ID, next.Origin, next.Owners = p.ID, p.Origin, p.Owners
	next.VariableNotes, next.DocumentNotes = p.VariableNotes, p.DocumentNotes
	next.Version, next.Revision, next.CreatedAt, next.UpdatedAt = p.Version, p.Revision, p.CreatedAt, p.UpdatedAt
	if sameSource(p.Config.Source, next.Config.Source) {
		next.Config = p.Config
		return &next, nil
	}
	config, err := mockbase.DecodeConfig(next.Config.Source)
	if err != nil {
		return nil, err
	}
	next.Config = config
	next.Owners = ownersAfterHand(p, config.Source)
	next.VariableNotes = notesAfter(&next, &p.Config)
	return &next, nil
}

func sameSource(a, b map[string]json.RawMessage) bool {
	return maps.EqualFunc(a, b, func(x, y json.RawMessage) bool { return bytes.Equal(x, y) })
}

func (c *Catalog) replaceProject(ctx context.Context, e *entry, s *mockbase.Snapshot, p *mockbase.Project) (*mockbase.Snapshot, error) {
	if sameProject(s.Project, p) {
		return s, nil
	}
	next := &mockbase.Snapshot{Project: p, Mocks: s.Mocks}
	faults := checkMembers(p)
	if !sameSource(s.Project.Config.Source, p.Config.Source) {
		faults = append(faults, c.checkConfig(next, nil)...)
	}
	if err := mockbase.Invalid(faults); err != nil {
		return nil, err
	}
	if err := refuseReadOnly(s.Project); err != nil {
		return nil, err
	}
	all := c.projects.Load()
	if taken := all.bySlug[p.Slug]; taken != nil && taken != e {
		return nil, slugTaken(p.Slug)
	}
	p.DocumentNotes = c.documentNotes(p, s.Project)
	p.Version++
	p.Revision++
	p.UpdatedAt = c.now()
	err := c.commitNow(ctx, e, mockbase.ChangeSet{ProjectID: p.ID, IfRevision: s.Project.Revision, Project: p}, next)
	if e.snapshot.Load() == next && p.Slug != s.Project.Slug {
		c.projects.Store(newDirectory(slices.Clone(all.sorted)))
	}
	return next, err
}

func sameProject(a, b *mockbase.Project) bool {
	return sameMembers(a, b) &&
		maps.Equal(a.VariableNotes, b.VariableNotes) && maps.EqualFunc(a.DocumentNotes, b.DocumentNotes, sameNote) &&
		sameSource(a.Config.Source, b.Config.Source)
}

// sameMembers compares what is no part of a definition.
func sameMembers(a, b *mockbase.Project) bool {
	return a.Slug == b.Slug && a.Name == b.Name && a.Description == b.Description && a.Access == b.Access &&
		a.PersistTraffic == b.PersistTraffic && a.RequireIfMatch == b.RequireIfMatch &&
		sameRecording(a, b) && slices.Equal(a.UpstreamAllow, b.UpstreamAllow)
}

func sameRecording(a, b *mockbase.Project) bool {
	return a.RawTraffic == b.RawTraffic && a.Retention == b.Retention && slices.Equal(a.RedactHeaders, b.RedactHeaders)
}

// DeleteProject deletes a project with everything in it.
func (c *Catalog) DeleteProject(ctx context.Context, id string, match Match) error {
	return c.remove(ctx, id, func(p *mockbase.Project) error {
		if err := match.check("project", p.Version); err != nil {
			return err
		}
		return refuseReadOnly(p)
	})
}

// remove deletes a project if may allows it.
func (c *Catalog) remove(ctx context.Context, id string, may func(*mockbase.Project) error) error {
	c.membership.Lock()
	defer c.membership.Unlock()
	return c.change(id, func(e *entry, s *mockbase.Snapshot) error {
		if err := may(s.Project); err != nil {
			return err
		}
		set := mockbase.ChangeSet{ProjectID: s.Project.ID, IfRevision: s.Project.Revision, DeleteProject: true}
		noteChange(ctx, s, set)
		if err := c.save(ctx, set); err != nil {
			return e.doubt(err)
		}
		e.publishing.Lock()
		defer e.publishing.Unlock()
		e.gone = true
		c.projects.Store(c.projects.Load().without(e))
		c.plane.Withdraw(s.Project.ID)
		return nil
	})
}

// refuseReadOnly refuses to change what files define (rule M-77).
func refuseReadOnly(p *mockbase.Project) error {
	if p.Origin == "" {
		return nil
	}
	return &mockbase.Error{
		Code: mockbase.CodeManagedBySource, Message: fmt.Sprintf("project %q is loaded from %s and is read-only here", p.Slug, p.Origin),
		Hint: "change the files",
	}
}
