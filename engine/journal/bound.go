package journal

import (
	"time"

	"github.com/mockbase/mockbase"
)

// Bound gives a project closer bounds than the journal's own, from now on (rules M-61 and Y8). What is beyond them leaves at
// once, the oldest first. A bound of 0, or one that is wider, is the journal's.
func (j *Journal) Bound(projectID string, keep mockbase.Retention) {
	own := keep.Within(mockbase.Retention{MaxCount: j.bounds.count, MaxBytes: j.bounds.bytes, MaxAge: j.bounds.age})
	j.mu.Lock()
	defer j.mu.Unlock()
	j.own[projectID] = bounds{count: own.MaxCount, bytes: own.MaxBytes, age: own.MaxAge}
	if r := (*j.rings.Load())[projectID]; r != nil {
		r.bound(j.own[projectID], j.clock())
	}
}

// boundsOf are the bounds of a project. The lock is held.
func (j *Journal) boundsOf(projectID string) bounds {
	if own, ok := j.own[projectID]; ok {
		return own
	}
	return j.bounds
}

// bound replaces the bounds.
func (r *ring) bound(to bounds, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bounds == to {
		return
	}
	r.bounds = to
	r.expire(now)
	for r.n > 0 && (r.n > to.count || r.bytes > to.bytes) {
		r.evict()
	}
}

// oldest is the time of the oldest exchange that may be kept at now.
func (r *ring) oldest(now time.Time) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return now.Add(-r.bounds.age)
}
