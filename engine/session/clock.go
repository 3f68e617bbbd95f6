package session

import (
	"container/heap"
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mockbase/mockbase"
)

// Clock is the time of a session (rule AA13).
type Clock interface {
	// Now is the session's time: the wall clock plus the session's offset.
	Now() time.Time
	// Sleep returns nil when the time that has passed and the advances since the call reach d together (rule AA17), and the
	// context's error when that ends first.
	Sleep(ctx context.Context, d time.Duration) error
	// AfterFunc runs f when the time that has passed and the advances since the call reach d together. What an advance
	// makes due runs in due order before the advance returns (rule AA15), so f must not block, and must not advance the
	// clock; what real time makes due runs in a goroutine of its own. The returned function keeps f from running and
	// reports true, or reports false when f was started before.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
	// Wake is AfterFunc for a function that only wakes somebody: real time too runs it where the time is kept.
	Wake(d time.Duration, wake func()) (stop func() bool)
}

// Timeline is the clock of one session. Its methods may be called at the same time.
type Timeline struct {
	wall func() time.Time
	// origin is where the time that waits go by begins. It is real time and never jumps, whatever the wall clock does.
	origin time.Time
	// offset is what Now adds to the wall clock.
	offset atomic.Int64
	// changing lets one change of the clock end before the next begins, so that the order of what becomes due holds.
	changing sync.Mutex

	mu sync.Mutex
	// advanced is the sum of all advances. A reset does not undo them: what was waited for, was.
	advanced time.Duration
	waiting  waiters
	started  uint64
	timer    *time.Timer
}

var _ Clock = (*Timeline)(nil)

// newTimeline makes a clock that shows the wall clock's time.
func newTimeline(wall func() time.Time) *Timeline {
	return &Timeline{wall: wall, origin: time.Now()}
}

// Now implements [Clock].
func (t *Timeline) Now() time.Time { return t.wall().Add(t.Offset()) }

// Offset is how far the clock is ahead of the wall clock.
func (t *Timeline) Offset() time.Duration { return time.Duration(t.offset.Load()) }

// Advance moves the clock forward by d and runs what becomes due. A negative d is refused as a fault of #/advance.
func (t *Timeline) Advance(d time.Duration) error {
	t.changing.Lock()
	defer t.changing.Unlock()
	if d < 0 {
		return refusal("#/advance", "it never runs back; reset it, or end the session")
	}
	return t.advance(d, "#/advance")
}

// Set moves the clock forward to a time and runs what becomes due. An earlier time than the clock's is refused as a fault
// of #/set.
func (t *Timeline) Set(to time.Time) error {
	t.changing.Lock()
	defer t.changing.Unlock()
	d := to.Sub(t.Now())
	switch {
	case d < 0:
		return refusal("#/set", "it never runs back; reset it, or end the session")
	case d == math.MaxInt64:
		return refusal("#/set", "that is too far ahead")
	}
	return t.advance(d, "#/set")
}

// Reset returns to the wall clock's time. Waits that are under way go on as if nothing had happened.
func (t *Timeline) Reset() {
	t.changing.Lock()
	defer t.changing.Unlock()
	t.offset.Store(0)
}

func refusal(pointer, detail string) error {
	return &mockbase.Error{
		Code: mockbase.CodeValidationFailed, Message: "the clock cannot be set so: " + detail,
		Fields: []mockbase.FieldError{{Pointer: pointer, Code: mockbase.FieldRange, Detail: detail}},
	}
}

// farthest bounds the offset, so that every time has a year of four digits.
const farthest = 200 * 365 * 24 * time.Hour

func (t *Timeline) advance(d time.Duration, pointer string) error {
	if d > farthest-t.Offset() {
		return refusal(pointer, "that is too far ahead")
	}
	t.mu.Lock()
	t.offset.Add(int64(d))
	t.advanced += d
	due := t.takeDue()
	t.mu.Unlock()
	for _, w := range due {
		w.run()
	}
	return nil
}

// Advanced is the sum of all advances so far. What begins to wait later than it should subtracts what came in between.
func (t *Timeline) Advanced() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.advanced
}

// AfterFunc implements [Clock].
func (t *Timeline) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return t.wait(d, &waiter{run: f})
}

// Wake implements [Clock].
func (t *Timeline) Wake(d time.Duration, wake func()) (stop func() bool) {
	return t.wait(d, &waiter{run: wake, quick: true})
}

// Sleep implements [Clock].
func (t *Timeline) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	awake := make(chan struct{})
	stop := t.wait(d, &waiter{run: func() { close(awake) }, quick: true})
	select {
	case <-awake:
		return nil
	case <-ctx.Done():
		stop()
		return ctx.Err()
	}
}

func (t *Timeline) wait(d time.Duration, w *waiter) (stop func() bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.started++
	w.due, w.order = t.passed()+max(d, 0), t.started
	heap.Push(&t.waiting, w)
	if w.index == 0 {
		t.arm()
	}
	return func() bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		if w.index == taken {
			return false
		}
		// The timer stays as it is: when it rings for nobody, it is set anew.
		heap.Remove(&t.waiting, w.index)
		if len(t.waiting) == 0 {
			t.timer.Stop()
		}
		return true
	}
}

// passed is the time that waits go by: real time and advances.
func (t *Timeline) passed() time.Duration { return time.Since(t.origin) + t.advanced }

// arm sets the one timer of the clock to the first that waits.
func (t *Timeline) arm() {
	if len(t.waiting) == 0 {
		return
	}
	next := max(t.waiting[0].due-t.passed(), 0)
	if t.timer == nil {
		t.timer = time.AfterFunc(next, t.ring)
		return
	}
	t.timer.Reset(next)
}

// ring starts what real time has made due.
func (t *Timeline) ring() {
	t.mu.Lock()
	due := t.takeDue()
	t.mu.Unlock()
	for _, w := range due {
		if w.quick {
			w.run()
		} else {
			go w.run()
		}
	}
}

// takeDue removes and returns what is due, in due order. Each is handed out once.
func (t *Timeline) takeDue() []*waiter {
	now := t.passed()
	var due []*waiter
	for len(t.waiting) > 0 && t.waiting[0].due <= now {
		w, _ := heap.Pop(&t.waiting).(*waiter)
		due = append(due, w)
	}
	t.arm()
	return due
}

// taken is the index of a waiter that waits no more.
const taken = -1

// waiter is something that waits for its time.
type waiter struct {
	due time.Duration
	// order decides between those of the same time: first come, first served.
	order uint64
	run   func()
	// quick tells that run only wakes somebody.
	quick bool
	// index is the place in the heap.
	index int
}

// waiters is a heap, the first due in front.
type waiters []*waiter

// Len implements [heap.Interface].
func (w *waiters) Len() int { return len(*w) }

// Less implements [heap.Interface].
func (w *waiters) Less(i, j int) bool {
	a, b := (*w)[i], (*w)[j]
	return a.due < b.due || a.due == b.due && a.order < b.order
}

// Swap implements [heap.Interface].
func (w *waiters) Swap(i, j int) {
	list := *w
	list[i], list[j] = list[j], list[i]
	list[i].index, list[j].index = i, j
}

// Push implements [heap.Interface].
func (w *waiters) Push(x any) {
	added, _ := x.(*waiter)
	added.index = len(*w)
	*w = append(*w, added)
}

// Pop implements [heap.Interface].
func (w *waiters) Pop() any {
	last := len(*w) - 1
	removed := (*w)[last]
	removed.index = taken
	*w = slices.Delete(*w, last, last+1)
	return removed
}
