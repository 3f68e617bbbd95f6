package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store"
)

func signInPromises() []promise {
	return []promise{
		{"M-34: a sign-in is found by id and by the digest of its token", func(t *testing.T, s store.Store) {
			t.Helper()
			withSignIn(t, s)
			byID, err := s.SignIn(t.Context(), "sgn_one")
			ok(t, "find by id", err)
			same(t, "sign-in by id", byID, signIn("one", "usr_ada"))
			byHash, err := s.SignInByRefreshHash(t.Context(), []byte("current one"))
			ok(t, "find by digest", err)
			same(t, "sign-in by digest", byHash, signIn("one", "usr_ada"))
			withUser, u, err := s.SignedIn(t.Context(), "sgn_one")
			ok(t, "find with user", err)
			same(t, "sign-in with user", withUser, signIn("one", "usr_ada"))
			byUser, err := s.UserByID(t.Context(), "usr_ada")
			ok(t, "find user", err)
			same(t, "user of the sign-in", u, byUser)
		}},
		{"a sign-in that is not there is not found, not by an empty digest either", func(t *testing.T, s store.Store) {
			t.Helper()
			withSignIn(t, s)
			_, err := s.SignIn(t.Context(), "sgn_none")
			wantCode(t, "by id", err, mockbase.CodeNotFound)
			_, _, err = s.SignedIn(t.Context(), "sgn_none")
			wantCode(t, "with user", err, mockbase.CodeNotFound)
			for _, hash := range [][]byte{[]byte("none"), {}, nil} {
				_, err = s.SignInByRefreshHash(t.Context(), hash)
				wantCode(t, "by digest "+string(hash), err, mockbase.CodeNotFound)
			}
			wantCode(t, "create for a missing user", s.CreateSignIn(t.Context(), signIn("two", "usr_none")), mockbase.CodeNotFound)
		}},
		{"M-34: a rotation makes the token the previous one", rotationKeepsPredecessor},
		{"M-34: the last 32 tokens that were used up are remembered with their times", rotationsAreRemembered},
		{"M-34: of several rotations of one token one succeeds", rotationOnce},
		{"M-39: a revoked sign-in stays, keeps its time and rotates no more", revokedForGood},
		{"expired sign-ins are deleted, others stay", func(t *testing.T, s store.Store) {
			t.Helper()
			withSignIn(t, s)
			later := signIn("later", "usr_ada")
			later.ExpiresAt = later.ExpiresAt.Add(time.Nanosecond)
			ok(t, "create", s.CreateSignIn(t.Context(), later))
			deleted, err := s.DeleteExpiredSignIns(t.Context(), signIn("one", "usr_ada").ExpiresAt)
			ok(t, "delete expired", err)
			same(t, "number deleted", deleted, 1)
			_, err = s.SignIn(t.Context(), "sgn_one")
			wantCode(t, "expired sign-in", err, mockbase.CodeNotFound)
			_, err = s.SignIn(t.Context(), "sgn_later")
			ok(t, "find the other", err)
		}},
	}
}

// signIn is a sign-in that was not rotated yet.
func signIn(name, userID string) *mockbase.SignIn {
	return &mockbase.SignIn{
		ID: "sgn_" + name, UserID: userID, CurrentHash: []byte("current " + name), CreatedAt: noon(), LastUsedAt: noon(),
		AuthTime: noon(), ExpiresAt: noon().AddDate(0, 0, 30), IP: "192.0.2.1", UserAgent: "curl/8",
	}
}

func withSignIn(t *testing.T, s store.Store) {
	t.Helper()
	ok(t, "create user", s.CreateUser(t.Context(), user("ada")))
	ok(t, "create sign-in", s.CreateSignIn(t.Context(), signIn("one", "usr_ada")))
}

