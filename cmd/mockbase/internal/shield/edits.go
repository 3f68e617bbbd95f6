package shield

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

const (
	// editsName is the document, and the stored setting, of what administrators did to bans that there were.
	editsName = "bans"
	// maxEdits and rememberEdits bound them: a server that was away for longer than that brings back what it has stored.
	maxEdits      = 4096
	rememberEdits = 365 * 24 * time.Hour
	// editGap keeps an edit behind what it edits, whatever the clocks of two servers say and however exactly they are kept.
	editGap = time.Millisecond
)

// edit is what an administrator did to a ban last, at any server: lifted it, or gave it another end or reason. Each server
// stores the bans that were made there, and gives them to the register again after a restart or when Redis has lost them:
// without the edits, a ban that was lifted elsewhere would come back (rules RL100 and RL101).
type edit struct {
	At     time.Time `json:"at"`
	By     string    `json:"by,omitzero"`
	Lifted bool      `json:"lifted,omitzero"`
	Until  time.Time `json:"until,omitzero"`
	Reason string    `json:"reason,omitzero"`
}

// edits are the newest ones by the key of their ban. Those of two servers are joined, in any order and any number of times.
type edits map[string]edit

// readEdits reads them; what makes no sense are none.
func readEdits(text []byte) edits {
	var read edits
	if json.Unmarshal(text, &read) != nil {
		return nil
	}
	return read
}

// join takes over what is newer, and returns the keys of that.
func (e edits) join(others edits) []string {
	var changed []string
	for key, theirs := range others {
		if mine, known := e[key]; !known || theirs.At.After(mine.At) {
			e[key] = theirs
			changed = append(changed, key)
		}
	}
	slices.Sort(changed)
	return changed
}

// trim drops what is too old, and the oldest of too many.
func (e edits) trim(now time.Time) {
	keys := make([]string, 0, len(e))
	for key, one := range e {
		if now.Sub(one.At) > rememberEdits {
			delete(e, key)
			continue
		}
		keys = append(keys, key)
	}
	if len(keys) <= maxEdits {
		return
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(e[b].At.Compare(e[a].At), cmp.Compare(a, b)) })
	for _, key := range keys[maxEdits:] {
		delete(e, key)
	}
}

// loadEdits reads what this server knows of.
func (s *Shield) loadEdits(ctx context.Context) error {
	s.edits = edits{}
	if s.options.Shared == nil {
		return nil
	}
	stored, err := s.options.Kept.Setting(ctx, editsName)
	switch {
	case mockbase.ErrorCode(err) == mockbase.CodeNotFound:
		return nil
	case err != nil:
		return fmt.Errorf("read edits of bans: %w", err)
	}
	s.editsVersion = stored.Version
	s.edits.join(readEdits(stored.Document))
	return nil
}

// keepEdits stores them, for a start without the others.
func (s *Shield) keepEdits(ctx context.Context, text []byte) {
	next := &mockbase.Setting{Name: editsName, Version: s.editsVersion + 1, Document: text, UpdatedAt: s.options.Clock()}
	if err := s.options.Kept.PutSetting(ctx, next); err != nil {
		s.options.Logger.Warn("what was done to bans is known to the other servers and not stored here", slog.String("reason", err.Error()))
		return
	}
	s.editsVersion = next.Version
}

// editBan tells the other servers what was done to a ban. What they cannot be told now they are told later.
func (s *Shield) editBan(ctx context.Context, b *mockbase.Ban, made edit) {
	if s.options.Shared == nil || b.Rule != "" {
		return
	}
	made.At = s.options.Clock()
	if least := b.CreatedAt.Add(editGap); made.At.Before(least) {
		made.At = least
	}
	made.At = made.At.UTC().Truncate(time.Microsecond)
	if before := s.edits[b.Key]; !made.At.After(before.At) {
		made.At = before.At.Add(editGap)
	}
	s.edits[b.Key] = made
	s.edits.trim(s.options.Clock())
	s.keepEdits(ctx, s.edits.text())
	s.syncEdits(ctx)
}

