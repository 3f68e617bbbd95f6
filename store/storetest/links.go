package storetest

import (
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store"
)

// withMakers makes ada an administrator, and bob and cam owners of the project shop, of which bob is an administrator as well.
func withMakers(t *testing.T, s store.Store) {
	t.Helper()
	for _, u := range []*mockbase.User{admin("ada"), admin("bob"), member("cam")} {
		ok(t, "create user", s.CreateUser(t.Context(), u))
	}
	ok(t, "create project", s.Apply(t.Context(), creation("shop", "usr_bob")))
	_, err := s.PutMember(t.Context(), "prj_shop", "usr_cam", mockbase.RoleOwner, noon())
	ok(t, "add an owner", err)
}

// invitationBy is an invitation with a role in the server and in projects.
func invitationBy(maker, name string, role mockbase.InstanceRole, projects ...string) *mockbase.Invitation {
	i := invitation(name)
	i.CreatedBy, i.Role, i.Grants = maker, role, nil
	for _, p := range projects {
		i.Grants = append(i.Grants, mockbase.Grant{ProjectID: p, Role: mockbase.RoleOwner})
	}
	return i
}

func resetBy(maker, of string) *mockbase.PasswordReset {
	r := reset("of " + of)
	r.UserID, r.CreatedBy = of, maker
	return r
}

func linksNeedRights(t *testing.T, s store.Store) {
	t.Helper()
	withMakers(t, s)
	ok(t, "create project", s.Apply(t.Context(), creation("other", "usr_bob")))
	ok(t, "disable", s.UpdateUser(t.Context(), disabled(admin("bob"))))
	for what, i := range map[string]*mockbase.Invitation{
		"nobody":            invitationBy("usr_none", "a", mockbase.InstanceMember, "prj_shop"),
		"a disabled user":   invitationBy("usr_bob", "a", mockbase.InstanceMember, "prj_shop"),
		"no administrator":  invitationBy("usr_cam", "a", mockbase.InstanceAdmin, "prj_shop"),
		"no owner of all":   invitationBy("usr_cam", "a", mockbase.InstanceMember, "prj_shop", "prj_other"),
		"of no project":     invitationBy("usr_cam", "a", mockbase.InstanceMember),
		"of a project gone": invitationBy("usr_cam", "a", mockbase.InstanceMember, "prj_gone"),
	} {
		wantCode(t, "invite by "+what, s.CreateInvitation(t.Context(), i), mockbase.CodeForbidden)
	}
	for _, maker := range []string{"usr_none", "usr_bob", "usr_cam"} {
		wantCode(t, "reset by "+maker, s.CreatePasswordReset(t.Context(), resetBy(maker, "usr_ada")), mockbase.CodeForbidden)
	}
	all, err := s.Invitations(t.Context())
	ok(t, "read", err)
	same(t, "number of invitations", len(all), 0)
	ok(t, "invite by an owner", s.CreateInvitation(t.Context(), invitationBy("usr_cam", "a", mockbase.InstanceMember, "prj_shop", "prj_gone")))
	ok(t, "invite by whoever runs the machine", s.CreateInvitation(t.Context(), invitationBy("", "b", mockbase.InstanceAdmin)))
	ok(t, "reset by whoever runs the machine", s.CreatePasswordReset(t.Context(), resetBy("", "usr_ada")))
}

func disabled(u *mockbase.User) *mockbase.User {
	u.Disabled = true
	return u
}

// open tells whether an invitation is open.
func open(t *testing.T, s store.Store, name string) bool {
	t.Helper()
	_, err := s.InvitationByHash(t.Context(), []byte("secret of "+name), noon())
	if err != nil {
		wantCode(t, "find invitation "+name, err, mockbase.CodeNotFound)
		wantCode(t, "accept invitation "+name, s.AcceptInvitation(t.Context(), []byte("secret of "+name), member(name), noon()), mockbase.CodeNotFound)
	}
	return err == nil
}

func invitationsEnd(t *testing.T, s store.Store) {
	t.Helper()
	withMakers(t, s)
	invite := func(maker, name string, role mockbase.InstanceRole, projects ...string) {
		ok(t, "invite "+name, s.CreateInvitation(t.Context(), invitationBy(maker, name, role, projects...)))
	}
	invite("usr_ada", "kept", mockbase.InstanceAdmin)
	invite("usr_bob", "admin", mockbase.InstanceAdmin)
	invite("usr_bob", "bobs", mockbase.InstanceMember, "prj_shop")
	invite("usr_bob", "used", mockbase.InstanceMember)
	invite("usr_cam", "cams", mockbase.InstanceMember, "prj_shop")
	ok(t, "accept", s.AcceptInvitation(t.Context(), []byte("secret of used"), member("used"), noon()))
	// An owner who was an administrator still invites to the project, and to nothing else, until that ends as well.
	ok(t, "demote", s.UpdateUser(t.Context(), member("bob")))
	ok(t, "promote again", s.UpdateUser(t.Context(), admin("bob")))
	same(t, "invitation of an administrator", open(t, s, "admin"), false)
	ok(t, "demote", s.UpdateUser(t.Context(), member("bob")))
	same(t, "invitation of an owner", open(t, s, "bobs"), true)
	ok(t, "take out", s.DeleteMember(t.Context(), "prj_shop", "usr_bob"))
	_, err := s.PutMember(t.Context(), "prj_shop", "usr_bob", mockbase.RoleOwner, noon())
	ok(t, "take in again", err)
	same(t, "invitation of who was taken out", open(t, s, "bobs"), false)
	_, err = s.PutMember(t.Context(), "prj_shop", "usr_cam", mockbase.RoleEditor, noon())
	ok(t, "make an editor", err)
	same(t, "invitation of who is an editor now", open(t, s, "cams"), false)
	same(t, "invitation of somebody else", open(t, s, "kept"), true)
	all, err := s.Invitations(t.Context())
	ok(t, "read", err)
	same(t, "those that are left", ids(all, func(i *mockbase.Invitation) string { return i.ID }), []string{"inv_used", "inv_kept"})
}

