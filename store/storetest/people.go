package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store"
)

func peoplePromises() []promise {
	return []promise{
		{"M-119: all users come by e-mail address", func(t *testing.T, s store.Store) {
			t.Helper()
			for _, name := range []string{"bob", "ada"} {
				ok(t, "create", s.CreateUser(t.Context(), user(name)))
			}
			all, err := s.AllUsers(t.Context())
			ok(t, "read users", err)
			same(t, "users", all, []*mockbase.User{user("ada"), user("bob")})
		}},
		{"M-43: a user is tied to one subject of an identity provider, until they are deleted", identityTies},
		{"M-39: a change of a user ends sign-ins and personal tokens with it, or nothing", userChangesWhole},
		{"M-50: the last administrator stays one", lastAdminStays},
		{"M-50: of two administrators that step down at once one stays", lastAdminOnce},
		{"M-123: a deleted user leaves what they made, but never a project without an owner", userIsDeleted},
		{"M-136: members are added, changed and taken away, and an owner stays", membersChange},
		{"M-111: the sign-ins of a user are those that go on, the latest used first", signInsOfUser},
		{"M-106: a sign-in is renewed while it goes on", func(t *testing.T, s store.Store) {
			t.Helper()
			withSignIn(t, s)
			ok(t, "renew", s.RenewSignIn(t.Context(), "sgn_one", noon()))
			renewed, err := s.SignIn(t.Context(), "sgn_one")
			ok(t, "find", err)
			same(t, "time of the password", renewed.AuthTime, noon())
			ok(t, "revoke", s.RevokeSignIn(t.Context(), "sgn_one", noon()))
			wantCode(t, "renew what has ended", s.RenewSignIn(t.Context(), "sgn_one", noon()), mockbase.CodeNotFound)
		}},
		{"M-230: every sign-in can be ended at once", func(t *testing.T, s store.Store) {
			t.Helper()
			withSignIn(t, s)
			ok(t, "end", s.EndAllSignIns(t.Context(), noon()))
			ended, err := s.SignIn(t.Context(), "sgn_one")
			ok(t, "find", err)
			same(t, "end of the sign-in", ended.RevokedAt, noon())
		}},
		{"a sign-in that begins or is used raises when its user was seen", func(t *testing.T, s store.Store) {
			t.Helper()
			early := user("ada")
			early.LastSeenAt = time.Time{}
			ok(t, "create user", s.CreateUser(t.Context(), early))
			ok(t, "create sign-in", s.CreateSignIn(t.Context(), signIn("one", "usr_ada")))
			later := noon().AddDate(1, 0, 0)
			_, err := s.RotateSignIn(t.Context(), "sgn_one", []byte("current one"), []byte("next"), later)
			ok(t, "rotate", err)
			found, err := s.UserByID(t.Context(), "usr_ada")
			ok(t, "find", err)
			same(t, "last seen", found.LastSeenAt, later)
		}},
	}
}

// admin is a user who is an administrator and not disabled, member one who is neither.
func admin(name string) *mockbase.User {
	u := user(name)
	u.Disabled = false
	return u
}

func member(name string) *mockbase.User {
	u := admin(name)
	u.Role = mockbase.InstanceMember
	return u
}

func userChangesWhole(t *testing.T, s store.Store) {
	t.Helper()
	_, err := s.ChangeUser(t.Context(), mockbase.UserChange{ID: "usr_none", Change: func(*mockbase.User) error { return nil }})
	wantCode(t, "change nobody", err, mockbase.CodeNotFound)
	ok(t, "create user", s.CreateUser(t.Context(), user("ada")))
	for _, name := range []string{"one", "two"} {
		ok(t, "create sign-in", s.CreateSignIn(t.Context(), signIn(name, "usr_ada")))
	}
	personal, service := token("one"), token("two")
	personal.Kind = mockbase.TokenPersonal
	ok(t, "create token", s.CreateToken(t.Context(), personal, 9))
	ok(t, "create token", s.CreateToken(t.Context(), service, 9))
	change := mockbase.UserChange{ID: "usr_ada", EndSignIns: true, KeepSignIn: "sgn_two", EndTokens: true, At: noon()}

	refused := errors.New("refused")
	change.Change = func(u *mockbase.User) error { u.Name = "half"; return refused }
	if _, err := s.ChangeUser(t.Context(), change); !errors.Is(err, refused) {
		// A store may wrap what a person shall not see, but it must not lose it.
		t.Errorf("the error of the change is %v", err)
	}
	found, err := s.UserByID(t.Context(), "usr_ada")
	ok(t, "find", err)
	same(t, "user after the refusal", found.Name, "ada")
	_, err = s.TokenByID(t.Context(), "tok_one")
	ok(t, "find the token after the refusal", err)
	userChangesAtOnce(t, s, change, found)
}

