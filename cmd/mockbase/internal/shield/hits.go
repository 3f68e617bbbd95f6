package shield

import (
	"log/slog"
	"sync"

	"github.com/mockbase/mockbase/ratelimit/guard"
)

// maxHits bounds the bans whose refusals are counted.
const maxHits = 10_000

// hits count the requests that each ban refused.
type hits struct {
	mu    sync.Mutex
	count map[string]int64
}

func (h *hits) add(key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.count == nil {
		h.count = make(map[string]int64)
	}
	if _, known := h.count[key]; known || len(h.count) < maxHits {
		h.count[key]++
	}
}

func (h *hits) of(key string) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.count[key]
}

// matched hears of each request that a rule refused.
func (s *Shield) matched(m guard.Match) {
	if m.Ban != "" {
		s.hits.add(m.Rule + "/" + m.Ban)
	}
}

// changed logs what the guards changed (rule RL101).
func (s *Shield) changed(c guard.Change) {
	switch c.Action {
	case guard.ActionCircuit, guard.ActionForce:
		s.options.Logger.Warn("the circuit changed", slog.String("from", string(c.From.State)), slog.String("to", string(c.To.State)),
			slog.String("force", string(c.To.Force)), slog.String("by", c.Actor))
	case guard.ActionAdapt:
		s.options.Logger.Warn("adaptive limits changed", slog.Float64("factor", c.Factor))
	case guard.ActionBan, guard.ActionLift:
		// Whoever asks for these tells more of them.
	}
}
