package redisstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// ride is a check between its caller and Redis. A caller that waits for a flight and a flight that brings the answer
// decide by state who of them has it.
type ride struct {
	question
	pass

	// deadline is the end of the check's budget (rule RL49).
	deadline time.Time
	state    atomic.Int32
	landed   chan struct{}
	timer    *time.Timer

	// What came of a flight.
	outcome outcome
	err     error
}

const (
	rideWaiting int32 = iota
	rideLanded
	rideLeft
)

// outcome says what a flight did for a check.
type outcome int

const (
	// outcomeDecided: the question has its answer, and the breaker knows.
	outcomeDecided outcome = iota
	// outcomeFailed: the check has an error, which the breaker must be told.
	outcomeFailed
	// outcomeRefused: the breaker opened while the check waited.
	outcomeRefused
	// outcomeNotRun: Redis did not run the check's commands; they may be sent once more.
	outcomeNotRun
)

// newRide returns an empty ride.
func newRide() any {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	return &ride{landed: make(chan struct{}, 1), timer: timer}
}

// errLate is the cause where a check's time is over before its flight is.
var errLate = fmt.Errorf("wait with other checks: %w", context.DeadlineExceeded)

// errQueueFull is the cause where too many checks wait.
var errQueueFull = fmt.Errorf("%d checks wait already", maxQueue)

// travel brings a check to Redis: at once and alone if nothing else is on its way there, else together with those that
// wait as well (rule RL53).
func (s *Store) travel(ctx context.Context, r *ride) error {
	switch r.shard.queue.join(r, s.flights) {
	case placeNone:
		s.counts.full.Add(1)
		return &Error{class: ClassQueueFull, target: s.target.name, cause: errQueueFull}
	case placeAlone:
		s.counts.alone.Add(1)
		defer s.makeRoom(r.shard)
		return s.goAlone(ctx, r)
	case placeFirst:
		s.launch(r.shard)
	case placeWaiting:
	}
	if !r.wait() {
		return s.report(r.pass, r.key, &Error{class: ClassTransport, target: s.target.name, cause: errLate})
	}
	switch r.outcome {
	case outcomeFailed:
		return s.report(r.pass, r.key, r.err)
	case outcomeNotRun:
		return s.goAlone(ctx, r)
	case outcomeDecided, outcomeRefused:
	}
	return r.err
}

// wait returns true when the ride has landed, and false when its time was over before.
func (r *ride) wait() bool {
	r.timer.Reset(time.Until(r.deadline))
	defer r.timer.Stop()
	select {
	case <-r.landed:
		return true
	case <-r.timer.C:
		if r.state.CompareAndSwap(rideWaiting, rideLeft) {
			return false
		}
		<-r.landed
		return true
	}
}

// land hands the outcome to the caller, unless that has left.
func (r *ride) land(o outcome, err error) {
	r.outcome, r.err = o, err
	if r.state.CompareAndSwap(rideWaiting, rideLanded) {
		r.landed <- struct{}{}
	}
}

// goAlone sends a check by itself, within what is left of its time, and tells the breaker.
func (s *Store) goAlone(ctx context.Context, r *ride) error {
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), r.deadline)
	defer cancel()
	return s.report(r.pass, r.key, r.alone(ctx, s.current(), s.target))
}

// makeRoom ends a check that went alone.
func (s *Store) makeRoom(sh *shard) {
	if sh.queue.leave() {
		s.launch(sh)
	}
}

// hangar knows the flights that are out, so that Close can wait for them.
type hangar struct {
	mu     sync.Mutex
	closed bool
	out    sync.WaitGroup
}

func (h *hangar) start(fly func()) (started bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.out.Go(fly)
	return true
}

func (h *hangar) close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.out.Wait()
}

// launch starts a flight. A closed store starts none: whoever waits is refused.
func (s *Store) launch(sh *shard) {
	if s.hangar.start(func() { s.fly(sh) }) {
		return
	}
	for batch := sh.queue.board(nil); len(batch) > 0; batch = sh.queue.board(batch[:0]) {
		for _, r := range batch {
			r.land(outcomeRefused, &Error{class: ClassClosed, target: s.target.name, cause: errClosed})
		}
	}
}

