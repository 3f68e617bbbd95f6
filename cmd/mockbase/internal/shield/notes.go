package shield

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/ratelimit"
)

const (
	// maxNotes bounds what is noted: of more, those that end first go.
	maxNotes = 10_000
	// noteGap is how much longer a noted ban must have become to be noted anew: one that offences extend is not written
	// with each of them.
	noteGap = 10 * time.Second
	// sweepPace is how often notes of what is over are looked for.
	sweepPace = time.Minute
	// notePatience bounds how long the database may take for a note. Whoever guesses waits for it.
	notePatience = 5 * time.Second
)

// noteKey is what there is one note of.
type noteKey struct {
	rule, key string
	lifted    bool
}

func keyOfNote(n *mockbase.BanNote) noteKey { return noteKey{n.Rule, n.Key, n.Lifted} }

// notes are what the next process has to know of the register of bans. Each change is in the database before the request that
// brought it is answered; one that the database does not take is tried again with the next.
type notes struct {
	options *Options

	mu   sync.Mutex
	held map[noteKey]mockbase.BanNote
	// stale are the keys whose notes the database has otherwise than held.
	stale map[noteKey]bool
	// swept is when what is over was last looked for.
	swept time.Time
	// failing tells that the last change was not taken.
	failing bool
}

func newNotes(o *Options) *notes {
	return &notes{options: o, held: map[noteKey]mockbase.BanNote{}, stale: map[noteKey]bool{}}
}

// load reads what is noted, drops what is unwanted, and returns the rest.
func (n *notes) load(ctx context.Context, unwanted func(*mockbase.BanNote) bool) ([]mockbase.BanNote, error) {
	stored, err := n.options.Kept.BanNotes(ctx)
	if err != nil {
		return nil, err //nolint:wrapcheck // What the store says is for people.
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	var wanted []mockbase.BanNote
	for i := range stored {
		if unwanted(&stored[i]) {
			n.stale[keyOfNote(&stored[i])] = true
			continue
		}
		n.held[keyOfNote(&stored[i])] = stored[i]
		wanted = append(wanted, stored[i])
	}
	n.write()
	return wanted, nil
}

// put notes what there was none of, or something else.
func (n *notes) put(note mockbase.BanNote) {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := keyOfNote(&note)
	if before, ok := n.held[key]; ok && before == note {
		return
	}
	if !n.makeRoom(key) {
		return
	}
	n.held[key] = note
	n.stale[key] = true
	n.write()
}

// drop deletes the notes that are unwanted.
func (n *notes) drop(unwanted func(*mockbase.BanNote) bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for key, note := range n.held {
		if unwanted(&note) {
			n.forget(key)
		}
	}
	n.write()
}

// find returns a note.
func (n *notes) find(key noteKey) (mockbase.BanNote, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	note, ok := n.held[key]
	return note, ok
}

func (n *notes) forget(key noteKey) {
	delete(n.held, key)
	n.stale[key] = true
}

// makeRoom forgets the bans that have ended, and of too many notes the one that ends first. It returns false where none ends.
func (n *notes) makeRoom(wanted noteKey) bool {
	now := n.options.Clock()
	_, known := n.held[wanted]
	crowded := !known && len(n.held) >= maxNotes
	if !crowded && now.Sub(n.swept) < sweepPace {
		return true
	}
	n.swept = now
	first, some := n.sweep(now)
	if crowded && some && len(n.held) >= maxNotes {
		n.forget(first)
	}
	return known || len(n.held) < maxNotes
}

// sweep forgets the bans that have ended, and returns the one that ends first, if there is any that does.
func (n *notes) sweep(now time.Time) (first noteKey, some bool) {
	var ends time.Time
	for key, note := range n.held {
		switch {
		case hasEnded(&note, now):
			n.forget(key)
		case !note.Until.IsZero() && (!some || note.Until.Before(ends)):
			first, ends, some = key, note.Until, true
		}
	}
	return first, some
}

// hasEnded says whether a note is of no use any more. That of a lift is until Redis has taken it.
func hasEnded(n *mockbase.BanNote, now time.Time) bool {
	return !n.Until.IsZero() && !now.Before(n.Until)
}

// write brings the database up to date. The audit entry of a request is not that of its notes, so that its context stays out.
func (n *notes) write() {
	var put, dropped []mockbase.BanNote
	for key := range n.stale {
		if note, ok := n.held[key]; ok {
			put = append(put, note)
		} else {
			dropped = append(dropped, mockbase.BanNote{Rule: key.rule, Key: key.key, Lifted: key.lifted})
		}
	}
	if len(n.stale) == 0 {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), notePatience)
	defer stop()
	err := n.options.Kept.ChangeBanNotes(ctx, put, dropped)
	if err == nil {
		clear(n.stale)
	}
	if failing := err != nil; failing != n.failing {
		n.failing = failing
		if failing {
			n.options.Logger.Warn("bans by failed sign-ins end with this process: they cannot be stored", slog.String("reason", err.Error()))
		} else {
			n.options.Logger.Info("bans by failed sign-ins are stored again")
		}
	}
}

// noting is the register of bans in this process, which notes what rules do there.
type noting struct {
	ratelimit.Bans

	notes *notes
}

var _ ratelimit.Bans = (*noting)(nil)

// Strike notes a ban that begins, and one that has become longer.
func (r *noting) Strike(ctx context.Context, rule *ratelimit.BanRule, key string, now time.Time) (ratelimit.Standing, error) {
	standing, err := r.Bans.Strike(ctx, rule, key, now)
	if err == nil && standing.Banned {
		note := noteOf(&standing.Ban)
		if before, ok := r.notes.find(keyOfNote(&note)); standing.Struck || !ok || note.Until.Sub(before.Until) >= noteGap {
			r.notes.put(note)
		}
	}
	return standing, err //nolint:wrapcheck // it stands in for the register
}

// Put notes a ban that is none of an administrator, whose own are stored.
func (r *noting) Put(ctx context.Context, b ratelimit.Ban) error {
	err := r.Bans.Put(ctx, b)
	if err == nil && b.Rule != ratelimit.ManualBans {
		r.notes.put(noteOf(&b))
	}
	return err //nolint:wrapcheck // it stands in for the register
}

// Lift drops the notes of what has ended with it.
func (r *noting) Lift(ctx context.Context, rule, identifier string, now time.Time) (int, error) {
	n, err := r.Bans.Lift(ctx, rule, identifier, now)
	if err == nil {
		r.notes.drop(func(note *mockbase.BanNote) bool {
			return !note.Lifted && note.Rule == rule && (identifier == "" || note.Key == identifier)
		})
	}
	return n, err //nolint:wrapcheck // it stands in for the register
}

func noteOf(b *ratelimit.Ban) mockbase.BanNote {
	return mockbase.BanNote{Rule: b.Rule, Key: b.Identifier, From: b.From.Round(0).UTC(), Until: b.Until.Round(0).UTC(), Repeat: b.Repeat}
}

func banOfNote(n *mockbase.BanNote) ratelimit.Ban {
	return ratelimit.Ban{Rule: n.Rule, Identifier: n.Key, From: n.From, Until: n.Until, Repeat: n.Repeat}
}
