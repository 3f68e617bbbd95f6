package management

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/catalog"
)

// getDefinition gives the whole project as one document, JSON or YAML (M-160). A source or a tag leaves out the mocks
// that are not of it.
func (*Server) getDefinition(c *call) error {
	c.header().Add("Vary", "Accept")
	project := c.project.Project
	if c.notModified(project.Revision) {
		return c.unchanged(project.Revision)
	}
	p := c.params()
	source, tag := p.text("source"), p.text("tag")
	var mocks []*mockbase.Mock
	for _, m := range c.project.Mocks {
		if (source == "" || m.Owner == source) && (tag == "" || slices.Contains(m.Tags, tag)) {
			mocks = append(mocks, m)
		}
	}
	format := mockbase.FormatJSON
	if c.offer == typeYAML {
		format = mockbase.FormatYAML
	}
	text, err := mockbase.EncodeDefinition(withoutSecrets(project), mocks, format)
	if err != nil {
		return err
	}
	setETag(c.header(), project.Revision)
	c.bytes(http.StatusOK, c.offer, text)
	return nil
}

// applyDefinition makes a project what a document says (M-161, rule M-76). The path names the project, and a document that
// names another one is refused.
func (s *Server) applyDefinition(c *call) error {
	p := c.params()
	o := catalog.ApplyOptions{
		DryRun: p.flag("dryRun"), Prune: p.flag("prune"), Adopt: p.flag("adopt"), By: c.caller.user.ID, OwnerID: c.caller.user.ID,
	}
	o.Source = p.slug("source")
	create := p.flag("createProject")
	name, err := pathParam(c, "project")
	if err != nil {
		return err
	}
	if c.project == nil && !create {
		return noSuchProject()
	}
	if c.project == nil {
		if err := s.mayCreateProject(c); err != nil {
			return err
		}
	}
	if err := c.compareRevision(&o); err != nil {
		return err
	}
	definition, err := s.readDefinition(c, p)
	if err != nil {
		return err
	}
	err = s.applyTo(c, name, definition, o)
	if c.project != nil || mockbase.ErrorCode(err) != mockbase.CodeNameTaken {
		return err
	}
	// Somebody made the project meanwhile. It is as if it had been there from the start, visible to this caller or not.
	for _, check := range []func(*call) error{s.admit, s.permit, func(c *call) error { return c.compareRevision(&o) }} {
		if err := check(c); err != nil {
			return err
		}
	}
	return s.applyTo(c, name, definition, o)
}

// applyTo applies a definition to the project of the call, or to a new one of this name.
func (s *Server) applyTo(c *call, name string, d *mockbase.Definition, o catalog.ApplyOptions) error {
	if c.project == nil {
		o.Create = &mockbase.Project{Slug: name, Name: name, Access: mockbase.AccessPublic}
	} else {
		name, o.Permit = c.project.Project.Slug, c.permitPlan(d)
	}
	if err := checkProject(d, name); err != nil {
		return c.body.judged(c.located(err), func() []mockbase.FieldError { return s.definitionFaults(c, d) })
	}
	return s.apply(c, d, o)
}

// checkProject refuses a document that was written for another project than the one of the path.
func checkProject(d *mockbase.Definition, slug string) error {
	if d.Project == "" || d.Project == slug {
		return nil
	}
	return mockbase.Invalid([]mockbase.FieldError{{
		Pointer: "#/project", Code: mockbase.FieldConflict,
		Detail: "the document is for the project " + shown(d.Project) + " and was sent to " + shown(slug) + "; send it to " +
			apiPrefix + "/projects/" + url.PathEscape(d.Project) + "/definition, or leave out project",
	}})
}

