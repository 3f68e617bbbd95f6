package catalog

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/mockbase/mockbase"
)

// ApplyOptions say how a definition is applied (rules M-76 and M-161).
type ApplyOptions struct {
	// Source is the owner of what the definition creates; "" is [DefaultSource].
	Source string
	// DryRun makes the plan and changes nothing. Prune deletes what the source owns and the document no longer holds.
	// Adopt takes over what another source owns or a hand edited.
	DryRun, Prune, Adopt bool
	// Keep leaves what another source owns or a hand edited as it is, lists it as a conflict, and applies the rest.
	Keep bool
	// IfRevision is the project's revision that the plan was made from; 0 is any.
	IfRevision int64
	// By is the id of the user who applies.
	By string
	// Create is a project that the call creates, instead of changing one, and that OwnerID will own. A slug that is taken
	// is refused with CodeNameTaken: the caller may not even see the project that has it.
	Create  *mockbase.Project
	OwnerID string
	// Permit judges what the plan says of everything but mocks, before the outcome is checked. Its error refuses the call,
	// a dry run too; nil permits everything.
	Permit func(*Plan) error
}

func (o ApplyOptions) rules() rules {
	return rules{source: cmp.Or(o.Source, DefaultSource), prune: o.Prune, adopt: o.Adopt, keep: o.Keep, by: o.By, permit: o.Permit}
}

// Apply makes a project what a definition says, all of it or nothing, and returns the plan of what it did. Items are
// told apart by their names. What belongs to another source or was edited by hand is a conflict: the call fails with
// CodeApplyConflict, returns the plan beside the error, and changes nothing. A dry run returns the same plan without
// the error. The same definition again changes nothing and raises no version.
func (c *Catalog) Apply(ctx context.Context, projectID string, d *mockbase.Definition, o ApplyOptions) (*Plan, error) {
	if o.Create != nil {
		return c.applyNew(ctx, d, o)
	}
	var plan *Plan
	err := c.change(projectID, func(e *entry, s *mockbase.Snapshot) error {
		if o.IfRevision != 0 && o.IfRevision != s.Project.Revision {
			return Match{Version: o.IfRevision}.check("project", s.Project.Revision)
		}
		p, err := c.planFor(s, d, o.rules())
		if err != nil {
			return err
		}
		plan = p.plan
		plan.DryRun = o.DryRun
		if err := refuseReadOnly(s.Project); err != nil {
			return err
		}
		if o.DryRun {
			return nil
		}
		return p.apply(ctx, e)
	})
	return plan, err
}

// applyNew makes a project of a definition.
func (c *Catalog) applyNew(ctx context.Context, d *mockbase.Definition, o ApplyOptions) (*Plan, error) {
	if o.IfRevision != 0 {
		return nil, Match{Version: o.IfRevision}.check("project", 0)
	}
	c.membership.Lock()
	defer c.membership.Unlock()
	p, err := c.planNew(o.Create, d, o.rules())
	if err != nil {
		return nil, err
	}
	if p.plan.DryRun = o.DryRun; o.DryRun {
		return p.plan, nil
	}
	return p.insert(ctx, o.OwnerID)
}

// CreateSample creates a project that ownerID owns and fills it with what a definition holds, all of it or nothing. The items
// belong to no source, as those that were made by hand. It fails as [Catalog.CreateProject] and [Catalog.Apply] do.
func (c *Catalog) CreateSample(ctx context.Context, p *mockbase.Project, d *mockbase.Definition, ownerID string) (*mockbase.Snapshot, error) {
	c.membership.Lock()
	defer c.membership.Unlock()
	planned, err := c.planNew(p, d, rules{by: ownerID})
	if err != nil {
		return nil, err
	}
	if _, err := planned.insert(ctx, ownerID); err != nil {
		return nil, err
	}
	return planned.next, nil
}

// planNew plans a project that does not exist yet.
func (c *Catalog) planNew(project *mockbase.Project, d *mockbase.Definition, r rules) (*planning, error) {
	s := &mockbase.Snapshot{Project: c.prepareProject(project)}
	if err := mockbase.Invalid(append(checkMembers(s.Project), c.checkConfig(s, nil)...)); err != nil {
		return nil, err
	}
	p, err := c.planFor(s, d, r)
	if err != nil {
		return nil, err
	}
	p.next.Project.Version, p.next.Project.Revision = 1, 1
	p.plan.Revision = 0
	return p, nil
}

