package shield

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
)

// restoreNotes brings into force what an earlier process has noted: bans by rules that there are still, and lifts that Redis
// has not taken (rules M-37, RL100 and RL101).
func (s *Shield) restoreNotes(ctx context.Context) error {
	now := s.options.Clock()
	noted, err := s.notes.load(ctx, func(n *mockbase.BanNote) bool {
		if n.Lifted {
			return s.options.Shared == nil
		}
		return hasEnded(n, now) || !s.hasRule(n.Rule)
	})
	if err != nil {
		return fmt.Errorf("read notes of bans: %w", err)
	}
	for i := range noted {
		n := &noted[i]
		if !n.Lifted {
			s.noted = append(s.noted, *n)
			continue
		}
		lift := guard.OwedLift{Rule: n.Rule, Key: n.Key, At: n.From}
		s.guard.Owe(lift)
		s.failures.Owe(lift)
	}
	if len(s.noted) > 0 {
		s.options.Logger.Info("bans by failed sign-ins hold again", slog.Int("bans", len(s.noted)))
	}
	s.enforceNoted(ctx)
	return nil
}

// hasRule says whether there is a rule of failed sign-ins.
func (s *Shield) hasRule(name string) bool {
	return slices.ContainsFunc(s.loginBans(), func(r guard.BanRule) bool { return r.Name == name })
}

// enforceNoted brings the noted bans of an earlier process into force. What Redis takes it keeps, so that the note goes; what
// it does not take holds in this process, and is given to it again.
func (s *Shield) enforceNoted(ctx context.Context) {
	s.noted = slices.DeleteFunc(s.noted, func(n mockbase.BanNote) bool {
		held, ok := s.notes.find(keyOfNote(&n))
		if !ok || held != n || hasEnded(&n, s.options.Clock()) {
			return true // It was lifted or changed meanwhile, or is over.
		}
		if s.inRegister(ctx, &n) || s.failures.Restore(ctx, banOfNote(&n)) == nil {
			if s.options.Shared != nil {
				s.notes.drop(func(held *mockbase.BanNote) bool { return *held == n })
			}
			return true
		}
		return false
	})
}

// inRegister says whether the register has a ban of the same key: that is a newer one, of another server.
func (s *Shield) inRegister(ctx context.Context, n *mockbase.BanNote) bool {
	page, err := s.register.Page(ctx, ratelimit.BanQuery{Rule: n.Rule, Identifier: n.Key, Limit: 1, Now: s.options.Clock()})
	return err == nil && len(page.Bans) > 0
}

// noteOwed notes the lifts that Redis has not taken, so that the next process makes them good, and forgets those that it has.
func (s *Shield) noteOwed() {
	if s.options.Shared == nil {
		return
	}
	owed := map[noteKey]mockbase.BanNote{}
	for _, lift := range slices.Concat(s.guard.OwedLifts(), s.failures.OwedLifts()) {
		n := mockbase.BanNote{Rule: lift.Rule, Key: lift.Key, Lifted: true, From: lift.At.Round(0).UTC()}
		if before, ok := owed[keyOfNote(&n)]; !ok || n.From.After(before.From) {
			owed[keyOfNote(&n)] = n
		}
	}
	for _, n := range owed {
		s.notes.put(n)
	}
	s.notes.drop(func(n *mockbase.BanNote) bool {
		_, still := owed[keyOfNote(n)]
		return n.Lifted && !still
	})
}
