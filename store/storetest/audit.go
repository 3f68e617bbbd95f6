package storetest

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store"
)

func auditPromises() []promise {
	return []promise{
		{"M-20: entries come back whole, the newest first, and leave when they are old", entriesAreKept},
		{"M-20: an entry that was written before a change that failed says so, and nothing else of it changes", failuresAreNoted},
		{"M-231: entries are selected by each of their members", entriesAreSelected},
		{"M-20: a change and its entry are stored together or not at all", changeAndEntryTogether},
		{"M-20: every kind of change writes the entry of its context, once", everyChangeIsAudited},
		{"M-12: the answer to a request is kept until it is too old", answersAreKept},
		{"M-12: a change and its answer are stored together or not at all", changeAndAnswerTogether},
		{"M-12: of too many answers the newest are kept", func(t *testing.T, s store.Store) {
			t.Helper()
			const third = store.MaxReplayBytes/3 + 1
			for i := range 4 {
				r := replay(fmt.Sprint("big", i))
				r.Body = bytes.Repeat([]byte{'x'}, third)
				ok(t, "keep", s.PutReplay(t.Context(), r))
			}
			for i, code := range []mockbase.Code{mockbase.CodeNotFound, mockbase.CodeNotFound, "", ""} {
				_, err := s.Replay(t.Context(), replay(fmt.Sprint("big", i)), time.Time{})
				wantCode(t, fmt.Sprint("find answer ", i), err, code)
			}
		}},
	}
}

// entry is an entry with every member set.
func entry(name string) *mockbase.AuditEntry {
	return &mockbase.AuditEntry{
		ID: "aud_" + name, At: noon(), Actor: mockbase.AuditActor{Type: "token", ID: "tok_" + name, Label: "label of " + name, TokenPrefix: "mb_svc_abcde"},
		Action: "action" + name, Target: mockbase.AuditTarget{Type: "mock", ID: "mck_" + name, Name: "name-" + name, Project: "prj_" + name},
		Outcome: mockbase.AuditSuccess, IP: "192.0.2.1", UserAgent: "curl/8", RequestID: "req_" + name,
		Before: []byte(`{"n":2.50}`), After: []byte(`{"n":3}`),
	}
}

func entries(t *testing.T, s store.Store, f mockbase.AuditFilter) []*mockbase.AuditEntry {
	t.Helper()
	all, err := s.AuditEntries(t.Context(), f, 100)
	ok(t, "read audit log", err)
	n, err := s.AuditCount(t.Context(), f)
	ok(t, "count audit log", err)
	same(t, "number of entries", n, len(all))
	return all
}

func failuresAreNoted(t *testing.T, s store.Store) {
	t.Helper()
	denied := entry("two")
	denied.Outcome = mockbase.AuditDenied
	for _, e := range []*mockbase.AuditEntry{entry("one"), denied, entry("three")} {
		ok(t, "append", s.AppendAudit(t.Context(), e))
	}
	draft := mockbase.NewAuditDraft(*entry("four"))
	ctx := mockbase.WithAudit(t.Context(), draft)
	for _, id := range []string{"aud_one", "aud_one", "aud_two", "aud_none"} {
		ok(t, "note failure of "+id, s.FailAudit(ctx, id))
	}
	if draft.Pending() == nil {
		t.Error("the correction took the entry of the context along")
	}
	failed := entry("one")
	failed.Outcome = mockbase.AuditFailed
	same(t, "entries", entries(t, s, mockbase.AuditFilter{}), []*mockbase.AuditEntry{entry("three"), denied, failed})
}

func entriesAreKept(t *testing.T, s store.Store) {
	t.Helper()
	bare := &mockbase.AuditEntry{ID: "aud_bare", At: noon().Add(1), Action: "x", Outcome: mockbase.AuditDenied}
	ok(t, "append", s.AppendAudit(t.Context(), entry("one")))
	ok(t, "append", s.AppendAudit(t.Context(), bare))
	same(t, "entries", entries(t, s, mockbase.AuditFilter{}), []*mockbase.AuditEntry{bare, entry("one")})
	first, err := s.AuditEntries(t.Context(), mockbase.AuditFilter{}, 1)
	ok(t, "read one", err)
	same(t, "first page", first, []*mockbase.AuditEntry{bare})
	same(t, "second page", entries(t, s, mockbase.AuditFilter{Before: "aud_bare"}), []*mockbase.AuditEntry{entry("one")})
	trimmed, err := s.TrimAudit(t.Context(), noon().Add(1))
	ok(t, "trim", err)
	same(t, "number trimmed", trimmed, 1)
	same(t, "entries", entries(t, s, mockbase.AuditFilter{}), []*mockbase.AuditEntry{bare})
}