// readDefinition reads the body after the query is known to be right.
func (s *Server) readDefinition(c *call, p *params) (*mockbase.Definition, error) {
	body, err := c.take(typeJSON, typeYAML)
	if err != nil {
		return nil, err
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	definition, err := mockbase.DecodePart(body.text, body.format)
	if err != nil {
		return nil, body.judged(err, func() []mockbase.FieldError { return s.definitionFaults(c, definition) })
	}
	return definition, nil
}

// definitionFaults is what else is wrong with a definition for the project of the call.
func (s *Server) definitionFaults(c *call, d *mockbase.Definition) []mockbase.FieldError {
	if c.project == nil {
		return s.Catalog.DefinitionFaults(nil, d)
	}
	return s.Catalog.DefinitionFaults(c.project.Project, d)
}

// compareRevision reads the revision that the caller's plan was made from. A dry run tells the revision, so that it needs
// none and compares none.
func (c *call) compareRevision(o *catalog.ApplyOptions) error {
	if o.DryRun {
		return nil
	}
	if c.project == nil {
		// A plan for a project that is not there yet has the revision 0.
		if cond := readCondition(c, "If-Match"); cond.given && !cond.absent {
			return &mockbase.Error{
				Code: mockbase.CodeVersionMismatch, Message: "there is no such project, so it has none of the revisions of If-Match",
				Hint: `leave If-Match out, or send "v0", which the plan for a new project tells`,
			}
		}
		return nil
	}
	match, err := c.ifMatch(c.project.Project.Revision)
	o.IfRevision = match.Version
	return err
}

// permitPlan leaves the settings of a project to its owners, whatever way an apply would change them: by the document, by
// pruning what the document no longer holds, or by taking them over from another source (M-161).
func (c *call) permitPlan(d *mockbase.Definition) func(*catalog.Plan) error {
	if c.role == mockbase.RoleOwner {
		return nil
	}
	now, wanted := c.project.Project.Config.Source["settings"], d.Config.Source["settings"]
	return func(p *catalog.Plan) error {
		switch {
		case hasSettings(p.Deleted):
			return &mockbase.Error{
				Code: mockbase.CodeForbidden, Message: "prune would delete the settings of the project, which needs the role owner",
				Hint: "keep settings in the document, apply it without prune, or ask an owner of the project",
			}
		case wanted != nil && !bytes.Equal(now, wanted), hasSettings(p.Created), hasSettings(p.Updated):
			return &mockbase.Error{
				Code: mockbase.CodeForbidden, Message: "the document changes the settings of the project, which needs the role owner",
				Hint: "leave settings out, or ask an owner of the project",
			}
		}
		return nil
	}
}

func hasSettings(items []catalog.Item) bool {
	return slices.ContainsFunc(items, func(i catalog.Item) bool { return i.Kind == catalog.KindSettings && i.Name == "settings" })
}

// apply applies a definition and answers with the plan. A conflict answers with the plan as well.
func (s *Server) apply(c *call, d *mockbase.Definition, o catalog.ApplyOptions) error {
	at, err := pathParam(c, "project")
	if err != nil {
		return err
	}
	if c.project != nil {
		at = c.project.Project.ID
	}
	if err := s.fetchDocuments(c.ctx(), d, c.allowedAddresses()); err != nil {
		return err
	}
	plan, err := s.Catalog.Apply(c.ctx(), at, d, o)
	if mockbase.ErrorCode(err) == mockbase.CodeApplyConflict && plan != nil {
		plan.Warnings = c.body.place(plan.Warnings)
		return &failure{err: err, plan: plan}
	}
	if err != nil {
		return err
	}
	plan.Warnings = c.body.place(plan.Warnings)
	if plan.Revision > 0 {
		setETag(c.header(), plan.Revision)
	}
	return c.json(http.StatusOK, plan)
}

// place fills in the places of warnings whose pointers lead into the text.
func (b content) place(list []catalog.Warning) []catalog.Warning {
	if !slices.ContainsFunc(list, func(w catalog.Warning) bool { return w.Line == 0 }) {
		return list
	}
	fields := make([]mockbase.FieldError, len(list))
	for i, w := range list {
		fields[i] = mockbase.FieldError{Pointer: w.Pointer, Line: w.Line, Column: w.Column}
	}
	for i, f := range mockbase.Locate(b.text, b.format, fields) {
		if f.Pointer != "#" {
			list[i].Line, list[i].Column = f.Line, f.Column
		}
	}
	return list
}
