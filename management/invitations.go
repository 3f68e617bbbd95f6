package management

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/auth"
)

// maxGrants bounds the projects of one invitation.
const maxGrants = 100

// grantView is a role in a project, which is named by its slug.
type grantView struct {
	Project string               `json:"project"`
	Role    mockbase.ProjectRole `json:"role"`
}

// invitationView is an invitation as the API shows one (M-126).
type invitationView struct {
	ID         string                `json:"id"`
	Email      string                `json:"email"`
	Role       mockbase.InstanceRole `json:"role"`
	Projects   []grantView           `json:"projects"`
	ExpiresAt  string                `json:"expiresAt"`
	AcceptedAt *string               `json:"acceptedAt"`
	URL        string                `json:"url,omitempty"`
}

func (s *Server) viewInvitation(i *mockbase.Invitation) invitationView {
	view := invitationView{
		ID: i.ID, Email: i.Email, Role: i.Role, Projects: []grantView{}, ExpiresAt: timeText(i.ExpiresAt), AcceptedAt: maybeTime(i.AcceptedAt),
	}
	for _, g := range i.Grants {
		view.Projects = append(view.Projects, grantView{s.projectName(g.ProjectID), g.Role})
	}
	return view
}

// projectName is the slug of a project, or its id once it is gone.
func (s *Server) projectName(id string) string {
	if found, ok := s.Catalog.Project(id); ok {
		return found.Project.Slug
	}
	return id
}

// listInvitations lists the invitations that the caller made, or all to an administrator (M-126).
func (s *Server) listInvitations(c *call) error {
	l, err := c.params().listing("-expiresAt", "email")
	if err != nil {
		return err
	}
	all, err := s.Accounts.Invitations(c.ctx())
	if err != nil {
		return err
	}
	views := []invitationView{}
	for _, i := range all {
		if (c.caller.admin() || i.CreatedBy == c.caller.user.ID) && l.finds(i.Email) {
			views = append(views, s.viewInvitation(i))
		}
	}
	total := len(views)
	onPage, next := cut(l, views, func(v invitationView) key {
		if l.sort == "email" {
			return key{Text: v.Email, ID: v.ID}
		}
		return key{Text: v.ExpiresAt, ID: v.ID}
	})
	return c.list(l, onPage, total, next)
}

// createInvitation invites somebody to make an account (M-127): an administrator anybody, an owner members of their own
// projects. The secret of the link is shown this once.
func (s *Server) createInvitation(c *call) error {
	roles, err := s.Accounts.Memberships(c.ctx(), c.caller.user.ID)
	if err != nil {
		return err
	}
	owned := s.membershipsOf(func(id string) mockbase.ProjectRole {
		if c.caller.roleIn(id, roles) == mockbase.RoleOwner {
			return mockbase.RoleOwner
		}
		return mockbase.RoleNone
	})
	if !c.caller.admin() && len(owned) == 0 {
		return &mockbase.Error{Code: mockbase.CodeForbidden, Message: "only administrators and owners of projects may invite", Hint: "ask one of them"}
	}
	made, err := s.readInvitation(c, owned)
	if err != nil {
		return err
	}
	if !c.caller.admin() && made.Role != mockbase.InstanceMember {
		return &mockbase.Error{Code: mockbase.CodeForbidden, Message: "only administrators may invite administrators", Hint: "invite a member"}
	}
	secret := auth.NewLinkSecret()
	made.Hash = secret.Hash
	view := s.viewInvitation(made)
	c.noteTarget(made.ID, made.Email, nil, view)
	view.URL = s.link(c.Request(), "/invite", secret)
	answer := created(apiPrefix+"/invitations/"+made.ID, view)
	c.foretell(answer)
	if err := s.Accounts.CreateInvitation(c.ctx(), made); err != nil {
		return err
	}
	return c.give(answer)
}

// readInvitation reads an invitation to projects that the caller owns. A project of somebody else is one that is not there.
func (s *Server) readInvitation(c *call, owned []membershipView) (*mockbase.Invitation, error) {
	now := s.clock()
	made := &mockbase.Invitation{
		ID: mockbase.NewID(mockbase.PrefixInvite, now), CreatedBy: c.caller.user.ID, CreatedAt: now, ExpiresAt: now.Add(invitationLife),
	}
	var role string
	err := c.object(typeJSON, func(f *mockbase.Fields) {
		if f.Text("email", &made.Email) {
			checkEmail(f, made.Email)
		}
		readInstanceRole(f, &role)
		listed := f.Objects("projects")
		if len(listed) > maxGrants {
			f.Fault("projects", mockbase.FieldLimit, "must have at most %d items", maxGrants)
			return
		}
		for _, g := range listed {
			made.Grants = append(made.Grants, readGrant(g, owned))
		}
		if len(listed) == 0 && !c.caller.admin() {
			f.Fault("projects", mockbase.FieldRequired, "name one of your projects at least")
		}
		f.Required("email", "role")
	})
	made.Email, made.Role = plainEmail(made.Email), mockbase.InstanceRole(role)
	return made, err
}