func rotationKeepsPredecessor(t *testing.T, s store.Store) {
	t.Helper()
	withSignIn(t, s)
	now := noon().Add(time.Minute)
	rotated, err := s.RotateSignIn(t.Context(), "sgn_one", []byte("current one"), []byte("next"), now)
	ok(t, "rotate", err)
	same(t, "rotated", rotated, true)
	want := signIn("one", "usr_ada")
	want.CurrentHash, want.PreviousHash, want.RotatedAt, want.LastUsedAt = []byte("next"), []byte("current one"), now, now
	for _, hash := range []string{"next", "current one"} {
		found, err := s.SignInByRefreshHash(t.Context(), []byte(hash))
		ok(t, "find by "+hash, err)
		same(t, "sign-in by "+hash, found, want)
	}
	rotated, err = s.RotateSignIn(t.Context(), "sgn_one", []byte("current one"), []byte("other"), now)
	ok(t, "rotate the predecessor", err)
	same(t, "the predecessor rotated", rotated, false)
}

func rotationsAreRemembered(t *testing.T, s store.Store) {
	t.Helper()
	withSignIn(t, s)
	ok(t, "create another sign-in", s.CreateSignIn(t.Context(), signIn("two", "usr_ada")))
	token := func(n int) []byte {
		if n == 0 {
			return []byte("current one")
		}
		return fmt.Appendf(nil, "token %d", n)
	}
	// Most of them in one instant: what is forgotten first does not hang on the clock.
	at := func(n int) time.Time { return noon().Add(time.Duration(n/20) * time.Second) }
	const rotations = store.MaxRotations + 5
	for n := range rotations {
		rotated, err := s.RotateSignIn(t.Context(), "sgn_one", token(n), token(n+1), at(n))
		ok(t, "rotate", err)
		same(t, "rotated", rotated, true)
	}
	for n := range rotations {
		when, err := s.RefreshRotatedAt(t.Context(), "sgn_one", token(n))
		found, findErr := s.SignInByRefreshHash(t.Context(), token(n))
		if n < rotations-store.MaxRotations {
			wantCode(t, "time of a token used up long ago", err, mockbase.CodeNotFound)
			wantCode(t, "sign-in of a token used up long ago", findErr, mockbase.CodeNotFound)
			continue
		}
		ok(t, "time of a rotation", err)
		same(t, "time of a rotation", when, at(n))
		ok(t, "find by a used token", findErr)
		same(t, "sign-in of a used token", found.ID, "sgn_one")
	}
	_, err := s.RefreshRotatedAt(t.Context(), "sgn_one", token(rotations))
	wantCode(t, "time of the current token", err, mockbase.CodeNotFound)
	_, err = s.RefreshRotatedAt(t.Context(), "sgn_two", token(rotations-1))
	wantCode(t, "time of another sign-in's token", err, mockbase.CodeNotFound)
	_, err = s.DeleteExpiredSignIns(t.Context(), noon().AddDate(1, 0, 0))
	ok(t, "delete expired", err)
	_, err = s.SignInByRefreshHash(t.Context(), token(rotations-1))
	wantCode(t, "sign-in of a used token whose sign-in is gone", err, mockbase.CodeNotFound)
}

func rotationOnce(t *testing.T, s store.Store) {
	t.Helper()
	withSignIn(t, s)
	var rotated atomic.Int32
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			did, err := s.RotateSignIn(t.Context(), "sgn_one", []byte("current one"), fmt.Appendf(nil, "next %d", i), noon())
			if err != nil {
				t.Errorf("rotate: %v", err)
			}
			if did {
				rotated.Add(1)
			}
		})
	}
	group.Wait()
	same(t, "rotations", rotated.Load(), int32(1))
}

func revokedForGood(t *testing.T, s store.Store) {
	t.Helper()
	withSignIn(t, s)
	ok(t, "revoke", s.RevokeSignIn(t.Context(), "sgn_one", noon().Add(time.Hour)))
	ok(t, "revoke again", s.RevokeSignIn(t.Context(), "sgn_one", noon().Add(2*time.Hour)))
	ok(t, "revoke what is not there", s.RevokeSignIn(t.Context(), "sgn_none", noon()))
	found, err := s.SignIn(t.Context(), "sgn_one")
	ok(t, "find", err)
	same(t, "time of the revocation", found.RevokedAt, noon().Add(time.Hour))
	rotated, err := s.RotateSignIn(t.Context(), "sgn_one", []byte("current one"), []byte("next"), noon())
	ok(t, "rotate", err)
	same(t, "rotated", rotated, false)
}