func entriesAreSelected(t *testing.T, s store.Store) {
	t.Helper()
	other := entry("two")
	other.At, other.Outcome, other.IP = noon().Add(time.Hour), mockbase.AuditDenied, "192.0.2.2"
	ok(t, "append", s.AppendAudit(t.Context(), entry("one")))
	ok(t, "append", s.AppendAudit(t.Context(), other))
	for name, f := range map[string]mockbase.AuditFilter{
		"since": {Since: noon().Add(1)}, "actor by id": {Actor: "tok_two"}, "actor by label": {Actor: "label of two"},
		"action": {Action: "actiontwo"}, "target by id": {Target: "mck_two"}, "target by name": {Target: "name-two"},
		"outcome": {Outcome: mockbase.AuditDenied}, "ip": {IP: "192.0.2.2"}, "request": {RequestID: "req_two"}, "project": {Project: "prj_two"},
	} {
		same(t, name, entries(t, s, f), []*mockbase.AuditEntry{other})
	}
	same(t, "until", entries(t, s, mockbase.AuditFilter{Until: other.At}), []*mockbase.AuditEntry{entry("one")})
	same(t, "two members", len(entries(t, s, mockbase.AuditFilter{Actor: "tok_two", IP: "192.0.2.1"})), 0)
	same(t, "what SQL would take for a condition", len(entries(t, s, mockbase.AuditFilter{Actor: "' OR 1=1 --"})), 0)
}

func changeAndEntryTogether(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "append", s.AppendAudit(t.Context(), entry("taken")))
	// An entry with an id that is taken cannot be appended, so that the change must not happen.
	draft := mockbase.NewAuditDraft(*entry("taken"))
	ctx := mockbase.WithAudit(t.Context(), draft)
	if err := s.CreateUser(ctx, user("ada")); err == nil {
		t.Error("a user was created without its audit entry")
	}
	wantUsers(t, s, 0)
	if err := s.Apply(ctx, creation("shop", "")); err == nil {
		t.Error("a project was created without its audit entry")
	}
	same(t, "projects", len(snapshots(t, s)), 0)

	// A change that fails leaves no entry, and a later one of the same request writes it.
	draft = mockbase.NewAuditDraft(*entry("one"))
	ctx = mockbase.WithAudit(t.Context(), draft)
	wantCode(t, "delete nobody", s.DeleteUser(ctx, "usr_none"), mockbase.CodeNotFound)
	same(t, "entries", len(entries(t, s, mockbase.AuditFilter{})), 1)
	draft.Note(func(e *mockbase.AuditEntry) { e.Target.Name = "noted" })
	ok(t, "create", s.CreateUser(ctx, user("ada")))
	draft.Note(func(e *mockbase.AuditEntry) { e.Target.Name = "too late" })
	ok(t, "create", s.CreateUser(ctx, user("bob")))
	want := entry("one")
	want.Target.Name = "noted"
	same(t, "entries", entries(t, s, mockbase.AuditFilter{Action: "actionone"}), []*mockbase.AuditEntry{want})
}

func everyChangeIsAudited(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create user", s.CreateUser(t.Context(), admin("ada")))
	ok(t, "create user", s.CreateUser(t.Context(), user("bob")))
	ok(t, "create sign-in", s.CreateSignIn(t.Context(), signIn("two", "usr_ada")))
	ok(t, "create invitation", s.CreateInvitation(t.Context(), invitation("two")))
	for i, change := range []func(ctx context.Context) error{
		func(ctx context.Context) error { return s.UpdateUser(ctx, admin("ada")) },
		func(ctx context.Context) error { return s.Apply(ctx, creation("shop", "usr_ada")) },
		func(ctx context.Context) error {
			_, err := s.PutMember(ctx, "prj_shop", "usr_bob", mockbase.RoleViewer, noon())
			return err
		},
		func(ctx context.Context) error { return s.DeleteMember(ctx, "prj_shop", "usr_bob") },
		func(ctx context.Context) error { return s.CreateSignIn(ctx, signIn("one", "usr_ada")) },
		func(ctx context.Context) error { return s.RevokeSignIn(ctx, "sgn_one", noon()) },
		func(ctx context.Context) error { return s.CreateInvitation(ctx, invitation("one")) },
		func(ctx context.Context) error { return s.DeleteInvitation(ctx, "inv_one") },
		func(ctx context.Context) error { return s.CreatePasswordReset(ctx, reset("one")) },
		func(ctx context.Context) error { return s.CreateToken(ctx, token("one"), 9) },
		func(ctx context.Context) error { return s.DeleteToken(ctx, "tok_one") },
		func(ctx context.Context) error { return s.PutSetting(ctx, setting(1)) },
		func(ctx context.Context) error { return s.PutBan(ctx, ban("one")) },
		func(ctx context.Context) error { return s.DeleteBans(ctx, "ban_one") },
		func(ctx context.Context) error {
			_, err := s.RotateSignIn(ctx, "sgn_two", []byte("current two"), []byte("next"), noon())
			return err
		},
		func(ctx context.Context) error { return s.RenewSignIn(ctx, "sgn_two", noon()) },
		func(ctx context.Context) error { return s.EndAllSignIns(ctx, noon()) },
		func(ctx context.Context) error {
			_, err := s.ChangeUser(ctx, mockbase.UserChange{ID: "usr_ada", At: noon(), Change: func(*mockbase.User) error { return nil }})
			return err
		},
		func(ctx context.Context) error {
			return s.LinkIdentity(ctx, mockbase.Identity{Issuer: "https://id.example.com", Subject: "1", UserID: "usr_ada", CreatedAt: noon()})
		},
		func(ctx context.Context) error {
			return s.AcceptInvitation(ctx, []byte("secret of two"), user("cam"), noon())
		},
		func(ctx context.Context) error {
			_, err := s.UsePasswordReset(ctx, []byte("secret of reset one"), mockbase.UserChange{At: noon(), Change: func(*mockbase.User) error { return nil }})
			return err
		},
		func(ctx context.Context) error {
			return s.Apply(ctx, mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: 1, Put: []*mockbase.Mock{mock(t, "shop", "a", 1)}})
		},
		func(ctx context.Context) error {
			return s.Apply(ctx, mockbase.ChangeSet{ProjectID: "prj_shop", IfRevision: 2, DeleteProject: true})
		},
		func(ctx context.Context) error { return s.DeleteUser(ctx, "usr_bob") },
	} {
		draft := mockbase.NewAuditDraft(*entry(strconv.Itoa(i)))
		ok(t, fmt.Sprint("change ", i), change(mockbase.WithAudit(t.Context(), draft)))
		if draft.Pending() != nil || len(entries(t, s, mockbase.AuditFilter{})) != i+1 {
			t.Fatalf("change %d is not in the audit log", i)
		}
	}
}

