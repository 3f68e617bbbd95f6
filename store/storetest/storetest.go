// Package storetest is the contract of package store as tests that any store can run.
//
// A store's own test calls [Run] with the way to open an empty store:
//
//	func TestStoreContract(t *testing.T) {
//		storetest.Run(t, storetest.Options{Open: func(t *testing.T) store.Store { … }})
//	}
package storetest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store"
)

// Options say how to open the store under test.
type Options struct {
	// Open opens an empty store that is closed when the test ends.
	Open func(t *testing.T) store.Store
	// Reopen closes the store and opens the same data again. It is nil for a store that keeps nothing.
	Reopen func(t *testing.T, s store.Store) store.Store
}

// promise is one sentence of the contract.
type promise struct {
	name  string
	check func(t *testing.T, s store.Store)
}

// Run checks a store against the contract.
func Run(t *testing.T, o Options) {
	t.Helper()
	for _, p := range promises() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.check(t, o.Open(t))
		})
	}
	if o.Reopen == nil {
		return
	}
	t.Run("everything outlives a restart", func(t *testing.T) {
		t.Parallel()
		outlivesRestart(t, o)
	})
}

func promises() []promise {
	var all []promise
	for _, part := range [][]promise{
		definitionPromises(), historyPromises(), collectionPromises(), accountPromises(), signInPromises(), peoplePromises(), secretPromises(), auditPromises(), shieldPromises(), exchangePromises(), concurrencyPromises(), orderPromises(),
	} {
		all = append(all, part...)
	}
	return append(all, promise{"an open store answers a ping, a closed one can be closed again", func(t *testing.T, s store.Store) {
		t.Helper()
		ok(t, "ping", s.Ping(t.Context()))
		ok(t, "close", s.Close())
		ok(t, "close again", s.Close())
		wantCode(t, "ping a closed store", s.Ping(t.Context()), mockbase.CodeUnavailable)
	}})
}

func outlivesRestart(t *testing.T, o Options) {
	t.Helper()
	s := o.Open(t)
	ok(t, "create user", s.CreateUser(t.Context(), user("ada")))
	ok(t, "create project", s.Apply(t.Context(), creation("shop", "usr_ada", mock(t, "shop", "first", 1))))
	ok(t, "create sign-in", s.CreateSignIn(t.Context(), signIn("one", "usr_ada")))
	_, err := s.RotateSignIn(t.Context(), "sgn_one", []byte("current one"), []byte("next"), noon())
	ok(t, "rotate", err)
	family, err := s.SignIn(t.Context(), "sgn_one")
	ok(t, "read sign-in", err)
	ok(t, "record traffic", s.AppendExchanges(t.Context(), []*mockbase.Exchange{exchange("shop", 1)}))
	before := snapshots(t, s)
	ok(t, "store setting", s.PutSetting(t.Context(), setting(1)))
	ok(t, "store ban", s.PutBan(t.Context(), ban("one")))
	keepSecrets(t, s)

	s = o.Reopen(t, s)
	same(t, "snapshots", snapshots(t, s), before)
	found, err := s.UserByEmail(t.Context(), "ada@example.com")
	ok(t, "find user", err)
	same(t, "user", found, user("ada"))
	role, err := s.ProjectRole(t.Context(), "prj_shop", "usr_ada")
	ok(t, "read role", err)
	same(t, "role", role, mockbase.RoleOwner)
	again, err := s.SignIn(t.Context(), "sgn_one")
	ok(t, "read sign-in", err)
	same(t, "sign-in", again, family)
	rotatedAt, err := s.RefreshRotatedAt(t.Context(), "sgn_one", []byte("current one"))
	ok(t, "read rotation", err)
	same(t, "time of a rotation", rotatedAt, noon())
	stored, err := s.Setting(t.Context(), "shield")
	ok(t, "read setting", err)
	same(t, "setting", stored, setting(1))
	bans, err := s.Bans(t.Context())
	ok(t, "read bans", err)
	same(t, "bans", bans, []mockbase.Ban{*ban("one")})
	secretsOutlive(t, s)
	recent, err := s.RecentExchanges(t.Context(), "prj_shop", 10)
	ok(t, "read traffic", err)
	same(t, "traffic", recent, []*mockbase.Exchange{exchange("shop", 1)})
}

func keepSecrets(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create token", s.CreateToken(t.Context(), token("one"), 9))
	ok(t, "append to audit log", s.AppendAudit(t.Context(), entry("one")))
	ok(t, "keep answer", s.PutReplay(t.Context(), replay("one")))
	ok(t, "note ban", s.ChangeBanNotes(t.Context(), []mockbase.BanNote{banNote()}, nil))
}

func banNote() mockbase.BanNote {
	return mockbase.BanNote{Rule: "login-ban-1", Key: "198.51.100.7", From: noon(), Until: noon().Add(time.Hour)}
}

func secretsOutlive(t *testing.T, s store.Store) {
	t.Helper()
	notes, err := s.BanNotes(t.Context())
	ok(t, "read notes of bans", err)
	same(t, "notes of bans", notes, []mockbase.BanNote{banNote()})
	kept, err := s.TokenByHash(t.Context(), token("one").Hash)
	ok(t, "find token", err)
	same(t, "token", kept, token("one"))
	same(t, "audit log", entries(t, s, mockbase.AuditFilter{}), []*mockbase.AuditEntry{entry("one")})
	answer, err := s.Replay(t.Context(), replay("one"), time.Time{})
	ok(t, "find answer", err)
	same(t, "answer", answer, replay("one"))
}

// noon is when everything in these tests happens; it has nanoseconds, so that a store that drops some is found.
func noon() time.Time {
	return time.Date(2031, time.May, 7, 12, 0, 0, 123456789, time.UTC)
}

func ok(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func wantCode(t *testing.T, what string, err error, code mockbase.Code) {
	t.Helper()
	if got := mockbase.ErrorCode(err); got != code {
		t.Errorf("%s: code %q (%v), want %q", what, got, err, code)
	}
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %s\nwant %s", what, describe(got), describe(want))
	}
}

// describe prints values behind pointers, too.
func describe(v any) string {
	r := reflect.ValueOf(v)
	switch {
	case r.Kind() == reflect.Pointer && !r.IsNil():
		return describe(r.Elem().Interface())
	case r.Kind() == reflect.Slice && r.Type().Elem().Kind() == reflect.Pointer:
		var b strings.Builder
		for i := range r.Len() {
			b.WriteString("\n\t" + describe(r.Index(i).Interface()))
		}
		return "[" + b.String() + "]"
	default:
		return fmt.Sprintf("%+v", v)
	}
}