func linksAreOfRights(t *testing.T, s store.Store) {
	t.Helper()
	withMakers(t, s)
	ok(t, "invite", s.CreateInvitation(t.Context(), invitationBy("usr_bob", "bobs", mockbase.InstanceMember)))
	ok(t, "invite", s.CreateInvitation(t.Context(), invitationBy("usr_cam", "cams", mockbase.InstanceMember, "prj_shop")))
	ok(t, "reset", s.CreatePasswordReset(t.Context(), resetBy("usr_bob", "usr_ada")))
	ok(t, "reset", s.CreatePasswordReset(t.Context(), resetBy("usr_ada", "usr_cam")))
	ok(t, "delete the project", s.Apply(t.Context(), mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: 1, DeleteProject: true}))
	same(t, "invitation into a project that is gone", open(t, s, "cams"), false)
	ok(t, "delete", s.DeleteUser(t.Context(), "usr_bob"))
	same(t, "invitation of who is gone", open(t, s, "bobs"), false)
	_, err := s.PasswordResetByHash(t.Context(), resetBy("", "usr_ada").Hash, noon())
	wantCode(t, "reset of who is gone", err, mockbase.CodeNotFound)
	wantCode(t, "use it", useReset(t, s, "usr_ada"), mockbase.CodeNotFound)
	ok(t, "use that of somebody else", useReset(t, s, "usr_cam"))
}

func useReset(t *testing.T, s store.Store, of string) error {
	t.Helper()
	_, err := s.UsePasswordReset(t.Context(), resetBy("", of).Hash, mockbase.UserChange{At: noon(), Change: func(u *mockbase.User) error {
		u.PasswordHash = "new"
		return nil
	}})
	return err
}

func resetsEnd(t *testing.T, s store.Store) {
	t.Helper()
	withMakers(t, s)
	for what, change := range map[string]func(*mockbase.User){
		"address":  func(u *mockbase.User) { u.Email += "x" },
		"password": func(u *mockbase.User) { u.PasswordHash += "x" },
		"disabled": func(u *mockbase.User) { u.Disabled = !u.Disabled },
	} {
		ok(t, "reset", s.CreatePasswordReset(t.Context(), resetBy("usr_ada", "usr_cam")))
		_, err := s.ChangeUser(t.Context(), mockbase.UserChange{ID: "usr_cam", At: noon(), Change: func(u *mockbase.User) error { u.Name += "x"; return nil }})
		ok(t, "change the name", err)
		_, err = s.PasswordResetByHash(t.Context(), resetBy("", "usr_cam").Hash, noon())
		ok(t, "find the reset after another name", err)
		_, err = s.ChangeUser(t.Context(), mockbase.UserChange{ID: "usr_cam", At: noon(), Change: func(u *mockbase.User) error { change(u); return nil }})
		ok(t, "change", err)
		wantCode(t, what, useReset(t, s, "usr_cam"), mockbase.CodeNotFound)
		ok(t, "enable", s.UpdateUser(t.Context(), member("cam")))
		wantCode(t, what+" and back", useReset(t, s, "usr_cam"), mockbase.CodeNotFound)
	}
}

func endsAreTold(t *testing.T, s store.Store) {
	t.Helper()
	withMakers(t, s)
	ok(t, "invite", s.CreateInvitation(t.Context(), invitationBy("usr_bob", "open", mockbase.InstanceMember)))
	over := invitationBy("usr_bob", "over", mockbase.InstanceMember)
	over.ExpiresAt = noon().Add(-time.Hour)
	ok(t, "invite", s.CreateInvitation(t.Context(), over))
	ok(t, "reset", s.CreatePasswordReset(t.Context(), resetBy("usr_bob", "usr_cam")))
	e := entry("demote")
	ctx := mockbase.WithAudit(t.Context(), mockbase.NewAuditDraft(*e))
	wantCode(t, "change that fails", s.UpdateUser(ctx, taken(member("bob"))), mockbase.CodeNameTaken)
	same(t, "entries after a change that failed", len(entries(t, s, mockbase.AuditFilter{})), 0)
	same(t, "invitation after a change that failed", open(t, s, "open"), true)
	ok(t, "demote", s.UpdateUser(ctx, member("bob")))
	for action, target := range map[string]mockbase.AuditTarget{
		"endInvitation":    {Type: "invitation", ID: "inv_open", Name: "open@example.com"},
		"endPasswordReset": {Type: "user", ID: "usr_cam", Name: "cam@example.com"},
		e.Action:           e.Target,
	} {
		told := entries(t, s, mockbase.AuditFilter{Action: action})
		if len(told) != 1 {
			t.Fatalf("%d entries of %s", len(told), action)
		}
		want := *e
		want.ID, want.Action, want.Target = told[0].ID, action, target
		if action != e.Action {
			want.Before, want.After = nil, nil
		}
		same(t, action, told[0], &want)
	}
}

// taken is a user with the address of another.
func taken(u *mockbase.User) *mockbase.User {
	u.Email = "ada@example.com"
	return u
}
