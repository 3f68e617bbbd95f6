package session

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mockbase/mockbase"
)

// The bounds of rules AA6 and AA7.
const (
	// DefaultName is the name of the session of requests that name none.
	DefaultName  = "default"
	DefaultTTL   = time.Hour
	MaxTTL       = 24 * time.Hour
	DefaultQuota = 1_000
	maxName      = 64
)

// The time between two sweeps of expired sessions is bounded both ways: many sessions cost little, and what has expired
// does not hold memory for long.
const (
	shortestSweep = time.Second
	longestSweep  = time.Minute
)

// Options say how a registry keeps sessions.
type Options struct {
	// Clock is the wall clock; nil is time.Now.
	Clock func() time.Time
	// Quota tells how many sessions may live beside the default one; nil, or 0, is [DefaultQuota].
	Quota func() int
}

// Registry holds the sessions of a project. Its methods may be called at the same time.
type Registry struct {
	clock    func() time.Time
	quota    func() int
	standard *Session
	seed     atomic.Pointer[string]

	mu     sync.RWMutex
	byName map[string]*Session
	sweep  *time.Timer
	closed bool
}

// QuotaError tells that a project has as many sessions as it may have; no living session makes room (rule AA7).
type QuotaError struct {
	// Limit is the quota.
	Limit int
}

// Error implements error.
func (e *QuotaError) Error() string {
	return fmt.Sprintf("the project has %d sessions already", e.Limit)
}

// NewRegistry makes a registry with a default session.
func NewRegistry(o Options) *Registry {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Quota == nil {
		o.Quota = func() int { return DefaultQuota }
	}
	r := &Registry{clock: o.Clock, quota: o.Quota, byName: make(map[string]*Session)}
	r.standard = r.start(&Spec{Name: DefaultName})
	return r
}

// most is how many sessions may live beside the default one.
func (r *Registry) most() int { return cmp.Or(r.quota(), DefaultQuota) }

// SetSeed sets the project's seed, which holds for every session that was given none; "" is none.
func (r *Registry) SetSeed(seed string) { r.seed.Store(&seed) }

// ValidName tells whether a session may have this name: 1 to 64 of A-Z, a-z, 0-9, point, underscore and hyphen (rule AA6),
// and not beginning as an id does (rule M-3).
func ValidName(name string) bool {
	if name == "" || len(name) > maxName || mockbase.HasIDPrefix(name) {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}

// Spec is what a session begins with. The zero value is a session with every default and a name made up.
type Spec struct {
	Name string
	// TTL is 0 for [DefaultTTL].
	TTL time.Duration
	// Seed is "" for the project's, or a random one.
	Seed string
	// Variables are JSON texts by name.
	Variables map[string]json.RawMessage
	Labels    map[string]string
}

// Default is the session of requests that name none. It never expires and cannot end.
func (r *Registry) Default() *Session { return r.standard }

// Join returns the living session of a valid name for a request, begun if there is none, and keeps it alive. It fails with
// a [*QuotaError].
func (r *Registry) Join(name string) (*Session, error) {
	if name == "" || name == DefaultName {
		return r.standard, nil
	}
	now := r.clock()
	r.mu.RLock()
	s := r.byName[name]
	if s != nil && !s.expired(now) {
		// Within the lock, so that no sweep takes it for expired.
		s.touch(now)
		r.mu.RUnlock()
		return s, nil
	}
	r.mu.RUnlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if s = r.living(name, now); s != nil {
		s.touch(now)
		return s, nil
	}
	return r.add(&Spec{Name: name})
}

// Glimpse returns the session that a request of a valid name would belong to. Nothing comes of it: a living session is not
// kept alive, and one that would be new is not kept. It fails with a [*QuotaError] where Join would.
func (r *Registry) Glimpse(name string) (*Session, error) {
	if name == "" {
		return r.standard, nil
	}
	if s, ok := r.Find(name); ok {
		return s, nil
	}
	now := r.clock()
	r.mu.RLock()
	living := 0
	for _, s := range r.byName {
		if !s.expired(now) {
			living++
		}
	}
	r.mu.RUnlock()
	if most := r.most(); living >= most {
		return nil, &QuotaError{Limit: most}
	}
	s := r.start(&Spec{Name: name})
	s.ttl = DefaultTTL
	return s, nil
}

// Create begins a session. It fails with a [*mockbase.Error] of CodeValidationFailed, CodeNameTaken or CodeQuotaReached.
func (r *Registry) Create(spec Spec) (*Session, error) { //nolint:gocritic // a copy, so that the name may be filled in
	if err := spec.check(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if spec.Name == "" {
		spec.Name = "s-" + strings.ToLower(drawnSeed())
	}
	if spec.Name == DefaultName || r.living(spec.Name, r.clock()) != nil {
		return nil, &mockbase.Error{
			Code: mockbase.CodeNameTaken, Message: fmt.Sprintf("there is a session named %q already", spec.Name),
			Hint: "choose another name, or end the session first",
		}
	}
	s, err := r.add(&spec)
	if err != nil {
		return nil, &mockbase.Error{
			Code: mockbase.CodeQuotaReached, Message: err.Error(), Hint: "end sessions that are not needed",
			Quota: &mockbase.QuotaUse{Name: "maxSessionsPerProject", Limit: r.most(), Used: len(r.byName)},
		}
	}
	return s, nil
}

// check finds what is wrong with a specification.
func (spec *Spec) check() error {
	var faults mockbase.Faults
	if spec.Name != "" && !ValidName(spec.Name) {
		faults.Append(mockbase.FieldError{
			Pointer: "#/name", Code: mockbase.FieldPattern,
			Detail: "must be 1 to 64 of A-Z, a-z, 0-9, point, underscore and hyphen, and not begin as an id does, such as ses_",
		})
	}
	if spec.TTL < 0 || spec.TTL > MaxTTL {
		faults.Append(mockbase.FieldError{
			Pointer: "#/ttl", Code: mockbase.FieldRange, Detail: "must be above 0 and at most 24h",
		})
	}
	return faults.Err()
}

// Find returns the living session of a name or an id. It does not keep the session alive.
func (r *Registry) Find(nameOrID string) (*Session, bool) {
	if nameOrID == DefaultName || nameOrID == r.standard.id {
		return r.standard, true
	}
	now := r.clock()
	r.mu.RLock()
	defer r.mu.RUnlock()
	s := r.byName[nameOrID]
	if s == nil {
		for _, other := range r.byName {
			if other.id == nameOrID {
				s = other
				break
			}
		}
	}
	return s, s != nil && !s.expired(now)
}

// List returns the living sessions: the default one first, the others by their beginning.
func (r *Registry) List() []*Session {
	now := r.clock()
	r.mu.RLock()
	defer r.mu.RUnlock()
	list := make([]*Session, 0, 1+len(r.byName))
	for _, s := range r.byName {
		if !s.expired(now) {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b *Session) int {
		return cmp.Or(a.started.Compare(b.started), strings.Compare(a.name, b.name))
	})
	return slices.Insert(list, 0, r.standard)
}

// Others tells whether there are sessions beside the default one.
func (r *Registry) Others() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.byName) > 0
}

