package config

import (
	"fmt"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
	"github.com/mockbase/mockbase/management/federation"
)

// GroupRole is what a group of the identity provider means here (rule M-43).
type GroupRole struct {
	role management.GroupRole
	text string
}

// UnmarshalText reads GROUP=admin, GROUP=member or GROUP=PROJECT:ROLE. A group may have = in its name, as those of
// directories do: the last one counts.
func (g *GroupRole) UnmarshalText(text []byte) error {
	g.text = string(text)
	at := strings.LastIndexByte(g.text, '=')
	if at < 1 {
		return fmt.Errorf("%q is no role of a group: write GROUP=admin, GROUP=member or GROUP=PROJECT:ROLE", text)
	}
	meaning := g.text[at+1:]
	g.role = management.GroupRole{Group: g.text[:at]}
	switch role := mockbase.InstanceRole(meaning); role {
	case mockbase.InstanceAdmin, mockbase.InstanceMember:
		g.role.Instance = role
		return nil
	}
	project, role, _ := strings.Cut(meaning, ":")
	switch r := mockbase.ProjectRole(role); r {
	case mockbase.RoleViewer, mockbase.RoleEditor, mockbase.RoleOwner:
		g.role.Project, g.role.Role = project, r
	default:
		return fmt.Errorf("%q names no role: write admin, member, or PROJECT:viewer, PROJECT:editor or PROJECT:owner behind the =", text)
	}
	if !mockbase.ValidSlug(project) {
		return fmt.Errorf("%q: %q is no name of a project", text, project)
	}
	return nil
}

// String writes the role the way it is read.
func (g GroupRole) String() string { return g.text }

// GroupRoles are the roles as the management API takes them.
func GroupRoles(list []GroupRole) []management.GroupRole {
	roles := make([]management.GroupRole, len(list))
	for i, g := range list {
		roles[i] = g.role
	}
	return roles
}

// provider looks for settings that need each other, and at the issuer's address.
func (c *checker) provider(s *Settings) {
	c.secret(&s.OIDCClientSecret, "oidc-client-secret", s.OIDCClientSecretFile)
	if s.OIDCIssuer == "" {
		switch {
		case s.OIDCClientID != "":
			c.add("oidc-client-id", "add "+c.sibling("oidc-issuer", "oidc-client-id"), "there is no issuer to go with it")
		case !s.PasswordSignIn:
			c.add("password-sign-in", "add "+c.sibling("oidc-issuer", "password-sign-in")+", or leave passwords on", "nobody could sign in")
		}
		return
	}
	if err := federation.CheckIssuer(s.OIDCIssuer); err != nil {
		c.add("oidc-issuer", "write it like https://id.example.com/realms/main", "%v", err)
	}
	if s.OIDCClientID == "" {
		c.add("oidc-issuer", "add "+c.sibling("oidc-client-id", "oidc-issuer"), "there is no client id to go with it")
	}
}