// userChangesAtOnce makes the change that was refused before.
func userChangesAtOnce(t *testing.T, s store.Store, change mockbase.UserChange, found *mockbase.User) {
	t.Helper()
	change.Change = func(u *mockbase.User) error { u.Name, u.ID = "changed", "usr_other"; u.Epoch++; return nil }
	changed, err := s.ChangeUser(t.Context(), change)
	ok(t, "change", err)
	want := *found
	want.Name, want.Epoch = "changed", found.Epoch+1
	same(t, "user", changed, &want)
	ended, err := s.SignIn(t.Context(), "sgn_one")
	ok(t, "find sign-in", err)
	same(t, "end of the sign-in", ended.RevokedAt, noon())
	kept, err := s.SignIn(t.Context(), "sgn_two")
	ok(t, "find sign-in", err)
	same(t, "the sign-in that was kept", kept.RevokedAt, time.Time{})
	_, err = s.TokenByID(t.Context(), "tok_one")
	wantCode(t, "personal token", err, mockbase.CodeNotFound)
	_, err = s.TokenByID(t.Context(), "tok_two")
	ok(t, "service token", err)
}

func lastAdminStays(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create", s.CreateUser(t.Context(), admin("ada")))
	ok(t, "create", s.CreateUser(t.Context(), user("disabled")))
	for what, change := range map[string]func(*mockbase.User){
		"step down": func(u *mockbase.User) { u.Role = mockbase.InstanceMember },
		"disable":   func(u *mockbase.User) { u.Disabled = true },
	} {
		_, err := s.ChangeUser(t.Context(), mockbase.UserChange{ID: "usr_ada", Change: func(u *mockbase.User) error { change(u); return nil }})
		wantCode(t, what, err, mockbase.CodeLastAdmin)
		u := admin("ada")
		change(u)
		wantCode(t, what, s.UpdateUser(t.Context(), u), mockbase.CodeLastAdmin)
	}
	wantCode(t, "delete", s.DeleteUser(t.Context(), "usr_ada"), mockbase.CodeLastAdmin)
	found, err := s.UserByID(t.Context(), "usr_ada")
	ok(t, "find", err)
	same(t, "user", found, admin("ada"))
	ok(t, "create", s.CreateUser(t.Context(), admin("bob")))
	ok(t, "delete", s.DeleteUser(t.Context(), "usr_ada"))
}

func lastAdminOnce(t *testing.T, s store.Store) {
	t.Helper()
	names := []string{"ada", "bob"}
	for _, name := range names {
		ok(t, "create", s.CreateUser(t.Context(), admin(name)))
	}
	var refused atomic.Int32
	var group sync.WaitGroup
	for _, name := range names {
		group.Go(func() {
			_, err := s.ChangeUser(t.Context(), mockbase.UserChange{ID: "usr_" + name, Change: func(u *mockbase.User) error {
				u.Role = mockbase.InstanceMember
				return nil
			}})
			if mockbase.ErrorCode(err) == mockbase.CodeLastAdmin {
				refused.Add(1)
			}
		})
	}
	group.Wait()
	same(t, "refusals", refused.Load(), int32(1))
}

// ownerIsKept tells that the only owner who can act stays one, whatever way they would be taken away: ada owns the shop, and bob
// does while he is disabled (rule M-50). Whoever owns a project alone can be disabled all the same, as they could else make
// themselves a project that keeps them (M-122).
func ownerIsKept(t *testing.T, s store.Store) {
	t.Helper()
	set := func(id string, disabled bool) error {
		_, err := s.ChangeUser(t.Context(), mockbase.UserChange{ID: id, At: noon(), Change: func(u *mockbase.User) error {
			u.Disabled = disabled
			return nil
		}})
		return err
	}
	ok(t, "disable the only owner", set("usr_ada", true))
	wantCode(t, "delete the only owner, disabled", s.DeleteUser(t.Context(), "usr_ada"), mockbase.CodeLastOwner)
	ok(t, "enable the only owner", set("usr_ada", false))
	_, err := s.PutMember(t.Context(), "prj_shop", "usr_bob", mockbase.RoleOwner, noon())
	ok(t, "add an owner", err)
	ok(t, "disable one of two", set("usr_bob", true))
	ok(t, "disable the other", set("usr_ada", true))
	ok(t, "enable the other", set("usr_ada", false))
	wantCode(t, "delete the other", s.DeleteUser(t.Context(), "usr_ada"), mockbase.CodeLastOwner)
	wantCode(t, "remove the other", s.DeleteMember(t.Context(), "prj_shop", "usr_ada"), mockbase.CodeLastOwner)
	_, err = s.PutMember(t.Context(), "prj_shop", "usr_ada", mockbase.RoleEditor, noon())
	wantCode(t, "lower the other", err, mockbase.CodeLastOwner)
	ok(t, "enable", set("usr_bob", false))
	ok(t, "remove one of two", s.DeleteMember(t.Context(), "prj_shop", "usr_bob"))
}