// End ends the living session of a name or an id, and tells whether there was one. The default session cannot end.
func (r *Registry) End(nameOrID string) bool {
	s, ok := r.Find(nameOrID)
	if !ok || s.IsDefault() {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byName[s.name] != s {
		return false
	}
	r.remove(s, r.clock())
	return true
}

// Close ends every session. Requests in flight keep theirs.
func (r *Registry) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	now := r.clock()
	for _, s := range r.byName {
		r.remove(s, now)
	}
	r.standard.end(now)
	if r.sweep != nil {
		r.sweep.Stop()
	}
}

// living returns the session of a name, unless it has expired; then it ends here.
func (r *Registry) living(name string, now time.Time) *Session {
	s := r.byName[name]
	if s != nil && s.expired(now) {
		r.remove(s, now)
		return nil
	}
	return s
}

// add begins a session of a new name.
func (r *Registry) add(spec *Spec) (*Session, error) {
	if most := r.most(); len(r.byName) >= most {
		r.removeExpired(r.clock())
		if len(r.byName) >= most {
			return nil, &QuotaError{Limit: most}
		}
	}
	s := r.start(spec)
	s.ttl = cmp.Or(spec.TTL, DefaultTTL)
	r.byName[s.name] = s
	r.watch(s.ttl)
	return s, nil
}

func (r *Registry) start(spec *Spec) *Session {
	now := r.clock()
	s := &Session{
		registry: r, id: mockbase.NewID(mockbase.PrefixSession, now), name: spec.Name, started: now,
		given: spec.Seed, random: drawnSeed(), variables: spec.Variables, labels: spec.Labels, clock: newTimeline(r.clock),
		done: make(chan struct{}),
	}
	s.last.Store(now.UnixNano())
	return s
}

func (r *Registry) remove(s *Session, now time.Time) {
	delete(r.byName, s.name)
	s.end(now)
}

// watch sets the one timer that looks for expired sessions, unless it is set.
func (r *Registry) watch(soon time.Duration) {
	if r.closed || r.sweep != nil {
		return
	}
	r.sweep = time.AfterFunc(min(max(soon, shortestSweep), longestSweep), r.sweepExpired)
}

func (r *Registry) sweepExpired() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock()
	r.removeExpired(now)
	r.sweep = nil
	if len(r.byName) == 0 {
		return
	}
	soonest := longestSweep
	for _, s := range r.byName {
		soonest = min(soonest, s.ExpiresAt().Sub(now))
	}
	r.watch(soonest)
}

func (r *Registry) removeExpired(now time.Time) {
	for _, s := range r.byName {
		if s.expired(now) {
			r.remove(s, now)
		}
	}
}