func (e edits) text() []byte {
	text, err := json.Marshal(e) // In the order of the keys.
	if err != nil {
		return nil // An instant beyond the year 9999, which nothing here makes.
	}
	return text
}

// syncEdits follows what was done to bans at other servers, and hands out what was done here. The caller holds changing.
func (s *Shield) syncEdits(ctx context.Context) {
	held, err := s.options.Shared.Document(ctx, editsName)
	if err != nil {
		return // The store tells about its outages; what is nobody's document of bans stays.
	}
	// What one server has forgotten, another must not remember: they would tell each other forever.
	s.edits.trim(s.options.Clock())
	if !bytes.Equal(held.Text, s.editsSeen) || held.Version == 0 {
		theirs := readEdits(held.Text)
		theirs.trim(s.options.Clock())
		if !s.followEdits(ctx, theirs) {
			return // It is tried again.
		}
		s.editsSeen = held.Text
	}
	own := s.edits.text()
	if bytes.Equal(own, held.Text) || len(s.edits) == 0 {
		return
	}
	next := redisstore.Document{Version: held.Version + 1, At: s.options.Clock(), Text: own}
	if put, _, err := s.options.Shared.PutDocument(ctx, editsName, next); err == nil && put {
		s.editsSeen = own
	}
}

// followEdits does what was done elsewhere, and returns false if some of it cannot be done now.
func (s *Shield) followEdits(ctx context.Context, theirs edits) bool {
	joined := edits{}
	joined.join(s.edits)
	changed := joined.join(theirs)
	if len(changed) == 0 {
		return true
	}
	stored, err := s.options.Kept.Bans(ctx)
	for i := 0; err == nil && i < len(changed); i++ {
		made := joined[changed[i]]
		err = s.followEdit(ctx, changed[i], &made, stored)
	}
	if err != nil {
		s.options.Logger.Warn("what another server did to bans cannot be done here and is tried again", slog.String("reason", err.Error()))
		return false
	}
	joined.trim(s.options.Clock())
	s.edits = joined
	s.keepEdits(ctx, joined.text())
	return true
}

// followEdit does to the stored bans of a key what was done elsewhere, and lifts the ban in this process too, which may have
// given it to the register anew. A ban that was made since is another one.
func (s *Shield) followEdit(ctx context.Context, key string, made *edit, stored []mockbase.Ban) error {
	known := false
	for i := range stored {
		b := stored[i]
		if b.Key != key || b.CreatedAt.After(made.At) {
			continue
		}
		known = true
		if err := s.editStored(ctx, &b, made); err != nil {
			return err
		}
	}
	if !known {
		return nil
	}
	s.options.Logger.Info("a ban was lifted or changed at another server", slog.String("key", key), slog.Bool("lifted", made.Lifted), slog.String("by", made.By))
	if !made.Lifted {
		return nil
	}
	held, found, err := s.failures.FindBan(ctx, ratelimit.ManualBans, key)
	if err != nil || found && held.From.After(made.At) {
		return err //nolint:wrapcheck // The register says what is wrong.
	}
	by := guard.Actor{Name: made.By}
	_, err = s.guard.Lift(ctx, ratelimit.ManualBans, key, by)
	_, again := s.failures.Lift(ctx, ratelimit.ManualBans, key, by)
	return errors.Join(err, again)
}

func (s *Shield) editStored(ctx context.Context, b *mockbase.Ban, made *edit) error {
	if made.Lifted {
		return s.options.Kept.DeleteBans(ctx, b.ID) //nolint:wrapcheck // What the store says is for people.
	}
	b.ExpiresAt, b.Reason = made.Until, made.Reason
	return s.options.Kept.PutBan(ctx, b) //nolint:wrapcheck // as above
}

// afterEdits returns when a new ban of a key begins: behind what was done to the one before it.
func (s *Shield) afterEdits(ctx context.Context, key string) time.Time {
	now := s.options.Clock()
	if s.options.Shared == nil {
		return now
	}
	s.syncEdits(ctx)
	if last := s.edits[key]; !now.After(last.At) {
		return last.At.Add(editGap)
	}
	return now
}