func replay(key string) *mockbase.Replay {
	return &mockbase.Replay{
		Caller: "usr_ada", Method: "POST", Path: "/api/v1/projects", Key: key, Digest: []byte("digest"), At: noon(), Status: 201,
		MediaType: "application/json", Header: map[string][]string{"Location": {"/x"}}, Body: []byte(`{"a":1}`),
	}
}

func changeAndAnswerTogether(t *testing.T, s store.Store) {
	t.Helper()
	draft := mockbase.NewReplayDraft(*replay("one"))
	ctx := mockbase.WithReplay(t.Context(), draft)
	ok(t, "change before the answer is known", s.CreateUser(ctx, user("ada")))
	_, err := s.Replay(t.Context(), replay("one"), time.Time{})
	wantCode(t, "find an answer that is not known", err, mockbase.CodeNotFound)

	draft.Answer(func(r *mockbase.Replay) { r.Status = 200 })
	wantCode(t, "delete nobody", s.DeleteUser(ctx, "usr_none"), mockbase.CodeNotFound)
	ok(t, "append what is no change", s.AppendAudit(ctx, entry("one")))
	_, err = s.Replay(t.Context(), replay("one"), time.Time{})
	wantCode(t, "find the answer to a change that failed", err, mockbase.CodeNotFound)

	ok(t, "change", s.Apply(ctx, creation("shop", "usr_ada")))
	if draft.Pending() != nil || !draft.IsWritten() {
		t.Error("the answer is still to be written")
	}
	draft.Answer(func(r *mockbase.Replay) { r.Status = 500 })
	ok(t, "change again", s.CreateUser(ctx, user("bob")))
	want := replay("one")
	want.Status = 200
	found, err := s.Replay(t.Context(), replay("one"), time.Time{})
	ok(t, "find", err)
	same(t, "answer", found, want)

	withdrawn := mockbase.NewReplayDraft(*replay("two"))
	withdrawn.Answer(func(*mockbase.Replay) {})
	withdrawn.Withdraw()
	ok(t, "delete", s.DeleteUser(mockbase.WithReplay(t.Context(), withdrawn), "usr_bob"))
	_, err = s.Replay(t.Context(), replay("two"), time.Time{})
	wantCode(t, "find an answer that was withdrawn", err, mockbase.CodeNotFound)
}

func answersAreKept(t *testing.T, s store.Store) {
	t.Helper()
	_, err := s.Replay(t.Context(), replay("one"), time.Time{})
	wantCode(t, "find none", err, mockbase.CodeNotFound)
	ok(t, "keep", s.PutReplay(t.Context(), replay("one")))
	found, err := s.Replay(t.Context(), replay("one"), noon().Add(-1))
	ok(t, "find", err)
	same(t, "answer", found, replay("one"))
	_, err = s.Replay(t.Context(), replay("one"), noon())
	wantCode(t, "find one that is too old", err, mockbase.CodeNotFound)
	other := replay("one")
	other.Caller = "usr_bob"
	_, err = s.Replay(t.Context(), other, time.Time{})
	wantCode(t, "find that of somebody else", err, mockbase.CodeNotFound)
	again := replay("one")
	again.At, again.Status, again.Body = noon().Add(1), 204, nil
	ok(t, "keep again", s.PutReplay(t.Context(), again))
	found, err = s.Replay(t.Context(), replay("one"), time.Time{})
	ok(t, "find", err)
	same(t, "answer", found, again)
	deleted, err := s.DeleteReplays(t.Context(), noon().Add(2))
	ok(t, "forget", err)
	same(t, "number forgotten", deleted, 1)
}
