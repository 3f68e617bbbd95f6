package management

import (
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/auth"
)

func viewUser(u *mockbase.User) userView {
	return userView{
		ID: u.ID, Email: u.Email, Name: u.Name, Role: u.Role, Disabled: u.Disabled, LastSeenAt: maybeTime(u.LastSeenAt), CreatedAt: timeText(u.CreatedAt),
	}
}

// setPassword is the change of a user that a new password is.
func setPassword(hash string, now time.Time) func(*mockbase.User) error {
	return func(u *mockbase.User) error {
		u.PasswordHash, u.UpdatedAt = hash, now
		return nil
	}
}

// listUsers lists the users (M-119).
func (s *Server) listUsers(c *call) error {
	p := c.params()
	role := p.choice("role", []string{string(mockbase.InstanceAdmin), string(mockbase.InstanceMember)})
	disabled := p.choice("disabled", []string{"true", "false"})
	l, err := p.listing("email", "name", "lastSeenAt", "createdAt")
	if err != nil {
		return err
	}
	all, err := s.Accounts.AllUsers(c.ctx())
	if err != nil {
		return err
	}
	views := []userView{}
	for _, u := range all {
		if (role == "" || role == string(u.Role)) && (disabled == "" || (disabled == "true") == u.Disabled) && l.finds(u.Email, u.Name) {
			views = append(views, viewUser(u))
		}
	}
	total := len(views)
	onPage, next := cut(l, views, func(v userView) key { return v.key(l.sort) })
	return c.list(l, onPage, total, next)
}

func (v userView) key(sort string) key {
	switch {
	case sort == "name":
		return key{Text: v.Name, ID: v.ID}
	case sort == "createdAt":
		return key{Text: v.CreatedAt, ID: v.ID}
	case sort == "lastSeenAt" && v.LastSeenAt != nil:
		return key{Text: *v.LastSeenAt, ID: v.ID}
	case sort == "lastSeenAt":
		return key{ID: v.ID}
	default:
		return key{Text: v.Email, ID: v.ID}
	}
}

// createUser makes a user with a password (M-120).
func (s *Server) createUser(c *call) error {
	var in struct{ email, name, role, password string }
	err := c.object(typeJSON, func(f *mockbase.Fields) {
		if f.Text("email", &in.email) {
			checkEmail(f, in.email)
		}
		readName(f, &in.name)
		readInstanceRole(f, &in.role)
		f.Text("password", &in.password)
		f.Required("email", "name", "role", "password")
		f.ReadOnly("id", "disabled", "lastSeenAt", "createdAt")
	})
	if err != nil {
		return err
	}
	in.email = plainEmail(in.email)
	hash, err := s.newHash(c, "#/password", in.password, in.email)
	if err != nil {
		return err
	}
	made := s.newUser(in.email, in.name, mockbase.InstanceRole(in.role), hash)
	c.noteTarget(made.ID, made.Email, nil, viewUser(made))
	answer := created(apiPrefix+"/users/"+made.ID, viewUser(made))
	c.foretell(answer)
	if err := s.Accounts.CreateUser(c.ctx(), made); err != nil {
		return err
	}
	return c.give(answer)
}

// newUser is a user who was never there.
func (s *Server) newUser(email, name string, role mockbase.InstanceRole, hash string) *mockbase.User {
	now := s.clock()
	return &mockbase.User{
		ID: mockbase.NewID(mockbase.PrefixUser, now), Email: email, Name: name, Role: role, PasswordHash: hash, Epoch: 1, CreatedAt: now, UpdatedAt: now,
	}
}

func readInstanceRole(f *mockbase.Fields, to *string) {
	known := []string{string(mockbase.InstanceAdmin), string(mockbase.InstanceMember)}
	if f.Text("role", to) && !slices.Contains(known, *to) {
		f.Fault("role", mockbase.FieldEnum, "must be admin or member, not %s", shown(*to))
	}
}

// namedUser finds the user that the path names, by id or e-mail address.
func (s *Server) namedUser(c *call) (*mockbase.User, error) {
	name, err := pathParam(c, "user")
	if err != nil {
		return nil, err
	}
	find := s.Accounts.UserByID
	if strings.Contains(name, "@") {
		name, find = plainEmail(name), s.Accounts.UserByEmail
	}
	found, err := find(c.ctx(), name)
	if mockbase.ErrorCode(err) == mockbase.CodeNotFound {
		return nil, mockbase.Errorf(mockbase.CodeNotFound, "there is no such user")
	}
	return found, err
}

// membershipView is a project with the role that somebody has in it.
type membershipView struct {
	ID   string               `json:"id"`
	Slug string               `json:"slug"`
	Name string               `json:"name"`
	Role mockbase.ProjectRole `json:"role"`
}

