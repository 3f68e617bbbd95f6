package journal

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mockbase/mockbase"
)

// Sink saves exchanges so that they outlive a restart. It is called by one goroutine at a time.
type Sink interface {
	// AppendExchanges saves a batch of exchanges of one project, all or none. It must not keep the slice.
	AppendExchanges(ctx context.Context, batch []*mockbase.Exchange) error
	// AmendExchanges replaces saved exchanges of one project by those of the same id and time. What is not saved any more is
	// passed over.
	AmendExchanges(ctx context.Context, batch []*mockbase.Exchange) error
	// DeleteExchanges forgets all saved exchanges of a project.
	DeleteExchanges(ctx context.Context, projectID string) error
}

// Saving says how a sink is fed. The zero value means the values that stand beside each member.
type Saving struct {
	// Queue is how many exchanges may wait (8,192); their bytes are bounded by Options.Bytes.
	Queue int
	// Batch is how many are saved at once (512): enough that a transaction's cost is shared.
	Batch int
	// Interval is how long an exchange waits for others to be saved with (250 ms).
	Interval time.Duration
	// Timeout bounds one call of the sink (10 s).
	Timeout time.Duration
}

func (s Saving) withDefaults() Saving {
	return Saving{
		Queue:    cmp.Or(s.Queue, 8192),
		Batch:    cmp.Or(s.Batch, 512),
		Interval: cmp.Or(s.Interval, 250*time.Millisecond),
		Timeout:  cmp.Or(s.Timeout, 10*time.Second),
	}
}

// saver feeds a sink from a bounded queue.
type saver struct {
	Saving
	sink     Sink
	log      *slog.Logger
	maxBytes int64
	// lost is told of exchanges that were taken and could not be saved.
	lost func(projectID string, n int)

	mu      sync.Mutex
	waiting []*mockbase.Exchange
	bytes   int64
	// amended are newer forms of exchanges that were taken from the queue before, by id; of many only the last counts.
	amended map[string]*mockbase.Exchange
	// erase holds the projects whose saved exchanges are to be deleted before anything else is saved of them.
	erase    map[string]struct{}
	overflow int
	closed   bool

	// wake holds one signal: the queue is no longer empty, a batch is full, or there is something to delete.
	wake chan struct{}
	stop chan struct{}
	done chan struct{}
	// cancel ends the call of the sink that is under way.
	cancel context.CancelFunc

	// Only the saver's goroutine uses these.
	spare  []*mockbase.Exchange
	losing bool
}

func startSaver(sink Sink, o Saving, maxBytes int64, log *slog.Logger, lost func(string, int)) *saver {
	ctx, cancel := context.WithCancel(context.Background())
	s := &saver{
		Saving:   o.withDefaults(),
		sink:     sink,
		log:      log,
		maxBytes: maxBytes,
		lost:     lost,
		amended:  map[string]*mockbase.Exchange{},
		erase:    map[string]struct{}{},
		wake:     make(chan struct{}, 1),
		stop:     make(chan struct{}),
		done:     make(chan struct{}),
		cancel:   cancel,
	}
	go s.run(ctx)
	return s
}

// add queues an exchange and says whether there was room for it.
func (s *saver) add(x *mockbase.Exchange, size int64) bool {
	s.mu.Lock()
	if s.closed || len(s.waiting) >= s.Queue || s.bytes+size > s.maxBytes {
		s.overflow++
		s.mu.Unlock()
		return false
	}
	s.waiting = append(s.waiting, x)
	s.bytes += size
	n := len(s.waiting)
	s.mu.Unlock()
	if n == 1 || n == s.Batch {
		s.signal()
	}
	return true
}

// amend queues a newer form of an exchange. Where there is no room the older form stays saved.
func (s *saver) amend(old, amended *mockbase.Exchange) {
	s.mu.Lock()
	first := false
	if at := slices.Index(s.waiting, old); at >= 0 {
		s.waiting[at] = amended
	} else if !s.closed && len(s.amended) < s.Queue {
		first = len(s.amended) == 0
		s.amended[amended.ID] = amended
	}
	s.mu.Unlock()
	if first {
		s.signal()
	}
}

// forget takes a project's exchanges out of the queue and has its saved ones deleted.
func (s *saver) forget(projectID string) {
	s.mu.Lock()
	// The bytes of what leaves stay counted until the next batch: too careful for a moment, and simple.
	s.waiting = slices.DeleteFunc(s.waiting, func(x *mockbase.Exchange) bool { return x.ProjectID == projectID })
	maps.DeleteFunc(s.amended, func(_ string, x *mockbase.Exchange) bool { return x.ProjectID == projectID })
	s.erase[projectID] = struct{}{}
	s.mu.Unlock()
	s.signal()
}

func (s *saver) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *saver) queued() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}

