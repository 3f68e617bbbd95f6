package storetest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store"
)

func accountPromises() []promise {
	return []promise{
		{"a user is found by id and by e-mail address in any letter case", func(t *testing.T, s store.Store) {
			t.Helper()
			ok(t, "create", s.CreateUser(t.Context(), user("ada")))
			byID, err := s.UserByID(t.Context(), "usr_ada")
			ok(t, "find by id", err)
			same(t, "user by id", byID, user("ada"))
			byEmail, err := s.UserByEmail(t.Context(), "ADA@Example.com")
			ok(t, "find by e-mail address", err)
			same(t, "user by e-mail address", byEmail, user("ada"))
		}},
		{"a user who is not there is not found", func(t *testing.T, s store.Store) {
			t.Helper()
			_, err := s.UserByID(t.Context(), "usr_none")
			wantCode(t, "by id", err, mockbase.CodeNotFound)
			_, err = s.UserByEmail(t.Context(), "none@example.com")
			wantCode(t, "by e-mail address", err, mockbase.CodeNotFound)
			wantCode(t, "update", s.UpdateUser(t.Context(), user("none")), mockbase.CodeNotFound)
		}},
		{"a taken e-mail address is refused", takenEmailIsRefused},
		{"M-39: an update replaces every member of a user", func(t *testing.T, s store.Store) {
			t.Helper()
			ok(t, "create", s.CreateUser(t.Context(), user("ada")))
			changed := &mockbase.User{
				ID: "usr_ada", Email: "lovelace@example.com", Name: "Lovelace", Role: mockbase.InstanceMember, PasswordHash: "other",
				Epoch: 9, CreatedAt: noon(), UpdatedAt: noon().AddDate(1, 0, 0),
			}
			ok(t, "update", s.UpdateUser(t.Context(), changed))
			found, err := s.UserByID(t.Context(), "usr_ada")
			ok(t, "find", err)
			same(t, "user", found, changed)
		}},
		{"M-38: of two set-ups one succeeds", firstAdminOnce},
		{"M-50: the creator of a project owns it and nobody else has a role", func(t *testing.T, s store.Store) {
			t.Helper()
			ok(t, "create user", s.CreateUser(t.Context(), user("ada")))
			ok(t, "create user", s.CreateUser(t.Context(), user("bob")))
			ok(t, "create project", s.Apply(t.Context(), creation("shop", "usr_ada")))
			for id, want := range map[string]mockbase.ProjectRole{"usr_ada": mockbase.RoleOwner, "usr_bob": mockbase.RoleNone, "usr_none": mockbase.RoleNone} {
				role, err := s.ProjectRole(t.Context(), "prj_shop", id)
				ok(t, "read role", err)
				same(t, "role of "+id, role, want)
			}
			role, err := s.ProjectRole(t.Context(), "prj_none", "usr_ada")
			ok(t, "read role", err)
			same(t, "role in a missing project", role, mockbase.RoleNone)
			roles, err := s.Memberships(t.Context(), "usr_bob")
			ok(t, "read roles", err)
			same(t, "roles", len(roles), 0)
		}},
	}
}

// user is a user with every member set.
func user(name string) *mockbase.User {
	return &mockbase.User{
		ID: "usr_" + name, Email: name + "@example.com", Name: name, Role: mockbase.InstanceAdmin, PasswordHash: "hash of " + name,
		Disabled: true, Epoch: 4, LastSeenAt: noon(), CreatedAt: noon().AddDate(-1, 0, 0), UpdatedAt: noon(),
	}
}

func takenEmailIsRefused(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create", s.CreateUser(t.Context(), user("ada")))
	ok(t, "create", s.CreateUser(t.Context(), user("bob")))
	second := user("second")
	second.Email = "Ada@EXAMPLE.com"
	wantCode(t, "create", s.CreateUser(t.Context(), second), mockbase.CodeNameTaken)
	changed := user("bob")
	changed.Email, changed.Name = "ADA@example.com", "changed"
	wantCode(t, "update", s.UpdateUser(t.Context(), changed), mockbase.CodeNameTaken)
	found, err := s.UserByID(t.Context(), "usr_bob")
	ok(t, "find", err)
	same(t, "user after the refusal", found, user("bob"))
	wantUsers(t, s, 2)
}

func firstAdminOnce(t *testing.T, s store.Store) {
	t.Helper()
	wantUsers(t, s, 0)
	const callers = 8
	errs := make([]error, callers)
	var group sync.WaitGroup
	for i := range callers {
		group.Go(func() {
			errs[i] = s.CreateFirstAdmin(t.Context(), user(fmt.Sprintf("caller%d", i)))
		})
	}
	group.Wait()
	done := 0
	for _, err := range errs {
		if err == nil {
			done++
			continue
		}
		wantCode(t, "second set-up", err, mockbase.CodeAlreadySetUp)
	}
	same(t, "set-ups that succeeded", done, 1)
	wantUsers(t, s, 1)
}

func wantUsers(t *testing.T, s store.Store, want int) {
	t.Helper()
	users, err := s.UserCount(t.Context())
	ok(t, "count users", err)
	same(t, "number of users", users, want)
}
