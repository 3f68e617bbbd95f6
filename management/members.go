package management

import (
	"net/http"

	"github.com/mockbase/mockbase"
)

// projectMemberView is a member of a project as the others see them (M-135).
type projectMemberView struct {
	User    personView           `json:"user"`
	Role    mockbase.ProjectRole `json:"role"`
	AddedAt string               `json:"addedAt"`
}

// personView is what members of a project see of each other.
type personView struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
}

func viewMember(m *mockbase.ProjectMember) projectMemberView {
	return projectMemberView{personView{m.User.ID, m.User.Email, m.User.Name}, m.Role, timeText(m.AddedAt)}
}

// listMembers lists who has a role in the project (M-135).
func (s *Server) listMembers(c *call) error {
	l, err := c.params().listing("email", "name", "role", "addedAt")
	if err != nil {
		return err
	}
	all, err := s.Accounts.Members(c.ctx(), c.project.Project.ID)
	if err != nil {
		return err
	}
	views := []projectMemberView{}
	for i := range all {
		if l.finds(all[i].User.Email, all[i].User.Name) {
			views = append(views, viewMember(&all[i]))
		}
	}
	total := len(views)
	onPage, next := cut(l, views, func(v projectMemberView) key {
		switch l.sort {
		case "name":
			return key{Text: v.User.Name, ID: v.User.ID}
		case "role":
			return key{Number: int64(rank(v.Role)), ID: v.User.ID}
		case "addedAt":
			return key{Text: v.AddedAt, ID: v.User.ID}
		default:
			return key{Text: v.User.Email, ID: v.User.ID}
		}
	})
	return c.list(l, onPage, total, next)
}

// memberOf finds a member of the project; nil is none.
func (s *Server) memberOf(c *call, userID string) (*mockbase.ProjectMember, error) {
	all, err := s.Accounts.Members(c.ctx(), c.project.Project.ID)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].User.ID == userID {
			return &all[i], nil
		}
	}
	return nil, nil //nolint:nilnil // Nobody is a good answer.
}

// roleState is what the audit log tells of a membership.
type roleState struct {
	Role mockbase.ProjectRole `json:"role"`
}

// heldRole is the state of a membership for the audit log, nil for none.
func heldRole(m *mockbase.ProjectMember) any {
	if m == nil {
		return nil
	}
	return roleState{m.Role}
}

// putMember gives a user a role in the project (M-136).
func (s *Server) putMember(c *call) error {
	u, err := s.namedUser(c)
	if err != nil {
		return err
	}
	var role mockbase.ProjectRole
	err = c.object(typeJSON, func(f *mockbase.Fields) {
		role = readProjectRole(f)
		f.Required("role")
		f.ReadOnly("user", "addedAt")
	})
	if err != nil {
		return err
	}
	before, err := s.memberOf(c, u.ID)
	if err != nil {
		return err
	}
	c.noteTarget(u.ID, u.Email, heldRole(before), roleState{role})
	added, err := s.Accounts.PutMember(c.ctx(), c.project.Project.ID, u.ID, role, s.clock())
	if err != nil {
		return err
	}
	now, err := s.memberOf(c, u.ID)
	if err != nil {
		return err
	}
	if now == nil { // Somebody else was faster.
		return mockbase.Errorf(mockbase.CodeNotFound, "the user has no role in the project any more")
	}
	if added {
		return c.json(http.StatusCreated, viewMember(now))
	}
	return c.json(http.StatusOK, viewMember(now))
}

// deleteMember takes a user's role in the project away: an owner from anybody, everybody from themselves (M-137).
func (s *Server) deleteMember(c *call) error {
	u, err := s.namedUser(c)
	myself := err == nil && u.ID == c.caller.user.ID
	if c.role != mockbase.RoleOwner && !myself {
		return &mockbase.Error{
			Code: mockbase.CodeForbidden, Message: "only owners of the project take others out of it", Hint: "ask an owner of the project",
		}
	}
	if err != nil {
		return err
	}
	before, err := s.memberOf(c, u.ID)
	if err != nil {
		return err
	}
	c.noteTarget(u.ID, u.Email, heldRole(before), nil)
	if err := s.Accounts.DeleteMember(c.ctx(), c.project.Project.ID, u.ID); err != nil {
		return err
	}
	return c.nothing()
}
