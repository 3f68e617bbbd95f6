package main

import (
	"context"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store"
)

// upkeepPace is how often the server clears up behind itself.
const upkeepPace = time.Hour

// startUpkeep clears up now and from time to time, until the server ends.
func (s *server) startUpkeep() error {
	ctx, stop := context.WithCancel(context.WithoutCancel(s.ctx))
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		pace := time.NewTicker(upkeepPace)
		defer pace.Stop()
		for {
			s.clearUp(ctx)
			// Loading mocks and hashing passwords leave large holes behind; without this they are kept for minutes.
			debug.FreeOSMemory()
			restProgram()
			select {
			case <-ctx.Done():
				return
			case <-pace.C:
			}
		}
	}()
	s.ends = append(s.ends, func() error { stop(); <-gone; return nil })
	return nil
}

// clearUp deletes what has run out and replaces a signing key that is due (rules M-20, M-33, M-34 and M-61). What fails is
// tried again the next time.
func (s *server) clearUp(ctx context.Context) {
	now := s.clock()
	if _, err := s.store.DeleteExpiredSignIns(ctx, now); err != nil && ctx.Err() == nil {
		s.log.Warn("expired sign-ins were not deleted", slog.Any("error", err))
	}
	keep := store.Retention{
		Count: int(s.settings.JournalCount), Bytes: int64(s.settings.JournalBytes), Since: now.Add(-s.settings.JournalAge.Span()),
	}
	s.trim(ctx, keep)
	for _, p := range s.catalog.Projects() {
		if own := p.Project.Retention; own != (mockbase.Retention{}) {
			s.trim(ctx, retentionOf(p.Project.ID, own, now))
		}
	}
	oldest := now.Add(-s.stored.Settings().AuditRetention)
	for what, drop := range map[string]func() (int, error){
		"invitations":  func() (int, error) { return s.store.DeleteExpiredInvitations(ctx, oldest) },
		"audit log":    func() (int, error) { return s.store.TrimAudit(ctx, oldest) },
		"kept answers": func() (int, error) { return s.store.DeleteReplays(ctx, now.Add(-24*time.Hour)) },
	} {
		if _, err := drop(); err != nil && ctx.Err() == nil {
			s.log.Warn("what has run out was not deleted", slog.String("what", what), slog.Any("error", err))
		}
	}
	if rotated, err := s.keys.RotateIfDue(); err != nil {
		s.log.Error("the signing key was not replaced", slog.Any("error", err))
	} else if rotated {
		s.log.Info("the signing key was replaced")
	}
}

// trim deletes saved exchanges beyond a retention.
func (s *server) trim(ctx context.Context, keep store.Retention) {
	if _, err := s.store.TrimExchanges(ctx, keep); err != nil && ctx.Err() == nil {
		s.log.Warn("old exchanges were not deleted", slog.Any("error", err))
	}
}

// retentionOf is what the store keeps of one project.
func retentionOf(projectID string, own mockbase.Retention, now time.Time) store.Retention {
	keep := store.Retention{ProjectID: projectID, Count: own.MaxCount, Bytes: own.MaxBytes}
	if own.MaxAge > 0 {
		keep.Since = now.Add(-own.MaxAge)
	}
	return keep
}

// restoreTraffic reads the exchanges of projects that keep them, so that they outlive a restart.
func (s *server) restoreTraffic() error {
	for _, p := range s.catalog.Projects() {
		if !p.Project.PersistTraffic {
			continue
		}
		saved, err := s.store.RecentExchanges(s.ctx, p.Project.ID, int(s.settings.JournalCount))
		if err != nil {
			return fail(exitEnvironment, "read exchanges of project "+p.Project.Slug, err)
		}
		s.journal.Restore(p.Project.ID, saved)
	}
	return nil
}