// membershipsOf lists the projects in which role gives a role.
func (s *Server) membershipsOf(role func(projectID string) mockbase.ProjectRole) []membershipView {
	projects := []membershipView{}
	for _, snapshot := range s.Catalog.Projects() {
		p := snapshot.Project
		if r := role(p.ID); r != mockbase.RoleNone {
			projects = append(projects, membershipView{ID: p.ID, Slug: p.Slug, Name: p.Name, Role: r})
		}
	}
	return projects
}

// getUser shows a user with their projects and sign-ins (M-121).
func (s *Server) getUser(c *call) error {
	u, err := s.namedUser(c)
	if err != nil {
		return err
	}
	roles, err := s.Accounts.Memberships(c.ctx(), u.ID)
	if err != nil {
		return err
	}
	signIns, err := s.signInsOf(c, u.ID)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, struct {
		userView

		Projects []membershipView `json:"projects"`
		SignIns  []signInView     `json:"signIns"`
	}{viewUser(u), s.membershipsOf(func(id string) mockbase.ProjectRole { return roles[id] }), signIns})
}

// updateUser changes a user's name, role or whether they may sign in (M-122). Another role needs a fresh sign-in (rule
// M-40), ends access tokens, and being disabled ends everything (rule M-39).
func (s *Server) updateUser(c *call) error {
	before, err := s.namedUser(c)
	if err != nil {
		return err
	}
	after := *before
	role := string(before.Role)
	err = c.object(typeMergePatch, func(f *mockbase.Fields) {
		readName(f, &after.Name)
		readInstanceRole(f, &role)
		f.Bool("disabled", &after.Disabled)
		ownID(f, before.ID)
		f.ReadOnly("email", "lastSeenAt", "createdAt")
	})
	if err != nil {
		return err
	}
	after.Role = mockbase.InstanceRole(role)
	if after.Role != before.Role {
		if err := s.askFresh(c); err != nil {
			return err
		}
	}
	c.noteTarget(before.ID, before.Email, viewUser(before), viewUser(&after))
	ends := after.Disabled && !before.Disabled
	changed, err := s.Accounts.ChangeUser(c.ctx(), mockbase.UserChange{
		ID: before.ID, EndSignIns: ends, EndTokens: ends, At: s.clock(), Change: func(u *mockbase.User) error {
			changeAccount(u, before, &after)
			u.UpdatedAt = s.clock()
			return nil
		},
	})
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, viewUser(changed))
}

// changeAccount changes of a user what differs between before and after, and nothing else: somebody may have changed the
// rest meanwhile. Who loses or gains rights needs new access tokens.
func changeAccount(u, before, after *mockbase.User) {
	if after.Name != before.Name {
		u.Name = after.Name
	}
	if after.Disabled != before.Disabled {
		u.Disabled = after.Disabled
	}
	if after.Role != before.Role {
		u.Role = after.Role
	}
	if after.Role != before.Role || after.Disabled && !before.Disabled {
		u.Epoch++
	}
}

// deleteUser deletes a user; what they made stays (M-123).
func (s *Server) deleteUser(c *call) error {
	u, err := s.namedUser(c)
	if err != nil {
		return err
	}
	c.noteTarget(u.ID, u.Email, viewUser(u), nil)
	if err := s.Accounts.DeleteUser(c.ctx(), u.ID); err != nil {
		return err
	}
	s.note(c, slog.LevelInfo, "user deleted", u.ID)
	return c.nothing()
}

// signUserOut ends all sign-ins of a user (M-124).
func (s *Server) signUserOut(c *call) error {
	u, err := s.namedUser(c)
	if err != nil {
		return err
	}
	if err := s.endEverything(c, u); err != nil {
		return err
	}
	return c.nothing()
}

// The lives of links (rule M-42).
const (
	resetLife      = time.Hour
	invitationLife = 72 * time.Hour
)

// createPasswordReset makes a link that gives a user a new password once (M-125). The one before it ends.
func (s *Server) createPasswordReset(c *call) error {
	u, err := s.namedUser(c)
	if err != nil {
		return err
	}
	secret, now := auth.NewLinkSecret(), s.clock()
	reset := &mockbase.PasswordReset{UserID: u.ID, Hash: secret.Hash, CreatedBy: c.caller.user.ID, CreatedAt: now, ExpiresAt: now.Add(resetLife)}
	c.noteTarget(u.ID, u.Email, nil, nil)
	answer := &answer{status: http.StatusCreated, mediaType: typeJSON, body: encode(struct {
		URL       string `json:"url"`
		ExpiresAt string `json:"expiresAt"`
	}{s.link(c.Request(), "/reset", secret), timeText(reset.ExpiresAt)})}
	c.foretell(answer)
	if err := s.Accounts.CreatePasswordReset(c.ctx(), reset); err != nil {
		return err
	}
	return c.give(answer)
}

// link is an address of the dashboard with a secret in its fragment, which browsers keep to themselves.
func (s *Server) link(r *http.Request, page string, secret auth.LinkSecret) string {
	return s.ownURL(r) + page + "#token=" + url.QueryEscape(secret.Text)
}
