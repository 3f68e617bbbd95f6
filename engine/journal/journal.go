// Package journal keeps what the mock plane was asked and what it answered, in memory, bounded for each project by
// count, bytes and age.
//
// # Recording
//
// [Journal.Record] is on the path of every request. It appends to the project's ring in constant time, allocates nothing
// beyond the ring's growth, and holds no lock but that ring's, for the time of one append. An exchange is therefore
// visible as soon as the client has its answer. Readers copy the ring's pointers under the lock and filter outside it.
//
// # Saving
//
// With a [Sink], exchanges are also saved, in batches and away from the request path. The queue to the sink is bounded:
// a sink that fails or falls behind costs saved exchanges, which are counted and logged, and never a request's time.
//
// # Memory
//
// Bytes count headers, bodies, texts and what the structures themselves take, so that the bound is close to what the
// heap really holds. Exchanges that grow too old leave when the project records or is read the next time.
package journal

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mockbase/mockbase"
)

// The bounds that hold where the options say nothing.
const (
	// DefaultCount, DefaultBytes and DefaultAge bound the ring of one project.
	DefaultCount = 10_000
	DefaultBytes = 64 << 20
	DefaultAge   = 24 * time.Hour
	// DefaultBodyCap holds nearly every body that a person would read, and keeps 500 of the largest within DefaultBytes.
	DefaultBodyCap = 64 << 10
)

// Latest stands for the newest exchange where an id is asked for.
const Latest = "latest"

// forgetDropped is how long a dropped project is remembered: longer than any request that was on its way lasts.
const forgetDropped = time.Hour

// Options say how much a journal keeps and where it saves it. The zero value is a journal in memory with the default
// bounds.
type Options struct {
	// Count, Bytes and Age bound what is kept of one project; 0 or less means the default.
	Count int
	Bytes int64
	Age   time.Duration
	// BodyCap is how many bytes of a body are kept; 0 or less means DefaultBodyCap.
	BodyCap int
	// Clock says what time it is; nil is time.Now.
	Clock func() time.Time
	// Sink saves exchanges; nil keeps them in memory only.
	Sink Sink
	// Persist says whether the exchanges of a project are saved (rule M-61). It is asked on the request path and must not
	// block. Nil saves all.
	Persist func(projectID string) bool
	// Saving tunes how the sink is fed; the zero value is good.
	Saving Saving
	// Logger hears when saving begins to fail and when it works again; nil is silent.
	Logger *slog.Logger
}

// Stats are the figures of the whole journal since the start.
type Stats struct {
	Projects, Exchanges int
	Bytes               int64
	// Queued exchanges wait to be saved.
	Queued int
	// Dropped exchanges were not kept or not saved; Evicted ones made room for others or grew too old.
	Dropped, Evicted int64
}

// Journal keeps the recent exchanges of every project. Its methods may be called at the same time.
type Journal struct {
	bounds  bounds
	bodyCap int
	fixed   int64
	clock   func() time.Time
	persist func(projectID string) bool
	saver   *saver

	// rings is replaced as a whole, so that recording finds a project's ring without a lock.
	rings atomic.Pointer[map[string]*ring]
	// amending lets one amendment end before the next begins, so that the last one is the one that is saved.
	amending sync.Mutex
	mu       sync.Mutex
	// gone holds when a project was dropped, so that a request which was under way does not bring its ring back.
	gone map[string]time.Time
	// own are the bounds of projects that have closer ones.
	own map[string]bounds
	// past sums the counters of rings that were cleared or dropped.
	past counters
}

