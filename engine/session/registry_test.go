package session_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/session"
)

func newRegistry(t *testing.T, o session.Options) *session.Registry {
	t.Helper()
	r := session.NewRegistry(o)
	t.Cleanup(r.Close)
	return r
}

func join(t *testing.T, r *session.Registry, name string) *session.Session {
	t.Helper()
	s, err := r.Join(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sleep passes the bubble's time.
func sleep(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // only in bubbles
	synctest.Wait()
}

func TestAA6_names_of_sessions(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"a": true, "ci-7": true, "A.b_c-9": true, strings.Repeat("x", 64): true,
		"": false, strings.Repeat("x", 65): false, "a b": false, "a/b": false, "é": false, "a~": false, "a%2D": false,
		// M-3: what begins as an id does could stand for another session.
		"ses_01M8PKMT2C2PM2QKJ9G0CR7HAZ": false, "mck_a": false, "prj_": false, "ses-1": true, "my_ses_1": true,
	} {
		if got := session.ValidName(name); got != want {
			t.Errorf("ValidName(%q) is %t, want %t", name, got, want)
		}
	}
}

func TestAA6_without_a_name_a_request_belongs_to_the_default_session_that_never_expires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry(t, session.Options{})
		first := join(t, r, "")
		sleep(90 * 24 * time.Hour)
		if join(t, r, "default") != first || !first.IsDefault() || !first.ExpiresAt().IsZero() {
			t.Error("the default session is not the same for ever")
		}
		if r.End("default") {
			t.Error("the default session was ended")
		}
		if _, err := r.Create(session.Spec{Name: "default"}); err == nil {
			t.Error("a second default session was created")
		}
	})
}

func TestAA7_the_time_to_live_counts_from_the_last_request_on_the_wall_clock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry(t, session.Options{})
		s := join(t, r, "ci")
		for range 3 {
			sleep(59 * time.Minute)
			if join(t, r, "ci") != s {
				t.Fatal("a session in use has expired")
			}
		}
		// Neither looking it up nor its own clock keeps it alive or ends it.
		if err := s.Timeline().Advance(5 * time.Hour); err != nil {
			t.Fatal(err)
		}
		if _, ok := r.Find("ci"); !ok {
			t.Fatal("an advance has ended the session")
		}
		sleep(time.Hour)
		if _, ok := r.Find("ci"); ok {
			t.Error("a session lives on after its time")
		}
		if s.EndedAt().IsZero() {
			t.Error("an expired session is not swept by itself")
		}
		again := join(t, r, "ci")
		if again.ID() == s.ID() || !strings.HasPrefix(again.ID(), "ses_") {
			t.Errorf("AA11: the same name later has the id %s, once %s", again.ID(), s.ID())
		}
	})
}

func TestAA7_a_session_may_live_for_a_day_at_most(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry(t, session.Options{})
		for _, ttl := range []time.Duration{-1, 24*time.Hour + 1} {
			_, err := r.Create(session.Spec{Name: "a", TTL: ttl})
			if refused, ok := errors.AsType[*mockbase.Error](err); !ok || refused.Fields[0].Pointer != "#/ttl" {
				t.Errorf("a time to live of %v gives %v", ttl, err)
			}
		}
		s, err := r.Create(session.Spec{TTL: 24 * time.Hour, Labels: map[string]string{"job": "7"}})
		if err != nil {
			t.Fatal(err)
		}
		if !session.ValidName(s.Name()) || s.Labels()["job"] != "7" || s.TTL() != 24*time.Hour {
			t.Errorf("made up the name %q", s.Name())
		}
		if _, err := r.Create(session.Spec{Name: "a/b"}); err == nil {
			t.Error("a name with a slash is accepted")
		}
	})
}

func TestAA7_over_the_quota_no_living_session_makes_room(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry(t, session.Options{Quota: func() int { return 2 }})
		join(t, r, "a")
		sleep(30 * time.Minute)
		join(t, r, "b")
		_, err := r.Join("c")
		if full, ok := errors.AsType[*session.QuotaError](err); !ok || full.Limit != 2 {
			t.Fatalf("the third session: %v", err)
		}
		_, err = r.Create(session.Spec{Name: "c"})
		if full, ok := errors.AsType[*mockbase.Error](err); !ok || full.Code != mockbase.CodeQuotaReached || full.Quota.Used != 2 {
			t.Fatalf("the third session by hand: %v", err)
		}
		join(t, r, "")
		sleep(30 * time.Minute)
		join(t, r, "c")
		if got := len(r.List()); got != 3 {
			t.Errorf("%d sessions are listed, want default, b and c", got)
		}
	})
}

func TestAA7_two_requests_with_the_same_new_name_at_once_get_one_session(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, session.Options{})
	var all sync.WaitGroup
	got := make([]*session.Session, 32)
	for i := range got {
		all.Go(func() { got[i], _ = r.Join("new") })
	}
	all.Wait()
	for _, s := range got {
		if s == nil || s != got[0] {
			t.Fatal("two sessions of one name")
		}
	}
}

func TestAA11_an_ended_session_is_gone_and_frees_what_was_attached(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, session.Options{})
	s := join(t, r, "a")
	a := s.Attached(attachmentKey{}, func() session.Attachment { return &attachment{} })
	if s.Attached(attachmentKey{}, func() session.Attachment { return &attachment{} }) != a {
		t.Error("a second attachment of the same key")
	}
	if found, ok := r.Find(s.ID()); !ok || found != s {
		t.Error("a session is not found by its id")
	}
	s.ResetClock()
	if !r.End(s.ID()) || r.End("a") {
		t.Error("a session ends once")
	}
	if own, ok := a.(*attachment); !ok || own.ended != 1 || own.reset != session.Limits {
		t.Errorf("the attachment saw %+v", a)
	}
}

type attachmentKey struct{}

type attachment struct {
	ended int
	reset session.Levels
}

func (a *attachment) Reset(what session.Levels) { a.reset |= what }
func (a *attachment) End()                      { a.ended++ }

func TestAA20_the_seed_is_the_given_one_else_the_projects_else_random(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, session.Options{})
	given, err := r.Create(session.Spec{Name: "given", Seed: "7"})
	if err != nil {
		t.Fatal(err)
	}
	one, other := join(t, r, "one"), join(t, r, "other")
	if one.Seed() == other.Seed() || one.Seed() == "" {
		t.Errorf("drawn seeds %q and %q", one.Seed(), other.Seed())
	}
	r.SetSeed("42")
	if one.Seed() != "42" || given.Seed() != "7" {
		t.Errorf("seeds %q and %q, want 42 and 7", one.Seed(), given.Seed())
	}
}
