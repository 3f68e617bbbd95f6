// Package catalog keeps every project's current snapshot and is the one way to change it: check, store, publish.
//
// # Changes
//
// A change is checked against the plane first, then stored, then published, and only then does the call return: what
// was answered is kept and served, and what was refused was neither (rules M-15 and Y6). Changes of one project follow
// each other, those of different projects run side by side. A caller that goes away in the middle can't part the store
// from the plane: once a change begins to be stored it is done to its end.
//
// # Reading
//
// Reading takes no lock. A [mockbase.Snapshot] is immutable and shared by everybody: a change makes a new one.
package catalog

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mockbase/mockbase"
)

// Store keeps projects and their mocks.
type Store interface {
	Apply(ctx context.Context, set mockbase.ChangeSet) error
	Snapshots(ctx context.Context) ([]*mockbase.Snapshot, error)
}

// Eager is a store that can make a change and tell later whether it lasts: lasts returns when the change is on disk, or why it
// is not made after all. Changes that come meanwhile build on it, are brought to the disk with it, and are published with it. A
// change that lasts was not asked about is not made.
type Eager interface {
	ApplySoon(ctx context.Context, set mockbase.ChangeSet) (lasts func() error, err error)
}

// Plane serves mocks. Its checks say what it would refuse to serve; what passed them it must be able to publish.
type Plane interface {
	// CheckConfig returns faults with pointers relative to the definition, such as "#/settings/compress".
	CheckConfig(c *mockbase.Config) []mockbase.FieldError
	// CheckMock returns faults with pointers relative to the mock, such as "#/response/fault".
	CheckMock(c *mockbase.Config, m *mockbase.Mock) []mockbase.FieldError
	// Warnings returns what does not block, with pointers relative to the mock.
	Warnings(s *mockbase.Snapshot, m *mockbase.Mock) []mockbase.FieldError
	// Publish serves a snapshot from now on.
	Publish(s *mockbase.Snapshot) error
	// Withdraw serves a project no more.
	Withdraw(projectID string)
}

// Preparer is a plane that can do a part of publishing a snapshot before it is to be served.
type Preparer interface {
	Prepare(s *mockbase.Snapshot)
}

// The quotas that a server has unless it is told others (rule M-9).
const (
	DefaultMaxProjects            = 1_000
	DefaultMaxMocksPerProject     = 10_000
	DefaultMaxDocumentsPerProject = 50
)

// Quotas bound what may be created (rule M-9). Zero means the default.
type Quotas struct {
	MaxProjects            int
	MaxMocksPerProject     int
	MaxDocumentsPerProject int
}

// Options are the parts of a catalog.
type Options struct {
	Store Store
	Plane Plane
	// History is what the store keeps of former mocks; nil is a store that keeps nothing.
	History History
	// Clock tells the time; nil is the system's clock.
	Clock func() time.Time
	// Logger takes what must not happen; nil is silence.
	Logger *slog.Logger
	Quotas Quotas
}

// Catalog holds the projects. It is safe for concurrent use.
type Catalog struct {
	store   Store
	plane   Plane
	history History
	clock   func() time.Time
	logger  *slog.Logger
	quotas  atomic.Pointer[Quotas]

	// membership is held by whoever creates, renames or deletes a project. It is taken before a project's own lock.
	membership sync.Mutex
	projects   atomic.Pointer[directory]
}

// New makes an empty catalog; [Catalog.Load] fills it.
func New(o Options) *Catalog {
	c := &Catalog{store: o.Store, plane: o.Plane, history: o.History, clock: o.Clock, logger: o.Logger}
	if c.history == nil {
		c.history = forgetful{}
	}
	if c.clock == nil {
		c.clock = time.Now
	}
	if c.logger == nil {
		c.logger = slog.New(slog.DiscardHandler)
	}
	c.SetQuotas(o.Quotas)
	c.projects.Store(newDirectory(nil))
	return c
}

// SetQuotas changes what may be created from now on. What there is already stays.
func (c *Catalog) SetQuotas(q Quotas) {
	q.MaxProjects = cmp.Or(q.MaxProjects, DefaultMaxProjects)
	q.MaxMocksPerProject = cmp.Or(q.MaxMocksPerProject, DefaultMaxMocksPerProject)
	q.MaxDocumentsPerProject = cmp.Or(q.MaxDocumentsPerProject, DefaultMaxDocumentsPerProject)
	c.quotas.Store(&q)
}