func userIsDeleted(t *testing.T, s store.Store) {
	t.Helper()
	wantCode(t, "delete nobody", s.DeleteUser(t.Context(), "usr_none"), mockbase.CodeNotFound)
	for _, name := range []string{"ada", "bob"} {
		ok(t, "create user", s.CreateUser(t.Context(), member(name)))
	}
	ok(t, "create sign-in", s.CreateSignIn(t.Context(), signIn("one", "usr_ada")))
	ok(t, "create project", s.Apply(t.Context(), creation("shop", "usr_ada", mock(t, "shop", "first", 1))))
	wantCode(t, "delete the only owner", s.DeleteUser(t.Context(), "usr_ada"), mockbase.CodeLastOwner)
	ownerIsKept(t, s)
	_, err := s.PutMember(t.Context(), "prj_shop", "usr_bob", mockbase.RoleOwner, noon())
	ok(t, "add an owner", err)
	personal := token("one")
	personal.Kind = mockbase.TokenPersonal
	ok(t, "create token", s.CreateToken(t.Context(), personal, 9))
	ok(t, "create token", s.CreateToken(t.Context(), token("two"), 9))
	of := reset("one")
	of.CreatedBy = ""
	ok(t, "create reset", s.CreatePasswordReset(t.Context(), of))
	ok(t, "delete", s.DeleteUser(t.Context(), "usr_ada"))
	_, err = s.SignIn(t.Context(), "sgn_one")
	wantCode(t, "sign-in", err, mockbase.CodeNotFound)
	_, err = s.TokenByID(t.Context(), "tok_one")
	wantCode(t, "personal token", err, mockbase.CodeNotFound)
	_, err = s.TokenByID(t.Context(), "tok_two")
	ok(t, "service token", err)
	_, err = s.PasswordResetByHash(t.Context(), []byte("secret of reset one"), noon())
	wantCode(t, "password reset", err, mockbase.CodeNotFound)
	same(t, "mocks", names(t, s, "shop"), []string{"first"})
	wantMembers(t, s, mockbase.ProjectMember{User: *member("bob"), Role: mockbase.RoleOwner, AddedAt: noon()})
}

func wantMembers(t *testing.T, s store.Store, want ...mockbase.ProjectMember) {
	t.Helper()
	got, err := s.Members(t.Context(), "prj_shop")
	ok(t, "read members", err)
	same(t, "members", got, want)
}

func membersChange(t *testing.T, s store.Store) {
	t.Helper()
	for _, name := range []string{"ada", "bob"} {
		ok(t, "create user", s.CreateUser(t.Context(), user(name)))
	}
	ok(t, "create project", s.Apply(t.Context(), creation("shop", "")))
	put := func(name string, role mockbase.ProjectRole) (bool, error) {
		return s.PutMember(t.Context(), "prj_shop", "usr_"+name, role, noon())
	}
	for _, step := range []struct {
		name  string
		role  mockbase.ProjectRole
		added bool
		code  mockbase.Code
	}{
		{"bob", mockbase.RoleOwner, true, ""},
		{"ada", mockbase.RoleViewer, true, ""},
		{"ada", mockbase.RoleEditor, false, ""},
		{"bob", mockbase.RoleEditor, false, mockbase.CodeLastOwner},
		{"none", mockbase.RoleEditor, false, mockbase.CodeNotFound},
	} {
		added, err := put(step.name, step.role)
		wantCode(t, "put "+step.name, err, step.code)
		same(t, fmt.Sprintf("%s is new as %s", step.name, step.role), added, step.added)
	}
	owner := mockbase.ProjectMember{User: *user("bob"), Role: mockbase.RoleOwner, AddedAt: noon()}
	wantMembers(t, s, mockbase.ProjectMember{User: *user("ada"), Role: mockbase.RoleEditor, AddedAt: noon()}, owner)
	_, err := s.PutMember(t.Context(), "prj_none", "usr_ada", mockbase.RoleOwner, noon())
	wantCode(t, "no such project", err, mockbase.CodeNotFound)
	wantCode(t, "delete the owner", s.DeleteMember(t.Context(), "prj_shop", "usr_bob"), mockbase.CodeLastOwner)
	ok(t, "delete", s.DeleteMember(t.Context(), "prj_shop", "usr_ada"))
	wantCode(t, "delete again", s.DeleteMember(t.Context(), "prj_shop", "usr_ada"), mockbase.CodeNotFound)
	wantMembers(t, s, owner)
}

func signInsOfUser(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create user", s.CreateUser(t.Context(), user("ada")))
	ok(t, "create user", s.CreateUser(t.Context(), user("bob")))
	for name, userID := range map[string]string{"early": "usr_ada", "late": "usr_ada", "ended": "usr_ada", "past": "usr_ada", "other": "usr_bob"} {
		in := signIn(name, userID)
		switch name {
		case "late":
			in.LastUsedAt = in.LastUsedAt.Add(1)
		case "past":
			in.ExpiresAt = noon()
		}
		ok(t, "create", s.CreateSignIn(t.Context(), in))
	}
	ok(t, "revoke", s.RevokeSignIn(t.Context(), "sgn_ended", noon()))
	all, err := s.SignInsOf(t.Context(), "usr_ada", noon())
	ok(t, "read", err)
	var ids []string
	for _, in := range all {
		ids = append(ids, in.ID)
	}
	same(t, "sign-ins", ids, []string{"sgn_late", "sgn_early"})
}
