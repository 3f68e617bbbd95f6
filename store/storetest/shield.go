package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store"
)

func shieldPromises() []promise {
	return []promise{
		{"RL130: a setting is replaced by a newer version alone", settingIsReplacedInOrder},
		{"RL130: of several changes of a setting one succeeds", settingChangesOnce},
		{"M-225: bans are kept, changed and deleted by their id", func(t *testing.T, s store.Store) {
			t.Helper()
			for _, name := range []string{"one", "two"} {
				ok(t, "store", s.PutBan(t.Context(), ban(name)))
			}
			forever := ban("two")
			forever.Reason, forever.ExpiresAt = "changed", time.Time{}
			ok(t, "change", s.PutBan(t.Context(), forever))
			wantBans(t, s, *forever, *ban("one"))
			ok(t, "delete", s.DeleteBans(t.Context(), "ban_one", "ban_none"))
			wantBans(t, s, *forever)
			ok(t, "delete nothing", s.DeleteBans(t.Context()))
			ok(t, "delete", s.DeleteBans(t.Context(), "ban_two"))
			wantBans(t, s)
		}},
		{"M-37: notes of the register of bans are kept, replaced and deleted by rule, key and kind", notesOfBansAreKept},
	}
}

func notesOfBansAreKept(t *testing.T, s store.Store) {
	t.Helper()
	want := func(want ...mockbase.BanNote) {
		t.Helper()
		got, err := s.BanNotes(t.Context())
		ok(t, "read notes", err)
		same(t, "notes", got, want)
	}
	note := func(rule, key string) mockbase.BanNote {
		return mockbase.BanNote{Rule: rule, Key: key, From: noon(), Until: noon().Add(time.Hour + 1), Repeat: 3}
	}
	lift := mockbase.BanNote{Rule: "b", Key: "1", Lifted: true, From: noon().Add(5)}
	ok(t, "nothing", s.ChangeBanNotes(t.Context(), nil, nil))
	want()
	ok(t, "note", s.ChangeBanNotes(t.Context(), []mockbase.BanNote{lift, note("b", "1"), note("a", "2"), note("a", "")}, nil))
	want(note("a", ""), note("a", "2"), note("b", "1"), lift)
	forever := note("b", "1")
	forever.Until, forever.Repeat = time.Time{}, 0
	// What is in both lists is stored.
	ok(t, "change", s.ChangeBanNotes(t.Context(), []mockbase.BanNote{forever}, []mockbase.BanNote{note("a", ""), forever, note("a", "none")}))
	want(note("a", "2"), forever, lift)
	ok(t, "delete", s.ChangeBanNotes(t.Context(), nil, []mockbase.BanNote{lift}))
	want(note("a", "2"), forever)
}

// setting is a setting with every member set.
func setting(version int64) *mockbase.Setting {
	return &mockbase.Setting{
		Name: "shield", Version: version, Document: fmt.Appendf(nil, `{"n":%d.50}`, version), UpdatedAt: noon(), UpdatedBy: "ada",
	}
}

// ban is a ban with every member set that is kept; two is newer than one.
func ban(name string) *mockbase.Ban {
	b := &mockbase.Ban{
		ID: "ban_" + name, Subject: mockbase.BanSubject{Type: mockbase.BanCIDR, Value: "192.0.2.0/24"}, Key: "key of " + name,
		Reason: "scraping", CreatedBy: "ada", CreatedAt: noon(), ExpiresAt: noon().AddDate(0, 0, 1),
	}
	if name == "two" {
		b.CreatedAt = noon().Add(1)
	}
	return b
}

func settingIsReplacedInOrder(t *testing.T, s store.Store) {
	t.Helper()
	_, err := s.Setting(t.Context(), "shield")
	wantCode(t, "read what is not there", err, mockbase.CodeNotFound)
	for _, version := range []int64{1, 2, 3, 7} { // Other servers may have changed it several times.
		ok(t, "store", s.PutSetting(t.Context(), setting(version)))
		for stale := range version + 1 {
			wantCode(t, "store again", s.PutSetting(t.Context(), setting(stale)), mockbase.CodeVersionMismatch)
		}
		stored, err := s.Setting(t.Context(), "shield")
		ok(t, "read", err)
		same(t, "setting", stored, setting(version))
	}
}

func settingChangesOnce(t *testing.T, s store.Store) {
	t.Helper()
	const callers = 8
	errs := make([]error, callers)
	var group sync.WaitGroup
	for i := range callers {
		group.Go(func() { errs[i] = s.PutSetting(t.Context(), setting(1)) })
	}
	group.Wait()
	done := 0
	for _, err := range errs {
		if err == nil {
			done++
			continue
		}
		wantCode(t, "second change", err, mockbase.CodeVersionMismatch)
	}
	same(t, "changes that succeeded", done, 1)
}

func wantBans(t *testing.T, s store.Store, want ...mockbase.Ban) {
	t.Helper()
	got, err := s.Bans(t.Context())
	ok(t, "read bans", err)
	if len(want) == 0 {
		want = nil
	}
	same(t, "bans", got, want)
}
