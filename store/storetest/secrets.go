package storetest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store"
)

func secretPromises() []promise {
	return []promise{
		{"M-126: invitations are kept, found while they are open, and deleted", invitationsAreKept},
		{"M-114: of several who accept an invitation one gets the account and the roles", invitationOnce},
		{"M-127: nobody stores a link that they have no right to make", linksNeedRights},
		{"M-39: an open invitation ends with the right to make it, for good", invitationsEnd},
		{"M-31: a link is as good as the rights of its maker, however they were lost", linksAreOfRights},
		{"M-42: a reset ends with the address, the password or the account that it is for", resetsEnd},
		{"M-20: links that end are told of in the audit log", endsAreTold},
		{"M-42: a reset is good once, until its end, and until the next one", resetsAreKept},
		{"M-110: of several uses of a reset one succeeds", resetOnce},
		{"M-41: tokens are kept, found by their digest, touched and deleted", tokensAreKept},
		{"M-9: a user has so many tokens and no more", func(t *testing.T, s store.Store) {
			t.Helper()
			ok(t, "create user", s.CreateUser(t.Context(), user("ada")))
			ok(t, "create", s.CreateToken(t.Context(), token("one"), 1))
			wantCode(t, "create one more", s.CreateToken(t.Context(), token("two"), 1), mockbase.CodeQuotaReached)
			foreign := token("three")
			foreign.CreatedBy = "usr_none"
			wantCode(t, "create for nobody", s.CreateToken(t.Context(), foreign, 9), mockbase.CodeNotFound)
		}},
	}
}

// invitation is an invitation with every member set, but not accepted; two is newer than one.
func invitation(name string) *mockbase.Invitation {
	i := &mockbase.Invitation{
		ID: "inv_" + name, Email: name + "@example.com", Role: mockbase.InstanceMember,
		Grants: []mockbase.Grant{{ProjectID: "prj_shop", Role: mockbase.RoleEditor}, {ProjectID: "prj_gone", Role: mockbase.RoleOwner}},
		Hash:   []byte("secret of " + name), CreatedBy: "usr_ada", CreatedAt: noon(), ExpiresAt: noon().AddDate(0, 0, 3),
	}
	if name == "two" {
		i.CreatedAt = noon().Add(1)
	}
	return i
}

func reset(name string) *mockbase.PasswordReset {
	return &mockbase.PasswordReset{
		UserID: "usr_ada", Hash: []byte("secret of reset " + name), CreatedBy: "usr_ada", CreatedAt: noon(), ExpiresAt: noon().Add(time.Hour),
	}
}

// token is a token with every member set; two is newer than one.
func token(name string) *mockbase.Token {
	t := &mockbase.Token{
		ID: "tok_" + name, Kind: mockbase.TokenService, Name: name, Prefix: "mb_svc_" + name, Hash: []byte("secret of token " + name),
		Scopes: []string{"mocks:read", "verify"}, Projects: []string{"prj_shop"}, AllowedIPs: []string{"192.0.2.0/24"},
		CreatedBy: "usr_ada", CreatedAt: noon(), ExpiresAt: noon().AddDate(1, 0, 0), LastUsedAt: noon(), LastUsedIP: "192.0.2.1",
	}
	if name == "two" {
		t.CreatedAt = noon().Add(1)
	}
	return t
}

func invitationsAreKept(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create user", s.CreateUser(t.Context(), admin("ada")))
	for _, name := range []string{"one", "two"} {
		ok(t, "create", s.CreateInvitation(t.Context(), invitation(name)))
	}
	all, err := s.Invitations(t.Context())
	ok(t, "read", err)
	same(t, "invitations", all, []*mockbase.Invitation{invitation("two"), invitation("one")})
	found, err := s.InvitationByHash(t.Context(), []byte("secret of one"), noon())
	ok(t, "find", err)
	same(t, "invitation", found, invitation("one"))
	_, err = s.InvitationByHash(t.Context(), []byte("secret of one"), found.ExpiresAt)
	wantCode(t, "find one that has expired", err, mockbase.CodeNotFound)
	for _, hash := range [][]byte{[]byte("none"), {}, nil} {
		_, err = s.InvitationByHash(t.Context(), hash, noon())
		wantCode(t, "find none", err, mockbase.CodeNotFound)
	}
	taken := invitation("three")
	taken.Email = "ADA@example.com"
	wantCode(t, "invite who is there", s.CreateInvitation(t.Context(), taken), mockbase.CodeNameTaken)
	ok(t, "delete", s.DeleteInvitation(t.Context(), "inv_two"))
	wantCode(t, "delete again", s.DeleteInvitation(t.Context(), "inv_two"), mockbase.CodeNotFound)
	deleted, err := s.DeleteExpiredInvitations(t.Context(), found.ExpiresAt.Add(1))
	ok(t, "delete expired", err)
	same(t, "number deleted", deleted, 1)
}