// Load reads everything that is stored and publishes it. It is called once, before anything else.
func (c *Catalog) Load(ctx context.Context) error {
	snapshots, err := c.store.Snapshots(ctx)
	if err != nil {
		return fmt.Errorf("load projects: %w", err)
	}
	entries := make([]*entry, len(snapshots))
	for i, s := range snapshots {
		// One project that can't be served, as it was stored by another version or in another place, is no reason to serve none:
		// it is there to be looked at and repaired.
		if err := c.plane.Publish(s); err != nil {
			c.logger.LogAttrs(ctx, slog.LevelError, "a stored project can't be served", slog.String("project", s.Project.Slug), slog.Any("error", err))
		}
		entries[i] = newEntry(s)
	}
	c.projects.Store(newDirectory(entries))
	return nil
}

// Project finds a project by id or slug.
func (c *Catalog) Project(idOrSlug string) (*mockbase.Snapshot, bool) {
	e := c.projects.Load().find(idOrSlug)
	if e == nil {
		return nil, false
	}
	return e.snapshot.Load(), true
}

// Projects returns every project by slug.
func (c *Catalog) Projects() []*mockbase.Snapshot {
	all := c.projects.Load().sorted
	snapshots := make([]*mockbase.Snapshot, len(all))
	for i, e := range all {
		snapshots[i] = e.snapshot.Load()
	}
	return snapshots
}

// Mock finds a mock by name or id in a project's snapshot.
func Mock(s *mockbase.Snapshot, nameOrID string) (*mockbase.Mock, bool) {
	i := indexOf(s, nameOrID)
	if i < 0 {
		return nil, false
	}
	return s.Mocks[i], true
}

func indexOf(s *mockbase.Snapshot, nameOrID string) int {
	return slices.IndexFunc(s.Mocks, func(m *mockbase.Mock) bool { return m.Name == nameOrID || m.ID == nameOrID })
}

// now is the time of a change, as exact as the API shows it (rule M-2).
func (c *Catalog) now() time.Time {
	return c.clock().UTC().Truncate(time.Millisecond)
}

// entry is a project's place in the catalog.
type entry struct {
	// changing is held by whoever changes the project.
	changing sync.Mutex
	// stored is what the next change is made from, snapshot what everybody reads: it is on disk.
	stored   atomic.Pointer[draft]
	snapshot atomic.Pointer[mockbase.Snapshot]
	// unsure tells that a change may not have been made, so that what is stored is to be read again.
	unsure atomic.Bool
	// gone tells a caller who waited for the lock that the project was deleted meanwhile.
	gone bool
	// publishing is held by whoever publishes or withdraws the project, next is the publication that can still be joined.
	publishing sync.Mutex
	next       atomic.Pointer[publication]
}

func newEntry(s *mockbase.Snapshot) *entry {
	e := &entry{}
	e.stored.Store(&draft{Snapshot: s})
	e.snapshot.Store(s)
	return e
}

// draft is a snapshot whose changes are made. Lasts waits until the disk holds them, and tells if it never will; nil if it does.
type draft struct {
	*mockbase.Snapshot

	lasts func() error
	// reread is the number of times that the project was read again.
	reread int
}

// directory finds projects. It is immutable.
type directory struct {
	byID, bySlug map[string]*entry
	sorted       []*entry
}

func newDirectory(entries []*entry) *directory {
	d := &directory{byID: make(map[string]*entry, len(entries)), bySlug: make(map[string]*entry, len(entries)), sorted: entries}
	slices.SortFunc(d.sorted, func(a, b *entry) int {
		return strings.Compare(a.snapshot.Load().Project.Slug, b.snapshot.Load().Project.Slug)
	})
	for _, e := range entries {
		p := e.snapshot.Load().Project
		d.byID[p.ID], d.bySlug[p.Slug] = e, e
	}
	return d
}

func (d *directory) find(idOrSlug string) *entry {
	if e := d.byID[idOrSlug]; e != nil {
		return e
	}
	return d.bySlug[idOrSlug]
}

func (d *directory) with(e *entry) *directory {
	return newDirectory(append(slices.Clone(d.sorted), e))
}

func (d *directory) without(e *entry) *directory {
	return newDirectory(slices.DeleteFunc(slices.Clone(d.sorted), func(other *entry) bool { return other == e }))
}