// fly takes waiting checks to Redis until none is left. Before each batch it lets those who are about to come join, and
// waits no longer than that takes ([queue.gather]).
func (s *Store) fly(sh *shard) {
	var room [maxBatch]*ride
	for {
		sh.queue.gather()
		batch := sh.queue.board(room[:0])
		if len(batch) == 0 {
			return
		}
		left := time.Now()
		s.carry(sh, batch)
		sh.queue.landed(time.Since(left))
	}
}

// carry sends a batch and hands out the answers.
func (s *Store) carry(sh *shard, batch []*ride) {
	epoch, admitted := sh.breaker.admit()
	batch = s.seat(sh, batch, admitted)
	if len(batch) == 0 {
		return
	}
	s.counts.carried(len(batch))
	// The youngest came last; the others leave at deadlines of their own.
	ctx, cancel := context.WithDeadline(context.Background(), batch[len(batch)-1].deadline)
	defer cancel()
	decided := 0
	if len(batch) == 1 {
		decided += s.answer(batch[0], batch[0].alone(ctx, s.current(), s.target))
	} else {
		whole := s.send(ctx, batch)
		for _, r := range batch {
			decided += s.answer(r, r.read(s.target, whole))
		}
	}
	if decided > 0 {
		sh.breaker.succeed(epoch, decided, time.Now())
	}
	for _, r := range batch {
		r.land(r.outcome, r.err)
	}
}

// seat drops those whose time is over, unsent, and all of them while the breaker is open.
func (s *Store) seat(sh *shard, batch []*ride, admitted bool) []*ride {
	now := time.Now()
	seated := batch[:0]
	for _, r := range batch {
		switch {
		case r.state.Load() == rideLeft || !now.Before(r.deadline):
			s.counts.dropped.Add(1)
			r.land(outcomeFailed, &Error{class: ClassTransport, target: s.target.name, cause: errLate})
		case !admitted:
			r.land(outcomeRefused, sh.breaker.refusal())
		default:
			seated = append(seated, r)
		}
	}
	return seated
}

// send sends several checks in one piece (rule RL54): to a single server as one transaction. A transaction cannot span
// the slots of a cluster, where the checks of one master are a pipeline of scripts; it is sent by that master's own
// client, because the cluster's would send it again when a connection ends before the answer.
func (s *Store) send(ctx context.Context, batch []*ride) error {
	node := batch[len(batch)-1].node
	if node == nil {
		pipe := s.current().TxPipeline()
		for _, r := range batch {
			r.ask(ctx, pipe)
		}
		_, err := pipe.Exec(ctx)
		return err
	}
	pipe := node.Pipeline()
	for _, r := range batch {
		r.askNode(ctx, pipe, s.target.scripts.hit)
	}
	_, err := pipe.Exec(ctx)
	if slices.ContainsFunc(batch, (*ride).missesHit) {
		// Who may not load scripts may still count, one by one.
		_ = s.target.scripts.hit.Load(ctx, node).Err()
	}
	return err
}

// missesHit says that Redis does not know the script of counters. The checks that needed it were not run, and go alone.
func (r *ride) missesHit() bool {
	if r.script != nil || r.answer == nil {
		return false
	}
	text, answered := replyText(r.answer.Err())
	return answered && strings.HasPrefix(text, "NOSCRIPT")
}

// answer notes what came of a check, and returns 1 if it was decided. A foreign value under one key says nothing
// against Redis.
func (s *Store) answer(r *ride, err error) int {
	failed, isError := errors.AsType[*Error](err)
	switch {
	case !isError:
		r.outcome, r.err = outcomeDecided, nil
		return 1
	case r.notRun(s.target):
		r.outcome, r.err = outcomeNotRun, nil
	default:
		r.outcome, r.err = outcomeFailed, failed
	}
	return 0
}