// New makes an empty journal. One with a sink runs a goroutine until Close.
func New(o Options) *Journal {
	if o.Count <= 0 {
		o.Count = DefaultCount
	}
	if o.Bytes <= 0 {
		o.Bytes = DefaultBytes
	}
	if o.Age <= 0 {
		o.Age = DefaultAge
	}
	if o.BodyCap <= 0 {
		o.BodyCap = DefaultBodyCap
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Persist == nil {
		o.Persist = func(string) bool { return true }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	j := &Journal{
		bounds:  bounds{count: o.Count, bytes: o.Bytes, age: o.Age},
		bodyCap: o.BodyCap,
		fixed:   fixedSize(),
		clock:   o.Clock,
		persist: o.Persist,
		gone:    map[string]time.Time{},
		own:     map[string]bounds{},
	}
	j.rings.Store(&map[string]*ring{})
	if o.Sink != nil {
		j.saver = startSaver(o.Sink, o.Saving, o.Bytes, o.Logger, j.lost)
	}
	return j
}

// BodyCap is how many bytes of a body the journal keeps; there is no use in capturing more.
func (j *Journal) BodyCap() int { return j.bodyCap }

// Record keeps an exchange as the newest of its project, and queues it to be saved where that is asked for. The journal
// owns the exchange from then on: nobody changes it any more, save that Record itself cuts bodies over the cap (rule
// Y8). An exchange without a project is not kept, nor one that alone is larger than the project's bytes; the latter
// counts as dropped.
func (j *Journal) Record(x *mockbase.Exchange) {
	r := (*j.rings.Load())[x.ProjectID]
	if r == nil {
		if r = j.open(x.ProjectID, x.At); r == nil {
			return
		}
	}
	x.Request.Body, x.Request.Truncated = j.cut(x.Request.Body, x.Request.Truncated)
	x.Response.Body, x.Response.Truncated = j.cut(x.Response.Body, x.Response.Truncated)
	size := j.fixed + variableSize(x)
	r.append(x, size)
	if j.saver != nil && j.persist(x.ProjectID) && !j.saver.add(x, size) {
		r.drop(1)
	}
}

// Amend replaces a recorded exchange with a copy that change has changed, so that readers keep what they have. Change must
// not touch what the copy shares with the exchange. The saved form is replaced, too. It returns
// false when the exchange is no longer kept.
func (j *Journal) Amend(projectID, id string, change func(x *mockbase.Exchange)) bool {
	r := (*j.rings.Load())[projectID]
	if r == nil {
		return false
	}
	j.amending.Lock()
	defer j.amending.Unlock()
	old, ok := j.Exchange(projectID, id)
	if !ok {
		return false
	}
	amended := *old
	change(&amended)
	if !r.replace(old, &amended, j.fixed+variableSize(&amended)) {
		return false
	}
	if j.saver != nil && j.persist(projectID) {
		j.saver.amend(old, &amended)
	}
	return true
}

// open makes the ring of a project that records for the first time. It returns nil for an exchange that began before its
// project was dropped.
func (j *Journal) open(projectID string, at time.Time) *ring {
	if projectID == "" {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	all := *j.rings.Load()
	if r := all[projectID]; r != nil {
		return r
	}
	if dropped, ok := j.gone[projectID]; ok && !at.After(dropped) {
		return nil
	}
	r := &ring{bounds: j.boundsOf(projectID)}
	all = maps.Clone(all)
	all[projectID] = r
	j.rings.Store(&all)
	return r
}

// cut copies the part of a body that is kept, so that the rest of it is not held in memory.
func (j *Journal) cut(body []byte, truncated bool) ([]byte, bool) {
	if len(body) <= j.bodyCap {
		return body, truncated
	}
	return slices.Clone(body[:j.bodyCap]), true
}

// Traffic returns the exchanges of a project that a filter selects, newest first and at most limit of them. With before,
// the id of an exchange, the page begins with the one that was recorded before it; an id that is no longer kept stands
// for the time it was made. Total counts what the filter selects on all pages. A project that recorded nothing has an
// empty page.
func (j *Journal) Traffic(projectID string, f mockbase.TrafficFilter, before string, limit int) mockbase.TrafficPage {
	r := (*j.rings.Load())[projectID]
	if r == nil {
		return mockbase.TrafficPage{}
	}
	now := j.clock()
	all, counted := r.read(now)
	page := mockbase.TrafficPage{Dropped: counted.dropped, Evicted: counted.evicted, LostUntil: counted.lostUntil()}
	wanted := newFilter(f, r.oldest(now))
	next := place(all, before)
	for i, x := range slices.Backward(all) {
		if !wanted.selects(x) {
			continue
		}
		page.Total++
		switch {
		case i > next:
		case len(page.Items) < limit:
			page.Items = append(page.Items, x)
		default:
			page.More = true
		}
	}
	return page
}

// place returns the index of the newest exchange that belongs to the page after before.
func place(all []*mockbase.Exchange, before string) int {
	if before == "" {
		return len(all) - 1
	}
	for i, x := range slices.Backward(all) {
		if x.ID == before {
			return i - 1
		}
	}
	for i, x := range slices.Backward(all) {
		if strings.Compare(x.ID, before) < 0 {
			return i
		}
	}
	return -1
}

// Exchange returns one exchange by its id, or the newest one for Latest.
func (j *Journal) Exchange(projectID, id string) (*mockbase.Exchange, bool) {
	r := (*j.rings.Load())[projectID]
	if r == nil {
		return nil, false
	}
	if id == Latest {
		return r.newest(j.clock())
	}
	all, _ := r.read(j.clock())
	for _, x := range slices.Backward(all) {
		if x.ID == id {
			return x, true
		}
	}
	return nil, false
}

// Clear forgets the exchanges of a project, saved ones included, and returns how many were in memory (rule M-179). Its
// counters begin anew.
func (j *Journal) Clear(projectID string) int {
	n := 0
	if r := (*j.rings.Load())[projectID]; r != nil {
		var counted counters
		n, counted = r.clear()
		j.mu.Lock()
		j.past.add(counted)
		j.mu.Unlock()
	}
	if j.saver != nil {
		j.saver.forget(projectID)
	}
	return n
}

// Drop forgets a project that was deleted and everything recorded of it. A request that began before is not recorded
// any more.
func (j *Journal) Drop(projectID string) {
	j.mu.Lock()
	now := j.clock()
	maps.DeleteFunc(j.gone, func(_ string, at time.Time) bool { return now.Sub(at) > forgetDropped })
	j.gone[projectID] = now
	all := maps.Clone(*j.rings.Load())
	if r := all[projectID]; r != nil {
		_, counted := r.clear()
		j.past.add(counted)
		delete(all, projectID)
		j.rings.Store(&all)
	}
	delete(j.own, projectID)
	j.mu.Unlock()
	if j.saver != nil {
		j.saver.forget(projectID)
	}
}

// Restore gives a project the exchanges that were saved before a restart, in any order. They count as older than all
// that was recorded since, are not saved again, and those that the bounds leave no room for do not count as evicted.
func (j *Journal) Restore(projectID string, saved []*mockbase.Exchange) {
	if len(saved) == 0 {
		return
	}
	oldestFirst := slices.SortedStableFunc(slices.Values(saved), func(a, b *mockbase.Exchange) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	sizes := make([]int64, len(oldestFirst))
	for i, x := range oldestFirst {
		sizes[i] = j.fixed + variableSize(x)
	}
	if r := j.open(projectID, j.clock()); r != nil {
		r.prepend(oldestFirst, sizes, j.clock())
	}
}

// Stats returns the figures of the whole journal.
func (j *Journal) Stats() Stats {
	j.mu.Lock()
	sum := j.past
	j.mu.Unlock()
	all := *j.rings.Load()
	s := Stats{Projects: len(all)}
	for _, r := range all {
		n, bytes, counted := r.stats()
		s.Exchanges += n
		s.Bytes += bytes
		sum.add(counted)
	}
	if j.saver != nil {
		s.Queued = j.saver.queued()
	}
	s.Dropped, s.Evicted = sum.dropped, sum.evicted
	return s
}

// lost counts exchanges of a project that the sink did not take.
func (j *Journal) lost(projectID string, n int) {
	if r := (*j.rings.Load())[projectID]; r != nil {
		r.drop(int64(n))
		return
	}
	j.mu.Lock()
	j.past.dropped += int64(n)
	j.mu.Unlock()
}

// Close saves what is queued and ends saving, by the end of ctx at the latest; what is not saved by then counts as
// dropped, and the error is that of ctx. The journal stays readable. Closing again waits for the same end.
func (j *Journal) Close(ctx context.Context) error {
	if j.saver == nil {
		return nil
	}
	return j.saver.close(ctx)
}