// insert stores and publishes a project that was planned from nothing.
func (p *planning) insert(ctx context.Context, ownerID string) (*Plan, error) {
	if err := p.catalog.insert(ctx, p.next, ownerID); err != nil {
		return nil, err
	}
	p.finish()
	return p.plan, nil
}

// planning is an apply in the making.
type planning struct {
	rules

	catalog *Catalog
	from    *mockbase.Snapshot
	// mocks are those of the document under their final names; former[i] is the mock that mocks[i] stands for, or nil.
	mocks, former []*mockbase.Mock
	config        configPlan
	next          *mockbase.Snapshot
	set           mockbase.ChangeSet
	plan          *Plan
}

// planFor compares a project with a definition. It fails with CodeValidationFailed when the outcome could not be
// served, and with CodeQuotaReached when there would be too many mocks.
func (c *Catalog) planFor(s *mockbase.Snapshot, d *mockbase.Definition, r rules) (*planning, error) {
	p := &planning{rules: r, catalog: c, from: s, plan: newPlan()}
	p.plan.Source, p.plan.Revision = cmp.Or(r.folder, r.source), s.Project.Revision
	named, faults := nameMocks(d.Mocks, p.claimed())
	if err := mockbase.Invalid(faults); err != nil {
		return nil, err
	}
	var err error
	if p.config, err = planConfig(s.Project, &d.Config, p); err != nil {
		return nil, err
	}
	if r.permit != nil {
		if err := r.permit(p.plan); err != nil {
			return nil, err
		}
	}
	p.next = &mockbase.Snapshot{Project: p.nextProject()}
	p.planMocks(named)
	if err := mockbase.Invalid(p.check(d, named)); err != nil {
		return nil, err
	}
	if err := p.withinQuotas(); err != nil {
		return nil, err
	}
	p.warn(d)
	p.plan.count()
	return p, nil
}

// withinQuotas refuses more than the quotas of a project allow. Of documents in files there may be any number: they are the
// operator's own.
func (p *planning) withinQuotas() error {
	quotas := p.catalog.quotas.Load()
	if err := reached("maxMocksPerProject", quotas.MaxMocksPerProject, len(p.next.Mocks)); err != nil {
		return err
	}
	had, want := len(p.from.Project.Config.Documents), len(p.next.Project.Config.Documents)
	if p.files() || want <= had {
		return nil
	}
	return reached("maxDocumentsPerProject", quotas.MaxDocumentsPerProject, want)
}

// nextProject is the project after the apply, without its mocks.
func (p *planning) nextProject() *mockbase.Project {
	now := p.from.Project
	next := advance(now)
	if !p.config.changed && now.Origin == p.folder {
		return next
	}
	next.Origin = p.folder
	if p.config.changed {
		next.Config, next.Owners = p.config.config, p.config.owners
		next.VariableNotes = notesAfter(next, &now.Config)
		next.DocumentNotes = p.catalog.documentNotes(next, now)
	}
	next.Version++
	next.UpdatedAt = p.catalog.now()
	p.set.Project = next
	return next
}

// check returns the faults of everything that the plane has not accepted yet, with pointers into the document.
func (p *planning) check(d *mockbase.Definition, named []*mockbase.Mock) []mockbase.FieldError {
	var faults []mockbase.FieldError
	if p.config.changed {
		ours := make(map[string]bool, len(p.mocks))
		for _, m := range p.mocks {
			ours[m.ID] = true
		}
		faults = p.sent(d, p.catalog.checkConfig(p.next, ours))
	}
	for i, m := range named {
		if len(faults) >= mockbase.MaxFieldErrors {
			break
		}
		if !p.config.changed && p.former[i] != nil && bytes.Equal(p.former[i].Document, m.Document) {
			continue
		}
		for _, f := range p.catalog.checkMock(&p.next.Project.Config, m) {
			f.Pointer = below(mockPointer(i), f.Pointer)
			faults = append(faults, f)
		}
	}
	return faults[:min(len(faults), mockbase.MaxFieldErrors)]
}

func mockPointer(i int) string {
	return fmt.Sprintf("#/mocks/%d", i)
}

// below puts a pointer that is relative to an item under the item's own.
func below(pointer, relative string) string {
	return pointer + strings.TrimPrefix(relative, "#")
}

// configWarner is a plane that has something to say of what is no mock.
type configWarner interface {
	// ConfigWarnings returns what does not block, with pointers relative to the definition.
	ConfigWarnings(c *mockbase.Config) []mockbase.FieldError
}

