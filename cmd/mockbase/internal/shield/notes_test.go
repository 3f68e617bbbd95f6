package shield_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/shield"
	"github.com/mockbase/mockbase/ratelimit"
)

// ledger keeps notes by rule and key, unless it is full.
type ledger struct {
	shield.Kept

	notes  map[string]mockbase.BanNote
	writes int
	full   bool
	// said is what was logged.
	said strings.Builder
}

func (l *ledger) ChangeBanNotes(_ context.Context, put, drop []mockbase.BanNote) error {
	if l.full {
		return errors.New("the disk is full")
	}
	l.writes++
	for i := range drop {
		delete(l.notes, drop[i].Rule+"/"+drop[i].Key)
	}
	for i := range put {
		l.notes[put[i].Rule+"/"+put[i].Key] = put[i]
	}
	return nil
}

func (l *ledger) keys() string { return strings.Join(slices.Sorted(maps.Keys(l.notes)), " ") }

// noted is a register whose bans are noted, and its clock.
func noted(t *testing.T) (bans ratelimit.Bans, kept *ledger, clock *time.Time) {
	t.Helper()
	now := time.Date(2030, 1, 2, 3, 4, 5, 6, time.UTC)
	kept = &ledger{notes: map[string]mockbase.BanNote{}}
	return shield.Noting(kept, func() time.Time { return now }, slog.New(slog.NewTextHandler(&kept.said, nil))), kept, &now
}

func strike(t *testing.T, bans ratelimit.Bans, r *ratelimit.BanRule, key string, now time.Time) {
	t.Helper()
	if _, err := bans.Strike(t.Context(), r, key, now); err != nil {
		t.Fatal(err)
	}
}

// M-37: a ban is noted when it begins, as it is, and no more when it is lifted or over.
func TestM37_bans_in_memory_are_noted(t *testing.T) {
	t.Parallel()
	bans, kept, now := noted(t)
	rule := &ratelimit.BanRule{Name: "login", MaxRetry: 2, FindTime: time.Hour, BanTime: time.Minute, Growth: 3}
	strike(t, bans, rule, "one", *now)
	if kept.writes != 0 {
		t.Error("an offence alone is noted")
	}
	strike(t, bans, rule, "one", *now)
	want := mockbase.BanNote{Rule: "login", Key: "one", From: *now, Until: now.Add(time.Minute)}
	if diff := cmp.Diff(want, kept.notes["login/one"]); diff != "" {
		t.Error(diff)
	}
	strike(t, bans, rule, "one", now.Add(time.Second))
	if kept.writes != 1 {
		t.Errorf("one ban was written %d times", kept.writes)
	}
	*now = now.Add(2 * time.Minute)
	for _, key := range []string{"one", "two"} {
		strike(t, bans, rule, key, *now)
		strike(t, bans, rule, key, *now)
	}
	if n := kept.notes["login/one"]; n.Repeat != 1 || !n.Until.Equal(now.Add(3*time.Minute)) {
		t.Errorf("the second ban is noted as %+v", n)
	}
	for _, b := range []ratelimit.Ban{
		{Rule: ratelimit.ManualBans, Identifier: "three", From: *now},
		{Rule: "login", Identifier: "four", From: *now, Until: now.Add(time.Minute)},
		{Rule: "other", Identifier: "five", From: *now},
	} {
		if err := bans.Put(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if got := kept.keys(); got != "login/four login/one login/two other/five" {
		t.Errorf("noted are %s", got)
	}
	for _, key := range []string{"one", "none", ""} {
		if _, err := bans.Lift(t.Context(), "login", key, *now); err != nil {
			t.Fatal(err)
		}
		if want := map[string]string{"": "other/five"}[key]; key == "" && kept.keys() != want {
			t.Errorf("noted are %s, want %s", kept.keys(), want)
		}
	}
	if strike(t, bans, rule, "six", *now); kept.keys() != "other/five" {
		t.Errorf("noted are %s", kept.keys())
	}
}

// A ban that each offence extends is not written with each of them.
func TestM37_a_ban_that_grows_is_noted_now_and_then(t *testing.T) {
	t.Parallel()
	bans, kept, now := noted(t)
	rule := &ratelimit.BanRule{Name: "login", MaxRetry: 1, FindTime: time.Hour, BanTime: time.Minute, Extend: true}
	for range 200 {
		strike(t, bans, rule, "one", *now)
		*now = now.Add(100 * time.Millisecond)
	}
	if kept.writes < 2 || kept.writes > 3 {
		t.Errorf("written %d times within 20 seconds", kept.writes)
	}
}

// Notes are bounded, those that are over go first, and what the database does not take is tried again.
func TestM37_notes_of_bans_are_bounded(t *testing.T) {
	t.Parallel()
	bans, kept, now := noted(t)
	put := func(key string, life time.Duration) {
		t.Helper()
		if err := bans.Put(t.Context(), ratelimit.Ban{Rule: "login", Identifier: key, From: *now, Until: now.Add(life)}); err != nil {
			t.Fatal(err)
		}
	}
	put("first", time.Minute)
	put("long", 24*time.Hour)
	*now = now.Add(time.Hour)
	kept.full = true
	put("second", 2*time.Hour)
	put("third", 3*time.Hour)
	kept.full = false
	put("fourth", 4*time.Hour)
	if got := kept.keys(); got != "login/fourth login/long login/second login/third" {
		t.Errorf("noted are %s", got)
	}
	if strings.Count(kept.said.String(), "cannot be stored") != 1 || strings.Count(kept.said.String(), "are stored again") != 1 {
		t.Errorf("said: %s", kept.said.String())
	}
	for i := range shield.MaxNotes {
		put(strconv.Itoa(i), 5*time.Hour)
	}
	put("last", 5*time.Hour)
	if _, ok := kept.notes["login/long"]; len(kept.notes) != shield.MaxNotes || !ok || strings.Contains(kept.keys(), "second") {
		t.Errorf("%d are noted, the longest: %t", len(kept.notes), ok)
	}
}
