package storetest

import (
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store"
)

func identityTies(t *testing.T, s store.Store) {
	t.Helper()
	const issuer = "https://id.example.com"
	ada, bob := administrator("ada"), user("bob")
	ok(t, "create", s.CreateUser(t.Context(), ada))
	ok(t, "create", s.CreateUser(t.Context(), bob))
	tie := mockbase.Identity{Issuer: issuer, Subject: "1", UserID: ada.ID, CreatedAt: noon()}
	ok(t, "tie", s.LinkIdentity(t.Context(), tie))
	found, err := s.UserByIdentity(t.Context(), issuer, "1")
	ok(t, "find", err)
	same(t, "user", found, ada)
	admins, err := s.FederatedAdmins(t.Context(), issuer)
	ok(t, "count", err)
	same(t, "administrators", admins, 1)
	for what, other := range map[string]mockbase.Identity{
		"a subject that is somebody's": {Issuer: issuer, Subject: "1", UserID: bob.ID},
		"a user who has a subject":     {Issuer: issuer, Subject: "2", UserID: ada.ID},
	} {
		wantCode(t, what, s.LinkIdentity(t.Context(), other), mockbase.CodeNameTaken)
	}
	ok(t, "tie with another issuer", s.LinkIdentity(t.Context(), mockbase.Identity{Issuer: "https://other.example.com", Subject: "1", UserID: bob.ID}))
	_, err = s.UserByIdentity(t.Context(), issuer, "2")
	wantCode(t, "nobody", err, mockbase.CodeNotFound)
	ok(t, "create", s.CreateUser(t.Context(), administrator("eve")))
	ok(t, "delete", s.DeleteUser(t.Context(), ada.ID))
	_, err = s.UserByIdentity(t.Context(), issuer, "1")
	wantCode(t, "a deleted user", err, mockbase.CodeNotFound)
	ok(t, "tie a free subject", s.LinkIdentity(t.Context(), mockbase.Identity{Issuer: issuer, Subject: "1", UserID: bob.ID}))
	admins, err = s.FederatedAdmins(t.Context(), issuer)
	ok(t, "count", err)
	same(t, "administrators", admins, 0)
}

func administrator(name string) *mockbase.User {
	u := user(name)
	u.Role, u.Disabled = mockbase.InstanceAdmin, false
	return u
}