// warn fills in the warnings of the document and those of its mocks among all others, each one once.
func (p *planning) warn(d *mockbase.Definition) {
	seen := map[Warning]bool{}
	add := func(f mockbase.FieldError, pointer string, m *mockbase.Mock) {
		w := Warning{Severity: "warning", Code: f.Code, Detail: f.Detail, Pointer: below(pointer, f.Pointer)}
		if !seen[w] {
			seen[w] = true
			w.Line, w.Column = f.Line, f.Column
			if w.Line == 0 && m != nil {
				w.Line, w.Column = m.Line, m.Column
			}
			p.plan.Warnings = append(p.plan.Warnings, w)
		}
	}
	for _, f := range d.Warnings {
		add(f, "#", nil)
	}
	if plane, ok := p.catalog.plane.(configWarner); ok {
		for _, f := range p.configWarnings(d, plane) {
			add(f, "#", nil)
		}
	}
	for i, m := range p.mocks {
		for _, f := range m.Warnings(&p.next.Project.Config) {
			add(f, mockPointer(i), nil)
		}
		for _, f := range p.catalog.plane.Warnings(p.next, m) {
			add(f, mockPointer(i), d.Mocks[i])
		}
	}
}

// apply stores and publishes the plan.
func (p *planning) apply(ctx context.Context, e *entry) error {
	if n := len(p.plan.Conflicts); n > 0 && !p.keep {
		first := p.plan.Conflicts[0]
		return &mockbase.Error{
			Code: mockbase.CodeApplyConflict,
			Message: fmt.Sprintf("%d of the items belong to another source or were edited by hand, the first is the %s %q",
				n, first.Kind, first.Name),
		}
	}
	if p.set.Project == nil && len(p.set.Put) == 0 && len(p.set.Delete) == 0 {
		p.next = p.from
		p.finish()
		return nil
	}
	p.set.ProjectID, p.set.IfRevision = p.from.Project.ID, p.from.Project.Revision
	p.set.By, p.set.Source = p.by, p.source
	if err := p.catalog.commit(ctx, e, p.set, p.next); err != nil {
		return err
	}
	p.finish()
	return nil
}

// finish makes the plan one that was applied.
func (p *planning) finish() {
	p.plan.Applied = true
	p.plan.Revision = p.next.Project.Revision
	ids := make(map[string]string, len(p.mocks))
	for _, m := range p.mocks {
		ids[m.Name] = m.ID
	}
	for i := range p.plan.Created {
		if item := &p.plan.Created[i]; item.Kind == KindMock {
			item.ID = ids[item.Name]
		}
	}
}

// claimed are the names of the mocks that belong to another source. Names that nobody gave go round them: two sources that
// never heard of one another cannot be in each other's way.
func (p *planning) claimed() map[string]bool {
	names := map[string]bool{}
	for _, m := range p.from.Mocks {
		if !p.files() && !p.adopt && m.Owner != "" && m.Owner != p.source {
			names[m.Name] = true
		}
	}
	return names
}

// nameMocks gives the mocks of a definition their final names: those that their authors gave, and around them those
// that were made up, in file order (mock format, section 4). A definition that was put together from several files may
// give a name twice.
//
// A name of claimed belongs to something else: no name that is made up may be it (rule M-76).
func nameMocks(mocks []*mockbase.Mock, claimed map[string]bool) ([]*mockbase.Mock, []mockbase.FieldError) {
	taken := make(map[string]bool, len(mocks))
	var faults []mockbase.FieldError
	for i, m := range mocks {
		if m.NameGenerated {
			continue
		}
		if taken[m.Name] {
			faults = append(faults, mockbase.FieldError{
				Pointer: mockPointer(i) + "/name", Code: mockbase.FieldUnique, Detail: fmt.Sprintf("the name %q is given twice", m.Name),
				Line: m.Line, Column: m.Column,
			})
		}
		taken[m.Name] = true
	}
	named := make([]*mockbase.Mock, len(mocks))
	for i, m := range mocks {
		if m.NameGenerated {
			m = renamed(m, mockbase.UniqueName(defaultName(m), func(name string) bool { return taken[name] || claimed[name] }))
			taken[m.Name] = true
		}
		named[i] = m
	}
	return named, faults
}

// defaultName is the name that a mock would have if it were alone.
func defaultName(m *mockbase.Mock) string {
	r := &m.Request
	return mockbase.DefaultMockName(strings.Join(r.Methods, "-"), r.Path+r.PathMatches+r.RawTarget)
}
