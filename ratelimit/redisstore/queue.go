package redisstore

import (
	"runtime"
	"sync"
	"time"
)

const (
	// maxQueue is how many checks may wait for one server. At ten microseconds a check the last of them waits for about
	// the default budget; more would wait in vain.
	maxQueue = 4096
	// maxBatch is how many checks one flight takes along.
	maxBatch = 256
	// farTrip is the trip from which on a server is far away, and tripMemory the share of a longer trip that is believed.
	farTrip    = time.Millisecond
	tripMemory = 64
)

// The bounds of Options.BatchFlights.
const (
	minFlights, maxFlights = 2, 8
	// DefaultBatchFlights is how many batches may be on their way to one server at a time, unless configured: enough to
	// keep a distant server busy, and few enough for batches to fill.
	DefaultBatchFlights = 4
)

// place says what a check that came to a queue does next.
type place int

const (
	// placeAlone: nothing is on its way; the check goes at once, by itself, and must call leave.
	placeAlone place = iota
	// placeWaiting: the check waits for a flight.
	placeWaiting
	// placeFirst is placeWaiting, and the caller starts a flight.
	placeFirst
	// placeNone: too many wait already.
	placeNone
)

// queue holds the checks that wait for one server, and counts what is on its way to it: flights, and a check alone.
type queue struct {
	mu      sync.Mutex
	waiting []*ride
	out     int
	// trip is about the shortest time that a flight took of late.
	trip time.Duration
}

// join finds a place for a check. At most so many flights are out at once.
func (q *queue) join(r *ride, flights int) place {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.out == 0:
		q.out = 1
		return placeAlone
	case len(q.waiting) >= maxQueue:
		return placeNone
	}
	q.waiting = append(q.waiting, r)
	if q.out >= flights {
		return placeWaiting
	}
	q.out++
	return placeFirst
}

// leave ends a check that went alone. If others wait by now, its place passes to a flight that the caller starts.
func (q *queue) leave() (start bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) > 0 {
		return true
	}
	q.out--
	return false
}

// board moves the oldest waiting checks to an empty batch. If there are none the flight is over.
func (q *queue) board(batch []*ride) []*ride {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.waiting), maxBatch)
	if n == 0 {
		q.out--
		return batch
	}
	batch = append(batch, q.waiting[:n]...)
	rest := copy(q.waiting, q.waiting[n:])
	clear(q.waiting[rest:]) // Whoever has left is not kept alive.
	q.waiting = q.waiting[:rest]
	return batch
}

// gather yields the processor, so that checks that are about to come join the next flight. Where a trip takes long, whoever
// misses that flight waits long for another: there it yields again as long as more have come.
func (q *queue) gather() {
	runtime.Gosched()
	for waiting, more := q.gathered(0); more; waiting, more = q.gathered(waiting) {
		runtime.Gosched()
	}
}

// gathered returns how many checks wait, and whether it is worth while to let others come: more wait than before, there is
// room, and the server is far away.
func (q *queue) gathered(before int) (waiting int, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting = len(q.waiting)
	return waiting, q.trip >= farTrip && waiting > before && waiting < maxBatch
}

// landed notes how long a flight took. The shortest time counts, and is forgotten bit by bit.
func (q *queue) landed(took time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.trip == 0 || took < q.trip {
		q.trip = took
		return
	}
	q.trip += (took - q.trip) / tripMemory
}

// depth is how many checks wait.
func (q *queue) depth() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}