func readGrant(f *mockbase.Fields, owned []membershipView) mockbase.Grant {
	var grant mockbase.Grant
	var name string
	if f.Text("project", &name) {
		at := slices.IndexFunc(owned, func(m membershipView) bool { return m.Slug == name || m.ID == name })
		if at < 0 {
			f.Fault("project", mockbase.FieldReference, "you own no project %s", shown(name))
		} else {
			grant.ProjectID = owned[at].ID
		}
	}
	grant.Role = readProjectRole(f)
	f.Required("project", "role")
	f.Done()
	return grant
}

func readProjectRole(f *mockbase.Fields) mockbase.ProjectRole {
	var text string
	if f.Text("role", &text) && rank(mockbase.ProjectRole(text)) == 0 {
		f.Fault("role", mockbase.FieldEnum, "must be viewer, editor or owner, not %s", shown(text))
	}
	return mockbase.ProjectRole(text)
}

// deleteInvitation takes an invitation back (M-128). That of somebody else does not exist for those who are no
// administrators.
func (s *Server) deleteInvitation(c *call) error {
	id, err := pathParam(c, "id")
	if err != nil {
		return err
	}
	all, err := s.Accounts.Invitations(c.ctx())
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(i *mockbase.Invitation) bool { return i.ID == id })
	if at < 0 || !c.caller.admin() && all[at].CreatedBy != c.caller.user.ID {
		return mockbase.Errorf(mockbase.CodeNotFound, "there is no such invitation")
	}
	c.noteTarget(id, all[at].Email, s.viewInvitation(all[at]), nil)
	if err := s.Accounts.DeleteInvitation(c.ctx(), id); err != nil {
		return err
	}
	return c.nothing()
}

// inspectInvitation tells who holds its secret what an invitation is to (M-113).
func (s *Server) inspectInvitation(c *call) error {
	var token string
	err := c.object(typeJSON, func(f *mockbase.Fields) {
		f.Text("token", &token)
		f.Required("token")
	})
	if err != nil {
		return err
	}
	found, err := s.Accounts.InvitationByHash(c.ctx(), auth.ReadLinkSecret(token).Hash, s.clock())
	if err != nil {
		return deadLink(err)
	}
	view := s.viewInvitation(found)
	return c.json(http.StatusOK, struct {
		Email     string                `json:"email"`
		Role      mockbase.InstanceRole `json:"role"`
		Projects  []grantView           `json:"projects"`
		ExpiresAt string                `json:"expiresAt"`
	}{view.Email, view.Role, view.Projects, view.ExpiresAt})
}

// acceptInvitation makes the account that an invitation is to, for its address alone, and signs it in (M-114).
func (s *Server) acceptInvitation(c *call) error {
	var in struct{ token, name, password string }
	err := c.object(typeJSON, func(f *mockbase.Fields) {
		f.Text("token", &in.token)
		readName(f, &in.name)
		f.Text("password", &in.password)
		f.Required("token", "name", "password")
	})
	if err != nil {
		return err
	}
	secret, now := auth.ReadLinkSecret(in.token), s.clock()
	found, err := s.Accounts.InvitationByHash(c.ctx(), secret.Hash, now)
	if err != nil {
		return deadLink(err)
	}
	hash, err := s.newHash(c, "#/password", in.password, found.Email)
	if err != nil {
		return err
	}
	made := s.newUser(found.Email, in.name, found.Role, hash)
	c.noteAudit(func(e *mockbase.AuditEntry) {
		e.Actor = mockbase.AuditActor{Type: actorUser, ID: made.ID, Label: made.Email}
		e.Target = mockbase.AuditTarget{Type: "user", ID: made.ID, Name: made.Email}
	})
	if err := s.Accounts.AcceptInvitation(c.ctx(), secret.Hash, made, now); err != nil {
		return deadLink(err)
	}
	s.note(c, slog.LevelInfo, "invitation accepted", made.ID)
	if err := s.signIn(c, http.StatusCreated, made); err != nil {
		return fmt.Errorf("sign in: %w", err)
	}
	return nil
}
