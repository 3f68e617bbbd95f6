package simlimit

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// clearing bounds the time that a reset may take in a shared store.
const clearing = 5 * time.Second

// maxBooks bounds the buckets of a session that are kept account of. Buckets of mocks that are gone make room first.
const maxBooks = 12_000

// Space holds the buckets and bans of one session. Its methods may be called at the same time.
type Space struct {
	keeper  *Keeper
	tag     string
	life    time.Duration
	current atomic.Pointer[generation]

	// resetting lets one reset end before the next begins.
	resetting sync.Mutex
	renamed   int

	mu    sync.Mutex
	books map[string]*book
}

// begin makes the stores.
func (s *Space) begin(tag string) error {
	store, err := s.keeper.options.Memory()
	if err != nil {
		return fmt.Errorf("make memory of simulated limits: %w", err)
	}
	memory, ok := store.(ratelimit.AtomicStore)
	if !ok {
		return fmt.Errorf("make memory of simulated limits: it charges one request at a time: %w", ratelimit.ErrConfig)
	}
	g := &generation{memory: memory}
	if s.keeper.options.Shared != nil {
		if g.shared, err = s.keeper.options.Shared(tag, s.life); err != nil {
			return fmt.Errorf("open shared store of simulated limits: %w", err)
		}
	}
	g.ctx = context.WithValue(context.Background(), generationKey{}, g)
	s.current.Store(g)
	return nil
}

// Reset empties all buckets and lifts all bans, at once (rules X7 and AA18). Requests under way keep what they hold. Where
// a shared store cannot be cleared, the session goes on under another name there.
func (s *Space) Reset() {
	s.resetting.Lock()
	defer s.resetting.Unlock()
	tag := s.tag
	if s.renamed > 0 {
		tag += "/" + strconv.Itoa(s.renamed)
	}
	former := s.current.Load()
	if former.shared != nil {
		ctx, cancel := context.WithTimeout(context.Background(), clearing)
		defer cancel()
		if _, err := former.shared.Clear(ctx, ""); err != nil {
			s.renamed++
			tag = s.tag + "/" + strconv.Itoa(s.renamed)
			s.keeper.options.Logger.Warn("the simulated limits of a session cannot be cleared in the shared store: it goes on with empty ones",
				slog.String("session", s.tag), slog.String("reason", err.Error()))
		}
	}
	if err := s.begin(tag); err != nil {
		// The stores were made once from the same options.
		s.keeper.options.Logger.Error("simulated limits cannot be reset", slog.String("reason", err.Error()))
	}
	s.keeper.mu.Lock()
	s.keeper.retire(former)
	s.keeper.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.books {
		b.forget()
	}
}

// End lets go of everything. In a shared store buckets end by themselves.
func (s *Space) End() { s.keeper.forget(s) }

// book returns the account of a limit's bucket.
func (s *Space) book(l *Limit) *book {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.books[l.namespace]
	if b != nil {
		return b
	}
	if s.books == nil {
		s.books = make(map[string]*book)
	}
	if len(s.books) >= maxBooks {
		s.dropBook()
	}
	b = &book{records: make(map[string]*list.Element)}
	s.books[l.namespace] = b
	return b
}

// dropBook drops the account that was used longest ago.
func (s *Space) dropBook() {
	oldest, name := time.Time{}, ""
	for n, b := range s.books {
		if at := b.lastHit(); name == "" || at.Before(oldest) {
			oldest, name = at, n
		}
	}
	delete(s.books, name)
}

// seed uses up what a bucket is to have used at the start, once for each key. All requests wait for that.
func (s *Space) seed(g *generation, o *Outcome, now time.Time) {
	used := o.By.Source.InitialUsed
	if used == 0 {
		return
	}
	s.book(o.By).record(o, s.keeper.options.Clock()).seeded(g, func() {
		q := ratelimit.Request{Key: o.By.key(o.Key), Policy: &o.By.policy, Now: now}
		l := s.keeper.limiter
		// A shared store may remember the key from before this process began.
		if d, err := l.Check(g.ctx, q); err == nil && d.Remaining == d.Limit {
			q.Cost = used
			_, _ = l.Check(g.ctx, q) // Compiling has ruled out misuse.
		}
	})
}

// banned is the rest of a key's ban; 0 is none.
func (s *Space) banned(l *Limit, key string, now time.Time) time.Duration {
	if l.Source.Ban == nil {
		return 0
	}
	return s.book(l).banned(key, now)
}

// Settle notes what became of a request: it must be called once for each ruling that is carried out. A rejection counts
// towards a ban, which may begin with it; the wait that clients are told is that of the ban then (rule X11).
func (r *Ruling) Settle() {
	wall := r.space.keeper.options.Clock()
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if o.Skipped || !r.Admitted && o.By.DryRun() && !o.Banned && o.By.policy.Limit > 0 {
			// It was not asked.
			continue
		}
		r.space.keeper.checks.note(o)
		r.space.book(o.By).note(r, o, wall)
	}
	r.decided, r.told = -1, -1
	r.weigh()
}

// ErrNoKey tells that a bucket knows no key of this id.
var ErrNoKey = errors.New("the bucket knows no such key")
