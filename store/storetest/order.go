package storetest

import (
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store"
)

// orderPromises are those that no two stores may keep differently, though each of them has an order and texts of its own.
func orderPromises() []promise {
	return []promise{
		{"M-13: of rows with the same time the one with the later id comes first", sameTimeByID},
		{"M-119: users and members come by e-mail address, whatever the letter case", byAddressInAnyCase},
		{"M-2: texts of every kind come back as they were put", textsComeBack},
		{"M-2: times come back exactly, in UTC", timesComeBack},
	}
}

// ids are those of a list.
func ids[T any](list []T, id func(T) string) []string {
	all := make([]string, len(list))
	for i, one := range list {
		all[i] = id(one)
	}
	return all
}

func sameTimeByID(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create user", s.CreateUser(t.Context(), admin("ada")))
	ok(t, "create project", s.Apply(t.Context(), creation("shop", "usr_ada")))
	names := []string{"b", "d", "a", "c"}
	set := mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: 1}
	for i, name := range names {
		ok(t, "create token", s.CreateToken(t.Context(), token(name), 9))
		ok(t, "create invitation", s.CreateInvitation(t.Context(), invitation(name)))
		ok(t, "create sign-in", s.CreateSignIn(t.Context(), signIn(name, "usr_ada")))
		ok(t, "create ban", s.PutBan(t.Context(), ban(name)))
		m := byHand(t, name, 1)
		m.Order = int64(i)
		set.Put = append(set.Put, m)
		set.Delete = append(set.Delete, m.ID)
	}
	deleted := set.Delete
	set.Delete = nil
	ok(t, "create mocks", s.Apply(t.Context(), set))
	ok(t, "delete mocks", s.Apply(t.Context(), mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: 2, Delete: deleted}))

	tokens, err := s.Tokens(t.Context())
	ok(t, "read tokens", err)
	same(t, "tokens", ids(tokens, func(x *mockbase.Token) string { return x.ID }), []string{"tok_d", "tok_c", "tok_b", "tok_a"})
	invitations, err := s.Invitations(t.Context())
	ok(t, "read invitations", err)
	same(t, "invitations", ids(invitations, func(x *mockbase.Invitation) string { return x.ID }), []string{"inv_d", "inv_c", "inv_b", "inv_a"})
	signIns, err := s.SignInsOf(t.Context(), "usr_ada", noon())
	ok(t, "read sign-ins", err)
	same(t, "sign-ins", ids(signIns, func(x *mockbase.SignIn) string { return x.ID }), []string{"sgn_d", "sgn_c", "sgn_b", "sgn_a"})
	bans, err := s.Bans(t.Context())
	ok(t, "read bans", err)
	same(t, "bans", ids(bans, func(x mockbase.Ban) string { return x.ID }), []string{"ban_d", "ban_c", "ban_b", "ban_a"})
	same(t, "trash", trashed(t, s), []string{"d", "c", "b", "a"})
}

func byAddressInAnyCase(t *testing.T, s store.Store) {
	t.Helper()
	for name, address := range map[string]string{
		"v": "cam@Example.com", "w": "BOB@example.com", "x": "b-o@example.com", "y": "b_o@example.com", "z": "Ada@example.com",
	} {
		u := user(name)
		u.Email = address
		ok(t, "create user", s.CreateUser(t.Context(), u))
	}
	ok(t, "create project", s.Apply(t.Context(), creation("shop", "usr_z")))
	for _, id := range []string{"usr_v", "usr_w", "usr_x", "usr_y"} {
		_, err := s.PutMember(t.Context(), "prj_shop", id, mockbase.RoleViewer, noon())
		ok(t, "add member", err)
	}
	want := []string{"Ada@example.com", "b-o@example.com", "b_o@example.com", "BOB@example.com", "cam@Example.com"}
	users, err := s.AllUsers(t.Context())
	ok(t, "read users", err)
	same(t, "users", ids(users, func(u *mockbase.User) string { return u.Email }), want)
	members, err := s.Members(t.Context(), "prj_shop")
	ok(t, "read members", err)
	same(t, "members", ids(members, func(m mockbase.ProjectMember) string { return m.User.Email }), want)
}

func textsComeBack(t *testing.T, s store.Store) {
	t.Helper()
	const odd = " Ünï\u0001\u0085\u2028\u202e \U0001f600 e\u0301 <&>'\"\\n%_ "
	u := user("ada")
	u.Name = odd
	ok(t, "create user", s.CreateUser(t.Context(), u))
	found, err := s.UserByID(t.Context(), u.ID)
	ok(t, "find user", err)
	same(t, "user", found, u)
	set := creation("shop", "usr_ada")
	set.Project.Name, set.Project.Description = odd, odd
	ok(t, "create project", s.Apply(t.Context(), set))
	same(t, "project", snapshots(t, s)[0].Project.Description, odd)
	e := entry("one")
	e.Actor.Label, e.Target.Name, e.UserAgent = odd, odd, odd
	ok(t, "append", s.AppendAudit(t.Context(), e))
	same(t, "entries", entries(t, s, mockbase.AuditFilter{Target: odd}), []*mockbase.AuditEntry{e})
	b := ban("one")
	b.Reason = odd
	ok(t, "ban", s.PutBan(t.Context(), b))
	bans, err := s.Bans(t.Context())
	ok(t, "read bans", err)
	same(t, "bans", bans, []mockbase.Ban{*b})
	// No letter case, and no way to write a letter, makes two names one.
	_, err = s.UserByEmail(t.Context(), "ADA@example.com ")
	wantCode(t, "find by another address", err, mockbase.CodeNotFound)
}

func timesComeBack(t *testing.T, s store.Store) {
	t.Helper()
	u := user("ada")
	u.CreatedAt, u.UpdatedAt = noon().Add(1), noon().Add(999_999_999)
	ok(t, "create user", s.CreateUser(t.Context(), u))
	found, err := s.UserByID(t.Context(), u.ID)
	ok(t, "find user", err)
	same(t, "user", found, u)
	for _, name := range []string{"one", "two", "three"} {
		ok(t, "append", s.AppendAudit(t.Context(), entry(name)))
	}
	same(t, "entries until then", len(entries(t, s, mockbase.AuditFilter{Until: noon()})), 0)
	same(t, "entries since then", len(entries(t, s, mockbase.AuditFilter{Since: noon(), Until: noon().Add(1)})), 3)
	same(t, "entries after", len(entries(t, s, mockbase.AuditFilter{Since: noon().Add(1)})), 0)
}