func invitationOnce(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create user", s.CreateUser(t.Context(), admin("ada")))
	ok(t, "create project", s.Apply(t.Context(), creation("shop", "usr_ada")))
	ok(t, "create", s.CreateInvitation(t.Context(), invitation("one")))
	hash := []byte("secret of one")
	wantCode(t, "accept with a taken address", s.AcceptInvitation(t.Context(), hash, user("ada"), noon()), mockbase.CodeNameTaken)
	var accepted, refused atomic.Int32
	var group sync.WaitGroup
	for _, name := range []string{"bob", "cam", "dee"} {
		group.Go(func() {
			switch err := s.AcceptInvitation(t.Context(), hash, user(name), noon()); mockbase.ErrorCode(err) {
			case "":
				accepted.Add(1)
			case mockbase.CodeNotFound:
				refused.Add(1)
			default:
				t.Errorf("accept: %v", err)
			}
		})
	}
	group.Wait()
	same(t, "accepted and refused", [2]int32{accepted.Load(), refused.Load()}, [2]int32{1, 2})
	wantUsers(t, s, 2)
	members, err := s.Members(t.Context(), "prj_shop")
	ok(t, "read members", err)
	same(t, "members", len(members), 2)
	all, err := s.Invitations(t.Context())
	ok(t, "read", err)
	same(t, "accepted at", all[0].AcceptedAt, noon())
}

func resetsAreKept(t *testing.T, s store.Store) {
	t.Helper()
	wantCode(t, "reset nobody", s.CreatePasswordReset(t.Context(), reset("one")), mockbase.CodeNotFound)
	ok(t, "create user", s.CreateUser(t.Context(), admin("ada")))
	ok(t, "create", s.CreatePasswordReset(t.Context(), reset("one")))
	found, err := s.PasswordResetByHash(t.Context(), []byte("secret of reset one"), noon())
	ok(t, "find", err)
	same(t, "reset", found, reset("one"))
	_, err = s.PasswordResetByHash(t.Context(), []byte("secret of reset one"), found.ExpiresAt)
	wantCode(t, "find one that has expired", err, mockbase.CodeNotFound)
	ok(t, "create the next", s.CreatePasswordReset(t.Context(), reset("two")))
	_, err = s.PasswordResetByHash(t.Context(), []byte("secret of reset one"), noon())
	wantCode(t, "find one that was replaced", err, mockbase.CodeNotFound)
}

func resetOnce(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create user", s.CreateUser(t.Context(), admin("ada")))
	ok(t, "create sign-in", s.CreateSignIn(t.Context(), signIn("one", "usr_ada")))
	ok(t, "create", s.CreatePasswordReset(t.Context(), reset("one")))
	change := mockbase.UserChange{EndSignIns: true, At: noon(), Change: func(u *mockbase.User) error { u.PasswordHash = "new"; return nil }}
	var done atomic.Int32
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			u, err := s.UsePasswordReset(t.Context(), []byte("secret of reset one"), change)
			if err == nil && u.PasswordHash == "new" && u.ID == "usr_ada" {
				done.Add(1)
				return
			}
			if mockbase.ErrorCode(err) != mockbase.CodeNotFound {
				t.Errorf("use again: %v", err)
			}
		})
	}
	group.Wait()
	same(t, "uses that succeeded", done.Load(), int32(1))
	ended, err := s.SignIn(t.Context(), "sgn_one")
	ok(t, "find sign-in", err)
	same(t, "end of the sign-in", ended.RevokedAt, noon())
}

func tokensAreKept(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create user", s.CreateUser(t.Context(), user("ada")))
	for _, name := range []string{"one", "two"} {
		ok(t, "create", s.CreateToken(t.Context(), token(name), 9))
	}
	all, err := s.Tokens(t.Context())
	ok(t, "read", err)
	same(t, "tokens", all, []*mockbase.Token{token("two"), token("one")})
	byID, err := s.TokenByID(t.Context(), "tok_one")
	ok(t, "find by id", err)
	same(t, "token by id", byID, token("one"))
	byHash, err := s.TokenByHash(t.Context(), []byte("secret of token one"))
	ok(t, "find by digest", err)
	same(t, "token by digest", byHash, token("one"))
	for _, hash := range [][]byte{[]byte("none"), {}, nil} {
		_, err = s.TokenByHash(t.Context(), hash)
		wantCode(t, "find none", err, mockbase.CodeNotFound)
	}
	later := noon().Add(time.Minute)
	ok(t, "touch", s.TouchToken(t.Context(), "tok_one", later, "192.0.2.9"))
	ok(t, "touch nothing", s.TouchToken(t.Context(), "tok_none", later, "192.0.2.9"))
	want := token("one")
	want.LastUsedAt, want.LastUsedIP = later, "192.0.2.9"
	touched, err := s.TokenByID(t.Context(), "tok_one")
	ok(t, "find", err)
	same(t, "token", touched, want)
	ok(t, "delete", s.DeleteToken(t.Context(), "tok_one"))
	wantCode(t, "delete again", s.DeleteToken(t.Context(), "tok_one"), mockbase.CodeNotFound)
	_, err = s.TokenByID(t.Context(), "tok_one")
	wantCode(t, "find what was deleted", err, mockbase.CodeNotFound)
}
