package management_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/auth"
	"github.com/mockbase/mockbase/store"
)

// Each token has its own 10 s: that its successor was used up too takes nothing from them, nor does a restart.
func TestM34_a_used_token_keeps_its_10_seconds_while_its_successors_are_used(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := worldIn(t, dir)
	w.addUser(editor)
	_, first := w.login()
	chain := []*http.Cookie{first}
	const rotations = 4
	for range rotations {
		chain = append(chain, w.refreshWith(chain[len(chain)-1]).want(http.StatusOK).refreshCookie())
		w.clock.Advance(time.Second)
	}
	yields := func(n int) {
		t.Helper()
		if got := w.refreshWith(chain[n]).want(http.StatusOK).refreshCookie(); got == nil || got.Value != chain[n+1].Value {
			t.Errorf("token %d yields %v, want its successor", n, got)
		}
	}
	for n := range rotations {
		yields(n)
	}
	// A restarted server, like another one with the same store, knows as much.
	now := w.clock.Now()
	w.stop()
	w = worldIn(t, dir)
	w.clock.Advance(now.Sub(w.clock.Now()) + auth.RefreshGrace - rotations*time.Second)
	for n := range rotations {
		yields(n)
	}
	w.clock.Advance(time.Nanosecond)
	yields(1)
	w.refreshWith(chain[0]).want(http.StatusUnauthorized, mockbase.CodeRefreshReused)
	w.refreshWith(chain[1]).want(http.StatusUnauthorized, mockbase.CodeTokenRevoked)
	w.refreshWith(chain[rotations]).want(http.StatusUnauthorized, mockbase.CodeTokenRevoked)
}

func TestM34_a_loop_of_refreshes_is_remembered_for_so_long_only(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, first := w.login()
	second := w.refreshWith(first).want(http.StatusOK).refreshCookie()
	latest := second
	for range store.MaxRotations - 1 {
		latest = w.refreshWith(latest).want(http.StatusOK).refreshCookie()
	}
	if got := w.refreshWith(first).want(http.StatusOK).refreshCookie(); got.Value != second.Value {
		t.Errorf("the oldest token that is remembered yields %q, want %q", got.Value, second.Value)
	}
	latest = w.refreshWith(latest).want(http.StatusOK).refreshCookie()
	w.refreshWith(first).want(http.StatusUnauthorized, mockbase.CodeRefreshReused)
	w.refreshWith(latest).want(http.StatusUnauthorized, mockbase.CodeTokenRevoked)
}

// A store that does not answer is no proof of a copy: the sign-in goes on when it works again.
func TestM34_a_store_that_fails_ends_no_sign_in(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, first := w.login()
	second := w.refreshWith(first).want(http.StatusOK).refreshCookie()
	w.people.failWith("RefreshRotatedAt", &mockbase.Error{Code: mockbase.CodeUnavailable, Message: "the store does not answer"})
	if got := w.refreshWith(first).want(http.StatusServiceUnavailable, mockbase.CodeUnavailable); got.refreshCookie() != nil {
		t.Error("a failing refresh touched the cookie")
	}
	w.people.failWith("RefreshRotatedAt", nil)
	w.refreshWith(first).want(http.StatusOK)
	w.refreshWith(second).want(http.StatusOK)
}
