package shield

import (
	"context"
	"log/slog"

	"github.com/oklog/ulid/v2"

	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// markName is the document that is another one after Redis has lost what it held.
const markName = "mark"

// look returns the mark of what Redis holds, and makes one where there is none.
func (s *Shield) look(ctx context.Context) (string, error) {
	held, err := s.options.Shared.Document(ctx, markName)
	if err == nil && held.Version == 0 {
		_, held, err = s.options.Shared.PutDocument(ctx, markName, redisstore.Document{Version: 1, At: s.options.Clock(), Text: []byte(ulid.Make().String())})
	}
	return string(held.Text), err
}

// restore gives Redis the bans of administrators and an order to the circuit again when it has lost them, be it flushed or
// restarted empty, and bans that it did not take before.
func (s *Shield) restore(ctx context.Context) {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.syncEdits(ctx) // What was lifted elsewhere is not given back.
	s.noteOwed()
	s.enforceNoted(ctx)
	mark, err := s.look(ctx)
	if err != nil || mark == s.mark && !s.partial {
		return
	}
	if err := s.restoreBans(ctx); err != nil {
		s.options.Logger.Warn("the stored bans cannot be given to the register", slog.String("reason", err.Error()))
	}
	if mark == s.mark {
		return
	}
	s.mark = mark
	order := s.present.Load().settings.Circuit
	if order.Force == "" || !s.guarding || s.ended(&order) {
		return
	}
	if err := s.force(ctx, &order, ""); err != nil {
		s.mark = "" // It is tried again.
	}
}
