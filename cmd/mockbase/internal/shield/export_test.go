package shield

import (
	"context"
	"log/slog"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
)

// Edits are edits by the instant in seconds of each key's.
func Edits(at map[string]int64) any {
	made := edits{}
	for key, second := range at {
		made[key] = edit{At: time.Unix(second, 0).UTC(), Lifted: true}
	}
	return made
}

// JoinEdits joins others to a copy of some, and returns them as they are written with the keys that have changed.
func JoinEdits(to any, others ...any) (text string, changed []string) {
	joined := edits{}
	joined.join(to.(edits))
	for _, o := range others {
		changed = joined.join(o.(edits))
	}
	return string(joined.text()), changed
}

// TrimEdits trims a copy, and returns how many are left.
func TrimEdits(of any, now time.Time) (left int, text string) {
	kept := edits{}
	kept.join(of.(edits))
	kept.trim(now)
	return len(kept), string(kept.text())
}

// ReadEdits reads them.
func ReadEdits(text string) any { return readEdits([]byte(text)) }

// SyncEdits has a server that knows of edits synchronise them once, and returns what it knows of then.
func SyncEdits(ctx context.Context, shared Shared, kept Kept, now time.Time, known any) any {
	s := &Shield{edits: edits{}}
	s.options = Options{Shared: shared, Kept: kept, Clock: func() time.Time { return now }, Logger: slog.New(slog.DiscardHandler)}
	s.edits.join(known.(edits))
	s.syncEdits(ctx)
	return s.edits
}

// The bounds of edits.
const (
	MaxEdits      = maxEdits
	RememberEdits = rememberEdits
)

// MaxNotes bounds the notes.
const MaxNotes = maxNotes

// Noting is a register of bans in memory that notes what happens in it.
func Noting(kept Kept, clock func() time.Time, logger *slog.Logger) ratelimit.Bans {
	memory, err := memstore.NewBans(memstore.BanOptions{})
	if err != nil {
		panic(err)
	}
	return &noting{Bans: memory, notes: newNotes(&Options{Kept: kept, Clock: clock, Logger: logger})}
}