// due tells whether there is something that waits for nothing else.
func (s *saver) due() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting) >= s.Batch || len(s.erase) > 0
}

func (s *saver) run(ctx context.Context) {
	defer close(s.done)
	pause := time.NewTimer(s.Interval)
	defer pause.Stop()
	for {
		select {
		case <-s.stop:
			s.save(ctx)
			return
		case <-s.wake:
			if !s.due() {
				pause.Reset(s.Interval)
				continue
			}
		case <-pause.C:
		}
		s.save(ctx)
	}
}

// round is what one pass over the queue did.
type round struct {
	saved, lost int
	err         error
}

// save empties the queue: first what is to be deleted, then the exchanges, each project's by themselves so that one that
// cannot be saved takes no other with it.
func (s *saver) save(ctx context.Context) {
	s.mu.Lock()
	waiting, amended, erase, overflow := s.waiting, s.amended, s.erase, s.overflow
	s.amended = map[string]*mockbase.Exchange{}
	s.waiting, s.bytes, s.erase, s.overflow = s.spare[:0], 0, map[string]struct{}{}, 0
	s.mu.Unlock()

	did := round{lost: overflow}
	for projectID := range erase {
		if err := s.delete(ctx, projectID); err != nil {
			did.err = fmt.Errorf("delete exchanges of %s: %w", projectID, err)
			continue
		}
		delete(erase, projectID)
	}
	slices.SortStableFunc(waiting, func(a, b *mockbase.Exchange) int { return cmp.Compare(a.ProjectID, b.ProjectID) })
	for rest := waiting; len(rest) > 0; {
		batch := rest[:s.batchLen(rest)]
		rest = rest[len(batch):]
		// While a deletion is still to come, nothing is saved of its project, so that it deletes nothing newer than itself.
		if _, blocked := erase[batch[0].ProjectID]; blocked {
			s.lose(batch, &did)
			continue
		}
		s.append(ctx, batch, &did)
	}
	s.replace(ctx, amended, erase, &did)
	s.keep(erase)
	clear(waiting)
	s.spare = waiting[:0]
	s.report(did)
}

// batchLen is the length of the first batch: at most Batch exchanges of one project.
func (s *saver) batchLen(sorted []*mockbase.Exchange) int {
	n := 1
	for n < len(sorted) && n < s.Batch && sorted[n].ProjectID == sorted[0].ProjectID {
		n++
	}
	return n
}

func (s *saver) delete(ctx context.Context, projectID string) error {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	return s.sink.DeleteExchanges(ctx, projectID)
}

func (s *saver) append(ctx context.Context, batch []*mockbase.Exchange, did *round) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	if err := s.sink.AppendExchanges(ctx, batch); err != nil {
		did.err = fmt.Errorf("append exchanges of %s: %w", batch[0].ProjectID, err)
		s.lose(batch, did)
		return
	}
	did.saved += len(batch)
}

// replace saves newer forms of exchanges that are saved already. One that cannot be leaves the older form.
func (s *saver) replace(ctx context.Context, amended map[string]*mockbase.Exchange, erase map[string]struct{}, did *round) {
	byProject := map[string][]*mockbase.Exchange{}
	for _, x := range amended {
		if _, blocked := erase[x.ProjectID]; !blocked {
			byProject[x.ProjectID] = append(byProject[x.ProjectID], x)
		}
	}
	for projectID, batch := range byProject {
		call, cancel := context.WithTimeout(ctx, s.Timeout)
		if err := s.sink.AmendExchanges(call, batch); err != nil {
			did.err = fmt.Errorf("amend exchanges of %s: %w", projectID, err)
		}
		cancel()
	}
}

func (s *saver) lose(batch []*mockbase.Exchange, did *round) {
	did.lost += len(batch)
	s.lost(batch[0].ProjectID, len(batch))
}

// keep puts deletions that failed back, for the next round.
func (s *saver) keep(erase map[string]struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for projectID := range erase {
		s.erase[projectID] = struct{}{}
	}
}

// report logs when saving begins to fail and when it works again, and nothing in between.
func (s *saver) report(did round) {
	switch {
	case (did.err != nil || did.lost > 0) && !s.losing:
		s.losing = true
		s.log.Warn("recorded traffic is not saved", slog.Int("lost", did.lost), slog.Any("error", did.err))
	case did.err == nil && did.lost == 0 && did.saved > 0 && s.losing:
		s.losing = false
		s.log.Info("recorded traffic is saved again", slog.Int("saved", did.saved))
	}
}

func (s *saver) close(ctx context.Context) error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.stop)
	}
	s.mu.Unlock()
	select {
	case <-s.done:
		s.cancel()
		return nil
	case <-ctx.Done():
		s.cancel()
		return fmt.Errorf("save recorded traffic: %w", ctx.Err())
	}
}
